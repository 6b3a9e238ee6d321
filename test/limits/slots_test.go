package limits

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// A tree of tasks of a Subpool with a limited queue ends: each submits two children to the Subpool, and waits for both
// with its own context. A child may run on top of its parent, and wait for room there.
func TestATreeInASubpoolWithALimitedQueueEnds(t *testing.T) {
	for _, c := range []struct{ slots, limit, depth, workers int }{{1, 1, 3, 1}, {1, 1, 3, 2}, {2, 2, 5, 2}, {3, 4, 7, 4}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(c.workers), filch.WithStallTimeout(0))
				sub := p.Subpool(c.slots, filch.WithQueueLimit(c.limit, filch.Block))
				var node func(ctx context.Context, depth int) (int, error)
				node = func(ctx context.Context, depth int) (int, error) {
					if depth == 0 {
						return 1, nil
					}
					child := func(ctx context.Context) (int, error) { return node(ctx, depth-1) }
					left, right := filch.Submit(ctx, p, child, sub), filch.Submit(ctx, p, child, sub)
					a, errA := left.Wait(ctx)
					b, errB := right.Wait(ctx)
					return a + b, errors.Join(errA, errB)
				}
				got, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return node(ctx, c.depth) }, sub).Wait(context.Background())
				if want := 1 << c.depth; got != want || err != nil {
					t.Errorf("a tree with %d leaves has %d: %v", want, got, err)
				}
				p.Close()
				if sub.Running() != 0 || sub.Queued() != 0 {
					t.Errorf("in the end %d run and %d wait, not 0 and 0", sub.Running(), sub.Queued())
				}
			})
		})
	}
}

// A task that a limit has its submitter run waits for what it comes after, which needs the submitter's slot.
func TestASubmitterLendsItsSlotToWhatItsTaskComesAfter(t *testing.T) {
	for name, c := range map[string]struct {
		pool []filch.Option
		sub  []filch.Option
	}{
		"a limit of tasks":        {[]filch.Option{filch.WithTaskLimit(2, filch.Block)}, nil},
		"CallerRuns of the pool":  {[]filch.Option{filch.WithTaskLimit(2, filch.CallerRuns)}, nil},
		"CallerRuns of a Subpool": {nil, []filch.Option{filch.WithQueueLimit(1, filch.CallerRuns)}},
	} {
		for workers := 1; workers <= 2; workers++ {
			for _, inSub := range []bool{false, true} {
				t.Run(fmt.Sprint(name, workers, inSub), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p := filch.New(append(c.pool, filch.WithWorkers(workers), filch.WithStallTimeout(0))...)
						sub := p.Subpool(1, c.sub...)
						got, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
							a := filch.Submit(ctx, p, rig.Value(1), sub)
							opts := []filch.TaskOption{filch.After(a)}
							if inSub {
								opts = append(opts, sub)
							}
							b := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return a.Wait(ctx) }, opts...)
							return b.Wait(ctx)
						}, sub).Wait(context.Background())
						if got != 1 || err != nil {
							t.Errorf("the result of what came after is %d, %v, not 1", got, err)
						}
						p.Close()
						if sub.Running() != 0 || sub.Queued() != 0 {
							t.Errorf("in the end %d run and %d wait, not 0 and 0", sub.Running(), sub.Queued())
						}
					})
				})
			}
		}
	}
}

// slotted is a pool, and a Subpool of one slot.
type slotted struct {
	p   *filch.Pool
	sub *filch.Subpool
}

// needsSlot needs a slot; it is no task of the Subpool itself, so that what waits for it may be none either.
func needsSlot(e slotted) func(ctx context.Context) (int, error) {
	return func(ctx context.Context) (int, error) { return filch.Submit(ctx, e.p, rig.Value(1), e.sub).Wait(ctx) }
}

