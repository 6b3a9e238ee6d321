package flows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/par"
)

// onPools runs f as a test on pools of 1, 2 and 8 workers.
func onPools(t *testing.T, f func(t *testing.T, p *filch.Pool)) {
	for _, n := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("workers=%d", n), func(t *testing.T) {
			p := filch.New(filch.WithWorkers(n))
			defer p.Close()
			f(t, p)
		})
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// isText fails unless err has that text.
func isText(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Fatalf("the error is %v, not %s", err, want)
	}
}

// panicsWith fails unless f panics with a text that has the given part.
func panicsWith(t *testing.T, part string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), part) {
			t.Errorf("it panics with %v, without %q", v, part)
		}
	}()
	f()
}

func nothing(context.Context) (int, error) { return 0, nil }

// dag is a random graph of n nodes: the result of each is computed from those of its deps.
type dag struct {
	g     *flow.Graph
	nodes []*flow.Of[uint64]
	deps  [][]int
	began []atomic.Int32 // in all runs
}

func newDAG(seed uint64, n int, opts ...flow.Option) *dag {
	r := rand.New(rand.NewPCG(seed, 0))
	d := &dag{g: flow.New("dag", opts...), deps: make([][]int, n), began: make([]atomic.Int32, n)}
	width := 1 + r.IntN(20)
	for i := range n {
		var deps []flow.Dep
		for range r.IntN(4) {
			if j := i - 1 - r.IntN(width); j >= 0 {
				d.deps[i] = append(d.deps[i], j) // some twice
				deps = append(deps, d.nodes[j])
			}
		}
		d.nodes = append(d.nodes, flow.Node(d.g, fmt.Sprint(i), func(ctx context.Context) (uint64, error) {
			d.began[i].Add(1)
			return d.compute(i, func(j int) uint64 { return d.nodes[j].In(ctx) }), nil
		}, deps...))
	}
	return d
}

func (d *dag) compute(i int, of func(j int) uint64) uint64 {
	v := uint64(i) + 1
	for _, j := range d.deps[i] {
		v = v*6364136223846793005 + of(j)
	}
	return v
}

// serial returns the results of a plain loop.
func (d *dag) serial() []uint64 {
	all := make([]uint64, len(d.nodes))
	for i := range all {
		all[i] = d.compute(i, func(j int) uint64 { return all[j] })
	}
	return all
}

// A run calls each node once, after its deps, and the results are those of a serial program.
func TestEachNodeRunsOnceAfterItsDeps(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		for seed := range uint64(40) {
			var opts []flow.Option
			if seed%2 == 1 {
				opts = append(opts, flow.ByCriticalPath())
			}
			d := newDAG(seed, 1+int(seed)*5, opts...)
			want := d.serial()
			for run := range 3 {
				noError(t, d.g.Run(context.Background(), p))
				for i, n := range d.nodes {
					if began := d.began[i].Load(); began != int32(run)+1 {
						t.Fatalf("seed %d, run %d: node %d began %d times", seed, run, i, began)
					}
					if got := n.Get(); got != want[i] {
						t.Fatalf("seed %d, run %d: node %d is %d, not %d", seed, run, i, got, want[i])
					}
				}
			}
		}
	})
}

// Runs of one graph at the same time have results of their own.
func TestRunsAtTheSameTimeDoNotMeet(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		type key struct{}
		g := flow.New("g")
		a := flow.Node(g, "a", func(ctx context.Context) (int, error) { return ctx.Value(key{}).(int), nil })
		b := flow.Node(g, "b", func(ctx context.Context) (int, error) { return 10 * a.In(ctx), nil }, a)
		c := flow.Node(g, "c", func(ctx context.Context) (int, error) { return a.In(ctx) + b.In(ctx), nil }, a, b)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 50 {
					v := 100*i + j
					r, err := g.RunFor(context.WithValue(context.Background(), key{}, v), p)
					if err != nil {
						t.Error("g.RunFor(…, p):", err)
						return
					}
					if got := flow.Result(r, c); got != 11*v || flow.Result(r, a) != v || !r.Ran(b) {
						t.Errorf("the result is %d, not %d", got, 11*v)
					}
					if j%3 != 0 {
						r.Release()
					}
				}
			})
		}
		wg.Wait()
	})
}

