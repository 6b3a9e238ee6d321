// Package conform holds the contract that every executor keeps, as tests.
package conform

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Executor is the one small interface over every pool.
type Executor interface {
	// Run calls all of fs, several at once if it can, and returns when all have
	// ended. They get a context that has the values of ctx; a Run inside one of
	// them is given that. If some panic, Run panics after that with the value of
	// one of them, or with an error whose text has it.
	Run(ctx context.Context, fs ...func(ctx context.Context))
	// Close ends the executor. Run panics afterwards.
	Close()
}

// Properties are what executors may differ in.
type Properties struct {
	Workers int  // how many functions run at once
	Nested  bool // Run may be called from inside a function
}

// Exercise tests executors made by newExecutor, which have the properties p.
func Exercise(t *testing.T, newExecutor func() Executor, p Properties) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, e Executor, p Properties)
	}{
		{"exactly once", exactlyOnce},
		{"nothing to do", nothingToDo},
		{"from many goroutines", fromManyGoroutines},
		{"as many at once as there are workers", asManyAsWorkers},
		{"no wake-up is lost", noLostWakeup},
		{"a panic arrives", panicArrives},
		{"Goexit is survived", goexitIsSurvived},
		{"nested", nested},
		{"the context arrives", contextArrives},
		{"Close leaves nothing", closeLeavesNothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExecutor()
			defer e.Close()
			c.test(t, e, p)
		})
	}
}

// function is what executors run.
type function = func(ctx context.Context)

var background = context.Background()

func repeat(n int, f func()) []function {
	fs := make([]function, n)
	for i := range fs {
		fs[i] = func(context.Context) { f() }
	}
	return fs
}

func exactlyOnce(t *testing.T, e Executor, p Properties) {
	most := 10_000
	if testing.Short() {
		most = 2000
	}
	for _, n := range []int{1, 2, 3, 100, most} {
		ran := make([]atomic.Int32, n)
		fs := make([]function, n)
		for i := range fs {
			fs[i] = func(context.Context) { ran[i].Add(1) }
		}
		e.Run(background, fs...)
		for i := range ran {
			if k := ran[i].Load(); k != 1 {
				t.Fatalf("function %d of %d ran %d times", i, n, k)
			}
		}
	}
}

func nothingToDo(t *testing.T, e Executor, p Properties) { e.Run(background) }

func fromManyGoroutines(t *testing.T, e Executor, p Properties) {
	const callers, each = 100, 50
	var ran atomic.Int32
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { e.Run(background, repeat(each, func() { ran.Add(1) })...) })
	}
	wg.Wait()
	if n := ran.Load(); n != callers*each {
		t.Errorf("%d functions ran, not %d", n, callers*each)
	}
}

// The functions meet, so fewer at once would hang; the count shows more.
func asManyAsWorkers(t *testing.T, e Executor, p Properties) {
	for range 20 {
		var in sync.WaitGroup
		in.Add(p.Workers)
		e.Run(background, repeat(p.Workers, func() { in.Done(); in.Wait() })...)
	}
	var now, most atomic.Int32
	e.Run(background, repeat(200, func() {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		for range 50 {
			runtime.Gosched()
		}
		now.Add(-1)
	})...)
	if n := most.Load(); n > int32(p.Workers) {
		t.Errorf("%d functions ran at once on %d workers", n, p.Workers)
	}
}

// Rests of random length between bursts meet the workers in every state.
func noLostWakeup(t *testing.T, e Executor, p Properties) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	watchdog := time.AfterFunc(time.Minute, func() {
		var b strings.Builder
		pprof.Lookup("goroutine").WriteTo(&b, 2)
		panic(fmt.Sprintf("seed %d: hangs\n%s", seed, b.String()))
	})
	defer watchdog.Stop()
	rounds := 2000
	if testing.Short() {
		rounds = 500
	}
	for range rounds {
		n := 1 + rng.IntN(p.Workers)
		var in sync.WaitGroup
		in.Add(n)
		e.Run(background, repeat(n, func() { in.Done(); in.Wait() })...)
		for range rng.IntN(1 << rng.IntN(12)) {
			if rng.IntN(64) == 0 {
				runtime.Gosched()
			}
		}
	}
}

func panicArrives(t *testing.T, e Executor, p Properties) {
	for i := range 20 {
		var ran atomic.Int32
		fs := repeat(20, func() { ran.Add(1) })
		fs[i] = func(context.Context) { panic("the value of the panic") }
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "the value of the panic") {
					t.Errorf("recovered %v", r)
				}
			}()
			e.Run(background, fs...)
		}()
	}
	exactlyOnce(t, e, p)
}

func goexitIsSurvived(t *testing.T, e Executor, p Properties) {
	var wg sync.WaitGroup
	for i := range 10 {
		fs := repeat(10, func() {})
		fs[i] = func(context.Context) { runtime.Goexit() }
		wg.Go(func() { e.Run(background, fs...) })
	}
	wg.Wait()
	asManyAsWorkers(t, e, p)
}

func nested(t *testing.T, e Executor, p Properties) {
	if !p.Nested {
		t.Skip("Run cannot be nested")
	}
	var leaves atomic.Int32
	var tree func(ctx context.Context, depth int)
	tree = func(ctx context.Context, depth int) {
		if depth == 0 {
			leaves.Add(1)
			return
		}
		child := func(ctx context.Context) { tree(ctx, depth-1) }
		e.Run(ctx, child, child, child)
	}
	tree(background, 6)
	if n := leaves.Load(); n != 729 {
		t.Errorf("%d leaves, not 729", n)
	}
}

func contextArrives(t *testing.T, e Executor, p Properties) {
	type key struct{}
	ctx := context.WithValue(background, key{}, "value")
	var missing atomic.Int32
	f := func(ctx context.Context) {
		if ctx.Value(key{}) != "value" {
			missing.Add(1)
		}
	}
	e.Run(ctx, f, f, f)
	if n := missing.Load(); n > 0 {
		t.Errorf("the values of the context do not reach %d of 3 functions", n)
	}
}

func closeLeavesNothing(t *testing.T, e Executor, p Properties) {
	before := runtime.NumGoroutine()
	e.Run(background, repeat(1000, func() {})...)
	e.Close()
	e.Close()
	func() {
		defer func() {
			if r := recover(); !strings.Contains(fmt.Sprint(r), "closed") {
				t.Errorf("Run after Close: recovered %v", r)
			}
		}()
		e.Run(background, func(context.Context) {})
	}()
	for start := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(start) > time.Second {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
