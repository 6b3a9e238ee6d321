package forks

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/steal"
)

// barren is an order without thieves.
type barren struct{ rig.Contrary }

func (barren) Thief(uint64) steal.Thief { return nil }

// stealingAll runs f with each way to steal.
func stealingAll(t *testing.T, f func(t *testing.T, opt filch.Option)) {
	for _, from := range rig.Stealings {
		for i, name := range []string{"", ", one", ", yield", ", one, yield"} {
			t.Run(fmt.Sprint(from, name), func(t *testing.T) { f(t, filch.WithStealing(from, rig.StealOptions(i)...)) })
		}
	}
}

// Whatever workers steal by, everything is done exactly once, while the pool changes its size.
func TestEachWayToStealDoesAllOnce(t *testing.T) {
	stealingAll(t, func(t *testing.T, opt filch.Option) {
		for i, order := range rig.Orders {
			if thorough.Sampled() && i != len(t.Name())%3 {
				continue
			}
			p := filch.New(filch.WithWorkers(3), filch.WithOrder(order), opt)
			over := make(chan bool)
			resized := make(chan bool)
			go func() {
				defer close(resized)
				for n := 1; ; n = n%7 + 1 {
					select {
					case <-over:
						return
					default:
						p.Resize(n)
					}
				}
			}()
			ran := make([]atomic.Int32, 2000)
			for i := range 20 {
				p.Go(context.Background(), func(ctx context.Context) {
					for j := range 99 {
						p.Go(ctx, func(context.Context) { ran[100*i+j].Add(1) })
					}
					ran[100*i+99].Add(1)
				})
			}
			for range 5 {
				if n := rig.FibFunc.Call(p, 18); n != 2584 {
					t.Errorf("fib is %d", n)
				}
				if n := rig.FibChain.Call(p, 18); n != 2584 {
					t.Errorf("fib is %d", n)
				}
				sum := par.Reduce(p, make([]int, 5000), 0, func(a, b int) int { return a + b })
				if sum != 0 {
					t.Errorf("the sum is %d", sum)
				}
			}
			close(over)
			<-resized
			if err := p.Shutdown(context.Background()); err != nil {
				t.Fatal("p.Shutdown(background):", err)
			}
			for i := range ran {
				if n := ran[i].Load(); n != 1 {
					t.Errorf("task %d ran %d times", i, n)
				}
			}
			if s := p.Stats(); s.Active != 0 || s.Tasks.Queued != 0 || s.Published != s.TakenBack+s.Steals {
				t.Errorf("left over: %+v", s)
			}
		}
	})
}

// Whatever workers steal by, leaves that sleep overlap as well as they can: no work waits while a worker is idle.
func TestEachWayToStealFindsAllWork(t *testing.T) {
	stealingAll(t, func(t *testing.T, opt filch.Option) {
		for _, c := range []struct{ workers, leaves int }{{2, 9}, {8, 64}, {64, 200}} {
			if thorough.Sampled() && c.workers > 8 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(c.workers), opt)
				rounds := time.Duration((c.leaves + c.workers - 1) / c.workers)
				start := time.Now()
				if n := filch.NewFunc(naps(c.leaves)).Call(p, 0); n != c.leaves {
					t.Errorf("%d leaves", n)
				}
				if d := time.Since(start); d > rounds*rig.Leaf {
					t.Errorf("%d forks on %d workers take %v, not %v", c.leaves, c.workers, d, rounds*rig.Leaf)
				}
				synctest.Wait()
				start = time.Now()
				g := p.Group(context.Background())
				for range c.leaves {
					g.Go(func(context.Context) error { time.Sleep(rig.Leaf); return nil })
				}
				if err := g.Wait(); err != nil {
					t.Error("g.Wait():", err)
				}
				if d := time.Since(start); d > rounds*rig.Leaf {
					t.Errorf("%d tasks on %d workers take %v, not %v", c.leaves, c.workers, d, rounds*rig.Leaf)
				}
				p.Close()
			})
		}
	})
}

// What cannot be is told where the option is made.
func TestStealingThatCannotBe(t *testing.T) {
	for want, f := range map[string]func(){
		"filch: WithStealing(nil): from must be an order, such as steal.RandomStart": func() { filch.WithStealing(nil) },
		"filch: WithStealing(Contrary): its method Thief returns nil":                func() { filch.WithStealing(barren{}) },
		"filch: WithStealing(Nearest): option 1 is nil":                              func() { filch.WithStealing(steal.Nearest, filch.StealOne(), nil) },
	} {
		if got := rig.Recovered(f); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Dump says by what workers steal, unless that is the default; the last option counts.
func TestDumpTellsStealing(t *testing.T) {
	for want, opts := range map[string][]filch.Option{
		"blocked\n":                    {filch.WithStealing(steal.RandomStart)},
		"blocked; steals by Nearest\n": {filch.WithStealing(steal.Adaptive, filch.StealOne()), filch.WithStealing(steal.Nearest)},
		"blocked; steals by RoundRobin, one task at a time, after a yield\n": {filch.WithStealing(steal.RoundRobin, filch.YieldFirst(), filch.StealOne())},
	} {
		var b strings.Builder
		if err := filch.New(opts...).Dump(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: %s, which is not %s", err, b.String(), want)
		}
	}
}
