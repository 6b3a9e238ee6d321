package flows

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
	"github.com/filch-go/filch/internal/race/racetest"
)

// does returns the function of a node that calls f.
func does(f func()) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { f(); return 0, nil }
}

// racing are graphs, and whether their nodes race in some schedule.
var racing = map[string]struct {
	races bool
	run   func(ctx context.Context, p *filch.Pool) error
}{
	"two nodes without an edge": {true, func(ctx context.Context, p *filch.Pool) error {
		g, x := flow.New("g"), 0
		flow.Node(g, "a", does(func() { x++ }))
		flow.Node(g, "b", does(func() { x++ }))
		return g.Run(ctx, p)
	}},
	"two nodes with an edge": {false, func(ctx context.Context, p *filch.Pool) error {
		g, x := flow.New("g"), 0
		a := flow.Node(g, "a", does(func() { x++ }))
		b := flow.Node(g, "b", does(func() {}), a)
		flow.Node(g, "c", does(func() { x++ }), b)
		err := g.Run(ctx, p)
		x++
		return err
	}},
	"two nodes after one": {true, func(ctx context.Context, p *filch.Pool) error {
		g, x := flow.New("g"), 0
		a := flow.Node(g, "a", does(func() { x++ }))
		flow.Node(g, "b", does(func() { x++ }), a)
		flow.Node(g, "c", does(func() { x++ }), a)
		return g.Run(ctx, p)
	}},
	"the ends of two chains": {true, func(ctx context.Context, p *filch.Pool) error {
		g, x := flow.New("g"), 0
		for _, name := range []string{"a", "b"} {
			at := flow.Node(g, name, does(func() {}))
			flow.Node(g, name+name, does(func() { x++ }), at)
		}
		return g.Run(ctx, p)
	}},
	"results": {false, func(ctx context.Context, p *filch.Pool) error {
		g := flow.New("g")
		a := flow.Node(g, "a", func(context.Context) (*int, error) { return new(int), nil })
		b := flow.Node(g, "b", func(ctx context.Context) (*int, error) { *a.In(ctx)++; return a.In(ctx), nil }, a)
		for range 2 {
			if err := g.Run(ctx, p); err != nil {
				return err
			}
			*b.Get()++
		}
		return nil
	}},
	"a loop, and what comes after it": {false, func(ctx context.Context, p *filch.Pool) error {
		g, x := flow.New("g"), 0
		begin := flow.Node(g, "begin", does(func() { x = 3 }))
		body := flow.Node(g, "body", does(func() { x-- }), begin)
		more := flow.Choose(g, "more", func(context.Context) (int, error) { return min(x, 1), nil }, body)
		done := flow.Node(g, "done", does(func() { x++ }))
		more.To(done, body)
		err := g.Run(ctx, p)
		x++
		return err
	}},
	"what is chosen, and a node beside it": {true, func(ctx context.Context, p *filch.Pool) error {
		g, x := flow.New("g"), 0
		first := flow.Choose(g, "first", func(context.Context) (int, error) { return 0, nil })
		first.To(flow.Node(g, "chosen", does(func() { x++ })))
		flow.Node(g, "beside", does(func() { x++ }), first)
		return g.Run(ctx, p)
	}},
	"nodes that take all of a Limit": {false, func(ctx context.Context, p *filch.Pool) error {
		g, x, l := flow.New("g"), 0, flow.NewLimit(1)
		for i := range 3 {
			flow.Node(g, fmt.Sprint(i), does(func() { x++ })).Take(l, 1)
		}
		return g.Run(ctx, p)
	}},
	"a node that takes all of a Limit, after one that takes a part": {false, func(ctx context.Context, p *filch.Pool) error {
		g, x, l := flow.New("g"), 0, flow.NewLimit(2)
		flow.Node(g, "a", does(func() { x++ })).Take(l, 1)
		flow.Node(g, "b", does(func() { x++ })).Take(l, 2)
		return g.Run(ctx, p)
	}},
	"nodes that take parts of a Limit": {true, func(ctx context.Context, p *filch.Pool) error {
		g, x, l := flow.New("g"), 0, flow.NewLimit(2)
		for i := range 3 {
			flow.Node(g, fmt.Sprint(i), does(func() { x++ })).Take(l, 1)
		}
		return g.Run(ctx, p)
	}},
	"nodes of a graph in a graph, and what comes after that": {false, func(ctx context.Context, p *filch.Pool) error {
		g, inner, x := flow.New("g"), flow.New("inner"), 0
		a := flow.Node(inner, "a", does(func() { x++ }))
		flow.Node(inner, "b", does(func() { x++ }), a)
		before := flow.Node(g, "before", does(func() { x++ }))
		sub := flow.Sub(g, "sub", inner, before)
		flow.Node(g, "after", does(func() { x++ }), sub)
		return g.Run(ctx, p)
	}},
	"nodes of a graph in a graph, and one beside it": {true, func(ctx context.Context, p *filch.Pool) error {
		g, inner, x := flow.New("g"), flow.New("inner"), 0
		flow.Node(inner, "a", does(func() { x++ }))
		flow.Sub(g, "sub", inner)
		flow.Node(g, "beside", does(func() { x++ }))
		return g.Run(ctx, p)
	}},
	"forks of two nodes": {true, func(ctx context.Context, p *filch.Pool) error {
		g, x := flow.New("g"), 0
		for _, name := range []string{"a", "b"} {
			flow.Node(g, name, func(ctx context.Context) (int, error) {
				filch.ScopeOf(ctx).Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) {}, func(*filch.Worker) { x++ }) })
				return 0, nil
			})
		}
		return g.Run(ctx, p)
	}},
	"a node that fails, and who reads why": {false, func(ctx context.Context, p *filch.Pool) error {
		g := flow.New("g")
		flow.Node(g, "a", func(context.Context) (int, error) { return 0, fmt.Errorf("no %d", 1) })
		if err := g.Run(ctx, p); err == nil || !strings.Contains(err.Error(), "no 1") {
			return fmt.Errorf("it ended with %v", err)
		}
		return nil
	}},
}

