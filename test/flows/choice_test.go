package flows

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

// A loop runs until its condition says so, as often in each run.
func TestLoopCountsToN(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		const n = 1000
		g := flow.New("count")
		i, twice := 0, 0
		begin := flow.Node(g, "begin", func(context.Context) (int, error) { i, twice = 0, 0; return 0, nil })
		body := flow.Node(g, "body", func(context.Context) (int, error) { i++; return i, nil }, begin)
		var sides [3]atomic.Int64
		var deps []flow.Dep
		for k := range sides { // which the loop forks, and joins
			deps = append(deps, flow.Node(g, fmt.Sprint("side ", k), func(ctx context.Context) (int, error) {
				sides[k].Add(int64(body.In(ctx)))
				return 0, nil
			}, body))
		}
		more := flow.Choose(g, "more?", func(ctx context.Context) (int, error) {
			if body.In(ctx) < n {
				return 0, nil
			}
			return 1, nil
		}, deps...)
		done := flow.Node(g, "done", func(ctx context.Context) (int, error) { twice++; return body.In(ctx), nil })
		more.To(body, done)
		for run := range 3 {
			noError(t, g.Run(context.Background(), p))
			if i != n || done.Get() != n || twice != 1 || more.Get() != 1 {
				t.Fatalf("it counts to %d, and %d", i, done.Get())
			}
			for k := range sides {
				if sum := sides[k].Load(); sum != int64(run+1)*n*(n+1)/2 {
					t.Fatalf("side %d has the sum %d", k, sum)
				}
			}
		}
	})
}

// What is not chosen does not run, nor what comes after it.
func TestBranchRunsWhatIsChosen(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		for choice, want := range map[int][]bool{
			0:        {true, true, false},
			1:        {false, false, true},
			flow.End: {false, false, false},
		} {
			g := flow.New("g")
			c := flow.Choose(g, "c", func(context.Context) (int, error) { return choice, nil }, flow.Node(g, "begin", nothing))
			a := flow.Node(g, "a", nothing)
			after := flow.Node(g, "after a", nothing, a)
			b := flow.Node(g, "b", nothing)
			always := flow.Node(g, "always", func(ctx context.Context) (int, error) {
				if _, ok := c.Lookup(ctx); !ok {
					t.Error("the choice has not run")
				}
				return 0, nil
			}, c)
			c.To(a).To(b)
			for range 2 {
				r, err := g.RunFor(context.Background(), p)
				noError(t, err)
				if got := []bool{r.Ran(a), r.Ran(after), r.Ran(b)}; !reflect.DeepEqual(got, want) || !r.Ran(always) {
					t.Errorf("choice %d: %v have run, not %v", choice, got, want)
				}
				if !r.Ran(b) {
					panicsWith(t, `flow: Result: node "b" of graph "g" has not run`, func() { flow.Result(r, b) })
				}
				r.Release()
			}
		}
	})
}

// A choice out of range is an error, and so is that of a node that has not ended.
func TestBadChoicesEndTheRun(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		g := flow.New("g")
		flow.Choose(g, "c", func(context.Context) (int, error) { return 2, nil }).To(flow.Node(g, "a", nothing), flow.Node(g, "b", nothing))
		isText(t, g.Run(context.Background(), p), `flow: graph "g": node "c": it chose 2, and has 2 nodes to choose from`)

		g = flow.New("g")
		begun := make(chan struct{})
		chosen := flow.Node(g, "slow", func(ctx context.Context) (int, error) {
			close(begun)
			filch.Blocking(ctx, func() { <-ctx.Done() })
			return 0, nil
		}, flow.Node(g, "begin", nothing))
		flow.Choose(g, "c", func(ctx context.Context) (int, error) {
			filch.Blocking(ctx, func() { <-begun })
			return 0, nil
		}).To(chosen)
		isText(t, g.Run(context.Background(), p), `flow: graph "g": node "slow": it is to run again before it has ended`)
	})
}

// A Choice may choose itself, and a run of a loop ends with its context.
func TestEndlessLoopEndsWithItsContext(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		g := flow.New("g")
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		c := flow.Choose(g, "c", func(context.Context) (int, error) {
			if n++; n == 1000 {
				cancel()
			}
			return 0, nil
		}, flow.Node(g, "begin", nothing))
		c.To(c)
		isText(t, g.Run(ctx, p), `flow: graph "g": context canceled`)
		if n != 1000 {
			t.Errorf("it ran %d times", n)
		}
	})
}
