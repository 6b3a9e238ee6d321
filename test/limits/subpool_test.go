package limits

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// No more tasks of a Subpool run at once than it says, whatever they do, and all of them run.
func TestNoMoreTasksOfASubpoolRunThanItSays(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		for limit := 1; limit <= 3; limit++ {
			sub := p.Subpool(limit)
			var now, most, ran atomic.Int32
			g := p.Group(context.Background(), filch.CollectErrors(1))
			for i := range 200 {
				g.Go(func(ctx context.Context) error {
					if n := now.Add(1); int(n) > limit || sub.Running() > limit {
						most.Store(n)
					}
					defer now.Add(-1)
					ran.Add(1)
					switch i % 5 {
					case 0:
						panic("dropped")
					case 1:
						runtime.Goexit()
					case 2:
						filch.Blocking(ctx, runtime.Gosched)
					}
					return nil
				}, sub)
			}
			g.Wait()
			if most.Load() > 0 || ran.Load() != 200 {
				t.Errorf("%d of a limit of %d ran at once, %d in all", most.Load(), limit, ran.Load())
			}
			if sub.Running() != 0 || sub.Queued() != 0 {
				t.Errorf("%d run, %d are queued", sub.Running(), sub.Queued())
			}
		}
	})
}

// Tasks start in the order of their Subpool.
func TestTasksStartInTheOrderOfTheirSubpool(t *testing.T) {
	for order, want := range map[filch.Order][]int{filch.LIFO: {0, 4, 3, 2, 1}, filch.FIFO: {0, 1, 2, 3, 4}, filch.ByPriority: {0, 3, 1, 4, 2}} {
		for _, outer := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
			rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
				opts := []filch.Option{filch.WithName("in order")}
				if order != filch.FIFO { // the default
					opts = append(opts, filch.WithOrder(order))
				}
				sub := p.Subpool(1, opts...)
				var got []int
				p.Pause()
				var all []*filch.Future[int]
				for i, priority := range []int{5, 2, 3, 1, 2} {
					opts := []filch.TaskOption{filch.AtPriority(priority), sub}
					if order != filch.ByPriority && outer != filch.ByPriority {
						opts = opts[1:]
					}
					all = append(all, filch.Submit(context.Background(), p, func(context.Context) (int, error) {
						got = append(got, i)
						return 0, nil
					}, opts...))
				}
				if sub.Running() != 1 || sub.Queued() != 4 {
					t.Errorf("%d run, %d wait", sub.Running(), sub.Queued())
				}
				p.Resume()
				for _, f := range all {
					if _, err := f.Wait(context.Background()); err != nil {
						t.Error("f.Wait(context.Background()):", err)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v in %v: %v, not %v", order, outer, got, want)
				}
			}, filch.WithOrder(outer))
		}
	}
}

// An option sets what it says, whatever that is, and nothing that another has set. One of a pool is refused,
// also if it sets what a pool has without it.
func TestAnOptionOfASubpoolSetsWhatItSays(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	sub := p.Subpool(1, filch.WithOrder(filch.FIFO), filch.WithName(""), filch.WithQueueLimit(9, filch.Block))
	p.Pause()
	var got []int
	var last *filch.Future[int]
	for i := range 4 {
		last = filch.Submit(context.Background(), p, func(context.Context) (int, error) { got = append(got, i); return i, nil }, sub)
	}
	p.Resume()
	if last.Wait(context.Background()); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("%v, by FIFO", got)
	}
	for _, opt := range []filch.Option{filch.WithIdleTimeout(0), filch.WithStallTimeout(0)} {
		if got := rig.Recovered(func() { p.Subpool(1, opt) }); got != "filch: Subpool: option 0 is not one of a Subpool" {
			t.Error("recovered(…):", got)
		}
	}
}

// With a single slot, a task may wait for others of its Subpool: one that waits for the slot, one that
// comes after others of it, one that is only submitted meanwhile, and for a group of them.
func TestSubpoolTasksWaitForOneAnother(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		sub := p.Subpool(1)
		_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			var now atomic.Int32
			f := func(ctx context.Context) (int, error) {
				if now.Add(1) != 1 {
					t.Error("two run at once")
				}
				defer now.Add(-1)
				return filch.Submit(ctx, p, rig.Value(1), sub).Wait(ctx) // deeper
			}
			a := filch.Submit(ctx, p, f, sub)
			b := filch.Submit(ctx, p, f, sub, filch.After(a))
			if _, err := filch.Submit(ctx, p, rig.Value(2), filch.After(b)).Wait(ctx); err != nil {
				t.Error("filch.Submit(ctx, p, value(2), filch.After(b)).Wait(ctx):", err)
			}
			promise := filch.NewPromise[int](p)
			late := filch.Submit(ctx, p, f, sub, filch.After(promise.Future()))
			p.Go(ctx, func(context.Context) { promise.Complete(1, nil) })
			if _, err := late.Wait(ctx); err != nil {
				t.Error("late.Wait(ctx):", err)
			}
			g := p.Group(ctx)
			for range 10 {
				g.Go(func(ctx context.Context) error { _, err := f(ctx); return err }, sub)
			}
			return 0, g.Wait()
		}, sub).Wait(context.Background())
		if err != nil {
			t.Error("filch.Submit(context.Background(), p, …, sub).Wait(…):", err)
		}
		if sub.Running() != 0 {
			t.Error(sub.Running(), "run in the end")
		}
	})
}

