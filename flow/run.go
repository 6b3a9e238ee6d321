package flow

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/standby"
)

// Run runs the graph on p, and returns when no node runs any more. Nodes whose deps have run may run at the same time,
// on any workers. A worker continues with a node whose last dep it has run; other workers take the rest. Run may be
// called any number of times, concurrently, and inside nodes and other tasks of p. There, pass the task's context: its
// worker takes part, or gives up its slot while it waits.
//
// The first failure of a node becomes the error of the run, an *[Error] that names the node. The contexts of running
// nodes end, and nodes that have not begun never do. A node fails by an error, by a panic, which becomes a
// [*filch.PanicError] with its stack, or by runtime.Goexit, which becomes [filch.ErrGoexit]. If Run was called inside a
// task, a Goexit in a node may also end that task; see [filch.Future.Wait]. If ctx ends before all nodes have run, Run
// returns the cause in the same way. It likewise returns [filch.ErrClosed] if p is closed, and [filch.ErrQueueFull] if
// p accepts no task. A graph that [Graph.Validate] rejects does not run.
//
// Results remain until the graph runs again; see [Of.Get]. A run of a graph that has run before allocates about a
// kilobyte, some hundred bytes for each turn of a worker, and nothing per node, apart from what nodes allocate. Run
// panics if ctx or p is nil.
func (g *Graph) Run(ctx context.Context, p *filch.Pool) error {
	st, err := g.run("Run", ctx, p)
	if st != nil {
		g.giveBack(st)
	}
	return err
}

// RunFor is [Graph.Run], but returns the results of this run, for graphs whose runs overlap. They are nil if there is
// an error.
func (g *Graph) RunFor(ctx context.Context, p *filch.Pool) (*Results, error) {
	st, err := g.run("RunFor", ctx, p)
	if err != nil {
		if st != nil {
			g.giveBack(st)
		}
		return nil, err
	}
	return &Results{g: g, st: st}, nil
}

// run returns the state of a run that is over, if one took place.
func (g *Graph) run(op string, ctx context.Context, p *filch.Pool) (*state, error) {
	needs(ctx != nil, op, "ctx")
	needs(p != nil, op, "p")
	st, err := g.begin()
	if err != nil {
		return nil, err
	}
	r := &run{g: g, st: st, pool: p}
	r.Context, r.cancel = context.WithCancelCause(ctx)
	st.start(r)
	returned := false
	defer func() {
		if !returned { // a node has ended the caller by Goexit
			st.fail(r, none, filch.ErrGoexit)
			st.end(ctx, r)
			g.giveBack(st)
		}
	}()
	if len(st.ready) > 0 {
		first := filch.Submit(r, p, func(ctx context.Context) (struct{}, error) { st.carry(ctx); return struct{}{}, nil })
		if _, err := first.Wait(ctx); err != nil {
			st.fail(r, none, err)
		}
	}
	st.end(ctx, r)
	returned = true
	return st, r.err
}

// run is one run of a graph. The contexts of its tasks descend from it.
type run struct {
	context.Context // has the caller's values; ends with the run
	cancel          context.CancelCauseFunc
	g               *Graph
	st              *state
	pool            *filch.Pool
	task            context.Context // of the first carrier; also ends with the pool; under st.mu
	err             error           // the first failure; under st.mu
	over            chan struct{}   // closed when the run is over; made for a waiter; under st.mu
}

type runKey struct{}

