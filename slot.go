package filch

import (
	"context"

	"github.com/filch-go/filch/internal/task"
)

// A task that waits holds no slot of its [Subpool]. All waits in the name of a task begin here, and so does all that
// runs on top of one: another task may need the slot, or may need what needs it. internal/task knows which task has a
// slot, and who gets it meanwhile. What a task does itself keeps its slot, also inside [Blocking], and while it
// computes for a [Memo]: that is what the limit is for.

// slot returns what has the slot that waits in the name of c's task lend: the task, or that for which a computation of a
// Memo runs. It is nil for most.
func (c *taskContext) slot() *task.Held {
	if m := c.extras.Load(); m != nil {
		return m.slot
	}
	return nil
}

// lendSlot begins a wait in the name of c's task, which ends by Reclaim: for on, if that is not nil. c may be nil.
func (c *taskContext) lendSlot(on *task.Held) task.Lent {
	if c == nil {
		return task.Lent{}
	}
	h := c.slot()
	if h == nil {
		return task.Lent{}
	}
	return h.Slot.Of.Lend(h, on, c.workerIn(h.Slot.Of.Pool))
}

// workerIn returns the worker that runs c's task, if it is one of p.
func (c *taskContext) workerIn(p *task.Pool) *task.Worker {
	if &c.pool.tasks == p {
		return c.worker
	}
	return nil
}

// standsBy calls wait, which blocks in the name of c's task, if c is not nil: for on, if that is not nil.
func (c *taskContext) standsBy(on *task.Held, wait func(s task.Seat) error) error {
	if c == nil {
		return wait(task.Seat{})
	}
	defer c.lendSlot(on).Reclaim()
	return wait(c.seat())
}

// StandBy is for package standby: packages beside the root wait for work of the pool by it.
func (c *taskContext) StandBy(wait func()) {
	defer c.lendSlot(nil).Reclaim()
	Blocking(c, wait)
}

// waitForRoom waits as Wait of room does, in the name of the task that ctx belongs to, if to any.
func waitForRoom(ctx context.Context, room *task.Room, others ...context.Context) error {
	return taskOf(ctx).standsBy(nil, func(s task.Seat) error { return room.Wait(ctx, s, others...) })
}

// slotHeld returns what has or needs the slot of c's task itself, or nil.
func (c *taskContext) slotHeld() *task.Held {
	if c == nil {
		return nil
	}
	if h := c.held(); h != nil && h.sub != nil {
		return &h.Held
	}
	return nil
}

// slotOfBody is slotHeld of what b is, if it is a task of a Future.
func slotOfBody(b task.Body) *task.Held {
	if f, ok := b.(interface{ task() *taskContext }); ok {
		return f.task().slotHeld()
	}
	return nil
}

// lender is a Body that waits before it runs on top of the task that submits it, and lends that one's slot itself.
type lender interface{ lendsSlot() }
