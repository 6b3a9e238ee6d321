package forks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

func TestCallUntilIsCallWithoutAStop(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for seed := range uint64(rig.Fewer(20)) {
			b := grow(rand.New(rand.NewPCG(seed, 2)), 6)
			var stop filch.Stop
			if r, stopped := bushFunc.CallUntil(p, &stop, b); r != b.sum() || stopped {
				t.Fatalf("%d workers, seed %d: %d, %t, not %d", workers, seed, r, stopped, b.sum())
			}
		}
		if r, stopped := rig.FibFunc.CallUntil(p, new(filch.Stop), 20); r != rig.SerialFib(20) || stopped {
			t.Errorf("%d workers: fib is %d, %t", workers, r, stopped)
		}
	}
}

// After a stop nothing begins: forks that are private, those that are public, and calls. Then
// the Frame is as it was before.
func TestAfterAStopNothingBegins(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	ran := 0
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		ran++
		switch {
		case n == 9:
			return 10*f.Join(f.Fork(4)) + f.Call(2)
		case n > 0:
			return n
		case n < 0:
			if f.Stopped() {
				t.Error("it has stopped before")
			}
			f.Stop()
			if !f.Stopped() {
				t.Error("it has not stopped")
			}
			return 100
		}
		a := f.Fork(1)
		m := f.Mark()
		b, c := f.Fork(-1), f.Fork(3)
		s := 1000 * f.Join(c)
		s += f.Join(b)
		f.Fork(4)
		f.Fork(5)
		s += f.Call(6)
		for i, r := range m.JoinAll {
			s += r + i
		}
		return s + f.Join(a)
	})
	var stop filch.Stop
	for name, s := range map[string]filch.Scope{"a pool": p, "an interface": struct{ filch.Scope }{p}} {
		stop = filch.Stop{}
		ran = 0
		if r, stopped := fn.CallUntil(s, &stop, 0); r != 3101 || !stopped || ran != 3 {
			t.Errorf("%s: %d, %t, by %d calls", name, r, stopped, ran)
		}
	}
	if r, stopped := fn.CallUntil(p, &stop, 0); r != 0 || !stopped || ran != 3 {
		t.Errorf("stopped before: %d, %t, by %d calls", r, stopped, ran-3)
	}
	if r := fn.Call(p, 9); r != 42 {
		t.Errorf("%d by Call", r)
	}
	if r, stopped := fn.CallUntil(p, new(filch.Stop), 9); r != 42 || stopped {
		t.Errorf("%d, %t with another Stop", r, stopped)
	}
}

// One worker stops what others do: what has begun ends, and its result counts.
func TestAThiefStopsTheOthers(t *testing.T) {
	begun, stopped := make(chan bool), make(chan bool)
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		switch n {
		case 0:
			a := f.Fork(1)
			f.Worker().Blocking(func() { <-begun }) // another worker has taken it
			b, c := f.Fork(2), f.Fork(3)
			<-stopped
			if !f.Stopped() {
				t.Error("it has not stopped")
			}
			return f.Join(c) + f.Join(b) + f.Join(a)
		case 1:
			close(begun)
			f.Stop()
			h := f.Fork(4)
			close(stopped)
			return 10 + f.Join(h)
		}
		t.Errorf("%d was begun", n)
		return n
	})
	if r, stopped := fn.CallUntil(filch.New(filch.WithWorkers(2)), new(filch.Stop), 0); r != 10 || !stopped {
		t.Errorf("fn.CallUntil(…, new(filch.Stop), 0): %d, %t", r, stopped)
	}
}

// Forks that are public, and not begun, are dropped as well. One worker of two is held up, and
// then finds nothing.
func TestAStopDropsWhatIsPublic(t *testing.T) {
	for range rig.Fewer(100) {
		p := filch.New(filch.WithWorkers(4))
		var stop filch.Stop
		var late atomic.Int32
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n > 0 {
				if stop.Stopped() {
					late.Add(1) // it may have begun before, on each of the other workers
				}
				return n
			}
			m := f.Mark()
			for range 1000 {
				f.Fork(1)
				f.Worker().Poll()
			}
			f.Stop()
			s := 0
			for _, r := range m.JoinAll {
				s += r
			}
			return s
		})
		r, stopped := fn.CallUntil(p, &stop, 0)
		if n := late.Load(); n > 3 || r > 1000 || !stopped {
			t.Fatalf("%d have begun after the stop; the result is %d, %t", n, r, stopped)
		}
	}
}

