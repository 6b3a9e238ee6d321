package filch

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/line"
)

// room limits how many tasks wait in queues, beyond those that idle workers are
// about to take: a task gets room while fewer than limit are queued, or fewer than
// limit and as many as there are idle places.
//
// # Why no more than limit wait
//
// A worker that takes a task does
//
//	(W31) stop counting as idle; then leave the queue.
//
// A submitter does
//
//	load the count; (R31) load the idle places; then raise the count, by a
//	compare-and-swap that fails if a task has left meanwhile.
//
// So the worker of a task that had left when the count was loaded is not taken for
// idle. One that stops being idle after R31 has a task that the count still
// includes: for each worker that is no longer idle, one task less waits. Hence, when
// the count is raised, tasks that run and tasks that wait are at most the places and
// limit together. Other work may take an idle place; then a task that was to run at
// once waits.
//
// # Why no wake-up is lost
//
// A task that finds no room stands in line, then does
//
//	(R30) try again, and if that fails, wait for its turn.
//
// A task that leaves the queue does
//
//	(W30) lower the count; then give the first in line its turn.
//
// R30 fails only if a task is queued, since there is room for one at least. That task
// will leave, and then sees the line. So a task in line has a turn after each R30 that
// fails. If it gets room, it is queued itself, and will leave. If it does not, it
// stands at the front of the line, and its own R30 has failed. If it has room
// already, or has given up, it passes the turn on. So some task in line always has a
// turn to come. Room also grows when a worker falls idle, or places are added. That
// needs no turn of its own: both first take queued tasks, which leave. But one task
// that leaves may make room for several, so each that gets room passes the turn on if
// there is more.
type room struct {
	limit int64
	idle  func() int // places that could take a task at once; nil if they do not count

	// How many have room, and above it how many have left, so that a
	// compare-and-swap notices. Submitters raise it, workers that take tasks out lower it.
	word atomic.Uint64

	mu   sync.Mutex
	line line.Line[*latch]
}

const (
	oneLeft = 1 << 40
	maxRoom = oneLeft - 1
)

// take takes room for a task, if there is some.
func (r *room) take() bool {
	for {
		v := r.word.Load()
		if !r.fits(v) {
			return false
		}
		if r.word.CompareAndSwap(v, v+1) {
			return true
		}
	}
}

// fits reports whether there is room for one more than in v.
func (r *room) fits(v uint64) bool {
	n := int64(v & maxRoom)
	if r.idle != nil {
		n -= int64(r.idle()) // (R31)
	}
	return n < r.limit // the sum of limit and idle places might overflow
}

// wait takes room when there is some. It gives up when ctx ends, or another of the
// contexts does.
func (r *room) wait(ctx context.Context, others ...context.Context) error {
	t := &line.Turn[*latch]{}
	stand := r.line.Add
	for {
		t.Of = &latch{}
		r.mu.Lock()
		stand(t)
		r.mu.Unlock()
		if r.take() { // (R30) room that was made before t stood in line
			if r.forget(t) || r.fits(r.word.Load()) {
				r.next()
			}
			return nil
		}
		if err := r.waitForTurn(t, ctx, others); err != nil {
			return err
		}
		stand = r.line.AddFirst
	}
}

// waitForTurn waits until it is t's turn. If it gives up, or a method of ctx panics, t
// leaves the line, and passes on a turn that has come meanwhile.
func (r *room) waitForTurn(t *line.Turn[*latch], ctx context.Context, others []context.Context) (err error) {
	came := false
	defer func() {
		if !came && r.forget(t) {
			r.next()
		}
	}()
	err = t.Of.waitFor(ctx, others)
	came = err == nil
	return err
}

// waitFor waits until l is released or one of the contexts ends.
func (l *latch) waitFor(ctx context.Context, others []context.Context) error {
	for _, other := range others {
		defer context.AfterFunc(other, l.release)()
	}
	err := l.wait(ctx, func() bool { return false })
	for _, other := range others {
		if other.Err() != nil {
			err = context.Cause(other)
		}
	}
	return err
}

// leave makes room for another task.
func (r *room) leave() {
	r.word.Add(oneLeft - 1) // (W30) one less, which carries into those that have left
	r.next()
}

// next gives the first in line its turn.
func (r *room) next() {
	r.mu.Lock()
	t := r.line.Pop()
	r.mu.Unlock()
	if t != nil {
		t.Of.release()
	}
}

// forget takes t out of the line, and reports whether it has had its turn already.
func (r *room) forget(t *line.Turn[*latch]) (late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.line.Remove(t)
}

// leaveQueue makes room in a limited queue when a task was taken out of it.
func (p *Pool) leaveQueue() {
	if p.room != nil {
		p.room.leave()
	}
}

// moreRoom lets those try that wait for room, since there may be more.
func (p *Pool) moreRoom() {
	if p.room != nil {
		p.room.next()
	}
}

// takers returns how many places could take a queued task at once.
func (p *Pool) takers() int {
	if p.paused.Load() {
		return 0
	}
	return max(0, p.engine.Idlers())
}

// takeSlot takes one of the slots of [WithTaskLimit] for t. It reports whether it has
// run t instead.
func (p *Pool) takeSlot(ctx context.Context, t task, try bool) (ran bool, err error) {
	switch {
	case p.slots.take():
		return false, nil
	case try || p.slotOverflow == Reject:
		err = ErrQueueFull
	case p.slotOverflow == CallerRuns || p.runsTaskOf(ctx):
		if p.runBody(ctx, t, poolSlot, func() {}) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = p.slots.wait(ctx, p.life)
	}
	if err != nil {
		err = p.refuse(t.body, err)
	}
	return false, err
}

// leaveSlot gives back the slot of a task that ran, or would have run, in s.
func (p *Pool) leaveSlot(s seat) {
	if p.slots != nil && s.slots&poolSlot == 0 {
		p.slots.leave()
	}
}

// runNow runs t, which one of p's tasks submits, on the caller's goroutine. It calls
// begins just before.
func (p *Pool) runNow(ctx context.Context, t task, without slots, begins func()) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.body, err)
	}
	taken := p.slots != nil && p.slots.take()
	if p.slots != nil && !taken {
		without |= poolSlot
	}
	defer func() {
		if taken { // and t has not begun
			p.slots.leave()
		}
	}()
	if p.runBody(ctx, t, without, func() { taken = false; begins() }) {
		return nil
	}
	return p.refuse(t.body, ErrClosed)
}

// runsTaskOf reports whether ctx comes from a task of p that has not ended.
func (p *Pool) runsTaskOf(ctx context.Context) bool {
	c := taskOf(ctx)
	switch {
	case c == nil || c.pool != p:
		return false
	case !c.isShared():
		return c.state.load().isRunning()
	}
	return c.worker == nil || c.seated()
}

// takeRoom takes room in the queue for t, which has a slot. It reports whether it has
// run t instead.
func (p *Pool) takeRoom(ctx context.Context, t task, try bool) (ran bool, err error) {
	if p.room.take() {
		return false, nil
	}
	keeps := false // t its slot
	defer func() { // deferred, since a method of ctx may panic
		if !keeps {
			p.leaveSlot(seat{})
		}
	}()
	switch {
	case try || p.overflow == Reject:
		err = ErrQueueFull
	case p.overflow == CallerRuns:
		if p.runBody(ctx, t, 0, func() { keeps = true }) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = p.room.wait(ctx, p.life)
	}
	if err != nil {
		return false, p.refuse(t.body, err)
	}
	keeps = true
	return false, nil
}
