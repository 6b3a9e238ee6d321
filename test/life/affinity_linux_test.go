package life

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/topology"
)

// allowed returns the processors that the caller's thread may run on.
func allowed(t testing.TB) []int {
	t.Helper()
	m, err := affinity.System.Mask(0)
	if err != nil {
		t.Error("affinity.System.Mask(0):", err)
	}
	return m.Processors()
}

// needsAffinity returns the processors that the program may use. It skips a test where the kernel places no threads.
func needsAffinity(t *testing.T) []int {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m, err := affinity.System.Mask(0)
	if err != nil {
		t.Fatal("affinity.System.Mask(0):", err)
	}
	if err := affinity.System.SetMask(0, affinity.Of(m.Processors()[0])); err != nil {
		t.Skip("the kernel refuses to place threads: ", err)
	}
	if err := affinity.System.SetMask(0, m); err != nil {
		t.Fatal("affinity.System.SetMask(0, m):", err)
	}
	return m.Processors()
}

// noneIsPinned checks that all threads of the program may run on all processors.
func noneIsPinned(t *testing.T, all []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatal(`filepath.Glob("/proc/self/task/*/status"):`, files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		_, rest, ok := strings.Cut(string(b), "Cpus_allowed_list:")
		list, _, _ := strings.Cut(rest, "\n")
		if ids, err := topology.ParseList(list); !ok || err != nil || !slices.Equal(ids, all) {
			t.Errorf("%s: a thread may run on %q, not on %v (%v)", f, strings.TrimSpace(list), all, err)
		}
	}
}

// meet runs n tasks that all run at once, and returns where.
func meet(t *testing.T, p *filch.Pool, n int) (on [][]int) {
	t.Helper()
	on = make([][]int, n)
	var here sync.WaitGroup
	here.Add(n)
	g := p.Group(context.Background())
	for i := range n {
		g.Go(func(context.Context) error {
			on[i] = allowed(t)
			here.Done()
			here.Wait()
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error("g.Wait():", err)
	}
	return on
}

// Each worker runs on one processor of the list, and two that run at once on different ones, as long as
// there are enough.
func TestWorkersArePinned(t *testing.T) {
	all := needsAffinity(t)
	for _, a := range []filch.Affinity{filch.Spread, filch.Compact, filch.AsListed} {
		t.Run(a.String(), func(t *testing.T) {
			p := filch.New(filch.WithWorkers(len(all)), filch.WithAffinity(a, all...))
			listed, err := p.Affinity()
			if slices.Sort(listed); err != nil || !slices.Equal(listed, all) {
				t.Fatal("p.Affinity():", listed, err)
			}
			for range 20 {
				var on []int
				for _, where := range meet(t, p, len(all)) {
					if len(where) != 1 {
						t.Fatalf("a task may run on %v", where)
					}
					on = append(on, where[0])
				}
				if slices.Sort(on); !slices.Equal(on, all) {
					t.Errorf("tasks that run at once run on %v, not on %v", on, all)
				}
			}
			if err := p.Close(); err != nil {
				t.Error("p.Close():", err)
			}
			noneIsPinned(t, all)
		})
	}
}

// A worker that gives its place away keeps its thread, and its processor is for the one that fills the place: by
// Blocking, a wait for a Future, or giving way.
func TestTheNextToFillAPlaceIsPinnedAsWell(t *testing.T) {
	all := needsAffinity(t)
	last := all[len(all)-1:]
	p := filch.New(filch.WithWorkers(1), filch.WithAffinity(filch.AsListed, last...))
	where := func(context.Context) ([]int, error) { return allowed(t), nil }
	whileItWaits := func(ctx context.Context) (all [][]int, err error) {
		thread := affinity.System.Thread()
		filch.Blocking(ctx, func() {
			f := filch.Submit(context.Background(), p, where)
			<-f.Done()
			on, err := f.Wait(context.Background())
			all = append(all, on, allowed(t))
			if err != nil {
				t.Error("f.Wait(context.Background()):", err)
			}
		})
		all = append(all, allowed(t))
		slow := make(chan struct{})
		f := filch.Submit(ctx, p, func(context.Context) ([]int, error) { <-slow; return allowed(t), nil })
		filch.Blocking(ctx, func() {
			for p.Stats().Tasks.Running < 2 {
				runtime.Gosched()
			}
		})
		close(slow)
		on, err := f.Wait(ctx)
		all = append(all, on, allowed(t))
		if now := affinity.System.Thread(); now != thread {
			t.Errorf("a task began on thread %d, and is on %d", thread, now)
		}
		return all, err
	}
	on, err := filch.Submit(context.Background(), p, whileItWaits).Wait(context.Background())
	if err != nil || len(on) != 5 {
		t.Fatal("filch.Submit(context.Background(), p, whileItWaits).Wait(…):", on, err)
	}
	for i, where := range on {
		if !slices.Equal(where, last) {
			t.Errorf("look %d: on %v, not on %v", i, where, last)
		}
	}
	if err := p.Close(); err != nil {
		t.Error("p.Close():", err)
	}
	noneIsPinned(t, all)
}

// Callers are guests, and may run anywhere; and so may what runs in place on them, LongRunning tasks, and goroutines
// that tasks start.
func TestGuestsAreNotPinned(t *testing.T) {
	all := needsAffinity(t)
	p := filch.New(filch.WithWorkers(2), filch.WithAffinity(filch.AsListed, all[0]))
	check := func(what string, on []int) {
		if !slices.Equal(on, all) {
			t.Errorf("%s may run on %v, not on %v", what, on, all)
		}
	}
	p.Do(func(w *filch.Worker) { check("a guest", allowed(t)) })
	g := p.Group(context.Background())
	g.Go(func(context.Context) error { check("a long running task", allowed(t)); return nil }, filch.LongRunning())
	g.Go(func(context.Context) error {
		var started sync.WaitGroup
		started.Go(func() { check("a goroutine of a task", allowed(t)) })
		started.Wait()
		return nil
	})
	if err := g.Wait(); err != nil {
		t.Error("g.Wait():", err)
	}
	if err := p.Close(); err != nil {
		t.Error("p.Close():", err)
	}
	noneIsPinned(t, all)
}

// More workers than processors share them evenly.
func TestWorkersShareProcessorsEvenly(t *testing.T) {
	all := needsAffinity(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := filch.New(filch.WithWorkers(3*len(all)), filch.WithAffinity(filch.Compact))
	count := map[int]int{}
	for _, on := range meet(t, p, 3*len(all)) {
		if len(on) != 1 {
			t.Fatalf("a task may run on %v", on)
		}
		count[on[0]]++
	}
	for _, n := range all {
		if count[n] != 3 {
			t.Errorf("%d of %d tasks run on processor %d", count[n], 3*len(all), n)
		}
	}
	if err := p.Close(); err != nil {
		t.Error("p.Close():", err)
	}
	noneIsPinned(t, all)
}

// A coroutine of iter.Pull that a task has made serves it through all of its waits.
func TestATaskMayPullWhileItWaits(t *testing.T) {
	needsAffinity(t)
	p := filch.New(filch.WithWorkers(2), filch.WithAffinity(filch.Spread))
	defer p.Close()
	sum, err := filch.Submit(context.Background(), p, func(ctx context.Context) (sum int, err error) {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := 0; yield(i); i++ {
			}
		})
		defer stop()
		for range 10 {
			filch.Blocking(ctx, func() { v, _ := next(); sum += v })
			f := filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil })
			v, err := f.Wait(ctx)
			if err != nil {
				return 0, err
			}
			n, _ := next()
			sum += v + n
		}
		return sum, nil
	}).Wait(context.Background())
	if sum != 190 || err != nil {
		t.Error("filch.Submit(context.Background(), p, …).Wait(…):", sum, err)
	}
}