// Each call happens at most once, and none after CallUntil has returned, wherever it is
// stopped.
func TestAStopAnywhere(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for seed := range uint64(rig.Fewer(200)) {
			const leaves = 1 << 10
			at := int(seed) * 7 % leaves
			var ran [leaves]atomic.Int32
			var over atomic.Bool
			type span struct{ lo, hi int }
			fn := filch.NewFunc(func(f *filch.Frame[span, int], s span) int {
				if over.Load() {
					t.Error("a call has begun after the end")
				}
				if s.hi-s.lo == 1 {
					ran[s.lo].Add(1)
					if s.lo == at {
						f.Stop()
					}
					return 1
				}
				mid := (s.lo + s.hi) / 2
				h := f.Fork(span{mid, s.hi})
				n := f.Call(span{s.lo, mid})
				return n + f.Join(h)
			})
			n, stopped := fn.CallUntil(p, new(filch.Stop), span{0, leaves})
			over.Store(true)
			sum := 0
			for i := range ran {
				k := int(ran[i].Load())
				if sum += k; k > 1 || i == at && k != 1 || workers == 1 && (k == 1) != (i <= at) {
					t.Fatalf("%d workers, stopped at %d: leaf %d ran %d times", workers, at, i, k)
				}
			}
			if n != sum || !stopped {
				t.Fatalf("%d workers: %d, %t; %d leaves ran", workers, n, stopped, sum)
			}
		}
	}
}

// Any goroutine may stop a call: one that watches a context, for example.
func TestAContextStopsACall(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		ctx, cancel := context.WithCancel(context.Background())
		var stop filch.Stop
		defer context.AfterFunc(ctx, stop.Stop)()
		begun := make(chan bool)
		var once atomic.Bool
		go func() { <-begun; cancel() }()
		deep := filch.NewFunc(func(f *filch.Frame[struct{}, int], x struct{}) int {
			for !f.Stopped() {
				rig.FibFunc.Call(f.Worker(), 5)
				if once.CompareAndSwap(false, true) {
					close(begun)
				}
			}
			return 1
		})
		if r, stopped := deep.CallUntil(p, &stop, struct{}{}); r != 1 || !stopped {
			t.Errorf("%d workers: %d, %t", workers, r, stopped)
		}
		if r, stopped := deep.CallUntil(p, &stop, struct{}{}); r != 0 || !stopped {
			t.Errorf("%d workers, after the end: %d, %t", workers, r, stopped)
		}
	}
}

// Calls inside are not stopped, unless they have the Stop.
func TestAStopIsForTheCallsThatHaveIt(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var outer, inner filch.Stop
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			w := f.Worker()
			if n == 1 {
				f.Stop() // the inner call
				return f.Join(f.Fork(2)) + 1
			}
			if r, stopped := bushFunc.CallUntil(w, &inner, &bush{v: 5}); r != 5 || stopped {
				t.Errorf("before: %d, %t", r, stopped)
			}
			return n
		})
		top := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			w := f.Worker()
			if r, stopped := fn.CallUntil(w, &inner, 1); r != 1 || !stopped || f.Stopped() {
				t.Errorf("the inner call: %d, %t; the outer has stopped: %t", r, stopped, f.Stopped())
			}
			f.Stop()
			if r := rig.FibFunc.Call(w, 10); r != 55 {
				t.Errorf("a Call inside: %d", r)
			}
			if r, stopped := rig.FibFunc.CallUntil(w, new(filch.Stop), 10); r != 55 || stopped {
				t.Errorf("with a Stop of its own: %d, %t", r, stopped)
			}
			if r, stopped := rig.FibFunc.CallUntil(w, &outer, 10); r != 0 || !stopped {
				t.Errorf("with the same Stop: %d, %t", r, stopped)
			}
			ran := false
			bushFunc.On(w, func(g *filch.Frame[*bush, int]) {
				ran = g.Join(g.Fork(&bush{v: 3}))+g.Call(&bush{v: 3}) != 0
				if !g.Stopped() {
					t.Error("the frame of On has not stopped")
				}
			})
			if ran {
				t.Error("a fork on the frame of On ran")
			}
			return n
		})
		if r, stopped := top.CallUntil(p, &outer, 9); r != 9 || !stopped {
			t.Errorf("%d workers: %d, %t", workers, r, stopped)
		}
	}
}

// A body of On forks on other workers: they stop too.
func TestAStopReachesTheForksOfOnElsewhere(t *testing.T) {
	begun := make(chan bool)
	var stop filch.Stop
	inner := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 1 {
			close(begun)
			f.Stop()
			return 1 + f.Join(f.Fork(2))
		}
		t.Errorf("%d was begun", n)
		return n
	})
	outer := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		r := 0
		inner.On(f.Worker(), func(g *filch.Frame[int, int]) {
			h := g.Fork(1)
			f.Worker().Blocking(func() { <-begun })
			r = g.Join(h)
		})
		return r + f.Join(f.Fork(3))
	})
	if r, stopped := outer.CallUntil(filch.New(filch.WithWorkers(2)), &stop, 0); r != 1 || !stopped {
		t.Errorf("outer.CallUntil(…, &stop, 0): %d, %t", r, stopped)
	}
}

