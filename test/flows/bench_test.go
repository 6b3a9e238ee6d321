package flows

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

func empty(context.Context) (struct{}, error) { return struct{}{}, nil }

// shapes are graphs of about n empty nodes.
var shapes = map[string]func(n int) *flow.Graph{
	"chain": func(n int) *flow.Graph {
		g := flow.New("chain")
		last := flow.Node(g, "0", empty)
		for i := range n - 1 {
			last = flow.Node(g, fmt.Sprint(i+1), empty, last)
		}
		return g
	},
	"fan": func(n int) *flow.Graph {
		g := flow.New("fan")
		first := flow.Node(g, "first", empty)
		var all []flow.Dep
		for i := range n - 2 {
			all = append(all, flow.Node(g, fmt.Sprint(i), empty, first))
		}
		flow.Node(g, "last", empty, all...)
		return g
	},
	"grid": func(n int) *flow.Graph {
		g := flow.New("grid")
		side := 1
		for side*side < n {
			side++
		}
		above := make([]flow.Dep, side)
		for y := range side {
			for x := range side {
				var deps []flow.Dep
				if y > 0 {
					deps = append(deps, above[x])
				}
				if x > 0 {
					deps = append(deps, above[x-1])
				}
				above[x] = flow.Node(g, fmt.Sprint(x, ",", y), empty, deps...)
			}
		}
		return g
	},
	"tree": func(n int) *flow.Graph {
		g := flow.New("tree")
		all := []flow.Dep{flow.Node(g, "0", empty)}
		for i := 1; i < n; i++ {
			all = append(all, flow.Node(g, fmt.Sprint(i), empty, all[(i-1)/2]))
		}
		return g
	},
}

// serialTwin returns how long it takes to call n empty functions in a loop.
func serialTwin(n int) time.Duration {
	fs := make([]func(context.Context) (struct{}, error), n)
	for i := range fs {
		fs[i] = empty
	}
	begin := time.Now()
	for _, f := range fs {
		if _, err := f(context.Background()); err != nil {
			panic(err)
		}
	}
	return time.Since(begin)
}

// BenchmarkEmpty runs a million nodes that do nothing, in several shapes; "times serial" compares
// with a loop that calls as many functions.
func BenchmarkEmpty(b *testing.B) {
	for _, name := range []string{"chain", "fan", "grid", "tree"} {
		for _, workers := range []int{1, 2} {
			const n = 1_000_000
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				g := shapes[name](n)
				p := filch.New(filch.WithWorkers(workers))
				defer p.Close()
				ctx := context.Background()
				if err := g.Run(ctx, p); err != nil {
					b.Fatal("g.Run(ctx, p):", err)
				}
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					if err := g.Run(ctx, p); err != nil {
						b.Fatal("g.Run(ctx, p):", err)
					}
				}
				took := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(took/n, "ns/node")
				b.ReportMetric(took/float64(serialTwin(n).Nanoseconds()), "times-serial")
			})
		}
	}
}

// BenchmarkSmall is what a run costs that has hardly any nodes: it wakes a worker, and waits for it.
func BenchmarkSmall(b *testing.B) {
	g := shapes["fan"](10)
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	ctx := context.Background()
	b.ReportAllocs()
	for range b.N {
		if err := g.Run(ctx, p); err != nil {
			b.Fatal("g.Run(ctx, p):", err)
		}
	}
}
