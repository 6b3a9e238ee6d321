package flow

import (
	"context"
	"slices"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
)

// With logical races (see filch.WithLogicalRaces), each node is a goroutine of its own to the race detector: a child,
// opened by the carrier that runs the node, after which the carrier is not ordered. So carriers, and the locks they
// take, are ordered after one another, and after no node. Nodes are ordered by the addresses of their places: a node
// acquires those of the nodes it comes after, and releases its own. The end of a run acquires them all.

// call calls the function of node i.
func (c *carrier) call(i int32) error {
	st, b := c.st, c.st.plan.nodes[i].body
	cell := st.places[i].cell
	if !race.Enabled {
		return b.call(c.ctx, cell)
	}
	out := &outcome{}
	f := func(ctx context.Context) {
		defer race.Release(&st.places[i])
		out.of(func() error { return st.callInOrder(i, b, ctx, cell) })
	}
	if !race.RunPart(c.ctx, f) {
		return st.callInOrder(i, b, c.ctx, cell)
	}
	err := out.get()
	if err != nil {
		race.Acquire(&st.places[i]) // c passes the error on
	}
	return err
}

// callInOrder calls b, the function of node i, after the nodes before it.
func (st *state) callInOrder(i int32, b body, ctx context.Context, cell any) error {
	n := st.g.nodes[i]
	for _, d := range n.deps {
		race.Acquire(&st.places[d.index])
	}
	if st.plan.weak {
		for j, m := range st.g.nodes {
			if slices.Contains(m.to, n) {
				race.Acquire(&st.places[j])
			}
		}
	}
	for _, t := range n.takes {
		t.of.enter(t.n)
		defer t.of.exit(t.n)
	}
	return b.call(ctx, cell)
}

// endLogically orders the caller after all nodes of the run.
func (st *state) endLogically() {
	if !race.Enabled {
		return
	}
	for i := range st.places {
		race.Acquire(&st.places[i])
	}
}

// enter orders a node that takes n units of l after the nodes that cannot run beside it: one that takes all units after
// all others, and others after those that take all.
func (l *Limit) enter(n int) {
	race.Acquire(&l.n)
	if n == l.n {
		race.Acquire(&l.free)
	}
}

// exit ends what enter began.
func (l *Limit) exit(n int) {
	if n == l.n {
		race.Release(&l.n)
	} else {
		race.Release(&l.free)
	}
}

// outcome is how a node has ended. Its child writes it, and then its carrier reads it, unseen by the race detector.
type outcome struct{ err error }

func (o *outcome) of(f func() error) {
	o.err = filch.ErrGoexit
	defer func() {
		if v := recover(); v != nil {
			o.err = panicked(v)
		}
	}()
	o.err = f()
}

//go:norace
func (o *outcome) get() error { return o.err }

// choice returns the index that node i has chosen.
//
//go:norace
func (st *state) choice(i int32) int { return *st.places[i].cell.(*int) }