// A panic arrives whether a call has stopped or not, from any worker.
func TestAPanicAfterAStopArrives(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n == 0 {
				f.Stop()
				panic("after the stop")
			}
			h := f.Fork(n - 1)
			f.Worker().Poll()
			return f.Join(h)
		})
		for range rig.Fewer(100) {
			func() {
				defer func() {
					if e, _ := recover().(*filch.PanicError); e == nil || e.Value != "after the stop" {
						t.Errorf("%d workers: %v", workers, e)
					}
				}()
				fn.CallUntil(p, new(filch.Stop), 10)
				t.Error("no panic")
			}()
			if r, stopped := rig.FibFunc.CallUntil(p, new(filch.Stop), 10); r != 55 || stopped {
				t.Fatalf("afterwards: %d, %t", r, stopped)
			}
		}
	}
}

func TestGoexitAfterAStop(t *testing.T) {
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n > 0 {
			return n
		}
		f.Fork(1)
		f.Worker().Poll()
		f.Stop()
		runtime.Goexit()
		return 0
	})
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		done := make(chan bool)
		go func() {
			defer close(done)
			fn.CallUntil(p, new(filch.Stop), 0)
			t.Error("it returned")
		}()
		<-done
		if r := rig.FibFunc.Call(p, 10); r != 55 {
			t.Errorf("%d workers, afterwards: %d", workers, r)
		}
	}
}

func TestAStopWithoutCallUntil(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if f.Stopped() {
			t.Error("it has stopped")
		}
		defer func() {
			if s, _ := recover().(string); s != "filch: Frame.Stop: the function was not called by CallUntil" {
				t.Errorf("panic: %q", s)
			}
		}()
		f.Stop()
		return n
	})
	fn.Call(p, 1)
	defer func() {
		if s, _ := recover().(string); !strings.Contains(s, "CallUntil: stop is nil") {
			t.Errorf("panic: %q", s)
		}
	}()
	fn.CallUntil(p, nil, 1)
}

// What is called by CallUntil allocates for the whole, and not for its calls.
func TestCallUntilAllocatesOnce(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	var stop filch.Stop
	if n := testing.AllocsPerRun(20, func() { rig.FibFunc.CallUntil(p, &stop, 15) }); n > 2 { // and of Call, for its closure
		t.Errorf("%v allocations a call", n)
	}
}

// The same calls by Call, which pays nothing for CallUntil, and by that.
func BenchmarkCallUntil(b *testing.B) {
	p := filch.New(filch.WithWorkers(1))
	const n = 25
	for _, c := range []struct {
		name string
		call func() int
	}{
		{"serial", func() int { return rig.SerialFib(n) }},
		{"Call", func() int { return rig.FibFunc.Call(p, n) }},
		{"CallUntil", func() int { r, _ := rig.FibFunc.CallUntil(p, new(filch.Stop), n); return r }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rig.Sink = c.call()
			}
			rig.PerFork(b, n)
		})
	}
}

// A Stop stops with those above it, and stops none of them, nor what is beside it.
func TestAStopUnderAnotherStopsWithIt(t *testing.T) {
	var root, left, right, leaf filch.Stop
	left.Under(&root)
	right.Under(&root)
	if leaf.Under(&left) != &leaf {
		t.Error("Under does not return its Stop")
	}
	stopped := func() string { return fmt.Sprint(root.Stopped(), left.Stopped(), right.Stopped(), leaf.Stopped()) }
	if got := stopped(); got != "false false false false" {
		t.Errorf("before any Stop, root, left, right and leaf have stopped: %s, want none", got)
	}
	left.Stop()
	if got := stopped(); got != "false true false true" {
		t.Errorf("after left.Stop(), root, left, right and leaf have stopped: %s, want left and leaf", got)
	}
	root.Stop()
	if got := stopped(); got != "true true true true" {
		t.Errorf("after root.Stop(), root, left, right and leaf have stopped: %s, want all", got)
	}
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		var outer, inner filch.Stop
		inner.Under(&outer)
		begun, _ := rig.FibFunc.CallUntil(p, &inner, 10)
		outer.Stop()
		after, ended := rig.FibFunc.CallUntil(p, &inner, 10)
		if begun != 55 || after != 0 || !ended {
			t.Errorf("fib(10) is %d before the outer Stop and %d, %t after it; want 55, and 0, true", begun, after, ended)
		}
	})
	for want, f := range map[string]func(){
		"filch: Stop.Under: the Stop is nil":                 func() { (*filch.Stop)(nil).Under(&root) },
		"filch: Stop.Under: parent is nil":                   func() { new(filch.Stop).Under(nil) },
		"filch: Stop.Under: the Stop is under another one":   func() { leaf.Under(&right) },
		"filch: Stop.Under: the Stop would be under itself":  func() { root.Under(&leaf) },
		"filch: Stop.Under: the Stop would be under itself ": func() { s := new(filch.Stop); s.Under(s) },
	} {
		if got := rig.Recovered(f); got != strings.TrimSpace(want) {
			t.Errorf("Under: %q, want %q", got, want)
		}
	}
}