// Value lets functions find the run from the contexts of its nodes.
func (r *run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// runOf returns the innermost run that ctx belongs to, or nil.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// state is the memory of a run. One run after the other uses it.
type state struct {
	// Its methods stand with their subjects: runs, carriers, limits, ready nodes.

	g     *Graph
	plan  *plan
	now   atomic.Pointer[run] // the run that uses it; nil before and after; written under mu
	carry func(ctx context.Context)

	round   uint32        // the number of the run; nodes that have run in it have the same in ran
	places  []place       // of the nodes
	busy    []atomic.Bool // in a graph with weak edges: the node is ready or runs
	waiters []waiter      // for nodes that take of limits

	mu      sync.Mutex
	ready   []int32 // nodes that may run and are not taken
	rank    []int64 // by node: the highest runs first; nil if the newest does
	called  bool    // a submitted carrier has not begun; always so if ready is not empty
	running int     // carriers that have begun
	parked  int     // nodes that wait for a limit
	failed  []int32 // nodes that have failed
}

// place is what a run keeps for a node, in half a cache line.
type place struct {
	cell any    // points to its result; the carrier of the node writes, its successors read
	took int64  // nanoseconds it ran in that round; likewise
	left int32  // deps that have not run; their carriers count down atomically, and the last resets it
	ran  uint32 // the last round in which it ran; the carrier of the node writes, its successors read
}

func newState(g *Graph, p *plan) *state {
	st := &state{g: g, plan: p, places: make([]place, p.len()), waiters: make([]waiter, p.slots)}
	for i := range st.places {
		n := &p.nodes[i]
		st.places[i].cell = n.body.newCell()
		if n.slot != none {
			st.waiters[n.slot] = waiter{st: st, node: int32(i), takes: g.nodes[i].takes}
		}
	}
	st.setBack()
	if p.weak {
		st.busy = make([]atomic.Bool, p.len())
	}
	if g.byPath {
		st.rank = make([]int64, p.len())
	}
	st.carry = st.carryOn
	return st
}

// begin counts a run, and returns a state for it.
func (g *Graph) begin() (st *state, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, err := g.planned()
	if err != nil {
		return nil, err
	}
	g.active++
	if st, g.kept = g.kept, nil; st == nil {
		st, _ = g.states.Get().(*state)
	}
	if st == nil || st.plan != p {
		st = newState(g, p)
	}
	g.alone.Store(nil)
	if g.active == 1 {
		g.alone.Store(st)
	}
	if st.round++; st.round == 0 {
		for i := range st.places {
			st.places[i].ran = 0
		}
		st.round = 1
	}
	if st.rank != nil {
		p.rankNodes(g.nodes, g.took, st.rank)
	}
	return st, nil
}

// setBack makes all nodes wait for all their deps again. A run leaves them so, unless it fails or has a Choice.
func (st *state) setBack() {
	for i := range st.places {
		st.places[i].left = st.plan.nodes[i].deps
	}
}

// has reports whether node i has run. A node added after the run has not.
func (st *state) has(i int32) bool { return int(i) < len(st.places) && st.places[i].ran == st.round }

// start assigns st to r, which no other goroutine knows yet.
func (st *state) start(r *run) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.called, st.running, st.parked, st.failed = true, 0, 0, st.failed[:0]
	st.ready = append(st.ready[:0], st.plan.sources...)
	st.heap()
	for i := range st.busy {
		st.busy[i].Store(false)
	}
	for _, i := range st.plan.sources {
		if st.busy != nil {
			st.busy[i].Store(true)
		}
	}
	st.now.Store(r)
}

// fail ends r, unless it has failed before. The failure is that of node i, or of no node if i is negative. Nodes that
// have not begun never do.
func (st *state) fail(r *run, i int32, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.now.Load() != r {
		return
	}
	if i >= 0 {
		st.failed = append(st.failed, i)
	}
	if r.err != nil {
		return
	}
	e := &Error{Graph: st.g.name, Err: err}
	if i >= 0 {
		e.Node = st.g.nodes[i].name
	}
	r.err = e
	r.cancel(e)
	st.tellOver(r)
}

// isOver reports whether no node of r runs or is to run. The caller holds the lock.
func (st *state) isOver(r *run) bool {
	return st.running == 0 && (r.err != nil || len(st.ready) == 0 && st.parked == 0)
}

// tellOver wakes the waiter for the end of r, if it has come. The caller holds the lock.
func (st *state) tellOver(r *run) {
	if r.over != nil && st.isOver(r) {
		close(r.over)
		r.over = nil
	}
}

// end waits until r is over, and ends it. ctx is the caller's: if it is that of a task, the task gives up its worker
// slot meanwhile. Carriers that begin later find that r is over.
func (st *state) end(ctx context.Context, r *run) {
	st.mu.Lock()
	for !st.isOver(r) {
		over := make(chan struct{})
		r.over = over
		ends := r.task
		st.mu.Unlock()
		standby.By(ctx, func() { st.await(r, over, ends) })
		st.mu.Lock()
	}
	st.now.Store(nil)
	st.mu.Unlock()
	st.endLogically()
	r.cancel(nil)
	if r.err != nil {
		st.leaveLimits()
	}
	if r.err != nil || st.plan.weak {
		st.setBack()
	}
	g := st.g
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	if g.timed && g.plan == st.plan {
		g.keepTimes(st)
	}
}

// await waits until over is closed. ends is the context of a task, which ends with the caller's context and with the
// pool; queued tasks are dropped then.
func (st *state) await(r *run, over chan struct{}, ends context.Context) {
	select {
	case <-over:
		return
	case <-ends.Done():
	}
	st.fail(r, none, r.why())
	<-over
}

