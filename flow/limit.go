package flow

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Limit is a number of units, as of memory or connections, that running nodes share; see [Of.Take]. Nodes of any graphs
// and runs may share it. Make one with [NewLimit].
//
// A node that finds too few units left queues without occupying a worker, which continues with other nodes. The queue
// is FIFO, so a node that takes many units does not starve.
type Limit struct {
	n  int
	id uint64

	mu          sync.Mutex
	free        int
	first, last *waiter // the queue of nodes that wait for units
}

var limits atomic.Uint64 // made so far

// NewLimit returns a Limit of n units. It panics if n is less than 1.
func NewLimit(n int) *Limit {
	if n < 1 {
		panic(fmt.Sprintf("flow: NewLimit(%d): there must be a unit", n))
	}
	return &Limit{n: n, id: limits.Add(1), free: n}
}

// taking is the number of units that a node takes of a limit.
type taking struct {
	of *Limit
	n  int
}

// Take makes n take k units of l whenever it runs, and return them when it ends. Take returns n. A node takes of
// several limits in the order in which the limits were made, so nodes cannot deadlock. Exception: a graph that runs
// inside n and also takes of l may wait for ever. Take panics if l is nil, if k is less than 1, if n would take more
// units than l has, and while the graph runs.
func (n *Of[T]) Take(l *Limit, k int) *Of[T] {
	needs(l != nil, "Take", "l")
	n.made("Take").change("Take", func() { n.take(l, k) })
	return n
}

func (n *node) take(l *Limit, k int) {
	at := slices.IndexFunc(n.takes, func(t taking) bool { return t.of == l })
	has := 0
	if at >= 0 {
		has = n.takes[at].n
	}
	if k < 1 || k > l.n-has {
		panic(fmt.Sprintf("flow: Take: node %q has %d units of a Limit of %d, and cannot take %d", n.name, has, l.n, k))
	}
	if at >= 0 {
		n.takes[at].n = has + k
		return
	}
	n.takes = append(n.takes, taking{l, k})
	slices.SortFunc(n.takes, func(a, b taking) int { return cmp.Compare(a.of.id, b.of.id) })
}

// waiter is a node of a run that takes of limits. One run after the other uses it.
type waiter struct {
	st    *state
	node  int32
	takes []taking
	held  int     // the number of takes the node holds; written by the carrier that has the node, and by whoever takes it out of a queue, under that queue's lock
	r     *run    // that waits in a queue; under its lock
	in    *Limit  // in whose queue it is; likewise
	next  *waiter // in that queue; likewise
}

// acquire takes the units that the node with the slot needs. It reports false if the node is queued for the rest; the
// node becomes ready again once served.
func (st *state) acquire(r *run, slot int32) bool {
	w := &st.waiters[slot]
	for w.held < len(w.takes) {
		if t := w.takes[w.held]; !t.of.take(w, r, t.n) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.parked++ // the node may have been served already; a carrier runs, so the run is not over
			return false
		}
		w.held++
	}
	return true
}

// take takes n units for w, or queues it.
func (l *Limit) take(w *waiter, r *run, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil && l.free >= n {
		l.free -= n
		return true
	}
	w.r, w.in, w.next = r, l, nil
	if l.first == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
	return false
}

// release returns what node i holds.
func (st *state) release(i int32) {
	slot := st.plan.nodes[i].slot
	if slot == none {
		return
	}
	w := &st.waiters[slot]
	held := w.held
	w.held = 0
	for _, t := range w.takes[:held] {
		t.of.give(t.n)
	}
}

// give returns n units, and serves the nodes at the head of the queue.
func (l *Limit) give(n int) {
	for {
		w, r := l.serve(n)
		if w == nil {
			return
		}
		w.st.served(w.node, r)
		n = 0
	}
}

// serve adds n units, and dequeues the first waiter if there are enough for it.
func (l *Limit) serve(n int) (*waiter, *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free += n
	w := l.first
	if w == nil || w.takes[w.held].n > l.free {
		return nil, nil
	}
	l.free -= w.takes[w.held].n
	w.held++
	l.first, w.in, w.next = w.next, nil, nil
	return w, w.r
}

// served makes node i, which was queued for r, ready again. If r is over or has failed, leaveLimits returns what the
// node holds.
func (st *state) served(i int32, r *run) {
	st.mu.Lock()
	if st.now.Load() != r || r.err != nil {
		st.mu.Unlock()
		return
	}
	st.parked--
	st.push(i)
	call := st.calls()
	st.mu.Unlock()
	if !call {
		return
	}
	if err := st.call(r, r.task); err != nil {
		if r.task.Err() != nil {
			err = r.why()
		}
		st.fail(r, none, err)
	}
}

// leaveLimits removes the nodes of a failed run from all queues, and returns what they hold. The run is over.
func (st *state) leaveLimits() {
	for i := range st.waiters {
		w := &st.waiters[i]
		for _, t := range w.takes {
			t.of.remove(w)
		}
		st.release(w.node) // from here on, it cannot be served
		for _, t := range w.takes {
			t.of.give(0) // it may have blocked others
		}
	}
}

// remove removes w from the queue of l, if it is there.
func (l *Limit) remove(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.in != l {
		return
	}
	var before *waiter
	for at := l.first; at != w; at = at.next {
		before = at
	}
	if before == nil {
		l.first = w.next
	} else {
		before.next = w.next
	}
	if l.last == w {
		l.last = before
	}
	w.in, w.next = nil, nil
}
