package tasks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

type contextKey string

// tasksOf are the ways to run f as a task with ctx. Each returns when f has.
var tasksOf = map[string]func(t *testing.T, p *filch.Pool, ctx context.Context, f func(ctx context.Context)){
	"Go":                 goes(),
	"Go, named":          goes(filch.Named("x")),
	"Go, within an hour": goes(filch.Within(time.Hour)),
	"Go, long running":   goes(filch.LongRunning()),
	"Go, fair":           goes(filch.Fair()),
	"Submit":             submits(),
	"Submit, named":      submits(filch.Named("x")),
	"Submit, long":       submits(filch.LongRunning(), filch.Within(time.Hour)),
	"Group":              groups(),
	"Group, named":       groups(filch.Named("x")),
	"of a task": func(t *testing.T, p *filch.Pool, ctx context.Context, f func(ctx context.Context)) {
		submits()(t, p, ctx, func(ctx context.Context) { submits()(t, p, ctx, f) })
	},
	"of a plain task": func(t *testing.T, p *filch.Pool, ctx context.Context, f func(ctx context.Context)) {
		goes()(t, p, ctx, func(ctx context.Context) { filch.Blocking(ctx, func() { goes()(t, p, ctx, f) }) })
	},
	"of a task of a group": func(t *testing.T, p *filch.Pool, ctx context.Context, f func(ctx context.Context)) {
		groups()(t, p, ctx, func(ctx context.Context) { groups()(t, p, ctx, f) })
	},
}

func goes(opts ...filch.TaskOption) func(*testing.T, *filch.Pool, context.Context, func(context.Context)) {
	return func(t *testing.T, p *filch.Pool, ctx context.Context, f func(ctx context.Context)) {
		done := make(chan bool)
		if err := p.Go(ctx, func(ctx context.Context) { defer close(done); f(ctx) }, opts...); err != nil {
			t.Error("p.Go(ctx, …, opts):", err)
			return
		}
		<-done
	}
}

func submits(opts ...filch.TaskOption) func(*testing.T, *filch.Pool, context.Context, func(context.Context)) {
	return func(t *testing.T, p *filch.Pool, ctx context.Context, f func(ctx context.Context)) {
		filch.Submit(ctx, p, func(ctx context.Context) (int, error) { f(ctx); return 0, nil }, opts...).Wait(context.WithoutCancel(ctx))
	}
}

func groups(opts ...filch.TaskOption) func(*testing.T, *filch.Pool, context.Context, func(context.Context)) {
	return func(t *testing.T, p *filch.Pool, ctx context.Context, f func(ctx context.Context)) {
		g := p.Group(ctx)
		g.Go(func(ctx context.Context) error { f(ctx); return nil }, opts...)
		g.Wait()
	}
}

func eachTask(t *testing.T, f func(t *testing.T, p *filch.Pool, run func(ctx context.Context, f func(ctx context.Context)))) {
	for name, task := range tasksOf {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprint(name, "/", workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(filch.WithWorkers(workers))
					defer p.Close()
					f(t, p, func(ctx context.Context, f func(ctx context.Context)) { task(t, p, ctx, f) })
				})
			})
		}
	}
}

// A task's context has the values of the submitter's, whatever ends that, and whether or not
// somebody asks for the end.
func TestValuesReachTheTask(t *testing.T) {
	eachTask(t, func(t *testing.T, p *filch.Pool, run func(ctx context.Context, f func(ctx context.Context))) {
		cancelled, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, outer := range []context.Context{context.Background(), cancelled} {
			ctx := context.WithValue(context.WithValue(outer, contextKey("a"), 1), contextKey("b"), "two")
			run(ctx, func(ctx context.Context) {
				for range 2 {
					if a, b := ctx.Value(contextKey("a")), ctx.Value(contextKey("b")); a != 1 || b != "two" {
						t.Errorf("the values are %v and %v", a, b)
					}
					if v := ctx.Value(contextKey("c")); v != nil {
						t.Errorf("a value from nowhere: %v", v)
					}
					ctx.Done() // makes an end of its own for some
				}
				child, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				if v := child.Value(contextKey("a")); v != 1 {
					t.Errorf("a child has the value %v", v)
				}
				if fmt.Sprint(ctx) == "" {
					t.Error("the context prints as nothing")
				}
			})
		}
	})
}