// Get is refused where it could return the result of another run.
func TestGetIsForOneRunAtATime(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	g := flow.New("g")
	both := make(chan struct{}, 2)
	meet := make(chan struct{})
	a := flow.Node(g, "a", func(context.Context) (int, error) {
		both <- struct{}{}
		<-meet
		return 7, nil
	})
	panicsWith(t, `flow: Get: node "a": graph "g" has not run`, func() { a.Get() })
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := g.Run(context.Background(), p); err != nil {
				t.Error("g.Run(context.Background(), p):", err)
			}
		})
	}
	<-both
	<-both
	panicsWith(t, "or ran several times at once", func() { a.Get() })
	close(meet)
	wg.Wait()
	panicsWith(t, "or ran several times at once", func() { a.Get() })
	go func() { <-both }()
	noError(t, g.Run(context.Background(), p))
	if got := a.Get(); got != 7 {
		t.Errorf("Get returns %d", got)
	}
}

// What is wrong with a graph is told by Validate and by runs, with names.
func TestGraphsThatCannotRunAreRefused(t *testing.T) {
	other := flow.Node(flow.New("other"), "x", nothing)
	for want, build := range map[string]func(g *flow.Graph){
		`flow: graph "g": there are two nodes "a"`: func(g *flow.Graph) { flow.Node(g, "a", nothing); flow.Node(g, "a", nothing) },
		`flow: graph "g": node "a" has the dep "x", which is of another graph, "other"`: func(g *flow.Graph) {
			flow.Node(g, "a", nothing, other)
		},
		`flow: graph "g": node "c" has the choice "x", which is of another graph, "other"`: func(g *flow.Graph) {
			flow.Choose(g, "c", nothing).To(other)
		},
		`flow: graph "g": the nodes wait for one another: a -> b -> c -> a`: func(g *flow.Graph) {
			a := flow.Node(g, "a", nothing)
			b := flow.Node(g, "b", nothing, flow.Node(g, "before", nothing), a)
			c := flow.Node(g, "c", nothing, b)
			flow.Node(g, "after", nothing, c)
			a.After(c)
		},
		`flow: graph "g": the nodes wait for one another: a -> a`: func(g *flow.Graph) {
			a := flow.Node(g, "a", nothing)
			a.After(a)
		},
		`flow: graph "g": there is no node to begin with: all have deps, or are chosen by others`: func(g *flow.Graph) {
			c := flow.Choose(g, "c", nothing)
			c.To(c)
		},
		`flow: graph "g": the graph contains itself: g -> inner -> g`: func(g *flow.Graph) {
			inner := flow.New("inner")
			flow.Sub(inner, "again", g)
			flow.Sub(g, "sub", inner)
		},
	} {
		g := flow.New("g")
		build(g)
		isText(t, g.Validate(), want)
		isText(t, g.Run(context.Background(), filch.Default()), want)
		_, err := g.RunFor(context.Background(), filch.Default())
		isText(t, err, want)
	}
}

