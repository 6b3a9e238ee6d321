package task

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/filch-go/filch/internal/event"
)

// A task that comes after others, or belongs to a Subpool without a free slot, is held: accepted, but not queued yet. A
// counter of what holds it runs down; then the task asks its Subpool for a slot; see lower. held.go tracks held tasks, so
// that the end of the pool waits for them or drops them.
//
// A task that comes after another does
//
//	(W46) add itself to the other's dependents; then (R40) note that there is a waiter, and see
//	whether the other is done: if it is, take all dependents.
//
// The end of that other does
//
//	(W40) note that it is done, and see whether there is a waiter: if there is, (R46) take all
//	dependents.
//
// Both steps on the state of the other are one atomic operation each. If the end comes first, the dependent sees it; if it
// comes second, it sees the dependent. Either way one of the two takes the list after the dependent is in it. A swap takes
// it, so each entry is taken by only one of them, who counts it or drops its task. So a count is lowered once for each
// dependency, and only the goroutine that lowers it to zero queues the task.

// afterError is the error of a task that was dropped because a task before it failed.
type afterError struct {
	name string // of the failed task, or ""
	err  error  // of the failed task
}

func (e *afterError) Error() string {
	if e.name == "" {
		return "filch: After: a task failed: " + e.err.Error()
	}
	return "filch: After: task " + strconv.Quote(e.name) + " failed: " + e.err.Error()
}

func (e *afterError) Unwrap() error { return e.err }

// errorAfter returns the error for tasks that come after f, which is done, or nil. Tasks that come after those have the same
// error.
func errorAfter(f *Future) error {
	if f.Err == nil {
		return nil
	}
	if e, ok := f.Err.(*afterError); ok {
		return e
	}
	return &afterError{f.Ctx.Name(), f.Err}
}

// dependencies are those of one task. They are immutable once it is held.
type dependencies struct {
	all []dependency
	few [2]dependency // all of them, if they fit
}

// dependency is one task's dependency on another.
type dependency struct {
	on   FutureTask
	of   atomic.Pointer[Held] // the submitter sets it before it adds this; the end of a dropped task clears it, so that the other task does not retain it
	next *dependency          // on the same task; written before it is added there
}

// after returns the task's dependencies, until it has ended.
func (h *Held) after() []dependency {
	if d := h.deps.Load(); d != nil {
		return d.all
	}
	return nil
}

// holds reports whether something holds the task back. It forgets dependencies that are done, and returns the error of the
// first failed one.
func (h *Held) holds() (bool, error) {
	deps, open := h.after(), 0
	for i := range deps {
		d := &deps[i]
		if d.on.Core().Ctx.state.Load().IsDone() { // (R40)
			if err := errorAfter(d.on.Core()); err != nil {
				return false, err
			}
			continue
		}
		if open != i {
			deps[open].on = d.on
		}
		open++
	}
	if open < len(deps) {
		clear(deps[open:])
		h.deps.Load().all = deps[:open]
	}
	return open > 0 || h.Slot.Of != nil, nil
}

// hold holds t, whose options have h, until it is released or dropped. It returns false if the pool has ended.
func (p *Pool) hold(t FutureTask, h *Held, within bool) bool {
	h.Body = t
	deps := h.after()
	h.open.Store(int32(1 + len(deps)))
	c := &t.Core().Ctx
	h.Quiet = c.above() != nil && c.source().Done() == nil
	c.state.Hold(within)
	if !p.Hold(h) {
		c.state.Free()
		return false
	}
	for i := range deps {
		d := &deps[i]
		d.of.Store(h)
		d.on.Core().Ctx.precedes(d)
	}
	h.lower(nil)
	p.DropIfCancelled(h)
	if c.state.Load().IsHeld() && c.source().Done() != nil {
		watchEnd(t)
	}
	return true
}

// precedes makes the end of c's task settle d.
func (c *Context) precedes(d *dependency) {
	m := c.needExtras()
	for {
		d.next = m.dependents.Load()
		if m.dependents.CompareAndSwap(d.next, d) { // (W46)
			break
		}
	}
	if c.state.Watch() {
		settle(d.on.Core(), m.dependents.Swap(nil))
	}
}

// settle reports the end of on to the tasks of list. It is a loop, however long the chain of dropped tasks is. If a callback
// does not return, the others are settled all the same.
func settle(on *Future, list *dependency) {
	if list == nil {
		return
	}
	if err := errorAfter(on); err != nil {
		refuseAll(list, err)
		return
	}
	c := &on.Ctx
	defer func() {
		if list != nil {
			settle(on, list)
		}
	}()
	for list != nil {
		d := list
		list = d.next
		if h := d.of.Load(); h != nil { // else its task was dropped
			h.lower(c)
		}
	}
}

// refuseAll drops the tasks of list, and those that come after them.
func refuseAll(list *dependency, err error) {
	defer func() {
		if list != nil {
			refuseAll(list, err)
		}
	}()
	for list != nil {
		d := list
		list = d.next
		if h := d.of.Load(); h != nil {
			dropFor(h.task(), err, &list)
		}
	}
}

// end clears the task's dependencies, and removes it from those that are not done.
func (h *Held) end() {
	deps := h.after()
	for i := range deps {
		deps[i].of.Store(nil)
	}
	h.deps.Store(nil)
}

// forget ensures that the dropped task gets no slot.
func (h *Held) forget() {
	if h.Slot.Of != nil {
		h.Slot.Of.Forget(h)
	}
}