// A task's context has the deadline of the submitter's.
func TestDeadlineReachesTheTask(t *testing.T) {
	eachTask(t, func(t *testing.T, p *filch.Pool, run func(ctx context.Context, f func(ctx context.Context))) {
		want := time.Now().Add(time.Minute) // less than the hour of Within
		ctx, cancel := context.WithDeadlineCause(context.Background(), want, rig.ErrBoom)
		defer cancel()
		run(ctx, func(ctx context.Context) {
			for range 2 {
				if at, ok := ctx.Deadline(); !ok || !at.Equal(want) {
					t.Errorf("the deadline is %v, %v, not %v", at, ok, want)
				}
				if err := ctx.Err(); err != nil {
					t.Errorf("before its end: %v", err)
				}
				ctx.Done()
			}
			<-ctx.Done()
			if now := time.Now(); !now.Equal(want) {
				t.Errorf("it ended at %v, not at %v", now, want)
			}
			if err, cause := ctx.Err(), context.Cause(ctx); err != context.DeadlineExceeded || cause != rig.ErrBoom {
				t.Errorf("it ended with %v, because of %v", err, cause)
			}
		})
		if _, ok := context.Background().Deadline(); ok {
			t.Error("the background has a deadline")
		}
	})
}

// When the submitter's context ends, so does the task's, with the same cause, and so do contexts
// that were made from it.
func TestCauseReachesTheTask(t *testing.T) {
	eachTask(t, func(t *testing.T, p *filch.Pool, run func(ctx context.Context, f func(ctx context.Context))) {
		for _, asked := range []bool{false, true} {
			ctx, cancel := context.WithCancelCause(context.Background())
			run(ctx, func(ctx context.Context) {
				if asked {
					ctx.Done()
				}
				child, stop := context.WithCancel(ctx)
				defer stop()
				time.AfterFunc(time.Second, func() { cancel(rig.ErrBoom) })
				time.Sleep(time.Second + time.Millisecond)
				<-ctx.Done()
				<-child.Done()
				for _, c := range []context.Context{ctx, child} {
					if err, cause := c.Err(), context.Cause(c); err != context.Canceled || cause != rig.ErrBoom {
						t.Errorf("it ended with %v, because of %v", err, cause)
					}
				}
			})
		}
	})
}

// When the pool is closed, the contexts of its tasks end because of that.
func TestContextsEndWithThePool(t *testing.T) {
	for name, task := range tasksOf {
		for _, outer := range []context.Context{context.Background(), context.WithValue(context.Background(), contextKey("a"), 1)} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(1))
				begun := make(chan bool)
				go task(t, p, outer, func(ctx context.Context) {
					child, stop := context.WithCancel(ctx)
					defer stop()
					close(begun)
					<-child.Done()
					<-ctx.Done()
					if err, cause := ctx.Err(), context.Cause(ctx); err != context.Canceled || cause != filch.ErrClosed {
						t.Errorf("%s: ended with %v, because of %v", name, err, cause)
					}
					if cause := context.Cause(child); cause != filch.ErrClosed {
						t.Errorf("%s: a child ended because of %v", name, cause)
					}
				})
				<-begun
				p.Close()
			})
		}
	}
}

// A context that has ended keeps tasks from starting, with its cause, in every form.
func TestNothingStartsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		gate := make(chan bool)
		p.Go(context.Background(), func(context.Context) { <-gate })
		ctx, cancel := context.WithCancelCause(context.Background())
		never := func(context.Context) { t.Error("a task starts after the end of its context") }
		neverErr := func(ctx context.Context) error { never(ctx); return nil }
		neverInt := func(ctx context.Context) (int, error) { never(ctx); return 1, nil }
		p.Go(ctx, never)
		p.Go(ctx, never, filch.Named("x"))
		f := filch.Submit(ctx, p, neverInt)
		g := p.Group(ctx)
		g.Go(neverErr)
		g.Go(neverErr, filch.Named("x"))
		cancel(rig.ErrBoom)
		if err := p.Go(ctx, never); err != rig.ErrBoom {
			t.Errorf("Go: %v", err)
		}
		if err := p.TryGo(ctx, never, filch.LongRunning()); err != rig.ErrBoom {
			t.Errorf("TryGo: %v", err)
		}
		if n, err := filch.Submit(ctx, p, neverInt).Wait(context.Background()); n != 0 || err != rig.ErrBoom {
			t.Errorf("Submit: %v", err)
		}
		if n, err := f.Wait(context.Background()); n != 0 || err != rig.ErrBoom {
			t.Errorf("Wait: %d, %v", n, err)
		}
		if err := g.Wait(); err != rig.ErrBoom {
			t.Errorf("Group.Wait: %v", err)
		}
		close(gate)
		p.Shutdown(context.Background())
		if k := p.Stats().Tasks; k.Submitted != 6 || k.Done != 1 || k.Cancelled != 5 || k.Rejected != 3 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// Wait is given up when its context ends; the task goes on.
func TestWaitIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { time.Sleep(time.Minute); return 7, nil })
		synctest.Wait() // it has begun
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, rig.ErrBoom)
		defer cancel()
		begin := time.Now()
		if n, err := f.Wait(ctx); n != 0 || err != rig.ErrBoom || time.Since(begin) != time.Second {
			t.Errorf("%d, %v after %v", n, err, time.Since(begin))
		}
		if n, err := f.Wait(ctx); n != 0 || err != rig.ErrBoom {
			t.Errorf("again: %d, %v", n, err)
		}
		inside := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, time.Second, rig.ErrBoom)
			defer cancel()
			if n, err := f.Wait(ctx); n != 0 || err != rig.ErrBoom {
				t.Errorf("inside: %d, %v", n, err)
			}
			if s := p.Stats(); s.Active-s.Searching != 2 || s.Blocked != 0 {
				t.Errorf("two tasks run: %+v", s)
			}
			return f.Wait(ctx)
		})
		if n, err := inside.Wait(context.Background()); !errors.Is(err, rig.ErrBoom) {
			t.Errorf("inside, again: %d, %v", n, err)
		}
		if n, err := f.Wait(context.Background()); n != 7 || err != nil {
			t.Errorf("at last: %d, %v", n, err)
		}
		if n, err := f.Wait(ctx); n != 7 || err != nil { // it is done
			t.Errorf("of a task that is done: %d, %v", n, err)
		}
	})
}

// A task that waits counts as blocked and has lent its place, and has it again afterwards.
func TestPlacesOfTasksThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		defer p.Close()
		gate := make(chan bool)
		want := func(what string, active, blocked int) {
			t.Helper()
			synctest.Wait()
			if s := p.Stats(); s.Active != active || s.Blocked != blocked || s.Idle != 1-active {
				t.Errorf("p.Stats(): %s: %+v", what, s)
			}
		}
		f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			<-gate
			filch.Blocking(ctx, func() { <-gate })
			<-gate
			return 1, nil
		})
		want("it runs", 1, 0)
		gate <- true
		want("it blocks", 0, 1)
		gate <- true
		want("it runs again", 1, 0)
		gate <- true
		f.Wait(context.Background())
		want("it is done", 0, 0)
	})
}

// A task that runs may have the channel of its context and nothing else.
func TestContextsLastAsLongAsTheirTask(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
		var g *filch.Group
		begun := make(chan bool)
		f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			g = p.Group(ctx)
			g.Go(func(ctx context.Context) error { // in place
				ended := ctx.Done()
				close(begun)
				<-ended
				return nil
			}, opts...)
			return 0, g.Wait()
		})
		<-begun
		for range 5 {
			runtime.GC()
			runtime.Gosched()
		}
		if f.Done(); p.Stats().Tasks.Done == p.Stats().Tasks.Submitted {
			t.Error("the task has ended")
		}
		g.Stop()
		f.Wait(context.Background())
	}
}

// A task's context ends with the error of the submitter's, and keeps it.
func TestErrorOfAContext(t *testing.T) {
	for range 100 {
		p := filch.New(filch.WithWorkers(2))
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Millisecond, rig.ErrBoom)
		for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.LongRunning()}, {filch.Within(time.Hour)}} {
			p.Go(ctx, func(inner context.Context) {
				child, cancel := context.WithCancel(inner)
				defer cancel()
				<-inner.Done() // to one that has no channel of it, Err may say so before
				<-child.Done()
				for range 2 {
					if err, cause := inner.Err(), context.Cause(inner); err != context.DeadlineExceeded || cause != rig.ErrBoom {
						t.Errorf("inner.Err(): %v, %v", err, cause)
					}
					if err, cause := child.Err(), context.Cause(child); err != context.DeadlineExceeded || cause != rig.ErrBoom {
						t.Errorf("of a child: %v, %v", err, cause)
					}
				}
			}, opts...)
		}
		p.Shutdown(context.Background())
		cancel()
	}
}

// Contexts of any type will do.
func TestContextsOfAnyTypeWillDo(t *testing.T) {
	type odd struct {
		context.Context
		v any
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for range 3 {
		p.Go(odd{context.Background(), []int{1}}, rig.Nothing)
		p.Go(odd{context.Background(), 1}, rig.Nothing)
		if _, err := filch.Submit(odd{context.Background(), []int{1}}, p, rig.One).Wait(odd{context.Background(), []int{2}}); err != nil {
			t.Error("filch.Submit(…, p, one).Wait(…):", err)
		}
	}
}

// Why a task's context has ended is the same for every kind of task, and to make
// contexts from it starts no goroutine.
func TestContextOfAPlainTask(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	goroutines := make(chan int, 1)
	causes := make(chan error, 2)
	begun := make(chan bool)
	p.Go(context.Background(), func(ctx context.Context) {
		before := runtime.NumGoroutine()
		for range 100 {
			c, cancel := context.WithCancel(ctx)
			defer cancel()
			defer c.Done()
		}
		goroutines <- runtime.NumGoroutine() - before
		begun <- true
		<-ctx.Done()
		causes <- context.Cause(ctx)
	})
	filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		begun <- true
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return 0, nil
	})
	<-begun
	<-begun
	p.Close()
	if n := <-goroutines; n > 10 {
		t.Errorf("%d goroutines were started", n)
	}
	for range 2 {
		if err := <-causes; !errors.Is(err, filch.ErrClosed) {
			t.Error("<-causes:", err)
		}
	}
}
