package flows

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

// Graphs that contain each other are refused as well when several goroutines look at them at once.
func TestGraphsThatContainEachOtherAreRefusedAtOnce(t *testing.T) {
	g, h := flow.New("g"), flow.New("h")
	flow.Sub(g, "a", h)
	flow.Sub(h, "b", g)
	want := map[*flow.Graph]string{
		g: `flow: graph "g": the graph contains itself: g -> h -> g`,
		h: `flow: graph "h": the graph contains itself: h -> g -> h`,
	}
	var all sync.WaitGroup
	for range 2 {
		for g, want := range want {
			all.Go(func() {
				for range 500 {
					if err := g.Validate(); err == nil || err.Error() != want {
						t.Errorf("g.Validate(): %v", err)
						return
					}
				}
			})
		}
	}
	all.Wait()
}

// What was not made by the functions of the package is named, with the function that got it.
func TestZeroValuesPanic(t *testing.T) {
	g := flow.New("g")
	a := flow.Node(g, "a", nothing)
	noError(t, g.Run(context.Background(), filch.Default()))
	r, err := g.RunFor(context.Background(), filch.Default())
	noError(t, err)
	var of flow.Of[int]
	var choice flow.Choice
	const notMade = " is not from Node, Choose or Sub"
	for want, f := range map[string]func(){
		"flow: Node: g is not from New":                 func() { flow.Node(new(flow.Graph), "b", nothing) },
		`flow: Node: dep 1 of node "b"` + notMade:       func() { flow.Node(g, "b", nothing, a, &of) },
		`flow: To: choice 0 of node "choose"` + notMade: func() { flow.Choose(g, "choose", nothing).To(&choice) },
		"flow: To: the node" + notMade:                  func() { choice.To(a) },
		"flow: After: the node" + notMade:               func() { of.After(a) },
		"flow: Take: the node" + notMade:                func() { of.Take(flow.NewLimit(1), 1) },
		"flow: Get: the node" + notMade:                 func() { of.Get() },
		"flow: In: the node" + notMade:                  func() { of.In(context.Background()) },
		"flow: Lookup: the node" + notMade:              func() { of.Lookup(context.Background()) },
		"flow: Result: the node" + notMade:              func() { flow.Result(r, &of) },
		"flow: Result: n is nil":                        func() { flow.Result[int](r, nil) },
		"flow: Ran: n is nil":                           func() { r.Ran(nil) },
	} {
		panicsWith(t, want, f)
	}
}

// Results stay when the graph changes, and what was added since has not run.
func TestResultsOutliveAChange(t *testing.T) {
	g := flow.New("g")
	a := flow.Node(g, "a", func(context.Context) (int, error) { return 7, nil })
	r, err := g.RunFor(context.Background(), filch.Default())
	noError(t, err)
	b := flow.Node(g, "b", nothing)
	if r.Ran(b) || !r.Ran(a) || flow.Result(r, a) != 7 {
		t.Error("the results have changed")
	}
	panicsWith(t, `flow: Result: node "b" of graph "g" has not run`, func() { flow.Result(r, b) })
	noError(t, g.Run(context.Background(), filch.Default()))
	r.Release()
}

// A node takes no more than there is, also where the sum is no int.
func TestTakeDoesNotOverflow(t *testing.T) {
	l := flow.NewLimit(math.MaxInt)
	a := flow.Node(flow.New("g"), "a", nothing).Take(l, math.MaxInt)
	panicsWith(t, "flow: Take: node \"a\" has", func() { a.Take(l, math.MaxInt) })
}

// A run that the end of its pool ends says so, though the caller's context has not ended.
func TestClosedPoolIsTheCause(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		g := flow.New("g")
		begun := make(chan struct{})
		first := flow.Node(g, "first", func(ctx context.Context) (int, error) {
			close(begun)
			for ctx.Err() == nil { // and not Done, by which the context would get the cause
				runtime.Gosched()
			}
			return 0, nil
		})
		flow.Node(g, "never", nothing, first)
		go func() { <-begun; p.Close() }()
		isText(t, g.Run(context.Background(), p), `flow: graph "g": filch: the pool is closed`)
	})
}
