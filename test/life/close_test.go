package life

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// What is closed stays closed: a Shutdown after Close takes no tasks, from tasks neither, and does
// not bring contexts back.
func TestShutdownAfterCloseOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		gate := make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) {
			<-gate
			if err := p.Go(ctx, rig.Nothing); err != filch.ErrClosed {
				t.Errorf("Go inside: %v", err)
			}
			if err := ctx.Err(); err != context.Canceled {
				t.Errorf("the context: %v", err)
			}
		})
		synctest.Wait()
		go p.Close()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		if err := p.Go(context.Background(), rig.Nothing); err != filch.ErrClosed {
			t.Errorf("Go: %v", err)
		}
		close(gate)
		p.Close()
	})
}

// A pool that is shut down takes tasks from its own and from nobody else, calls of Do not at all,
// and cannot be paused.
func TestWhatADrainingPoolTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
		gate := make(chan bool)
		var inner error
		ran := false
		p.Go(context.Background(), func(ctx context.Context) {
			<-gate
			inner = p.Go(ctx, func(context.Context) { ran = true })
		})
		synctest.Wait()
		p.Pause() // Shutdown resumes it
		end := make(chan error)
		go func() { end <- p.Shutdown(context.Background()) }()
		synctest.Wait()
		p.Pause()
		if err := p.Go(context.Background(), rig.Nothing); err != filch.ErrClosed {
			t.Errorf("from outside: %v", err)
		}
		filch.Submit(context.Background(), other, func(ctx context.Context) (int, error) {
			if err := p.Go(ctx, rig.Nothing); err != filch.ErrClosed {
				t.Errorf("from a task of another pool: %v", err)
			}
			return 0, nil
		}).Wait(context.Background())
		if v := rig.Catch(func() { p.Do(rig.Nop) }); v != "filch: Do on a closed Pool" {
			t.Errorf("Do: %v", v)
		}
		if v := rig.Catch(func() { rig.FibFunc.Call(p, 1) }); v != "filch: Call on a closed Pool" {
			t.Errorf("Call: %v", v)
		}
		close(gate)
		if err := <-end; err != nil || inner != nil || !ran {
			t.Errorf("%v; a task from inside: %v, it ran: %v", err, inner, ran)
		}
		if s := p.Stats(); s.Tasks.Rejected != 2 || s.Active != 0 || s.Blocked != 0 {
			t.Errorf("p.Stats(): %+v", s)
		}
		other.Close()
	})
}

// Shutdown tells how many tasks were queued when it gave up, and drops these.
func TestShutdownTellsWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		p.Go(context.Background(), func(ctx context.Context) {
			for range 3 {
				p.Go(ctx, rig.Nothing)
			}
			<-ctx.Done()
		})
		synctest.Wait()
		for range 4 {
			p.Go(context.Background(), rig.Nothing)
		}
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, rig.ErrBoom)
		defer cancel()
		err := p.Shutdown(ctx)
		if want := "filch: Shutdown: boom before all was done, with 7 tasks queued"; err == nil || err.Error() != want || !errors.Is(err, rig.ErrBoom) {
			t.Errorf("%v, not %s", err, want)
		}
		p.Close()
		if k := p.Stats().Tasks; k.Cancelled != 7 || k.Done != 1 || k.Queued != 0 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// Close waits for each kind of work, and for nothing else.
