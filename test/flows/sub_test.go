package flows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
)

// A graph is a node of others, also twice. Results go in by In, and out by Result.
func TestGraphsAreNodes(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		square := flow.New("square")
		outer := flow.New("outer")
		in := flow.Node(outer, "in", func(context.Context) (int, error) { return 3, nil })
		x := flow.Node(square, "x", func(ctx context.Context) (int, error) { return in.In(ctx), nil })
		xx := flow.Node(square, "xx", func(ctx context.Context) (int, error) { return x.In(ctx) * x.In(ctx), nil }, x)
		a := flow.Sub(outer, "a", square, in)
		b := flow.Sub(outer, "b", square, in)
		sum := flow.Node(outer, "sum", func(ctx context.Context) (int, error) {
			return flow.Result(a.In(ctx), xx) + flow.Result(b.In(ctx), xx), nil
		}, a, b)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					r, err := outer.RunFor(context.Background(), p)
					if err != nil {
						t.Error("outer.RunFor(context.Background(), p):", err)
						return
					}
					if got := flow.Result(r, sum); got != 18 {
						t.Errorf("the sum is %d", got)
					}
					r.Release()
				}
			})
		}
		wg.Wait()
	})
}

// Graphs run inside of nodes to any depth, on one worker too. An error names the whole way.
func TestGraphsNest(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		var leaves atomic.Int32
		fails := false
		g := flow.New("0")
		for i := range 3 {
			flow.Node(g, fmt.Sprint(i), func(context.Context) (int, error) {
				if leaves.Add(1); fails && i == 1 {
					return 0, errors.New("bad")
				}
				return 0, nil
			})
		}
		for depth := range 4 {
			outer := flow.New(fmt.Sprint(depth + 1))
			for i := range 3 {
				flow.Sub(outer, fmt.Sprint("sub ", i), g)
			}
			g = outer
		}
		noError(t, g.Run(context.Background(), p))
		if n := leaves.Load(); n != 243 {
			t.Errorf("%d leaves have run, not 243", n)
		}
		fails = true
		err := g.Run(context.Background(), p)
		depth := 0
		for e := (*flow.Error)(nil); errors.As(err, &e); err = e.Err {
			depth++
		}
		if depth != 5 || err == nil || err.Error() != "bad" {
			t.Errorf("the error has %d graphs, and ends in %v", depth, err)
		}
	})
}

func TestErrorNamesTheWholeWay(t *testing.T) {
	inner, outer := flow.New("inner"), flow.New("outer")
	flow.Node(inner, "x", func(context.Context) (int, error) { return 0, errors.New("bad") })
	flow.Sub(outer, "sub", inner)
	isText(t, outer.Run(context.Background(), filch.Default()), `flow: graph "outer": node "sub": graph "inner": node "x": bad`)
}

// Whatever ends runs, at the same time and one after the other, each ends, and leaves nothing
// that disturbs the next.
func TestHoweverRunsEndTheNextIsNotDisturbed(t *testing.T) {
	rounds := 60
	if thorough.Sampled() || race.Enabled {
		rounds = 15
	}
	onPools(t, func(t *testing.T, p *filch.Pool) {
		u := &units{n: 2}
		g := endingGraph(p, u)
		outer := flow.New("outer")
		flow.Sub(outer, "first", g)
		flow.Sub(outer, "second", g)
		var wg sync.WaitGroup
		for k := range 8 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(k), 9))
				for range rounds {
					h := ending{r.IntN(90), r.IntN(4)}
					ctx, cancel := context.WithCancel(context.WithValue(context.Background(), endingKey{}, h))
					if r.IntN(10) == 0 {
						go cancel()
					}
					run := g
					if k%2 == 1 {
						run = outer
					}
					res, err := run.RunFor(ctx, p)
					switch {
					case err == nil && h.at < 60 && h.what < 3:
						t.Errorf("no error of node %d", h.at)
					case err == nil:
						res.Release()
					case !errors.Is(err, errEnding) && !errors.Is(err, filch.ErrGoexit) && !errors.Is(err, context.Canceled):
						t.Errorf("the error is %v", err)
					}
					cancel()
				}
			})
		}
		wg.Wait()
		if u.over.Load() {
			t.Error("nodes had more of a limit than there is")
		}
		noError(t, g.Run(context.WithValue(context.Background(), endingKey{}, ending{-1, 0}), p))
	})
}

// An ending is how a run of an endingGraph ends: at a node, by an error, a panic or a Goexit, if what is less than 3.
type ending struct{ at, what int }

type endingKey struct{}

var errEnding = errors.New("bad")

// endingGraph returns a graph whose runs end by the ending that their context has.
func endingGraph(p *filch.Pool, u *units) *flow.Graph {
	limit := flow.NewLimit(2)
	g := flow.New("g")
	var all []flow.Dep
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 60 {
		var deps []flow.Dep
		for range r.IntN(3) {
			if i > 0 {
				deps = append(deps, all[i-1-r.IntN(min(i, 9))])
			}
		}
		n := flow.Node(g, fmt.Sprint(i), func(ctx context.Context) (int, error) {
			if i%5 == 0 {
				u.take(1)
				defer u.taken.Add(-1)
			}
			if i%7 == 0 {
				if v, err := filch.Submit(ctx, p, func(context.Context) (int, error) { return i, nil }).Wait(ctx); err != nil || v != i {
					return 0, err
				}
			}
			if h := ctx.Value(endingKey{}).(ending); h.at == i {
				switch h.what {
				case 0:
					return 0, errEnding
				case 1:
					panic(errEnding)
				case 2:
					runtime.Goexit()
				}
			}
			return i, nil
		}, deps...)
		if i%5 == 0 {
			n.Take(limit, 1)
		}
		all = append(all, n)
	}
	return g
}