// With logical races, the race detector reports a race of nodes in each run, and no other.
func TestRacesOfNodesAreReportedInEachRun(t *testing.T) {
	programs := map[string]racetest.Program{}
	for name, c := range racing {
		programs[name] = racetest.Program{Races: c.races, Run: func() {
			for _, workers := range []int{1, 2} {
				p := filch.New(filch.WithWorkers(workers))
				noError(t, c.run(context.Background(), p))
				p.Close()
			}
		}}
	}
	racetest.Report(t, programs)
}

// With logical races, a node ends its run in any way as it does without.
func TestLogicalNodesEndInAnyWay(t *testing.T) {
	failure := errors.New("failure")
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers), filch.WithLogicalRaces())
		for how, end := range map[string]func() error{
			"an error": func() error { return failure },
			"a panic":  func() error { panic(failure) },
			"Goexit":   func() error { runtime.Goexit(); return nil },
		} {
			g := flow.New("g")
			a := flow.Node(g, "a", func(context.Context) (int, error) { return 1, end() })
			flow.Node(g, "b", func(context.Context) (int, error) { t.Error("b runs"); return 0, nil }, a)
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				err = g.Run(context.Background(), p)
			}()
			<-done
			var named *flow.Error
			var panicked *filch.PanicError
			if !errors.As(err, &named) || named.Node != "a" {
				t.Errorf("%d workers, %s: %v", workers, how, err)
			}
			switch how {
			case "an error":
				if !errors.Is(err, failure) {
					t.Errorf("%d workers: %v", workers, err)
				}
			case "a panic":
				if !errors.As(err, &panicked) || !strings.Contains(string(panicked.Stack), "InAnyWay") {
					t.Errorf("%d workers: %v", workers, err)
				}
			case "Goexit":
				if !errors.Is(err, filch.ErrGoexit) {
					t.Errorf("%d workers: %v", workers, err)
				}
			}
		}
		p.Close()
	}
}
