package flows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
	"github.com/filch-go/filch/internal/race"
)

// A long run lets other tasks have their turn, on one worker too: in the order of the pool.
func TestRunsLetOthersHaveTheirTurn(t *testing.T) {
	for name, c := range map[string]struct {
		order filch.Order
		opts  []filch.TaskOption
		most  int32 // nodes that run before
	}{
		"FIFO":   {order: filch.FIFO, most: 5},
		"LIFO":   {order: filch.LIFO, most: 300, opts: []filch.TaskOption{filch.Fair()}}, // 60 tasks of its own come first
		"urgent": {order: filch.ByPriority, most: 5, opts: []filch.TaskOption{filch.AtPriority(-1)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(1), filch.WithOrder(c.order))
			defer p.Close()
			g := flow.New("chain")
			var ran atomic.Int32
			between := int32(-1)
			last := flow.Node(g, "0", func(ctx context.Context) (int, error) {
				return 0, p.Go(ctx, func(context.Context) { between = ran.Load() }, c.opts...)
			})
			for i := range 1000 {
				last = flow.Node(g, fmt.Sprint(i+1), func(context.Context) (int, error) {
					time.Sleep(30 * time.Microsecond)
					ran.Add(1)
					return 0, nil
				}, last)
			}
			noError(t, g.Run(context.Background(), p))
			if between < 0 || between > c.most {
				t.Errorf("%s: the task had its turn after %d nodes", name, between)
			}
		})
	}
}

// The first in line is served first: a node that takes all does not starve.
func TestLimitServesInTurn(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	l := flow.NewLimit(2)
	var order []string
	node := func(g *flow.Graph, name string, k int, deps ...flow.Dep) *flow.Of[int] {
		return flow.Node(g, name, func(context.Context) (int, error) { order = append(order, name); return 0, nil }, deps...).Take(l, k)
	}
	holds, end := make(chan struct{}), make(chan struct{})
	holder := flow.New("holder")
	flow.Node(holder, "holds", func(ctx context.Context) (int, error) {
		close(holds)
		filch.Blocking(ctx, func() { <-end })
		return 0, nil
	}).Take(l, 1)
	done := make(chan error)
	go func() { done <- holder.Run(context.Background(), p) }()
	<-holds
	g := flow.New("g")
	node(g, "one, later", 1, flow.Node(g, "opens", func(context.Context) (int, error) { return 0, nil }, flow.Node(g, "first", nothing)))
	node(g, "all", 2)
	flow.Node(g, "ends", func(context.Context) (int, error) { return 0, nil })
	go func() { done <- g.Run(context.Background(), p) }()
	h := flow.New("h") // it runs when g waits: there is one worker
	flow.Node(h, "end", func(context.Context) (int, error) { close(end); return 0, nil })
	noError(t, h.Run(context.Background(), p))
	noError(t, <-done)
	noError(t, <-done)
	if len(order) != 2 {
		t.Fatalf("the order is %q", order)
	}
	// What is ready last comes first on a stack: "all" was in line before "one, later" was ready.
	if order[0] != "all" {
		t.Errorf("the order is %q", order)
	}
}

// The context of a node leads to no run any more when that is over.
func TestContextOutlivesItsRun(t *testing.T) {
	g := flow.New("g")
	var kept context.Context
	a := flow.Node(g, "a", nothing)
	flow.Node(g, "b", func(ctx context.Context) (int, error) { kept = ctx; return a.In(ctx), nil }, a)
	for range 2 {
		noError(t, g.Run(context.Background(), filch.Default()))
		panicsWith(t, `flow: In: node "a": ctx belongs to no run of graph "g" that is under way`, func() { a.In(kept) })
		panicsWith(t, `flow: Lookup: node "a": ctx belongs to no run`, func() { a.Lookup(kept) })
		if kept.Err() == nil || a.Get() != 0 {
			t.Error("the context of a node did not end with the run")
		}
	}
}

