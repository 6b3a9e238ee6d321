package life

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// When Shutdown has returned, nothing runs, and nothing begins.
func TestNothingRunsAfterShutdown(t *testing.T) {
	for start := time.Now(); time.Since(start) < rig.StressTime()/2; {
		p := filch.New(filch.WithWorkers(2), filch.WithQueueLimit(1, filch.Overflow(start.Nanosecond()/1000%3)))
		var over atomic.Bool
		late := func(context.Context) {
			if over.Load() {
				t.Error("a task begins after Shutdown")
			}
		}
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for p.Go(context.Background(), late) != filch.ErrClosed {
					p.Help(context.Background())
				}
			})
		}
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal("p.Shutdown(background):", err)
		}
		over.Store(true)
		users.Wait()
	}
	var inner context.Context
	p := filch.New(filch.WithWorkers(1))
	p.Go(context.Background(), func(ctx context.Context) { inner = context.WithoutCancel(ctx) })
	p.Shutdown(context.Background())
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.LongRunning()}} {
		if err := p.Go(inner, func(context.Context) { t.Error("a task runs after Shutdown") }, opts...); err != filch.ErrClosed {
			t.Error("p.Go(inner, …, opts):", err)
		}
	}
	p.Close()
	if s := p.Stats(); s.Active != 0 || s.Blocked != 0 {
		t.Errorf("p.Stats(): %+v", s)
	}
}

// A goroutine that a task leaves behind runs another task in its name: Shutdown
// waits for that as well.
func TestShutdownWaitsForWhatRunsInPlace(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group){
		"Future.Wait": func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group) { f.Wait(ctx) },
		"Help":        func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group) { p.Help(ctx) },
		"Group.Wait":  func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group) { g.Wait() },
	} {
		p := filch.New(filch.WithWorkers(1))
		begun, gate := make(chan bool), make(chan bool)
		var ended atomic.Bool
		inner := func(context.Context) (int, error) {
			close(begun)
			<-gate
			ended.Store(true)
			return 0, nil
		}
		filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			var f *filch.Future[int]
			g := p.Group(ctx)
			if name == "Group.Wait" {
				g.Go(func(ctx context.Context) error { inner(ctx); return nil })
			} else {
				f = filch.Submit(ctx, p, inner)
			}
			go wait(ctx, p, f, g)
			<-begun
			return 0, nil
		})
		<-begun
		time.AfterFunc(2*time.Millisecond, func() { close(gate) })
		if err := p.Shutdown(context.Background()); err != nil || !ended.Load() {
			t.Errorf("%s: Shutdown returned while a task runs; %v", name, err)
		}
		if s := p.Stats(); s.Blocked != 0 || s.Tasks.Done != s.Tasks.Submitted || s.Tasks.Done != 2 {
			t.Errorf("p.Stats(): %s: %+v", name, s)
		}
	}
}

// Tasks that no worker runs are tasks nonetheless while the pool is shut down.
func TestTasksWithoutAWorkerDuringShutdown(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	gate := make(chan bool)
	var ran atomic.Int32
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		<-gate
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { ran.Add(1) }, func(*filch.Worker) { ran.Add(1) })
		})
		_, err := filch.Submit(ctx, p, rig.One).Wait(ctx)
		return 0, errors.Join(err, p.Go(ctx, func(context.Context) { ran.Add(1) }),
			p.Go(ctx, func(context.Context) { ran.Add(1) }, filch.LongRunning()))
	}, filch.LongRunning())
	time.AfterFunc(time.Millisecond, func() { close(gate) })
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error("p.Shutdown(background):", err)
	}
	if _, err := f.Wait(context.Background()); err != nil || ran.Load() != 4 {
		t.Errorf("%v, %d ran", err, ran.Load())
	}
}

// Shutdown runs all that was submitted before, and what that submits; if it may
// not take so long, it says what it dropped.
func TestShutdownRunsAllOrSaysWhatItDropped(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	var ran atomic.Int32
	var spread func(ctx context.Context, depth int)
	spread = func(ctx context.Context, depth int) {
		ran.Add(1)
		if depth > 0 {
			for range 2 {
				if err := p.Go(ctx, func(ctx context.Context) { spread(ctx, depth-1) }); err != nil {
					t.Error("p.Go(ctx, …):", err)
				}
			}
		}
	}
	for range 10 {
		p.Go(context.Background(), func(ctx context.Context) { spread(ctx, 8) })
	}
	p.Pause()
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := p.Shutdown(context.Background()); err != nil {
				t.Error("p.Shutdown(background):", err)
			}
			if n := ran.Load(); n != 5110 {
				t.Errorf("%d ran", n)
			}
		})
	}
	wg.Wait()
	if err := p.Go(context.Background(), func(context.Context) {}); err != filch.ErrClosed {
		t.Error("p.Go(background, …):", err)
	}

	p = filch.New(filch.WithWorkers(1))
	started := make(chan bool)
	running := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		close(started)
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
	<-started
	var queued []*filch.Future[int]
	for range 7 {
		queued = append(queued, filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return 0, nil }))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(rig.ErrBoom)
	if err := p.Shutdown(ctx); !errors.Is(err, rig.ErrBoom) || !strings.Contains(err.Error(), "7 tasks queued") {
		t.Error("p.Shutdown(ctx):", err)
	}
	for _, f := range append(queued, running) {
		if _, err := f.Wait(context.Background()); err != filch.ErrClosed {
			t.Error("f.Wait(background):", err)
		}
	}
	p.Close()
}