func TestBadArgumentsPanic(t *testing.T) {
	g := flow.New("g")
	a := flow.Node(g, "a", nothing)
	ctx := context.Background()
	var none *flow.Of[int]
	for want, f := range map[string]func(){
		"flow: New: option 0 is nil":            func() { flow.New("g", nil) },
		"flow: Node: g is nil":                  func() { flow.Node(nil, "b", nothing) },
		"flow: Node: f is nil":                  func() { flow.Node[int](g, "b", nil) },
		`flow: Node: dep 1 of node "b" is nil`:  func() { flow.Node(g, "b", nothing, a, nil) },
		`flow: After: dep 0 of node "a" is nil`: func() { a.After(none) },
		"flow: Choose: g is nil":                func() { flow.Choose(nil, "b", nothing) },
		"flow: Choose: f is nil":                func() { flow.Choose(g, "b", nil) },
		"flow: Sub: g is nil":                   func() { flow.Sub(nil, "b", g) },
		"flow: Sub: inner is nil":               func() { flow.Sub(g, "b", nil) },
		"flow: Run: ctx is nil":                 func() { g.Run(noContext, filch.Default()) },
		"flow: Run: p is nil":                   func() { g.Run(ctx, nil) },
		"flow: RunFor: p is nil":                func() { g.RunFor(ctx, nil) },
		"flow: In: ctx is nil":                  func() { a.In(noContext) },
		`flow: In: node "a": ctx belongs to no`: func() { a.In(ctx) },
		"flow: NewLimit(0)":                     func() { flow.NewLimit(0) },
		"flow: Take: l is nil":                  func() { a.Take(nil, 1) },
		`Take: node "a" has 0 units of a Limit of 2, and cannot take 0`: func() { a.Take(flow.NewLimit(2), 0) },
		`Take: node "a" has 1 units of a Limit of 2, and cannot take 2`: func() { l := flow.NewLimit(2); a.Take(l, 1).Take(l, 2) },
		"flow: Result: r is nil":   func() { flow.Result(nil, a) },
		"flow: WriteDOT: w is nil": func() { g.WriteDOT(nil) },
		"flow: WriteSVG: w is nil": func() { g.WriteSVG(nil) },
		`flow: Node: graph "runs" runs`: func() {
			runs := flow.New("runs")
			var v any
			flow.Node(runs, "a", func(context.Context) (int, error) {
				defer func() { v = recover() }()
				flow.Node(runs, "b", nothing)
				return 0, nil
			})
			_ = runs.Run(ctx, filch.Default())
			panic(v)
		},
	} {
		panicsWith(t, want, f)
	}
	r, err := g.RunFor(ctx, filch.Default())
	noError(t, err)
	panicsWith(t, `flow: Result: node "x" is of graph "other", not "g"`, func() { flow.Result(r, flow.Node(flow.New("other"), "x", nothing)) })
	r.Release()
	panicsWith(t, "flow: Result: the Results were released", func() { flow.Result(r, a) })
}

func TestGraphsOfNoneAndOne(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		noError(t, flow.New("none").Run(context.Background(), p))
		g := flow.New("one")
		a := flow.Node(g, "a", func(context.Context) (string, error) { return "done", nil })
		noError(t, g.Run(context.Background(), p))
		if a.Get() != "done" {
			t.Errorf("the result is %q", a.Get())
		}
		a.After(flow.Node(g, "before", nothing)) // a graph may grow between runs
		noError(t, g.Run(context.Background(), p))
		if a.Get() != "done" {
			t.Errorf("the result is %q", a.Get())
		}
	})
}

// The first failure is the error, with the way to it. Nodes that have not begun never do.
func TestFirstFailureEndsTheRun(t *testing.T) {
	bad := errors.New("exit status 1")
	for name, fail := range map[string]func() error{
		"error":  func() error { return bad },
		"panic":  func() error { panic(bad) },
		"Goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			onPools(t, func(t *testing.T, p *filch.Pool) {
				g := flow.New("build")
				fails := true
				var after atomic.Int32
				compile := flow.Node(g, "compile", nothing)
				link := flow.Node(g, "link", func(ctx context.Context) (int, error) {
					if !fails {
						return 0, nil
					}
					return 0, fail()
				}, compile)
				for i := range 10 {
					flow.Node(g, fmt.Sprint("test ", i), func(context.Context) (int, error) { after.Add(1); return 0, nil }, link)
				}
				err := g.Run(context.Background(), p)
				var e *flow.Error
				if !errors.As(err, &e) || e.Graph != "build" || e.Node != "link" {
					t.Fatalf("the error is %v", err)
				}
				switch name {
				case "Goexit":
					if !errors.Is(err, filch.ErrGoexit) {
						t.Errorf("the error is %v", err)
					}
				case "panic":
					var pe *filch.PanicError
					if !errors.As(err, &pe) || pe.Value != any(bad) || !strings.Contains(string(pe.Stack), "TestFirstFailureEndsTheRun") {
						t.Errorf("the error is %v", err)
					}
					fallthrough
				default:
					if !errors.Is(err, bad) || !strings.HasPrefix(err.Error(), `flow: graph "build": node "link": `) {
						t.Errorf("the error is %v", err)
					}
				}
				if after.Load() > 0 {
					t.Error("a node has run after a dep that failed")
				}
				fails = false // the graph is as good as new
				noError(t, g.Run(context.Background(), p))
				if after.Load() != 10 {
					t.Errorf("%d nodes have run, not 10", after.Load())
				}
			})
		})
	}
}

