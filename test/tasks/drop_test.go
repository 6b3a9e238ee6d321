package tasks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// submitters are all ways to submit a task with options.
var submitters = map[string]func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption){
	"Go": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		p.Go(ctx, func(ctx context.Context) { f(ctx) }, opts...)
	},
	"TryGo": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		p.TryGo(ctx, func(ctx context.Context) { f(ctx) }, opts...)
	},
	"Submit": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return 0, f(ctx) }, opts...)
	},
	"Group.Go": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		p.Group(ctx).Go(f, opts...)
	},
	"Group.Go, GroupLimit": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		p.Group(ctx, filch.GroupLimit(1)).Go(f, opts...)
	},
	"Group.GoFrom": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		p.Group(ctx).GoFrom(ctx, f, opts...)
	},
	"Group.TryGo": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		p.Group(ctx).TryGo(f, opts...)
	},
	"ResultGroup.Go": func(ctx context.Context, p *filch.Pool, f func(ctx context.Context) error, opts ...filch.TaskOption) {
		filch.NewResultGroup[int](ctx, p).Go(func(ctx context.Context) (int, error) { return 0, f(ctx) }, opts...)
	},
}

// outcome notes which of a task and its OnDrop is called.
type outcome struct {
	ran, dropped atomic.Int64
	err          atomic.Value
}

func (o *outcome) run(context.Context) error { o.ran.Add(1); return nil }

func (o *outcome) option() filch.TaskOption {
	return filch.OnDrop(func(err error) { o.err.Store(err); o.dropped.Add(1) })
}

// check tells whether just one was called, and that with the right error; none if it ran.
func (o *outcome) check(t *testing.T, what string, want error) {
	t.Helper()
	err, _ := o.err.Load().(error)
	if want == nil && (o.ran.Load() != 1 || o.dropped.Load() != 0) || want != nil && (o.ran.Load() != 0 || o.dropped.Load() != 1 || !errors.Is(err, want)) {
		t.Errorf("%s: it ran %d times, was dropped %d times: %v; want %v", what, o.ran.Load(), o.dropped.Load(), err, want)
	}
}

// Whatever becomes of a task, either it runs or OnDrop is called, however it was submitted.
func TestOnDropOrTheTask(t *testing.T) {
	for name, submit := range submitters {
		for _, extra := range [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.LongRunning()}, {filch.Within(time.Hour)}} {
			long := len(extra) > 0 && extra[0] == filch.LongRunning()
			synctest.Test(t, func(t *testing.T) {
				what := fmt.Sprint(name, " ", extra)
				p, release := rig.Held(t)
				var ran, closed, ended, canceled, invalid, refused outcome
				submit(context.Background(), p, ran.run, append(extra, ran.option())...)
				submit(context.Background(), p, invalid.run, append(extra, filch.Within(-1), invalid.option())...)
				over, cancel := context.WithCancelCause(context.Background())
				cancel(rig.ErrBoom)
				submit(over, p, refused.run, append(extra, refused.option())...)
				refused.check(t, what+", the context has ended", rig.ErrBoom)
				if e := invalid.err.Load(); invalid.ran.Load() != 0 || invalid.dropped.Load() != 1 || e == nil {
					t.Errorf("%s: an option that cannot be met: %v", what, e)
				}
				ctx, cancel := context.WithCancelCause(context.Background())
				if !long {
					submit(ctx, p, ended.run, append(extra, ended.option())...)
					cancel(rig.ErrBoom)
				}
				release()
				synctest.Wait()
				ran.check(t, what+", runs", nil)
				if !long {
					ended.check(t, what+", the context ends", rig.ErrBoom)
				}
				p.Pause()
				if !long {
					submit(context.Background(), p, closed.run, append(extra, closed.option())...)
				}
				p.Close()
				if !long {
					closed.check(t, what+", Close", filch.ErrClosed) // by the time Close returns
				}
				submit(context.Background(), p, canceled.run, append(extra, canceled.option())...)
				canceled.check(t, what+", a closed pool", filch.ErrClosed)
				cancel(nil)
			})
		}
	}
}

