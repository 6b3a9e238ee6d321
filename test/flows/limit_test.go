package flows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

// units counts what is taken of a limit.
type units struct {
	n     int32
	taken atomic.Int32
	over  atomic.Bool
}

func (u *units) take(k int32) {
	if u.taken.Add(k) > u.n {
		u.over.Store(true)
	}
}

// limited is a graph whose nodes take of two limits, in both orders.
func limited(r *rand.Rand, n int, a, b *flow.Limit, ua, ub *units) *flow.Graph {
	g := flow.New("limited")
	var all []flow.Dep
	for i := range n {
		ka, kb := r.IntN(int(ua.n)+1), r.IntN(int(ub.n)+1)
		var deps []flow.Dep
		if i > 0 && r.IntN(2) == 0 {
			deps = append(deps, all[r.IntN(i)])
		}
		node := flow.Node(g, fmt.Sprint(i), func(ctx context.Context) (int, error) {
			ua.take(int32(ka))
			ub.take(int32(kb))
			if i%7 == 0 { // its worker runs others
				done := make(chan struct{})
				go close(done)
				filch.Blocking(ctx, func() { <-done })
			}
			ua.taken.Add(int32(-ka))
			ub.taken.Add(int32(-kb))
			return 0, nil
		}, deps...)
		if ka > 0 && i%2 == 0 {
			node.Take(a, ka)
		}
		if kb > 0 {
			node.Take(b, kb)
		}
		if ka > 0 && i%2 == 1 {
			node.Take(a, ka)
		}
		all = append(all, node)
	}
	return g
}

// Nodes never have more of a limit than there is, also in several runs, and all run in the end.
func TestLimitsAreNeverExceeded(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 1))
			ua, ub := &units{n: 1}, &units{n: 3}
			a, b := flow.NewLimit(1), flow.NewLimit(3)
			graphs := []*flow.Graph{limited(r, 60, a, b, ua, ub), limited(r, 60, a, b, ua, ub)}
			var wg sync.WaitGroup
			for i := range 6 {
				wg.Go(func() {
					for range 5 {
						if err := graphs[i%2].Run(context.Background(), p); err != nil {
							t.Error("graphs[i%2].Run(context.Background(), p):", err)
						}
					}
				})
			}
			wg.Wait()
			if ua.over.Load() || ub.over.Load() {
				t.Fatal("nodes had more than there is")
			}
		}
	})
}

// A node that waits for a limit blocks no worker: others run meanwhile, also on one.
func TestWaitForLimitBlocksNoWorker(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		l := flow.NewLimit(1)
		holds, others := make(chan struct{}), make(chan struct{})
		holder := flow.New("holder")
		flow.Node(holder, "holds", func(ctx context.Context) (int, error) {
			close(holds)
			filch.Blocking(ctx, func() { <-others })
			return 0, nil
		}).Take(l, 1)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := holder.Run(context.Background(), p); err != nil {
				t.Error("holder.Run(context.Background(), p):", err)
			}
		})
		<-holds
		g := flow.New("waits")
		var ran atomic.Int32
		for i := range 4 {
			flow.Node(g, fmt.Sprint("takes ", i), func(context.Context) (int, error) { ran.Add(1); return 0, nil }).Take(l, 1)
		}
		flow.Node(g, "takes none", func(context.Context) (int, error) {
			if ran.Load() > 0 {
				t.Error("a node has a unit that there is not")
			}
			close(others)
			return 0, nil
		})
		noError(t, g.Run(context.Background(), p))
		if ran.Load() != 4 {
			t.Errorf("%d nodes have run", ran.Load())
		}
		wg.Wait()
	})
}

// A run that ends while its nodes wait for a limit leaves the line, and takes nothing with it.
func TestRunThatFailsLeavesTheLine(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		a, b := flow.NewLimit(2), flow.NewLimit(1)
		holds, end := make(chan struct{}), make(chan struct{})
		holder := flow.New("holder")
		flow.Node(holder, "holds", func(ctx context.Context) (int, error) {
			close(holds)
			filch.Blocking(ctx, func() { <-end })
			return 0, nil
		}).Take(b, 1)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := holder.Run(context.Background(), p); err != nil {
				t.Error("holder.Run(context.Background(), p):", err)
			}
		})
		<-holds
		g := flow.New("waits")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		last := flow.Node(g, "last", nothing)
		for i := range 3 { // two have a unit of a and wait for b, one waits for a
			flow.Node(g, fmt.Sprint("takes ", i), nothing).Take(a, 1).Take(b, 1)
		}
		flow.Node(g, "ends it", func(context.Context) (int, error) { cancel(); return 0, nil }, last)
		if err := g.Run(ctx, p); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		all := flow.New("all of a")
		flow.Node(all, "takes all", nothing).Take(a, 2)
		noError(t, all.Run(context.Background(), p)) // all units are back
		close(end)
		wg.Wait()
		noError(t, g.Run(context.Background(), p))
		noError(t, all.Run(context.Background(), p))
	})
}

// What fails gives back what it has.
func TestNodeThatFailsGivesBack(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		l := flow.NewLimit(1)
		for i := range 3 {
			g := flow.New("fails")
			flow.Node(g, "fails", func(context.Context) (int, error) {
				if i == 1 {
					panic("bad")
				}
				return 0, errors.New("bad")
			}).Take(l, 1)
			flow.Node(g, "waits", nothing).Take(l, 1)
			_ = g.Run(context.Background(), p)
		}
		g := flow.New("g")
		flow.Node(g, "a", nothing).Take(l, 1)
		noError(t, g.Run(context.Background(), p))
	})
}
