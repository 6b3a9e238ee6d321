package forks

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

func TestTryDoOnAClosedPoolReturnsErrClosed(t *testing.T) {
	for name, end := range rig.Shut {
		p := filch.New(filch.WithWorkers(2))
		ran := 0
		if err := p.TryDo(func(w *filch.Worker) { ran = rig.FibFunc.Call(w, 10) }); err != nil || ran != 55 || p.Closed() {
			t.Errorf("open: %v, ran %d, closed: %t", err, ran, p.Closed())
		}
		if err := p.DoContext(context.Background(), func(w *filch.Worker) { ran = rig.FibFunc.Call(w, 11) }); err != nil || ran != 89 {
			t.Errorf("open: %v, ran %d", err, ran)
		}
		if err := end(p); err != nil {
			t.Fatal("end(p):", err)
		}
		f := func(*filch.Worker) { t.Errorf("runs after %s", name) }
		if err := p.TryDo(f); err != filch.ErrClosed {
			t.Errorf("TryDo after %s: %v", name, err)
		}
		if err := p.DoContext(context.Background(), f); err != filch.ErrClosed {
			t.Errorf("DoContext after %s: %v", name, err)
		}
		if !p.Closed() {
			t.Errorf("not closed after %s", name)
		}
	}
}

// While Shutdown waits for a Do, the pool is closed, and the Do goes on.
func TestTryDoFailsWhileShutdownWaits(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	done := make(chan error)
	p.Do(func(w *filch.Worker) {
		go func() { done <- p.Shutdown(context.Background()) }()
		for !p.Closed() {
			runtime.Gosched()
		}
		if err := p.TryDo(rig.Nop); err != filch.ErrClosed {
			t.Error("p.TryDo(nop):", err)
		}
		if got := rig.FibFunc.Call(w, 15); got != 610 {
			t.Error("fibFunc.Call(w, 15):", got)
		}
	})
	if err := <-done; err != nil {
		t.Error("<-done:", err)
	}
}

func TestDoContextReturnsTheCauseOfAnEndedContext(t *testing.T) {
	p := filch.New()
	why := errors.New("no more")
	ctx, cancel := context.WithCancelCause(context.Background())
	err := p.DoContext(ctx, func(*filch.Worker) { cancel(why) })
	if err != nil {
		t.Errorf("it had not ended before: %v", err)
	}
	if err := p.DoContext(ctx, func(*filch.Worker) { t.Error("runs") }); err != why {
		t.Error("p.DoContext(ctx, …):", err)
	}
}

func TestTryDoPanicsAsDoDoes(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	boom := func(w *filch.Worker) { w.Join(rig.Nop, func(*filch.Worker) { panic("boom") }) }
	for name, do := range map[string]func(f func(w *filch.Worker)){
		"TryDo":     func(f func(w *filch.Worker)) { p.TryDo(f) },
		"DoContext": func(f func(w *filch.Worker)) { p.DoContext(context.Background(), f) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(*filch.PanicError); !ok || err.Value != "boom" {
					t.Errorf("%s: %v", name, err)
				}
			}()
			do(boom)
		}()
		rig.MustPanic(t, "filch: "+name+": f is nil", func() { do(nil) })
	}
	var none context.Context
	rig.MustPanic(t, "filch: DoContext: ctx is nil", func() { p.DoContext(none, rig.Nop) })
	if err := p.Close(); err != nil { // no place is left behind
		t.Error("p.Close():", err)
	}
}

// The Scope of a task goes on while the pool is shut down, and TryDo says when it does not.
func TestScopeOfATaskTellsWhenThePoolHasEnded(t *testing.T) {
	type scope interface {
		filch.Scope
		TryDo(f func(w *filch.Worker)) error
		Closed() bool
	}
	p := filch.New(filch.WithWorkers(2))
	var s scope
	begun, goOn := make(chan bool), make(chan bool)
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		s = filch.ScopeOf(ctx).(scope)
		begun <- true
		<-goOn
		return 0, nil
	})
	<-begun
	done := make(chan error)
	go func() { done <- p.Shutdown(context.Background()) }()
	for !p.Closed() {
		runtime.Gosched()
	}
	var ran atomic.Int32
	for range 2 { // on the task's worker, and as a guest
		go func() {
			if err := s.TryDo(func(*filch.Worker) { ran.Add(1) }); err != nil || s.Closed() {
				t.Errorf("%v; closed: %t", err, s.Closed())
			}
			begun <- true
		}()
	}
	<-begun
	<-begun
	close(goOn)
	if _, err := f.Wait(context.Background()); err != nil || ran.Load() != 2 {
		t.Errorf("%v; ran %d", err, ran.Load())
	}
	if err := <-done; err != nil {
		t.Error("<-done:", err)
	}
	if err := s.TryDo(func(*filch.Worker) { t.Error("runs") }); err != filch.ErrClosed || !s.Closed() {
		t.Errorf("%v; closed: %t", err, s.Closed())
	}
	rig.MustPanic(t, "closed Pool", func() { s.Do(rig.Nop) })
	rig.MustPanic(t, "TryDo: f is nil", func() { s.TryDo(nil) })
}

func TestDoFromManyGoroutines(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var wg sync.WaitGroup
		var wrong atomic.Int32
		for range racetest.Fewer(8, rig.Fewer(1000)) {
			wg.Go(func() {
				if rig.FibFunc.Call(p, 15)+rig.FibChain.Call(p, 15) != 1220 {
					wrong.Add(1)
				}
			})
		}
		wg.Wait()
		if wrong.Load() > 0 {
			t.Errorf("%d workers: %d wrong answers", workers, wrong.Load())
		}
	}
}

// All calls get under way at once, however few workers there are.
func TestDoStartsAtOnce(t *testing.T) {
	const callers = 1000
	p := filch.New(filch.WithWorkers(1))
	var in, out sync.WaitGroup
	in.Add(callers)
	for range callers {
		out.Go(func() {
			p.Do(func(*filch.Worker) { in.Done(); in.Wait() })
		})
	}
	out.Wait()
}

func TestDoInsideDo(t *testing.T) {
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		var nest func(depth int) int
		nest = func(depth int) (n int) {
			if depth == 0 {
				return rig.FibFunc.Call(p, 10)
			}
			p.Do(func(w *filch.Worker) {
				w.Do(func(w *filch.Worker) {
					a, b := filch.Join(w,
						func(*filch.Worker) int { return nest(depth - 1) },
						func(w *filch.Worker) int { return rig.FibChain.Call(w, 10) })
					n = a + b
				})
			})
			return n
		}
		if got := nest(20); got != 21*55 {
			t.Errorf("%d workers: %d", workers, got)
		}
	}
}

func TestPoolsNest(t *testing.T) {
	a, b := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(2))
	var ping func(w *filch.Worker, p, q *filch.Pool, depth int) int
	ping = func(w *filch.Worker, p, q *filch.Pool, depth int) (n int) {
		if depth == 0 {
			return 1
		}
		there := func(*filch.Worker) (n int) {
			q.Do(func(w *filch.Worker) { n = ping(w, q, p, depth-1) })
			return n
		}
		x, y := filch.Join(w, there, there)
		return x + y
	}
	a.Do(func(w *filch.Worker) {
		if n := ping(w, a, b, 10); n != 1<<10 {
			t.Errorf("%d leaves", n)
		}
	})
}