// A limited queue of a Subpool does what that of a pool does, and gives its room back.
func TestSubpoolQueueLimit(t *testing.T) {
	ctx := context.Background()
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		sub := p.Subpool(2, filch.WithQueueLimit(3, filch.Reject), filch.WithOrder(filch.FIFO))
		for range 3 {
			end := make(chan bool)
			var all []*filch.Future[int]
			for range 5 {
				all = append(all, filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
					filch.Blocking(ctx, func() { <-end })
					return 0, nil
				}, sub))
			}
			if err := p.Go(ctx, func(context.Context) {}, sub); err != filch.ErrQueueFull {
				t.Error("p.Go(ctx, …, sub):", err)
			}
			all[4].Cancel() // which leaves at once
			all[4] = filch.Submit(ctx, p, rig.Value(1), sub)
			close(end)
			for _, f := range all {
				if _, err := f.Wait(ctx); err != nil {
					t.Error("f.Wait(ctx):", err)
				}
			}
		}
	})
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		sub := p.Subpool(1, filch.WithQueueLimit(1, filch.Block))
		var ran atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 50 {
					if err := p.Go(ctx, func(ctx context.Context) {
						if err := p.Go(ctx, func(context.Context) { ran.Add(1) }, sub); err != nil { // from inside
							t.Error("p.Go(ctx, …, sub):", err)
						}
					}, sub); err != nil {
						t.Error("p.Go(ctx, …, sub):", err)
					}
				}
			})
		}
		all.Wait()
		for ran.Load() < 200 {
			runtime.Gosched()
		}
	})
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		sub := p.Subpool(1, filch.WithQueueLimit(1, filch.CallerRuns))
		var ran, now atomic.Int32
		for range 100 {
			p.Go(ctx, func(context.Context) {
				if now.Add(1) != 1 {
					t.Error("two run at once")
				}
				ran.Add(1)
				now.Add(-1)
			}, sub)
		}
		for ran.Load() < 100 {
			runtime.Gosched()
		}
	})
}

// Tasks that give up while the slot of their Subpool is taken are not kept, whatever the order, and the
// others keep theirs.
func TestSubpoolForgetsWhatWasCancelled(t *testing.T) {
	for order, want := range map[filch.Order][]int{filch.LIFO: {4, 3, 2, 1, 0}, filch.FIFO: {0, 1, 2, 3, 4}, filch.ByPriority: {3, 1, 4, 2, 0}} {
		rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
			sub := p.Subpool(1, filch.WithOrder(order), filch.WithQueueLimit(10, filch.Reject))
			end, begun := make(chan bool), make(chan bool)
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				close(begun)
				filch.Blocking(ctx, func() { <-end })
				return 0, nil
			}, sub)
			<-begun
			var got []int
			var all []*filch.Future[int]
			for i, priority := range []int{5, 2, 3, 1, 2} {
				for range 1000 {
					f := filch.Submit(context.Background(), p, rig.Value(1), sub)
					f.Cancel()
					if _, err := f.Wait(context.Background()); err != context.Canceled {
						t.Fatal("f.Wait(context.Background()):", err)
					}
				}
				opts := []filch.TaskOption{sub}
				if order == filch.ByPriority {
					opts = append(opts, filch.AtPriority(priority))
				}
				all = append(all, filch.Submit(context.Background(), p, func(context.Context) (int, error) {
					got = append(got, i)
					return 0, nil
				}, opts...))
			}
			if n := sub.Queued(); n != 5 {
				t.Errorf("%v: %d wait after 5 were submitted and 5,000 were cancelled, not 5", order, n)
			}
			close(end)
			for _, f := range slices.Backward(all) { // without a task's context: none runs in place
				if _, err := f.Wait(context.Background()); err != nil {
					t.Error("f.Wait(context.Background()):", err)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: %v, not %v", order, got, want)
			}
		})
	}
}

// Close drops what waits in a Subpool, and lets go on what waits for room in it.
func TestSubpoolOfAClosedPool(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	sub := p.Subpool(1, filch.WithQueueLimit(1, filch.Block))
	ctx := context.Background()
	filch.Submit(ctx, p, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, nil }, sub)
	waits := filch.Submit(ctx, p, rig.Value(1), sub)
	blocked := make(chan error)
	go func() { blocked <- p.Go(ctx, func(context.Context) {}, sub) }()
	p.Close()
	if _, err := waits.Wait(ctx); err != filch.ErrClosed {
		t.Error("waits.Wait(ctx):", err)
	}
	if err := <-blocked; !errors.Is(err, filch.ErrClosed) && err != nil { // nil if it had room just before
		t.Error("<-blocked:", err)
	}
	if sub.Running() != 0 {
		t.Error(sub.Running())
	}
}

