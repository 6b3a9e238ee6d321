package task

import (
	"context"

	"github.com/filch-go/filch/internal/tag"
)

// A waiting task holds no slot of its Subpool. All waits in the name of a task begin here, and all that runs on top of it:
// another task, or one that it depends on, may need the slot. subpool.go tracks which task has a slot, and who gets it
// meanwhile. What a task does itself keeps its slot, also inside Blocking, and while it computes for a Memo: that is what the
// limit is for.

// slot returns the Held whose slot is lent by waits in the name of c's task: the task, or the one that a computation of a
// Memo runs for. For most tasks it is nil.
func (c *Context) slot() *Held {
	if m := c.extras.Load(); m != nil {
		return m.slot
	}
	return nil
}

// lendSlot begins a wait in the name of c's task, for on, if that is not nil; Reclaim ends it. c may be nil.
func (c *Context) lendSlot(on *Held) Lent {
	if c == nil {
		return Lent{}
	}
	h := c.slot()
	if h == nil {
		return Lent{}
	}
	return h.Slot.Of.Lend(h, on, c.workerIn(h.Slot.Of.Pool))
}

// workerIn returns the worker that runs c's task, if it belongs to p.
func (c *Context) workerIn(p *Pool) *Worker {
	if c.Pool == p {
		return c.Worker
	}
	return nil
}

// standsBy calls wait, which blocks in the name of c's task, if c is not nil, for on, if that is not nil.
func (c *Context) standsBy(on *Held, wait func(s Seat) error) error {
	if c == nil {
		return wait(Seat{})
	}
	defer c.lendSlot(on).Reclaim()
	return wait(c.Seat())
}

// StandBy is for package standby, by which packages beside the root wait for work of the pool.
func (c *Context) StandBy(wait func()) {
	defer c.lendSlot(nil).Reclaim()
	c.Blocking(wait)
}

// Blocking calls f, which may block, and lends the place of c's task to another worker meanwhile.
func (c *Context) Blocking(f func()) {
	if !c.Seat().Lend() {
		f()
		return
	}
	defer c.Seat().Reclaim()
	// On a goroutine started by the task, Close would wait for this call.
	c.Pool.Engine.Tag(func(uint64, tag.Step) { f() })
}

// waitForRoom waits as room.Wait does, in the name of ctx's task, if any.
func waitForRoom(ctx context.Context, room *Room, others ...context.Context) error {
	return Of(ctx).standsBy(nil, func(s Seat) error { return room.Wait(ctx, s, others...) })
}

// slotHeld returns the Held that has or needs the slot of c's task itself, or nil.
func (c *Context) slotHeld() *Held {
	if c == nil {
		return nil
	}
	if h := c.held(); h != nil && h.Slot.Of != nil {
		return h
	}
	return nil
}

// slotOfBody is slotHeld of b, if it is a Future's task.
func slotOfBody(b Body) *Held {
	if t, ok := b.(FutureTask); ok {
		return t.Core().Ctx.slotHeld()
	}
	return nil
}
