package forks

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
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