// A graph in a graph uses the memory of the run before, too.
func TestGraphInGraphAllocatesNothingForANode(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	inner, g := flow.New("inner"), flow.New("g")
	for i := range 2500 {
		flow.Node(inner, fmt.Sprint(i), nothing)
	}
	a := flow.Sub(g, "a", inner)
	flow.Sub(g, "b", inner, a)
	noError(t, g.Run(context.Background(), p))
	if n := testing.AllocsPerRun(20, func() { noError(t, g.Run(context.Background(), p)) }); n > 200 {
		t.Errorf("%v allocations a run", n)
	}
}

// In a run that fails, states of counts in between do not reach the next run.
func TestRunAfterFailureIsWhole(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		d := newDAG(11, 200)
		bad := true
		flow.Node(d.g, "fails", func(context.Context) (int, error) {
			if bad {
				return 0, errors.New("bad")
			}
			return 0, nil
		}, d.nodes[90], d.nodes[80])
		want := d.serial()
		for i := range 6 {
			bad = i%2 == 0
			err := d.g.Run(context.Background(), p)
			if bad != (err != nil) {
				t.Fatalf("run %d: the error is %v", i, err)
			}
			if bad {
				continue
			}
			var got []uint64
			for _, n := range d.nodes {
				got = append(got, n.Get())
			}
			if !slices.Equal(got, want) {
				t.Errorf("run %d: the results differ", i)
			}
		}
	})
}

// A carrier that is still queued when its run is over takes no part in the next, whose state it has.
func TestCarrierOfARunBeforeDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.FIFO), filch.WithStallTimeout(0))
		defer p.Close()
		g := flow.New("g")
		second, ran := make(chan bool), new(atomic.Int64)
		a := flow.Node(g, "a", func(ctx context.Context) (int, error) {
			if ran.Add(1) > 1 {
				return 0, nil
			}
			return 0, p.Go(context.WithoutCancel(ctx), func(context.Context) { <-second }) // before the carrier for b and c
		})
		for _, name := range []string{"b", "c"} {
			flow.Node(g, name, func(context.Context) (int, error) { ran.Add(1); return 0, nil }, a)
		}
		noError(t, g.Run(context.Background(), p))
		synctest.Wait() // until the worker has begun with what a has queued
		if n := p.Stats().Tasks.Queued; n != 1 {
			t.Errorf("the run has left %d carriers behind", n)
		}
		done := make(chan error)
		go func() { done <- g.Run(context.Background(), p) }()
		synctest.Wait()
		close(second)
		if err := <-done; err != nil || ran.Load() != 6 {
			t.Errorf("%v, and %d of 6 nodes have run", err, ran.Load())
		}
	})
}

// What waits for both ways of a branch never runs, whichever way runs take.
func TestCountsDoNotOutliveTheRun(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		g := flow.New("g")
		way := 0
		c := flow.Choose(g, "c", func(context.Context) (int, error) { return way, nil })
		a, b := flow.Node(g, "a", nothing), flow.Node(g, "b", nothing)
		c.To(a, b)
		flow.Node(g, "both", func(context.Context) (int, error) { return 0, errors.New("it has run") }, a, b)
		for way = range 2 {
			noError(t, g.Run(context.Background(), p))
		}
	})
}

// States of runs at the same time are used again.
func TestStatesAreUsedAgain(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector drops some of them")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	const n = 5000
	g := flow.New("g")
	for i := range n {
		flow.Node(g, fmt.Sprint(i), nothing)
	}
	allocs := testing.AllocsPerRun(10, func() {
		a, err := g.RunFor(context.Background(), p)
		noError(t, err)
		b, err := g.RunFor(context.Background(), p)
		noError(t, err)
		a.Release()
		b.Release()
	})
	if allocs > n/2 {
		t.Errorf("%v allocations", allocs)
	}
}
