package filch

import (
	"context"

	"github.com/filch-go/filch/internal/task"
)

// What a task goes through before it is queued: whether the pool takes it, and what happens at a limit.

// submit queues t for a caller that has ctx. If try is set, it neither waits nor runs t.
func (p *Pool) submit(ctx context.Context, t task.Task, priority int, fair, try bool) error {
	if p.plain {
		return p.submitPlain(ctx, t, fair)
	}
	if p.sees && seenOf(t.Body) == nil {
		return p.submit(ctx, task.Task{Ctx: t.Ctx, Body: p.see(ctx, t.Body, priority)}, priority, fair, try)
	}
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	w := p.workerOf(ctx) // before anything is taken: a method of ctx may panic
	if fair {
		w = nil
	}
	if p.tasks.Slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.tasks.Room != nil {
		if ran, err := p.takeRoom(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.sees {
		p.announce(t.Body, TaskSubmitted, nil, func() {
			p.tasks.LeaveQueue()
			p.tasks.LeaveSlot(task.Seat{})
		})
	}
	if !p.tasks.Submit(w, t, priority) {
		p.tasks.LeaveQueue()
		p.tasks.LeaveSlot(task.Seat{})
		return p.tooLate(t.Body)
	}
	return nil
}

// submitPlain is submit for most pools, which see nothing, and have no limits and no priorities:
// 39 ns for an empty task instead of 45.
func (p *Pool) submitPlain(ctx context.Context, t task.Task, fair bool) error {
	if p.isLogical() {
		return aside(func() error { return p.queuePlain(ctx, t, fair) })
	}
	return p.queuePlain(ctx, t, fair)
}

// queuePlain is submitPlain on this goroutine.
func (p *Pool) queuePlain(ctx context.Context, t task.Task, fair bool) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	w := p.workerOf(ctx)
	if fair {
		w = nil
	}
	if p.tasks.Paused.Load() {
		if !p.tasks.Submit(w, t, 0) {
			return p.tooLate(t.Body)
		}
		return nil
	}
	if (w == nil || !w.Own.Push(0, 0, t)) && !p.tasks.Global.Push(0, 0, t) {
		return p.tooLate(t.Body)
	}
	p.tasks.Pushed()
	return nil
}

// admits returns why a task of a caller that has ctx is refused, if it is. A pool that is
// being shut down takes tasks from its own. What is admitted may still be tooLate.
func (p *Pool) admits(ctx context.Context) error {
	if phase := p.tasks.Phase.Load(); phase != task.Open {
		if c := taskOf(ctx); phase != task.Draining || c == nil || c.pool != p {
			return ErrClosed
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// refuse counts a task that was not accepted, and returns err.
func (p *Pool) refuse(b task.Body, err error) error {
	if p.sees {
		p.announce(b, TaskRejected, err, func() {})
	}
	p.outcomes.rejected.Add(1)
	dropChildOf(b)
	return err
}

// tooLate refuses a task that found the pool at its end, after it was admitted. If it was announced, it counts as
// cancelled: it was said to be accepted.
func (p *Pool) tooLate(b task.Body) error {
	o := seenOf(b)
	if o == nil {
		return p.refuse(b, ErrClosed)
	}
	p.tasks.Totals.Direct.Add(1)
	p.dropped()
	dropChildOf(b)
	o.tell(TaskCancelled, ErrClosed)
	return ErrClosed
}

// takeSlot takes one of the slots of [WithTaskLimit] for t. It reports whether it has
// run t instead.
func (p *Pool) takeSlot(ctx context.Context, t task.Task, try bool) (ran bool, err error) {
	switch {
	case p.tasks.Slots.Take():
		return false, nil
	case try || p.slotOverflow == Reject:
		err = ErrQueueFull
	case p.slotOverflow == CallerRuns || p.runsTaskOf(ctx):
		if p.runBody(ctx, t, task.PoolSlot, func() {}) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = waitForRoom(ctx, p.tasks.Slots, p.tasks.Life)
	}
	if err != nil {
		err = p.refuse(t.Body, err)
	}
	return false, err
}

// runNow runs t, which one of p's tasks submits, on the caller's goroutine. It calls
// begins just before.
func (p *Pool) runNow(ctx context.Context, t task.Task, without task.Slots, begins func()) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	taken := p.tasks.Slots != nil && p.tasks.Slots.Take()
	if p.tasks.Slots != nil && !taken {
		without |= task.PoolSlot
	}
	defer func() {
		if taken { // and t has not begun
			p.tasks.Slots.Leave()
		}
	}()
	if p.runBody(ctx, t, without, func() { taken = false; begins() }) {
		return nil
	}
	return p.refuse(t.Body, ErrClosed)
}

// runsTaskOf reports whether ctx comes from a task of p that has not ended.
func (p *Pool) runsTaskOf(ctx context.Context) bool {
	c := taskOf(ctx)
	switch {
	case c == nil || c.pool != p:
		return false
	case !c.isShared():
		return c.state.Load().IsRunning()
	}
	return c.worker == nil || c.seat().Taken()
}

// takeRoom takes room in the queue for t, which has a slot. It reports whether it has
// run t instead.
func (p *Pool) takeRoom(ctx context.Context, t task.Task, try bool) (ran bool, err error) {
	if p.tasks.Room.Take() {
		return false, nil
	}
	return p.takeRoomOf(p.tasks.Room, p.overflow, ctx, t, try)
}

// takeRoomOf is takeRoom if there is none, for any queue.
func (p *Pool) takeRoomOf(room *task.Room, overflow Overflow, ctx context.Context, t task.Task, try bool) (ran bool, err error) {
	keeps := false // t its slot
	defer func() { // deferred, since a method of ctx may panic
		if !keeps {
			p.tasks.LeaveSlot(task.Seat{})
		}
	}()
	switch {
	case try || overflow == Reject:
		err = ErrQueueFull
	case overflow == CallerRuns:
		if p.runBody(ctx, t, 0, func() { keeps = true }) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = waitForRoom(ctx, room, p.tasks.Life)
	}
	if err != nil {
		return false, p.refuse(t.Body, err)
	}
	keeps = true
	return false, nil
}
