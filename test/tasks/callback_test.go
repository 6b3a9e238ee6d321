package tasks

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// on returns an observer that calls f at events of one kind, for tasks of one name.
func on(kind filch.EventKind, name string, f func()) filch.Option {
	return filch.WithObserver(rig.Observer(func(e filch.Event) {
		if e.Kind == kind && e.Task == name {
			f()
		}
	}))
}

// A callback that does not return, by a panic or by runtime.Goexit, leaves nothing
// behind: the pool goes on, and Close returns.
func TestCallbacksThatDoNotReturn(t *testing.T) {
	for name, c := range badCallbacks(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(append(c.opts, filch.WithWorkers(1))...)
				c.f(p)
				synctest.Wait()
				p.Resume()
				inTask(p, func(context.Context) {}) // the pool goes on
				p.Close()
				if s := p.Stats(); s.Active != 0 || s.Searching != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 {
					t.Errorf("left over: %+v", s)
				}
			})
		})
	}
}

// attempt calls f on a goroutine of its own, which may end by a panic or Goexit.
func attempt(f func()) {
	over := make(chan bool)
	go func() {
		defer close(over)
		defer func() { recover() }()
		f()
	}()
	<-over
}

func inTask(p *filch.Pool, f func(ctx context.Context)) {
	filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		f(ctx)
		return 0, nil
	}, filch.Named("check")).Wait(context.Background())
}

// A badCallback is what calls one that does not return, in a pool with opts.
type badCallback struct {
	opts []filch.Option
	f    func(p *filch.Pool)
}

func badCallbacks(t *testing.T) map[string]badCallback {
	goexit := filch.WithPanicHandler(func(*filch.PanicError) { runtime.Goexit() })
	fail := func() { panic("a callback") }
	crash := func(context.Context) { panic("a task") }
	ctx := context.Background()
	return map[string]badCallback{
		"Goexit in the handler, on a worker":              {[]filch.Option{goexit}, func(p *filch.Pool) { p.Go(ctx, crash) }},
		"Goexit in the handler, on a worker, by a Future": {[]filch.Option{goexit}, func(p *filch.Pool) { p.Go(ctx, crash, filch.Named("x")) }},
		"Goexit in the handler, by Help": {[]filch.Option{goexit}, func(p *filch.Pool) {
			inTask(p, func(ctx context.Context) { p.Go(ctx, crash); p.Help(ctx) })
		}},
		"Goexit in the handler, by Help from outside": {[]filch.Option{goexit}, func(p *filch.Pool) {
			p.Do(func(*filch.Worker) { // keeps the only worker away
				p.Go(ctx, crash)
				attempt(func() { p.Help(ctx) })
			})
		}},
		"Goexit in the handler, by CallerRuns": {[]filch.Option{goexit, filch.WithQueueLimit(1, filch.CallerRuns)}, func(p *filch.Pool) {
			inTask(p, func(ctx context.Context) { p.Go(ctx, crash); p.Go(ctx, crash) })
		}},
		"Goexit in the handler, long running": {[]filch.Option{goexit}, func(p *filch.Pool) { p.Go(ctx, crash, filch.LongRunning()) }},
		"a panic at TaskSubmitted, by CallerRuns": {[]filch.Option{on(filch.TaskSubmitted, "x", fail), filch.WithQueueLimit(1, filch.CallerRuns)}, func(p *filch.Pool) {
			inTask(p, func(ctx context.Context) {
				p.Go(ctx, func(context.Context) {})
				attempt(func() { p.Go(ctx, func(context.Context) {}, filch.Named("x")) })
			})
		}},
		"a panic at TaskSubmitted, of a group": {[]filch.Option{on(filch.TaskSubmitted, "x", fail)}, func(p *filch.Pool) {
			g := p.Group(ctx)
			attempt(func() { g.Go(func(context.Context) error { return nil }, filch.Named("x")) })
			g.Wait()
		}},
		"a panic at TaskRejected, of a group": {[]filch.Option{on(filch.TaskRejected, "", fail)}, func(p *filch.Pool) {
			g := p.Group(ctx)
			p.Close()
			attempt(func() { g.Go(func(context.Context) error { return nil }) })
			g.Wait()
		}},
		"a panic at TaskStarted": {[]filch.Option{on(filch.TaskStarted, "x", fail)}, func(p *filch.Pool) {
			f := filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil }, filch.Named("x"))
			if _, err := f.Wait(ctx); err == nil {
				t.Error("no error")
			}
		}},
		"a panic at TaskCancelled": {[]filch.Option{on(filch.TaskCancelled, "x", fail)}, func(p *filch.Pool) {
			p.Pause()
			f := filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil }, filch.Named("x"))
			attempt(f.Cancel)
			if _, err := f.Wait(ctx); err == nil {
				t.Error("no error")
			}
		}},
	}
}

// Room for a task that the observer does not let in is given back.
func TestRoomOfATaskThatWasNotSubmitted(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Reject), on(filch.TaskSubmitted, "x", func() { panic("a callback") }))
	defer p.Close()
	p.Pause()
	for range 3 {
		func() {
			defer func() { recover() }()
			p.Go(context.Background(), func(context.Context) {}, filch.Named("x"))
		}()
	}
	if err := p.Go(context.Background(), func(context.Context) {}); err != nil {
		t.Error("p.Go(context.Background(), …):", err)
	}
}

