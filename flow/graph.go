package flow

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
)

// Graph is a set of named nodes and of edges that say which runs before which. Make one with [New]. One goroutine at a
// time may add nodes, edges and limits, before the first run or later while no run is in progress; during a run, the
// functions that add panic. All other methods may be called from any goroutine.
type Graph struct {
	// Its methods stand with their subjects: building, the plan, runs, pictures.

	name   string
	byPath bool

	mu     sync.Mutex
	nodes  []*node
	byName map[string]*node
	faults []error // in what was added
	plan   *plan   // nil if something was added since it was made
	active int     // runs in progress
	kept   *state  // of the last run to end, if it was alone: for Get and the next run
	timed  bool    // times are wanted
	took   []int64 // by node, the time in the last run to end, if wanted; nil before
	failed []int32 // the nodes that failed in that run

	inner  atomic.Pointer[inner] // the graphs that are nodes, newest first; written under mu, plans of all graphs load
	alone  atomic.Pointer[state] // of a run that is or was alone; written under mu, Get loads
	states sync.Pool             // of *state
}

// Option configures a [Graph].
type Option func(g *Graph)

// ByCriticalPath makes a run take first the ready node with the longest path to the end of the graph. Without it, a
// worker takes the newest ready node. A path is measured by the times of its nodes in the run that ended last, and
// before the first run by their number. This is highest level first (Adam, Chandy and Dickson, "A comparison of list
// schedules for parallel processing systems", CACM 1974). It orders only the nodes of one run.
//
// A run then visits each edge once more when it begins, and each ready node costs the logarithm of the number of ready
// nodes.
func ByCriticalPath() Option { return func(g *Graph) { g.byPath, g.timed = true, true } }

// New returns an empty graph. The name appears in errors and pictures. New panics if an option is nil.
func New(name string, opts ...Option) *Graph {
	g := &Graph{name: name, byName: map[string]*node{}}
	for i, opt := range opts {
		needs(opt != nil, "New", fmt.Sprintf("option %d", i))
		opt(g)
	}
	return g
}

// Name returns the name passed to New.
func (g *Graph) Name() string { return g.name }

// Dep is a node of any type that another can depend on: an *[Of] or a *[Choice].
type Dep interface{ dep() *node }

// node is a node of any type.
type node struct {
	// Its methods stand with their subjects: deps, choices, limits, results.

	g     *Graph
	name  string
	index int32
	body  body
	deps  []*node  // nodes that must run before it, each listed once
	to    []*node  // the nodes that a Choice chooses from
	takes []taking // of limits, in the order of the limits
	sub   *Graph   // the graph that it runs
}

// body is the type-specific part of a node.
type body interface {
	newCell() any                             // memory for a result
	call(ctx context.Context, cell any) error // calls the function, and stores its result in cell
}

func (n *node) dep() *node { return n }

// Of is a node with a result of type T. Make one with [Node].
type Of[T any] struct {
	node
	f func(ctx context.Context) (T, error)
}

// Node adds a node to g, and returns it. Each run calls f once, when all deps have run; see [Choice] for nodes that are
// called more often, or not at all. ctx is the context of a task of the pool: see the package comment for what f may do
// with it, and [Of.In] for reading the results of deps. If f returns an error, the run ends; see [Graph.Run].
//
// Names are unique within a graph, and deps must be of the same graph. [Graph.Validate] and each run report violations.
// Node panics if g, f or one of deps is nil, and while the graph runs.
func Node[T any](g *Graph, name string, f func(ctx context.Context) (T, error), deps ...Dep) *Of[T] {
	needs(g != nil, "Node", "g")
	needs(f != nil, "Node", "f")
	n := &Of[T]{f: f}
	g.add("Node", &n.node, n, name, deps)
	return n
}

// After makes n also run after all of deps, and returns n. It is for nodes made later than n, and for deps whose
// results n does not read. It panics as [Node] does.
func (n *Of[T]) After(deps ...Dep) *Of[T] {
	n.made("After").change("After", func() { n.after("After", deps) })
	return n
}

func (n *Of[T]) newCell() any { return new(T) }

func (n *Of[T]) call(ctx context.Context, cell any) error {
	v, err := n.f(ctx)
	if err == nil {
		*cell.(*T) = v
	}
	return err
}

// add adds a new node.
func (g *Graph) add(op string, n *node, b body, name string, deps []Dep) {
	if g.byName == nil {
		panic("flow: " + op + ": g is not from New")
	}
	g.change(op, func() {
		n.g, n.name, n.index, n.body = g, name, int32(len(g.nodes)), b
		if g.byName[name] != nil {
			g.faults = append(g.faults, fmt.Errorf("there are two nodes %q", name))
		}
		n.after(op, deps)
		g.nodes, g.byName[name] = append(g.nodes, n), n
		if n.sub != nil {
			g.inner.Store(&inner{n.sub, g.inner.Load()})
		}
	})
}

// made returns the graph of n, and panics if n is in none.
func (n *node) made(op string) *Graph {
	if n.g == nil {
		panic("flow: " + op + ": the node is not from Node, Choose or Sub")
	}
	return n.g
}

// change calls f, which changes g. It panics if g runs.
func (g *Graph) change(op string, f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.active > 0 {
		panic(fmt.Sprintf("flow: %s: graph %q runs", op, g.name))
	}
	g.plan, g.kept = nil, nil
	g.alone.Store(nil)
	f()
}

// after adds deps to those of n. The caller holds the lock of the graph.
func (n *node) after(op string, deps []Dep) {
	for i, d := range deps {
		if from := n.ours(op, "dep", i, d); from != nil && !has(n.deps, from) {
			n.deps = append(n.deps, from)
		}
	}
}

// ours returns the node d, or nil if it is of another graph, which it records as a fault.
func (n *node) ours(op, what string, i int, d Dep) *node {
	var other *node
	if d != nil && !isNil(d) {
		other = d.dep()
	}
	needs(other != nil, op, fmt.Sprintf("%s %d of node %q", what, i, n.name))
	if other.g == nil {
		panic(fmt.Sprintf("flow: %s: %s %d of node %q is not from Node, Choose or Sub", op, what, i, n.name))
	}
	if other.g != n.g {
		n.g.faults = append(n.g.faults, fmt.Errorf("node %q has the %s %q, which is of another graph, %q", n.name, what, other.name, other.g.name))
		return nil
	}
	return other
}

// has checks short lists one by one. Duplicates in longer ones are removed when the graph is planned.
func has(nodes []*node, n *node) bool {
	const few = 8
	if len(nodes) > few {
		return false
	}
	for _, m := range nodes {
		if m == n {
			return true
		}
	}
	return false
}

// isNil reports whether d is a nil pointer.
func isNil(d Dep) bool {
	v := reflect.ValueOf(d)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// needs panics that an argument of op is nil, unless ok.
func needs(ok bool, op, argument string) {
	if !ok {
		panic("flow: " + op + ": " + argument + " is nil")
	}
}