// why returns why the contexts of r's tasks have ended: because of the caller's context, or the pool. In the second
// case, their own cause may be context.Canceled for a moment.
func (r *run) why() error {
	if err := context.Cause(r.Context); err != nil {
		return err
	}
	return filch.ErrClosed
}

// keepTimes keeps the times and failures of the run that used st. The caller holds the lock of g.
func (g *Graph) keepTimes(st *state) {
	if g.took == nil {
		g.took = make([]int64, len(st.places))
	}
	for i := range st.places {
		if g.took[i] = 0; st.has(int32(i)) {
			g.took[i] = st.places[i].took
		}
	}
	g.failed = append(g.failed[:0], st.failed...)
}

// giveBack keeps st for Get if its run was alone, and for the next run.
func (g *Graph) giveBack(st *state) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case st.plan != g.plan: // the graph has changed
	case g.alone.Load() == st:
		g.kept = st
	default:
		g.states.Put(st)
	}
}

// Results are the results of one run, from [Graph.RunFor]. Any goroutine may read them.
type Results struct {
	g  *Graph
	st *state
}

// Release gives the memory of r to later runs; r must not be used afterwards. Release is optional: without it, the next
// run allocates anew. The Results of a [Sub] are released by the graph around it.
func (r *Results) Release() {
	if st := r.state("Release"); st != nil {
		r.st = nil
		r.g.alone.CompareAndSwap(st, nil)
		r.g.giveBack(st)
	}
}

// Ran reports whether n has run. Only nodes after a [Choice] may not have.
func (r *Results) Ran(n Dep) bool {
	st := r.state("Ran")
	needs(n != nil && !isNil(n), "Ran", "n")
	at := n.dep()
	at.sameGraph("Ran", r.g)
	return st.has(at.index)
}

func (r *Results) state(op string) *state {
	needs(r != nil, op, "r")
	if r.st == nil {
		panic("flow: " + op + ": the Results were released")
	}
	return r.st
}

// Result returns what n returned last in the run of r. It panics if n has not run, or is of another graph.
func Result[T any](r *Results, n *Of[T]) T {
	st := r.state("Result")
	needs(n != nil, "Result", "n")
	n.sameGraph("Result", r.g)
	return n.in("Result", st)
}

func (n *node) sameGraph(op string, g *Graph) {
	if of := n.made(op); of != g {
		panic(fmt.Sprintf("flow: %s: node %q is of graph %q, not %q", op, n.name, of.name, g.name))
	}
}

// In returns the result of n in the run that ctx belongs to. ctx must be that of a node that comes after n, in the same
// graph or in a graph that is a node of it; for other nodes, n may still be running. In panics if n has not run, or if
// ctx belongs to no current run of n's graph. It costs two look-ups in contexts, some tens of nanoseconds.
func (n *Of[T]) In(ctx context.Context) T { return n.in("In", n.stateIn("In", ctx)) }

// Lookup is [Of.In], but reports false if n has not run, as may happen after a [Choice].
func (n *Of[T]) Lookup(ctx context.Context) (v T, ok bool) {
	st := n.stateIn("Lookup", ctx)
	if ok = st.has(n.index); ok {
		v = *st.places[n.index].cell.(*T)
	}
	return v, ok
}

// stateIn returns the state of the run of n's graph that ctx belongs to.
func (n *Of[T]) stateIn(op string, ctx context.Context) *state {
	needs(ctx != nil, op, "ctx")
	n.made(op)
	r := runOf(ctx)
	for r != nil && r.g != n.g {
		r = runOf(r.Context)
	}
	if r == nil || r.st.now.Load() != r {
		panic(fmt.Sprintf("flow: %s: node %q: ctx belongs to no run of graph %q that is under way", op, n.name, n.g.name))
	}
	return r.st
}

// in returns the result in st.
func (n *Of[T]) in(op string, st *state) T {
	if !st.has(n.index) {
		panic(fmt.Sprintf("flow: %s: node %q of graph %q has not run; what reads it must come after it", op, n.name, n.g.name))
	}
	return *st.places[n.index].cell.(*T)
}

// Get returns the result of n in the current run, or else in the one that ended last. During a run, only nodes that
// come after n may call it. Get panics if n has not run, or if another run overlapped that run, even afterwards; see
// [Of.In] and [Graph.RunFor] for such graphs. It costs a few nanoseconds.
func (n *Of[T]) Get() T {
	st := n.made("Get").alone.Load()
	if st == nil {
		panic(fmt.Sprintf("flow: Get: node %q: graph %q has not run, or ran several times at once: see In and RunFor", n.name, n.g.name))
	}
	return n.in("Get", st)
}
