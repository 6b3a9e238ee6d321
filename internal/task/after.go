package task

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/filch-go/filch/internal/event"
)

// A task that comes after others, or belongs to a Subpool that runs as many as it may, is held:
// it was accepted, and is not queued yet. What holds it is counted down, and then the Subpool is
// asked for a slot; see lower. held.go knows what is held, so that the end of the pool waits for
// it, and drops it.
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
// Both steps on the state of the other are one atomic operation each. If the end comes first, the
// dependent sees it. If it comes second, it sees the dependent. Either way one of the two takes the
// list after the dependent is in it, and each entry is taken by one of them, since it is taken
// by a swap. The one that takes an entry counts it, or drops its task. So a count is lowered once for
// each dependency, and the goroutine that lowers it to none queues the task: no other does.

// afterError is why a task was dropped that came after another.
type afterError struct {
	name string // of the task that failed, or ""
	err  error  // of it
}

func (e *afterError) Error() string {
	if e.name == "" {
		return "filch: After: a task failed: " + e.err.Error()
	}
	return "filch: After: task " + strconv.Quote(e.name) + " failed: " + e.err.Error()
}

func (e *afterError) Unwrap() error { return e.err }

// errorAfter returns the error of those that come after f, which is done, or nil. Those that come after
// them have the same.
func errorAfter(f *Future) error {
	if f.Err == nil {
		return nil
	}
	if e, ok := f.Err.(*afterError); ok {
		return e
	}
	return &afterError{f.Ctx.Name(), f.Err}
}

// dependencies are those of one task. They are not written once it is held.
type dependencies struct {
	all []dependency
	few [2]dependency // all, if they are no more
}

// dependency is that of one task on another.
type dependency struct {
	on   FutureTask
	of   atomic.Pointer[Held] // the submitter sets it before it adds this; the end of a task that was dropped clears it, so that the other does not keep it
	next *dependency          // on the same task; written before it is added there
}

// after returns what the task comes after, until it has ended.
func (h *Held) after() []dependency {
	if d := h.deps.Load(); d != nil {
		return d.all
	}
	return nil
}

// holds reports whether something holds the task back. It forgets what is done, and returns the
// error of the first that has failed.
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

// hold holds t, whose options have h, until nothing holds it any more, or it is dropped. It
// returns false if the pool has ended.
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
		Done(t)
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

// settle tells the tasks of list that the one that they come after is done. It is a loop, however long the
// chain of tasks that are dropped. If a callback does not return, the others are told all the same.
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
		if h := d.of.Load(); h != nil { // else it was dropped
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

// end forgets what the task has come after, and is forgotten by what it has not waited for to the end.
func (h *Held) end() {
	deps := h.after()
	for i := range deps {
		deps[i].of.Store(nil)
	}
	h.deps.Store(nil)
}

// forget makes sure that the task, which was dropped, gets no slot.
func (h *Held) forget() {
	if h.Slot.Of != nil {
		h.Slot.Of.Forget(h)
	}
}

// task returns what h has held since it was held.
func (h *Held) task() FutureTask { return h.Body.(FutureTask) }

// lower counts that one thing less holds the task: last has ended, unless it is nil.
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

// queue queues the task, at the worker near unless that is nil, or starts it, unless it was dropped.
func (h *Held) queue(near *Worker) {
	p, o := h.task().Core().Ctx.Pool, &h.extras.options
	if o.Fair {
		near = nil
	}
	priority := 0 // that of a Subpool need not be one of the pool
	if p.Order == ByPriority {
		priority = o.Priority
	}
	if p.Release(h, near, priority) && h.Long && h.Caller == nil {
		p.startLong(Task{Body: h.Body})
	}
}

// dropEnded drops held tasks whose context has ended, of those that do not follow that: by a Cancel of the task
// that has submitted them. To follow it they would need a cancellation of that task, which few tasks have.
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

// takeRoom takes room for t, which has a slot of the pool, in the queue of s. It reports whether it has run t
// instead.
func (s *Subpool) takeRoom(ctx context.Context, t FutureTask, try bool) (ran bool, err error) {
	if !s.Room.Take() {
		ran, err = s.Pool.takeRoomOf(s.Room, s.Overflow, ctx, Task{Body: callersTask{t, ctx}}, try)
	}
	if !ran && err == nil {
		t.Core().Ctx.held().HasRoom()
	}
	return ran, err
}

// callersTask is a task that its submitter runs, once nothing holds it back.
type callersTask struct {
	FutureTask
	ctx context.Context // of the submitter
}

// Start waits for what holds the task, and for a slot if it needs one. If only that is missing, it gets the slot of the
// submitter.
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

// takeSlotOf makes the task of c run the one that h has held, in place, in the slot of c's task: if that is what it waits for.
// Reclaim must follow, when it has run.
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

// help runs in place what holds t, and what holds that, as far as it has not begun, and then t. It is a
// loop, however long the chain is.
func (c *Context) help(ctx context.Context, t FutureTask) {
	type step struct {
		of   FutureTask
		next int // of its dependencies
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
