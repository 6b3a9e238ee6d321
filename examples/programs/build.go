package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

// A target is built from others, which stand before it.
type target struct {
	name string
	deps []string
	cost int
}

// newBuild returns a graph with a node for each target, and the node of the last. It may run any number of times.
func newBuild(targets []target) (g *flow.Graph, last *flow.Of[uint64]) {
	g = flow.New("build", flow.ByCriticalPath()) // the longest path first
	nodes := map[string]*flow.Of[uint64]{}
	for _, t := range targets {
		var parts []*flow.Of[uint64]
		var deps []flow.Dep
		for _, name := range t.deps {
			parts, deps = append(parts, nodes[name]), append(deps, nodes[name])
		}
		last = flow.Node(g, t.name, func(ctx context.Context) (uint64, error) {
			var from []uint64
			for _, part := range parts {
				from = append(from, part.In(ctx)) // its result in this run
			}
			return compile(t, from), nil
		}, deps...)
		nodes[t.name] = last
	}
	return g, last
}

// compile stands for a compiler: what it returns depends on all that the target is built from.
func compile(t target, from []uint64) uint64 {
	h := uint64(len(t.name))
	for _, part := range from {
		h = h*31 + part
	}
	for range t.cost {
		h = (h ^ h>>29) * 0x9e3779b97f4a7c15
	}
	return h
}

func buildSerial(targets []target) (last uint64) {
	built := map[string]uint64{}
	for _, t := range targets {
		var from []uint64
		for _, name := range t.deps {
			from = append(from, built[name])
		}
		last = compile(t, from)
		built[t.name] = last
	}
	return last
}

// buildGoroutines starts a goroutine for each target, which waits until the others that it needs are built.
func buildGoroutines(targets []target) uint64 {
	type result struct {
		built chan struct{}
		value uint64
	}
	results := map[string]*result{}
	for _, t := range targets {
		results[t.name] = &result{built: make(chan struct{})}
	}
	var wg sync.WaitGroup
	for _, t := range targets {
		wg.Go(func() {
			var from []uint64
			for _, name := range t.deps {
				<-results[name].built
				from = append(from, results[name].value)
			}
			results[t.name].value = compile(t, from)
			close(results[t.name].built)
		})
	}
	wg.Wait()
	return results[targets[len(targets)-1].name].value
}

// newTargets makes up some, each built from up to three others of the ten before it.
func newTargets(n, cost int) (targets []target) {
	r := rand.New(rand.NewPCG(9, 10))
	for i := range n {
		t := target{name: fmt.Sprint("target", i), cost: r.IntN(cost)}
		for range min(i, 3) {
			t.deps = append(t.deps, targets[max(0, i-1-r.IntN(10))].name)
		}
		targets = append(targets, t)
	}
	return targets
}

func makeBuild(p *filch.Pool, small bool) forms {
	targets := newTargets(60, 1_000_000)
	if small {
		targets = newTargets(25, 1000)
	}
	g, last := newBuild(targets)
	return forms{
		serial:     func() (any, error) { return buildSerial(targets), nil },
		goroutines: func() (any, error) { return buildGoroutines(targets), nil },
		filch: func() (any, error) {
			if err := g.Run(context.Background(), p); err != nil {
				return nil, err
			}
			return last.Get(), nil
		},
	}
}