// The contexts of nodes that run end with the first failure, which is their cause.
func TestFailureEndsContextsOfOthers(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	g := flow.New("g")
	bad := errors.New("bad")
	runs := make(chan struct{})
	flow.Node(g, "waits", func(ctx context.Context) (int, error) {
		close(runs)
		filch.Blocking(ctx, func() { <-ctx.Done() })
		if !errors.Is(context.Cause(ctx), bad) {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		return 0, ctx.Err()
	})
	flow.Node(g, "fails", func(ctx context.Context) (int, error) {
		filch.Blocking(ctx, func() { <-runs })
		return 0, bad
	})
	isText(t, g.Run(context.Background(), p), `flow: graph "g": node "fails": bad`)
}

// A context that has ended keeps nodes from beginning.
func TestContextEndsTheRun(t *testing.T) {
	cause := errors.New("enough")
	onPools(t, func(t *testing.T, p *filch.Pool) {
		g := flow.New("g")
		ctx, cancel := context.WithCancelCause(context.Background())
		var ran atomic.Int32
		last := flow.Node(g, "0", func(context.Context) (int, error) { cancel(cause); ran.Add(1); return 0, nil })
		for i := range 10 {
			last = flow.Node(g, fmt.Sprint(i+1), func(context.Context) (int, error) { ran.Add(1); return 0, nil }, last)
		}
		for want := range 2 { // during the run, and before
			ran.Store(int32(-want))
			err := g.Run(ctx, p)
			if isText(t, err, `flow: graph "g": enough`); !errors.Is(err, cause) || ran.Load() != int32(1-2*want) {
				t.Errorf("%d nodes have run; the error is %v", ran.Load(), err)
			}
		}
	})
}

// Close drops what is queued. A run does not wait for it.
func TestCloseEndsTheRun(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		g := flow.New("g")
		begun := make(chan struct{})
		first := flow.Node(g, "first", func(ctx context.Context) (int, error) {
			close(begun)
			<-ctx.Done()
			return 0, nil
		})
		flow.Node(g, "never", func(context.Context) (int, error) { t.Error("it runs"); return 0, nil }, first)
		flow.Node(g, "neither", func(context.Context) (int, error) { t.Error("it runs"); return 0, nil }, first)
		go func() { <-begun; p.Close() }()
		if err := g.Run(context.Background(), p); !errors.Is(err, filch.ErrClosed) {
			t.Errorf("the error is %v", err)
		}
		if err := g.Run(context.Background(), p); !errors.Is(err, filch.ErrClosed) {
			t.Errorf("the error is %v", err)
		}
	})
}

// A pool that refuses tasks runs a graph nonetheless, if it takes the first.
func TestFullPoolRunsGraphAlone(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithTaskLimit(1, filch.Reject))
	defer p.Close()
	d := newDAG(3, 300)
	noError(t, d.g.Run(context.Background(), p))
	for i, want := range d.serial() {
		if got := d.nodes[i].Get(); got != want {
			t.Fatalf("node %d is %d, not %d", i, got, want)
		}
	}
	g := flow.New("g")
	flow.Node(g, "a", func(ctx context.Context) (int, error) {
		inner := flow.New("inner")
		flow.Node(inner, "b", nothing)
		return 0, inner.Run(context.Background(), p)
	})
	if err := g.Run(context.Background(), p); !errors.Is(err, filch.ErrQueueFull) {
		t.Errorf("the error is %v", err)
	}
}