// task returns the held task.
func (h *Held) task() FutureTask { return h.Body.(FutureTask) }

// lower counts one hold less. last, if not nil, is the dependency that has ended.
func (h *Held) lower(last *Context) {
	if h.open.Add(-1) > 0 {
		return
	}
	if h.Slot.Of == nil || h.Slot.Of.Enter(h, h.extras.options.Priority) {
		var near *Worker
		if last != nil {
			near = last.workerIn(h.task().Core().Ctx.Pool)
		}
		h.queue(near)
	}
}

// queue queues the task, at the worker near unless that is nil, or starts it; a dropped task it ignores.
func (h *Held) queue(near *Worker) {
	p, o := h.task().Core().Ctx.Pool, &h.extras.options
	if o.Fair {
		near = nil
	}
	priority := 0 // a priority within a Subpool need not be one of the pool
	if p.Order == ByPriority {
		priority = o.Priority
	}
	if p.Release(h, near, priority) && h.Long && h.Caller == nil {
		p.startLong(Task{Body: h.Body})
	}
}

// dropEnded drops held tasks whose context was ended by a Cancel of the task that submitted them. They do not follow it: that
// would need a cancellation of that task, which few tasks have.
func (p *Pool) dropEnded() {
	for _, h := range p.AllQuiet() {
		t := h.Body.(FutureTask)
		if err := t.Core().Ctx.cause(); err != nil {
			drop(t, err)
		}
	}
}

// submitHeld accepts t, which something holds back.
func (p *Pool) submitHeld(ctx context.Context, t FutureTask, o *Options, try bool) error {
	if err := p.Admits(ctx); err != nil {
		return p.refuse(t, err)
	}
	if p.Slots != nil {
		if ran, err := p.takeSlot(ctx, Task{Body: callersTask{t, ctx}}, try); ran || err != nil {
			return err
		}
	}
	if s := o.hold.Slot.Of; s != nil && s.Room != nil && len(o.hold.after()) == 0 {
		if ran, err := s.takeRoom(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.Sees {
		p.announce(t, event.Submitted, nil, func() {
			p.LeaveSlot(Seat{})
			o.hold.forget()
		})
	}
	if !p.hold(t, o.hold, false) {
		p.LeaveSlot(Seat{})
		o.hold.forget()
		return p.tooLate(t)
	}
	return nil
}

// takeRoom takes room in the queue of s for t, which has a slot of the pool. It reports whether it has run t instead.
func (s *Subpool) takeRoom(ctx context.Context, t FutureTask, try bool) (ran bool, err error) {
	if !s.Room.Take() {
		ran, err = s.Pool.takeRoomOf(s.Room, s.Overflow, ctx, Task{Body: callersTask{t, ctx}}, try)
	}
	if !ran && err == nil {
		t.Core().Ctx.held().HasRoom()
	}
	return ran, err
}

// callersTask is a task that its submitter runs once it is no longer held.
type callersTask struct {
	FutureTask
	ctx context.Context // of the submitter
}

// Start waits until the task is no longer held, and for a slot if it needs one. If only the slot is missing, the task gets
// the submitter's.
func (t callersTask) Start(p *Pool, s Seat, ctx context.Context, exclusive bool) bool {
	h := t.Core().Ctx.held()
	h.Caller = &Latch{}
	if !p.hold(t.FutureTask, h, s.Slots&PoolSlot != 0) {
		drop(t, ErrClosed)
		return false
	}
	defer Of(t.ctx).lendSlot(t.Core().Ctx.slotHeld()).Reclaim()
	if err := h.Caller.Wait(t.ctx, s, func() bool { return false }); err != nil {
		drop(t, err)
	}
	return t.FutureTask.Start(p, s, ctx, exclusive)
}

// takeSlotOf makes the task of c run the one held by h, in place and in the slot of c's task, if c's task waits for it.
// Reclaim must follow once it has run.
func (h *Held) takeSlotOf(c *Context) (lent Lent, ok bool) {
	slot := c.slot()
	if h.Slot.Of == nil || slot == nil || slot.Slot.Of != h.Slot.Of || !c.Seat().SitDown() {
		return lent, false
	}
	if lent, ok = h.Slot.Of.Pass(slot, h); !ok {
		c.Seat().StandUp()
		return lent, false
	}
	if !c.Pool.Unhold(h) { // it was dropped meanwhile
		c.Seat().StandUp()
		lent.Reclaim()
		return lent, false
	}
	h.task().Free()
	c.Worker.Own.InPlace.Direct.Add(1)
	return lent, true
}

// help runs t in place, after all that holds it, directly or not, and has not begun. It is a loop, however long the chain is.
func (c *Context) help(ctx context.Context, t FutureTask) {
	type step struct {
		of   FutureTask
		next int // the next of its dependencies
	}
	way, seen := []step{{of: t}}, map[*Future]bool{}
	for len(way) > 0 && ctx.Err() == nil {
		at := &way[len(way)-1]
		of := &at.of.Core().Ctx
		var deps []dependency
		if h := of.held(); h != nil && of.state.Load().IsHeld() {
			deps = h.after()
		}
		if at.next >= len(deps) {
			helped(ctx, at.of, c)
			way = way[:len(way)-1]
			continue
		}
		on := deps[at.next].on
		if at.next++; on.Core().Ctx.state.Load().IsUnstarted() && !seen[on.Core()] {
			seen[on.Core()] = true
			way = append(way, step{of: on})
		}
	}
}