// slotWaits are waits for what needs a slot.
var slotWaits = map[string]func(ctx context.Context, e slotted) (int, error){
	"Future": func(ctx context.Context, e slotted) (int, error) {
		return filch.Submit(ctx, e.p, needsSlot(e)).Wait(ctx)
	},
	"a Future on a goroutine of its own": func(ctx context.Context, e slotted) (int, error) {
		return filch.Submit(ctx, e.p, needsSlot(e), filch.LongRunning()).Wait(ctx)
	},
	"Group": func(ctx context.Context, e slotted) (int, error) {
		g := e.p.Group(ctx)
		g.Go(func(ctx context.Context) error { _, err := needsSlot(e)(ctx); return err })
		return 1, g.Wait()
	},
	"Group with a limit": func(ctx context.Context, e slotted) (int, error) {
		g := e.p.Group(ctx, filch.GroupLimit(1))
		for range 3 {
			g.Go(func(ctx context.Context) error { _, err := needsSlot(e)(ctx); return err }, e.sub)
		}
		return 1, g.Wait()
	},
	"Promise": func(ctx context.Context, e slotted) (int, error) {
		promise := filch.NewPromise[int](e.p)
		e.p.Go(ctx, func(ctx context.Context) { promise.Complete(needsSlot(e)(ctx)) }, filch.Fair())
		return promise.Future().Wait(ctx)
	},
	"Memo": func(ctx context.Context, e slotted) (int, error) {
		return filch.NewMemo(e.p, func(ctx context.Context, n int) (int, error) { return needsSlot(e)(ctx) }).Get(ctx, 1)
	},
	"Memo of another": func(ctx context.Context, e slotted) (int, error) {
		begun := make(chan bool)
		m := filch.NewMemo(e.p, func(ctx context.Context, n int) (int, error) { close(begun); return needsSlot(e)(ctx) })
		filch.Submit(ctx, e.p, func(ctx context.Context) (int, error) { return m.Get(ctx, 1) }, filch.LongRunning())
		<-begun
		return m.Get(ctx, 1)
	},
	"After": func(ctx context.Context, e slotted) (int, error) {
		return filch.Submit(ctx, e.p, rig.Value(1), filch.After(filch.Submit(ctx, e.p, needsSlot(e)))).Wait(ctx)
	},
	"Help": func(ctx context.Context, e slotted) (int, error) {
		f := filch.Submit(ctx, e.p, needsSlot(e), filch.Fair())
		for e.p.Help(ctx) {
		}
		return f.Wait(ctx)
	},
	"another pool that has its callers run": func(ctx context.Context, e slotted) (int, error) {
		other := filch.New(filch.WithWorkers(1), filch.WithTaskLimit(1, filch.CallerRuns), filch.WithStallTimeout(0))
		defer other.Close()
		end := make(chan bool)
		other.Go(context.Background(), func(context.Context) { <-end })
		defer close(end)
		return filch.Submit(ctx, other, needsSlot(e)).Wait(ctx)
	},
}

// A task lends its slot to whatever it waits for, directly or by way of others, however it waits.
func TestATaskLendsItsSlotWheneverItWaits(t *testing.T) {
	for name, f := range slotWaits {
		for workers := 1; workers <= 2; workers++ {
			for _, long := range []bool{false, true} {
				t.Run(fmt.Sprint(name, workers, long), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p := filch.New(filch.WithWorkers(workers), filch.WithStallTimeout(0))
						sub := p.Subpool(1)
						opts := []filch.TaskOption{sub}
						if long {
							opts = append(opts, filch.LongRunning())
						}
						got, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return f(ctx, slotted{p, sub}) }, opts...).Wait(context.Background())
						if got != 1 || err != nil {
							t.Errorf("a task that waits for one that needs its slot: %d, %v, not 1", got, err)
						}
						p.Close()
						if sub.Running() != 0 || sub.Queued() != 0 {
							t.Errorf("in the end %d run and %d wait, not 0 and 0", sub.Running(), sub.Queued())
						}
					})
				})
			}
		}
	}
}

// A task of one Subpool that waits for one of another lends its own slot, and gives away none of the other.
func TestTwoSubpoolsLendTheirOwnSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
		a, b := p.Subpool(1), p.Subpool(1)
		end := make(chan bool)
		first := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { <-end; return 1, nil }, b)
		synctest.Wait()
		begun := false
		waits := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			return filch.Submit(ctx, p, func(context.Context) (int, error) { begun = true; return 2, nil }, b).Wait(ctx)
		}, a)
		synctest.Wait()
		if begun || a.Running() != 0 || b.Running() != 1 || b.Queued() != 1 {
			t.Errorf("a task of a waits for one of b, whose slot is taken: begun: %t, %d of a run, %d of b run and %d wait, not 0, 1 and 1", begun, a.Running(), b.Running(), b.Queued())
		}
		close(end)
		if v, err := waits.Wait(context.Background()); v != 2 || err != nil {
			t.Error("waits.Wait(background):", v, err)
		}
		first.Wait(context.Background())
		p.Close()
		if a.Running() != 0 || b.Running() != 0 {
			t.Errorf("in the end %d and %d run, not 0", a.Running(), b.Running())
		}
	})
}

// A task that comes after another does not take the room in their Subpool that the other needs.
func TestATreeOfDependenciesInASubpoolWithALimitedQueueEnds(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		synctest.Test(t, slotsCase{"Subpool's queue", 1, filch.Block, 1, "After", 3, workers, false, 0}.run)
	}
}

// A task that has given up a wait gets no slot from what it waited for: it waits for another by then, which needs one.
func TestASlotIsNotGivenBackToATaskThatWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
		sub, promise, end := p.Subpool(1, filch.WithOrder(filch.FIFO)), filch.NewPromise[int](p), make(chan bool)
		first := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			slow := filch.Submit(ctx, p, func(context.Context) (int, error) { <-end; return 1, nil }, sub, filch.LongRunning())
			filch.Submit(ctx, p, func(context.Context) (int, error) { promise.Complete(2, nil); return 0, nil }, sub)
			soon, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			if _, err := slow.Wait(soon); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a wait of a millisecond for a task that does not end: %v", err)
			}
			return promise.Future().Wait(ctx)
		}, sub, filch.LongRunning())
		synctest.Wait()
		time.Sleep(time.Second)
		close(end)
		if v, err := first.Wait(context.Background()); v != 2 || err != nil {
			t.Errorf("a task that waits for a promise that the last task completes: %d, %v, not 2", v, err)
		}
		p.Close()
		if sub.Running() != 0 {
			t.Errorf("in the end %d run, not 0", sub.Running())
		}
	})
}