// A pool that a pinned task makes has all processors.
func TestAPinnedTaskHidesNoProcessors(t *testing.T) {
	all := needsAffinity(t)
	p := filch.New(filch.WithWorkers(1), filch.WithAffinity(filch.Compact))
	defer p.Close()
	inner, err := filch.Submit(context.Background(), p, func(context.Context) ([]int, error) {
		inner := filch.New(filch.WithAffinity(filch.Compact))
		defer inner.Close()
		return inner.Affinity()
	}).Wait(context.Background())
	if slices.Sort(inner); !slices.Equal(inner, all) || err != nil {
		t.Errorf("%v, not %v, and %v", inner, all, err)
	}
}

// However tasks end, nothing stays pinned: by Goexit, a panic, while the pool is resized, or with goroutines
// that are kept.
func TestNothingStaysPinned(t *testing.T) {
	all := needsAffinity(t)
	for _, opts := range [][]filch.Option{nil, {filch.WithIdleTimeout(1 << 40)}, {filch.WithBusyPoll()}, {filch.WithOrder(filch.ByPriority)}, {filch.WithChecks()}} {
		p := filch.New(append(opts, filch.WithWorkers(2), filch.WithAffinity(filch.Spread))...)

		fib := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n < 2 {
				return n
			}
			h := f.Fork(n - 1)
			b := f.Call(n - 2)
			return f.Join(h) + b
		})
		for i := range 200 {
			g := p.Group(context.Background())
			for k := range 8 {
				g.Go(func(ctx context.Context) error {
					switch k {
					case 0:
						runtime.Goexit()
					case 1:
						panic("as planned")
					case 2:
						p.Resize(1 + i%3)
					case 3:
						filch.Blocking(ctx, func() {})
					case 4:
						f := filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }, filch.AtPriority(i))
						if _, err := f.Wait(ctx); err != nil {
							t.Error("f.Wait(ctx):", err)
						}
					default:
						if n := fib.Call(filch.ScopeOf(ctx), 12); n != 144 {
							t.Error("fib.Call(filch.ScopeOf(ctx), 12):", n)
						}
					}
					return nil
				}, filch.AtPriority(k))
			}
			_ = g.Wait()
		}
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
		if _, err := p.Affinity(); err != nil {
			t.Error("p.Affinity():", err)
		}
		noneIsPinned(t, all)
		if load, pinned := rig.Seats(p); pinned != 0 || slices.Max(load) != 0 {
			t.Errorf("%d goroutines are pinned, %v on the processors", pinned, load)
		}
	}
}