// A limit that is exceeded, and a wait for room that ends, are told as well; a task that its
// submitter runs is not dropped, even if it panics.
func TestOnDropOfWhatFindsNoRoom(t *testing.T) {
	for name, submit := range submitters {
		for _, limit := range []func(n int, o filch.Overflow) filch.Option{filch.WithQueueLimit, filch.WithTaskLimit} {
			synctest.Test(t, func(t *testing.T) {
				p, release := rig.Held(t, limit(1, filch.Reject))
				p.Go(context.Background(), rig.Nothing)
				var rejected, runs, late outcome
				submit(context.Background(), p, rejected.run, rejected.option())
				rejected.check(t, name+", Reject", filch.ErrQueueFull)
				release()
				p.Close()

				p, release = rig.Held(t, limit(1, filch.CallerRuns))
				p.TryGo(context.Background(), rig.Nothing)
				if name == "TryGo" || name == "Group.TryGo" {
					submit(context.Background(), p, runs.run, runs.option())
					runs.check(t, name+", CallerRuns", filch.ErrQueueFull)
				} else {
					v := rig.Catch(func() {
						submit(context.Background(), p, func(context.Context) error { runs.ran.Add(1); panic(rig.ErrBoom) }, runs.option())
					})
					if name == "Go" && v == nil {
						t.Error("the panic does not arrive")
					}
					runs.check(t, name+", CallerRuns", nil)
				}
				release()
				p.Close()

				p, release = rig.Held(t, limit(1, filch.Block))
				p.TryGo(context.Background(), rig.Nothing)
				ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, rig.ErrBoom)
				defer cancel()
				submit(ctx, p, late.run, late.option())
				want := rig.ErrBoom
				if name == "TryGo" || name == "Group.TryGo" {
					want = filch.ErrQueueFull
				}
				late.check(t, name+", Block", want)
				release()
				p.Close()
			})
		}
	}
}

// A slot of a group that never comes drops the task that waits for it.
func TestOnDropOfWhatFindsNoSlotOfItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		g := p.Group(context.Background(), filch.GroupLimit(1))
		var tried, waits, nested outcome
		g.Go(func(ctx context.Context) error {
			g.GoFrom(ctx, nested.run, nested.option()) // runs at once
			<-ctx.Done()
			return nil
		})
		synctest.Wait()
		g.TryGo(tried.run, tried.option())
		tried.check(t, "TryGo", filch.ErrQueueFull)
		nested.check(t, "within the slot", nil)
		go g.Go(waits.run, waits.option())
		synctest.Wait()
		g.Stop()
		synctest.Wait()
		if waits.ran.Load() != 0 || waits.dropped.Load() != 1 {
			t.Errorf("it ran %d times and was dropped %d times", waits.ran.Load(), waits.dropped.Load())
		}
	})
}

// Cancel drops once, and OnDrop has returned before the Future has its error.
func TestOnDropComesBeforeTheResult(t *testing.T) {
	p, release := rig.Held(t)
	defer p.Close()
	var calls atomic.Int64
	var done <-chan struct{}
	f := filch.Submit(context.Background(), p, rig.One, filch.OnDrop(func(err error) {
		if calls.Add(1); err != context.Canceled || rig.IsClosed(done) {
			t.Errorf("%v; the Future is done: %v", err, rig.IsClosed(done))
		}
	}))
	done = f.Done()
	f.Cancel()
	f.Cancel()
	release()
	if _, err := f.Wait(context.Background()); err != context.Canceled || calls.Load() != 1 {
		t.Errorf("%v, %d calls", err, calls.Load())
	}
	if s := rig.Recovered(func() { filch.OnDrop(nil) }); s != "filch: OnDrop: f is nil" {
		t.Error("recovered(…):", s)
	}
}

// A function of OnDrop that does not return keeps no other task from its own, and no count is wrong.
func TestOnDropThatDoesNotReturn(t *testing.T) {
	p, release := rig.Held(t)
	var others atomic.Int64
	var futures []*filch.Future[int]
	for i := range 9 {
		futures = append(futures, filch.Submit(context.Background(), p, rig.One, filch.OnDrop(func(error) {
			if i%3 == 1 {
				runtime.Goexit()
			}
			if others.Add(1); i%3 == 2 {
				panic(rig.ErrBoom)
			}
		})))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { recover() }()
		p.Close()
	}()
	<-ended
	release()
	p.Close()
	for i, f := range futures {
		if _, err := f.Wait(context.Background()); err != filch.ErrClosed {
			t.Errorf("f.Wait(background): %d: %v", i, err)
		}
	}
	if k := p.Stats().Tasks; k.Done != 1 || k.Cancelled != 9 || others.Load() != 6 || k.Running != 0 || k.Queued != 0 {
		t.Errorf("p.Stats().Tasks: %+v", k)
	}

	// A worker that drops one goes on as another goroutine.
	p, release = rig.Held(t)
	ctx, cancel := context.WithCancel(context.Background())
	p.Go(ctx, rig.Nothing, filch.OnDrop(func(error) { runtime.Goexit() }))
	cancel()
	release()
	if _, err := filch.Submit(context.Background(), p, rig.One).Wait(context.Background()); err != nil {
		t.Error("filch.Submit(background, p, one).Wait(background):", err)
	}
	p.Close()
	if k := p.Stats().Tasks; k.Done+k.Cancelled != 3 || k.Running != 0 || k.Queued != 0 {
		t.Errorf("p.Stats().Tasks: %+v", k)
	}
}

