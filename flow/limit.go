package flow

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Limit is a number of units that running nodes share, as of memory or of connections: see
// [Of.Take]. Nodes of any graphs and runs may share it. Make one with [NewLimit].
//
// A node that finds too few units left waits in line, without a worker: the worker goes on with
// other nodes. The first in line is served first, so a node that takes many does not starve.
type Limit struct {
	n  int
	id uint64

	mu          sync.Mutex
	free        int
	first, last *waiter // those that wait for units
}

var limits atomic.Uint64 // that were made

// NewLimit returns a Limit of n units. It panics if n is less than 1.
func NewLimit(n int) *Limit {
	if n < 1 {
		panic(fmt.Sprintf("flow: NewLimit(%d): there must be a unit", n))
	}
	return &Limit{n: n, id: limits.Add(1), free: n}
}

// taking is how much a node takes of a limit.
type taking struct {
	of *Limit
	n  int
}

// Take makes n take k units of l whenever it runs, and give them back at its end. It returns n. A
// node may take of several limits. It does so in the order in which those were made, so nodes
// cannot keep one another from going on. A graph that runs inside of n, and takes of l itself, may
// wait for ever. Take panics if l is nil, if k is less than 1, or if n then takes more units than l
// has, and while the graph runs.
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

// waiter is a node of a run that takes of limits. It is used by one run after the other.
type waiter struct {
	st    *state
	node  int32
	takes []taking
	held  int     // so many of takes the node has; the carrier that has the node writes, and what takes it out of a line, under that lock
	r     *run    // that waits in a line; under its lock
	in    *Limit  // in whose line it is; likewise
	next  *waiter // in that line; likewise
}

// acquire takes what the node takes that has the slot. It reports false if the node is in line for
// the rest: it becomes ready again when it was served.
func (st *state) acquire(r *run, slot int32) bool {
	w := &st.waiters[slot]
	for w.held < len(w.takes) {
		if t := w.takes[w.held]; !t.of.take(w, r, t.n) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.parked++ // it may have been served already; a carrier runs, so the run is not over
			return false
		}
		w.held++
	}
	return true
}

// take takes n units for w, or puts it in line.
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

// release gives back what node i has.
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

// give gives back n units, and serves those that are first in line.
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

// serve adds n units, and takes the first out of line if there are enough for it.
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

// served makes node i ready again, which was in line for r. If r is over, or has failed, what the node
// has goes back by leaveLimits.
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

// leaveLimits takes the nodes of a run that has failed out of all lines, and gives back what they
// have. The run is over.
func (st *state) leaveLimits() {
	for i := range st.waiters {
		w := &st.waiters[i]
		for _, t := range w.takes {
			t.of.remove(w)
		}
		st.release(w.node) // after that, nobody serves it
		for _, t := range w.takes {
			t.of.give(0) // it may have been in the way
		}
	}
}

// remove takes w out of the line of l, if it is there.
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