// Close drops all that waits in a Subpool, and takes no stack for it.
func TestSubpoolOfManyTasksIsClosed(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	p := filch.New(filch.WithWorkers(1))
	sub := p.Subpool(1)
	p.Pause()
	const n = 50_000
	for range n {
		p.Go(context.Background(), func(context.Context) {}, sub)
	}
	p.Close()
	if s := p.Stats().Tasks; s.Submitted != n || s.Done+s.Cancelled != n || s.Held != 0 {
		t.Errorf("p.Stats().Tasks: %+v", s)
	}
	if sub.Queued() != 0 || sub.Running() != 0 {
		t.Errorf("after Close of a pool with %d tasks in a Subpool %d wait and %d run, not 0 and 0", n, sub.Queued(), sub.Running())
	}
}

func TestMisuseOfSubpoolsIsTold(t *testing.T) {
	p, other := filch.New(filch.WithName("a")), filch.New(filch.WithName("b"))
	sub := p.Subpool(2, filch.WithName("db"))
	ctx := context.Background()
	for want, err := range map[string]error{
		"filch: the Subpool db is not of the pool b":               other.Go(ctx, func(context.Context) {}, sub),
		"filch: a task cannot be one of two Subpools, db and of 3": p.Go(ctx, func(context.Context) {}, sub, p.Subpool(3)),
		"filch: AtPriority(1): the order of the pool is LIFO":      p.Go(ctx, func(context.Context) {}, sub, filch.AtPriority(1)),
	} {
		if err == nil || err.Error() != want {
			t.Error(err, "not", want)
		}
	}
	var none *filch.Subpool
	var noFuture *filch.Future[int]
	for want, f := range map[string]func(){
		"filch: Subpool(0): there must be a slot for a task": func() { p.Subpool(0) },
		"filch: Subpool: option 1 is nil":                    func() { p.Subpool(1, filch.WithName("x"), nil) },
		"filch: Subpool: option 0 is not one of a Subpool":   func() { p.Subpool(1, filch.WithWorkers(3)) },
		"filch: Subpool: option 0 is not one of a Subpool ":  func() { p.Subpool(1, filch.WithLabels()) },
		"filch: Go: option 0 is nil":                         func() { p.Go(ctx, func(context.Context) {}, none) },
		"filch: After: dependency 1 is nil":                  func() { filch.After(filch.NewPromise[int](p).Future(), nil) },
		"filch: After: dependency 0 is nil":                  func() { filch.After(noFuture) },
		"filch: NewPromise: p is nil":                        func() { filch.NewPromise[int](nil) },
	} {
		func() {
			defer func() {
				if v := recover(); v != want && want[len(want)-1] != ' ' || v == nil {
					t.Error(v, "not", want)
				}
			}()
			f()
		}()
	}
}

// A task that has got the slot of one that waits may wait for that: what it waits for in turn has the slot then.
func TestASlotThatWasLentIsLentOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
		sub := p.Subpool(1)
		ctx := context.Background()
		promise := filch.NewPromise[int](p)
		lends := filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
			return filch.Submit(ctx, p, rig.Value(3), sub, filch.After(promise.Future())).Wait(ctx)
		}, sub)
		synctest.Wait()
		borrows := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return lends.Wait(ctx) }, sub)
		synctest.Wait()
		promise.Complete(0, nil)
		if v, err := borrows.Wait(ctx); v != 3 || err != nil {
			t.Error("borrows.Wait(ctx):", v, err)
		}
		p.Close()
		if n := sub.Running(); n != 0 {
			t.Errorf("%d run in the end", n)
		}
	})
}

// Subpools take turns: the tasks of one do not keep the workers while others have older ones.
func TestSubpoolsTakeTurns(t *testing.T) {
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(1), filch.WithOrder(order))
			defer p.Close()
			var starts []int
			g := p.Group(context.Background())
			for i, sub := range []*filch.Subpool{p.Subpool(1), p.Subpool(1), p.Subpool(1)} {
				for range 20 {
					g.Go(func(context.Context) error {
						starts = append(starts, i)
						time.Sleep(time.Millisecond)
						return nil
					}, sub)
				}
			}
			if err := g.Wait(); err != nil || len(starts) != 60 {
				t.Fatalf("%d of 60 ran: %v", len(starts), err)
			}
			for at := 1; at < len(starts)-3; at++ {
				if starts[at] == starts[at-1] && starts[at] == starts[at+1] {
					t.Fatalf("order %d: three times in a row the same Subpool: %v", order, starts)
				}
			}
		})
	}
}