// Close returns after OnDrop, also if it is called by a Cancel or by the end of the group's context meanwhile.
func TestCloseReturnsAfterOnDrop(t *testing.T) {
	for _, way := range []string{"Cancel", "the group's context"} {
		synctest.Test(t, func(t *testing.T) {
			p, release := rig.Held(t)
			ctx, cancel := context.WithCancel(context.Background())
			goOn := make(chan struct{})
			var dropped, closed atomic.Bool
			onDrop := filch.OnDrop(func(error) { <-goOn; dropped.Store(true) })
			if way == "Cancel" {
				f := filch.Submit(context.Background(), p, rig.One, onDrop)
				go f.Cancel()
			} else {
				p.Group(ctx).Go(func(context.Context) error { return nil }, onDrop)
			}
			cancel()
			synctest.Wait()
			go func() {
				p.Close()
				closed.Store(dropped.Load())
			}()
			release()
			synctest.Wait()
			close(goOn)
			synctest.Wait()
			if !dropped.Load() || !closed.Load() {
				t.Errorf("by %s: dropped: %t; Close returns after that: %t", way, dropped.Load(), closed.Load())
			}
		})
	}
}

// However tasks end, in a crowd, each either runs or is dropped, once.
func TestOnDropInAStorm(t *testing.T) {
	seed := rand.Uint64()
	names := []string{}
	for name := range submitters {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, workers := range []int{1, 2, 8} {
		rng := rand.New(rand.NewPCG(seed, 0))
		p := filch.New(filch.WithWorkers(workers), filch.WithQueueLimit(20, filch.CallerRuns))
		outcomes := make([]outcome, 600)
		var wg sync.WaitGroup
		for k := range 3 {
			rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
			wg.Go(func() {
				for i := range 200 {
					o := &outcomes[k*200+i]
					ctx, cancel := context.WithCancel(context.Background())
					submitters[names[rng.IntN(len(names))]](ctx, p, o.run, o.option())
					if rng.IntN(3) == 0 {
						cancel()
					}
					defer cancel()
				}
			})
		}
		if rng.IntN(2) == 0 {
			wg.Wait()
		}
		p.Close()
		wg.Wait()
		for i := range outcomes {
			if n := outcomes[i].ran.Load() + outcomes[i].dropped.Load(); n != 1 {
				t.Fatalf("seed %d, %d workers: task %d: %d calls", seed, workers, i, n)
			}
		}
		if k := p.Stats().Tasks; k.Running != 0 || k.Queued != 0 {
			t.Errorf("seed %d: %+v", seed, k)
		}
	}
}

// A task that Close drops, and that has a cancellation of its own, which follows
// the pool's a moment later, has an error all the same.
func TestDroppedTasksHaveAnError(t *testing.T) {
	for range 30 {
		p := filch.New(filch.WithWorkers(4))
		var fs []*filch.Future[int]
		for i := range 200 {
			opt := filch.Within(time.Hour)
			if i%10 == 0 {
				fs = append(fs, filch.Submit(context.Background(), p, rig.One, opt, filch.LongRunning()))
				continue
			}
			fs = append(fs, filch.Submit(context.Background(), p, rig.One, opt))
		}
		g := p.Group(context.Background())
		var ran atomic.Int32
		for range 50 {
			g.Go(func(ctx context.Context) error { ctx.Done(); ran.Add(1); return nil })
		}
		p.Close()
		for _, f := range fs {
			if v, err := f.Wait(context.Background()); v != 1 && !errors.Is(err, filch.ErrClosed) {
				t.Fatalf("f.Wait(background): %d, %v", v, err)
			}
		}
		if err := g.Wait(); err == nil && ran.Load() < 50 {
			t.Fatalf("%d tasks ran, and no error", ran.Load())
		}
	}
}

// A task with too little time left is told so while it is queued, and while it
// waits for room.
func TestWithinEndsWaiting(t *testing.T) {
	p, release := rig.Held(t, filch.WithQueueLimit(1, filch.Block))
	for range 2 {
		f := filch.Submit(context.Background(), p, rig.One, filch.Within(10*time.Millisecond))
		<-f.Done()
		if _, err := f.Wait(context.Background()); err != context.DeadlineExceeded {
			t.Error("f.Wait(background):", err)
		}
	}
	release()
	p.Shutdown(context.Background())
	p, release = rig.Held(t)
	defer release()
	if _, err := filch.Submit(context.Background(), p, rig.One, filch.Within(10*time.Millisecond)).Wait(context.Background()); err != context.DeadlineExceeded {
		t.Error("filch.Submit(background, p, one, …).Wait(background):", err)
	}
}