// In a node, ctx is that of a task: loops and tasks run on its worker, and waits block none.
func TestNodesForkAndWait(t *testing.T) {
	onPools(t, func(t *testing.T, p *filch.Pool) {
		g := flow.New("g")
		x := make([]int, 10_000)
		loop := flow.Node(g, "loop", func(ctx context.Context) (int, error) {
			par.For(filch.ScopeOf(ctx), len(x), func(i int) { x[i] = 1 })
			return par.Sum(filch.ScopeOf(ctx), x), nil
		})
		wait := flow.Node(g, "wait", func(ctx context.Context) (int, error) {
			return filch.Submit(ctx, p, func(context.Context) (int, error) { return 5, nil }).Wait(ctx)
		})
		// Each needs the other to run, also on one worker.
		ping, pong := make(chan int), make(chan int)
		flow.Node(g, "ping", func(ctx context.Context) (int, error) {
			filch.Blocking(ctx, func() { ping <- 1; <-pong })
			return 0, nil
		}, loop)
		flow.Node(g, "pong", func(ctx context.Context) (int, error) {
			filch.Blocking(ctx, func() { <-ping; pong <- 1 })
			return 0, nil
		}, loop)
		for range 20 {
			noError(t, g.Run(context.Background(), p))
			if loop.Get() != len(x) || wait.Get() != 5 {
				t.Errorf("the results are %d and %d", loop.Get(), wait.Get())
			}
		}
	})
}

// A run allocates nothing for a node.
func TestRunAllocatesNothingForANode(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	var allocs [2]float64
	for i, n := range []int{100, 5000} {
		for _, shape := range []string{"fan", "grid", "chain", "tree"} {
			g := shapes[shape](n)
			noError(t, g.Run(context.Background(), p))
			allocs[i] = testing.AllocsPerRun(20, func() { noError(t, g.Run(context.Background(), p)) })
			if allocs[i] > 60 {
				t.Errorf("%s of %d: %v allocations a run", shape, n, allocs[i])
			}
			allocs[i] = testing.AllocsPerRun(20, func() {
				r, err := g.RunFor(context.Background(), p)
				noError(t, err)
				r.Release()
			})
			if allocs[i] > 60 {
				t.Errorf("%s of %d: %v allocations for the results", shape, n, allocs[i])
			}
		}
	}
	g := flow.New("sums")
	a := flow.Node(g, "0", func(context.Context) (int, error) { return 1, nil })
	for i := range 1000 {
		before := a
		a = flow.Node(g, fmt.Sprint(i+1), func(ctx context.Context) (int, error) { return before.In(ctx) + before.Get(), nil }, before)
	}
	if n := testing.AllocsPerRun(20, func() { noError(t, g.Run(context.Background(), p)) }); n > 60 {
		t.Errorf("%v allocations to read a thousand results", n)
	}
}

// Of the nodes that are ready, the one with the longest way to the end comes first, by the times of the
// last run.
func TestCriticalPathComesFirst(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	g := flow.New("g", flow.ByCriticalPath())
	var order []string
	node := func(name string, deps ...flow.Dep) flow.Dep {
		return flow.Node(g, name, func(context.Context) (int, error) { order = append(order, name); return 0, nil }, deps...)
	}
	first := node("first")
	node("short", first)
	long := node("long 1", first)
	for i := range 3 {
		long = node(fmt.Sprint("long ", i+2), long)
	}
	middle := node("middle 1", first)
	node("middle 2", middle)
	noError(t, g.Run(context.Background(), p))
	if want := []string{"first", "long 1", "long 2"}; !reflect.DeepEqual(order[:3], want) {
		t.Errorf("the order is %q", order)
	}
}

// noContext is nil.
var noContext context.Context