func TestCloseWaitsForAll(t *testing.T) {
	sleep := func() { time.Sleep(time.Minute) }
	for name, begin := range map[string]func(p *filch.Pool){
		"Do": func(p *filch.Pool) { p.Do(func(*filch.Worker) { sleep() }) },
		"Go": func(p *filch.Pool) { p.Go(context.Background(), func(context.Context) { sleep() }) },
		"LongRunning": func(p *filch.Pool) {
			p.Go(context.Background(), func(context.Context) { sleep() }, filch.LongRunning())
		},
		"Blocking": func(p *filch.Pool) {
			p.Go(context.Background(), func(ctx context.Context) { filch.Blocking(ctx, sleep) })
		},
		"CallerRuns": func(p *filch.Pool) {
			p.Pause()
			p.Go(context.Background(), rig.Nothing)
			p.Go(context.Background(), func(context.Context) { sleep() })
		},
		"Help": func(p *filch.Pool) {
			p.Go(context.Background(), func(ctx context.Context) {
				p.Go(ctx, func(context.Context) { sleep() })
				p.Help(ctx)
			})
		},
		"ScopeOf": func(p *filch.Pool) {
			p.Go(context.Background(), func(ctx context.Context) {
				go filch.ScopeOf(ctx).Do(func(*filch.Worker) { sleep() })
				time.Sleep(time.Second)
			})
		},
		"a stolen fork": func(p *filch.Pool) {
			p.Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) { sleep() }, func(*filch.Worker) { sleep() }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, inside := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(filch.WithWorkers(2), filch.WithQueueLimit(1, filch.CallerRuns))
					start := time.Now()
					go begin(p)
					synctest.Wait()
					if inside {
						if err := <-closes(p); !errors.Is(err, filch.ErrInside) {
							t.Error("<-closes(p):", err)
						}
						if took := time.Since(start); took != 0 {
							t.Errorf("from inside, Close waited for %v", took)
						}
					}
					if err := p.Close(); err != nil {
						t.Error("p.Close():", err)
					}
					if took := time.Since(start); took != time.Minute {
						t.Errorf("Close returned after %v", took)
					}
					if s := p.Stats(); s.Active != 0 || s.Blocked != 0 {
						t.Errorf("p.Stats(): %+v", s)
					}
				})
			}
		})
	}
}

// closes closes p from inside a task of it.
func closes(p *filch.Pool) chan error {
	err := make(chan error, 1)
	if e := p.Go(context.Background(), func(context.Context) { err <- p.Close() }, filch.LongRunning()); e != nil {
		err <- e
	}
	return err
}

// A task that Close drops, or that comes later, has ErrClosed, in each form.
func TestClosedIsTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		p.Pause()
		var fs []*filch.Future[int]
		for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.Within(time.Hour)}} {
			fs = append(fs, filch.Submit(context.Background(), p, rig.One, opts...))
		}
		g := p.Group(context.Background())
		g.Go(func(context.Context) error { return nil })
		p.Close()
		fs = append(fs, filch.Submit(context.Background(), p, rig.One), filch.Submit(context.Background(), p, rig.One, filch.LongRunning()))
		for i, f := range fs {
			if n, err := f.Wait(context.Background()); n != 0 || err != filch.ErrClosed {
				t.Errorf("future %d: %d, %v", i, n, err)
			}
		}
		if err := g.Wait(); err != filch.ErrClosed {
			t.Errorf("group: %v", err)
		}
		if p.Help(context.Background()) {
			t.Error("there was something to help with")
		}
		if k := p.Stats().Tasks; k.Cancelled != 4 || k.Rejected != 2 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// A pool made outside of a bubble may be closed outside.
func TestCloseOutsideOfABubble(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	synctest.Test(t, func(*testing.T) {
		done := make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) { ctx.Done(); close(done) })
		<-done
	})
	p.Close()
}

func TestCloseWaitsForCallsAndTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		ended := false
		go p.Do(func(w *filch.Worker) {
			w.Join(
				func(*filch.Worker) { time.Sleep(time.Second) },
				func(*filch.Worker) { time.Sleep(2 * time.Second) })
			ended = true
		})
		synctest.Wait()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := p.Close(); err != nil || !ended {
					t.Errorf("Close returned %v; the call had ended: %v", err, ended)
				}
			})
		}
		synctest.Wait()
		rig.MustPanic(t, "Do on a closed Pool", func() { p.Do(rig.Nop) })
		wg.Wait()
		rig.MustPanic(t, "Do on a closed Pool", func() { p.Do(rig.Nop) })
		rig.MustPanic(t, "Call on a closed Pool", func() { rig.FibFunc.Call(p, 1) })
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
		if err := filch.New().Close(); err != nil {
			t.Error("filch.New().Close():", err)
		}
	})
}

func TestDefaultPoolCannotBeClosed(t *testing.T) {
	if err := filch.Default().Close(); err == nil {
		t.Error("no error")
	}
	if got := rig.FibFunc.Call(filch.Default(), 10); got != 55 {
		t.Error("fibFunc.Call(filch.Default(), 10):", got)
	}
}