// Close inside Blocking knows the task, also on another goroutine.
func TestCloseInsideBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			done := make(chan error)
			go filch.Blocking(ctx, func() { done <- p.Close() })
			return 0, <-done
		})
		if _, err := f.Wait(context.Background()); !errors.Is(err, filch.ErrInside) {
			t.Error("f.Wait(context.Background()):", err)
		}
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
	})
}

// Close knows a task that runs in place on a goroutine that another task has made.
func TestCloseInsideInPlace(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, p *filch.Pool, f func()){
		"Wait": func(ctx context.Context, p *filch.Pool, f func()) {
			filch.Submit(ctx, p, func(context.Context) (int, error) { f(); return 0, nil }).Wait(ctx)
		},
		"Help": func(ctx context.Context, p *filch.Pool, f func()) {
			p.Go(ctx, func(context.Context) { f() })
			p.Help(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, other := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
				defer other.Close()
				f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
					done := make(chan error)
					go call(ctx, p, func() {
						if err := other.Shutdown(context.Background()); err != nil {
							t.Error("other.Shutdown(context.Background()):", err)
						}
						done <- p.Close()
					})
					return 0, <-done
				})
				if _, err := f.Wait(context.Background()); !errors.Is(err, filch.ErrInside) {
					t.Error("f.Wait(context.Background()):", err)
				}
				if err := p.Close(); err != nil {
					t.Error("p.Close():", err)
				}
			})
		})
	}
}

// A task that the submitter runs, and that does not return, is counted once.
func TestGoexitInATaskOfAGroupThatTheCallerRuns(t *testing.T) {
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.CallerRuns))
			defer p.Close()
			p.Pause()
			p.Go(context.Background(), func(context.Context) {})
			g := p.Group(context.Background(), filch.CollectErrors(9))
			over := make(chan bool)
			go func() {
				defer close(over)
				g.Go(func(context.Context) error { runtime.Goexit(); return nil }, opts...)
			}()
			<-over
			p.Resume()
			synctest.Wait()
			ran := false
			g.Go(func(context.Context) error { ran = true; return nil })
			if err := g.Wait(); !ran || !errors.Is(err, filch.ErrGoexit) {
				t.Errorf("ran: %t, %v", ran, err)
			}
		})
	}
}

// An observer may close the pool when a task is submitted, also one that is long running.
func TestCloseInAnObserver(t *testing.T) {
	for _, opts := range [][]filch.TaskOption{nil, {filch.LongRunning()}} {
		synctest.Test(t, func(t *testing.T) {
			var p *filch.Pool
			closed := false
			p = filch.New(filch.WithWorkers(1), filch.WithObserver(rig.Observer(func(e filch.Event) {
				if e.Kind == filch.TaskSubmitted && !closed {
					closed = true
					p.Close()
				}
			})))
			p.Go(context.Background(), func(context.Context) {}, opts...)
			if err := p.Close(); err != nil {
				t.Error("p.Close():", err)
			}
		})
	}
}

// A panic of the observer at the cancellation of a task that was about to start is not
// swallowed: it arrives at the caller that was to run the task in place.
func TestPanicAtACancellationInPlace(t *testing.T) {
	for name, opts := range map[string][]filch.TaskOption{"plain": nil, "named": {filch.Named("x")}} {
		for call, wait := range map[string]func(ctx context.Context, p *filch.Pool, f *filch.Future[int]){
			"Wait": func(ctx context.Context, p *filch.Pool, f *filch.Future[int]) { f.Wait(ctx) },
			"Help": func(ctx context.Context, p *filch.Pool, _ *filch.Future[int]) { p.Help(ctx) },
		} {
			t.Run(call+"/"+name, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(1), filch.WithPanicHandler(func(*filch.PanicError) {}), filch.WithObserver(rig.Observer(func(e filch.Event) {
					if e.Kind == filch.TaskCancelled {
						panic("the observer")
					}
				})))
				outer := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
					soon, cancel := context.WithCancel(ctx)
					f := filch.Submit(soon, p, func(context.Context) (int, error) { return 0, nil }, opts...)
					cancel()
					wait(ctx, p, f)
					return 0, nil
				})
				var err *filch.PanicError
				if _, e := outer.Wait(context.Background()); !errors.As(e, &err) || err.Value != "the observer" {
					t.Errorf("the task that was to run it ends with %v", e)
				}
				p.Close() // so that all is counted
				if s := p.Stats().Tasks; s.Submitted != s.Done+s.Cancelled {
					t.Errorf("p.Stats().Tasks: %+v", s)
				}
			})
		}
	}
}

// On a worker it ends the program.
func TestPanicAtACancellationEndsTheProgram(t *testing.T) {
	const env = "FILCH_TEST_PANIC_AT_CANCELLATION"
	if name := os.Getenv(env); name != "" {
		p := filch.New(filch.WithWorkers(1), filch.WithPanicHandler(func(*filch.PanicError) {}), on(filch.TaskCancelled, "", func() { panic("the end") }))
		ctx, cancel := context.WithCancel(context.Background())
		p.Pause()
		if name == "plain" {
			p.Go(ctx, func(context.Context) {})
		} else {
			filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil })
		}
		cancel()
		p.Resume()
		select {}
	}
	for _, name := range []string{"plain", "future"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPanicAtACancellationEndsTheProgram$", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), env+"="+name)
		if b, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(b), "panic: the end") {
			t.Errorf("cmd.CombinedOutput(): %s: %v\n%s", name, err, b)
		}
	}
}
