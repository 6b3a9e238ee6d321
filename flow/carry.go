package flow

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
)

// turn is how long a carrier continues, in nanoseconds, before it lets its worker check for other tasks.
const turn = 100_000

// none is not a node.
const none = -1

// carrier is a task that runs nodes one after the other.
type carrier struct {
	st    *state
	r     *run
	ctx   context.Context
	at    int32     // the node that runs
	ready [32]int32 // ready nodes that are not in st.ready yet
	n     int       // the number of them
}

// carryOn is the function of a carrier's task.
func (st *state) carryOn(ctx context.Context) {
	c := carrier{st: st, r: runOf(ctx), ctx: ctx, at: none}
	if st.join(c.r, ctx) {
		defer c.leave()
		c.carry()
	}
}

// join counts a carrier that was submitted for r, and reports false if r is over.
func (st *state) join(r *run, ctx context.Context) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.now.Load() != r {
		return false
	}
	if r.task == nil {
		r.task = ctx
	}
	st.called = false
	st.running++
	return true
}

// leave is deferred. It runs when a carrier finds no more to do, or a node has ended it.
func (c *carrier) leave() {
	st := c.st
	if c.at != none {
		err := error(filch.ErrGoexit)
		if v := recover(); v != nil {
			err = panicked(v)
		}
		st.fail(c.r, c.at, err)
		st.release(c.at)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.running--
	st.tellOver(c.r)
}

// carry runs nodes until none is left, or the run has failed, or its turn is over and another carrier was submitted.
func (c *carrier) carry() {
	begin := clock.Now()
	now := begin
	for i := c.next(none); i != none; {
		if c.ctx.Err() != nil {
			c.st.fail(c.r, none, c.r.why())
			return
		}
		if now-begin > turn {
			if c.handOn(i) {
				return
			}
			begin, i = now, c.next(none)
			continue
		}
		if n := &c.st.plan.nodes[i]; n.slot != none && !c.st.acquire(c.r, n.slot) {
			i = c.next(none)
			continue
		}
		var ok bool
		if now, ok = c.run(i, now); !ok {
			return
		}
		i = c.after(i)
	}
}

// run runs node i. It returns the time, and false if the node failed.
func (c *carrier) run(i int32, begin int64) (now int64, ok bool) {
	st := c.st
	c.at = i
	err := c.call(i)
	c.at = none
	if err != nil {
		st.fail(c.r, i, err)
		st.release(i)
		return 0, false
	}
	now = clock.Now()
	at := &st.places[i]
	if at.ran != st.round {
		at.ran, at.took = st.round, 0
	}
	at.took += max(1, now-begin)
	return now, true
}

// after makes ready the nodes whose last dep was i, which has run, and the node that i chooses. It returns the node to
// continue with.
func (c *carrier) after(i int32) (next int32) {
	st, p := c.st, c.st.plan
	n := &p.nodes[i]
	if n.slot != none {
		st.release(i)
	}
	if st.busy != nil {
		st.busy[i].Store(false)
	}
	next = none
	if n.isChoice {
		to, err := st.g.nodes[i].chosen(st.choice(i))
		if err != nil {
			st.fail(c.r, i, err)
			return none
		}
		if to != nil {
			next = c.makeReady(to.index, next)
		}
	}
	for _, j := range p.after(i) {
		if deps := p.nodes[j].deps; deps > 1 {
			left := &st.places[j].left
			switch {
			case atomic.AddInt32(left, -1) > 0:
				continue
			case p.weak:
				atomic.AddInt32(left, deps) // deps may soon run again
			default:
				*left = deps // for the next run
			}
		}
		next = c.makeReady(j, next)
	}
	if next == none || c.n > 0 {
		next = c.next(next)
	}
	return next
}

// makeReady records that node j is ready. It returns the node to continue with, which was next so far.
func (c *carrier) makeReady(j, next int32) int32 {
	if c.st.busy != nil && c.st.busy[j].Swap(true) {
		c.st.fail(c.r, j, fmt.Errorf("it is to run again before it has ended"))
		return next
	}
	if next == none && c.st.rank == nil {
		return j
	}
	if c.n == len(c.ready) {
		c.next(j) // only makes room
	}
	c.ready[c.n] = j
	c.n++
	return next
}

// next gives the nodes in c.ready to all carriers. It returns the node to continue with: i, or if that is none, the
// first ready node of all.
func (c *carrier) next(i int32) int32 {
	st := c.st
	st.mu.Lock()
	for _, j := range c.ready[:c.n] {
		st.push(j)
	}
	c.n = 0
	if i == none {
		i = st.pop()
	}
	call := st.calls()
	st.mu.Unlock()
	if call {
		_ = c.st.call(c.r, c.ctx) // if the pool refuses, c continues alone
	}
	return i
}

// handOn leaves node i to the next carrier, which it submits. If the pool refuses the carrier, it reports false: i is
// ready, and c continues.
func (c *carrier) handOn(i int32) bool {
	st := c.st
	st.mu.Lock()
	st.push(i)
	call := st.calls()
	st.mu.Unlock()
	return !call || c.st.call(c.r, c.ctx) == nil
}

// calls records that a carrier is about to be submitted, and reports whether one must be: while nodes are ready, one is
// on its way. So a waiting node keeps no ready node from running, as long as the pool has a worker slot. The caller
// holds the lock.
func (st *state) calls() bool {
	if st.called || len(st.ready) == 0 {
		return false
	}
	st.called = true
	return true
}

// call submits a carrier of r for a caller with ctx.
func (st *state) call(r *run, ctx context.Context) error {
	err := r.pool.TryGo(ctx, st.carry)
	if err != nil {
		st.mu.Lock()
		defer st.mu.Unlock()
		if st.now.Load() == r {
			st.called = false
		}
	}
	return err
}
