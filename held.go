package filch

import (
	"context"
	"strconv"

	"github.com/filch-go/filch/internal/task"
)

// A task that comes after others, or belongs to a [Subpool] that runs as many as it may, is held:
// it was accepted, and is not queued yet. What holds it is counted down, and then the Subpool is
// asked for a slot; see enter. internal/task knows what is held, so that the end of the pool waits for
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

// errorAfter returns the error of those that come after w, which is done, or nil. Those that come after
// them have the same.
func errorAfter(w Waiter) error {
	err := w.failure()
	if err == nil {
		return nil
	}
	if e, ok := err.(*afterError); ok {
		return e
	}
	return &afterError{w.task().name(), err}
}

// holds reports whether something holds the task back. It forgets what is done, and returns the
// error of the first that has failed.
func (h *hold) holds() (bool, error) {
	deps, open := h.after(), 0
	for i := range deps {
		d := &deps[i]
		if d.on.task().state.Load().IsDone() { // (R40)
			if err := errorAfter(d.on); err != nil {
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
	return open > 0 || h.sub != nil, nil
}

// hold holds t, whose options have h, until nothing holds it any more, or it is dropped. It
// returns false if the pool has ended.
func (p *Pool) hold(t heldTask, h *hold, within bool) bool {
	h.Body = t
	deps := h.after()
	h.open.Store(int32(1 + len(deps)))
	c := t.task()
	h.Quiet = c.above() != nil && c.source().Done() == nil
	c.state.Hold(within)
	if !p.tasks.Hold(&h.Held) {
		c.state.Free()
		return false
	}
	for i := range deps {
		d := &deps[i]
		d.of.Store(h)
		d.on.task().precedes(d)
	}
	h.lower(nil)
	p.tasks.DropIfCancelled(&h.Held)
	if c.state.Load().IsHeld() && c.source().Done() != nil {
		t.follow()
	}
	return true
}

// precedes makes the end of c's task settle d.
func (c *taskContext) precedes(d *dependency) {
	m := c.needExtras()
	for {
		d.next = m.dependents.Load()
		if m.dependents.CompareAndSwap(d.next, d) { // (W46)
			break
		}
	}
	if c.state.Watch() {
		settle(d.on, m.dependents.Swap(nil))
	}
}

// settle tells the tasks of list that the one that they come after is done. It is a loop, however long the
// chain of tasks that are dropped. If a callback does not return, the others are told all the same.
func settle(on Waiter, list *dependency) {
	if list == nil {
		return
	}
	if err := errorAfter(on); err != nil {
		refuseAll(list, err)
		return
	}
	c := on.task()
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
			h.task().dropFor(err, &list)
		}
	}
}

// end forgets what the task has come after, and is forgotten by what it has not waited for to the end.
func (h *hold) end() {
	deps := h.after()
	for i := range deps {
		deps[i].of.Store(nil)
	}
	h.deps.Store(nil)
}

// forget makes sure that the task, which was dropped, gets no slot.
func (h *hold) forget() {
	if h.sub != nil {
		h.sub.tasks.Forget(&h.Held)
	}
}

// task returns what h has held since it was held.
func (h *hold) task() heldTask { return h.Body.(heldTask) }

// lower counts that one thing less holds the task: last has ended, unless it is nil.
func (h *hold) lower(last *taskContext) {
	if h.open.Add(-1) > 0 {
		return
	}
	if h.sub == nil || h.sub.tasks.Enter(&h.Held, h.extras.options.priority) {
		var near *task.Worker
		if last != nil {
			near = last.workerIn(&h.task().task().pool.tasks)
		}
		h.queue(near)
	}
}

// queue queues the task, at the worker near unless that is nil, or starts it, unless it was dropped.
func (h *hold) queue(near *task.Worker) {
	c := h.task().task()
	p, o := c.pool, &h.extras.options
	if o.fair {
		near = nil
	}
	priority := 0 // that of a Subpool need not be one of the pool
	if p.tasks.Order == task.ByPriority {
		priority = o.priority
	}
	if p.tasks.Release(&h.Held, near, priority) && h.Long && h.Caller == nil {
		p.startLong(task.Task{Body: h.Body})
	}
}

// dropEnded drops held tasks whose context has ended, of those that do not follow that: by a Cancel of the task
// that has submitted them. To follow it they would need a cancellation of that task, which few tasks have.
func (p *Pool) dropEnded() {
	for _, h := range p.tasks.AllQuiet() {
		t := h.Body.(heldTask)
		if err := t.task().cause(); err != nil {
			t.drop(err)
		}
	}
}

// submitHeld accepts t, which something holds back.
func (p *Pool) submitHeld(ctx context.Context, t heldTask, o *taskOptions, try bool) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t, err)
	}
	if p.tasks.Slots != nil {
		if ran, err := p.takeSlot(ctx, task.Task{Body: callersTask{t, ctx}}, try); ran || err != nil {
			return err
		}
	}
	if s := o.hold.sub; s != nil && s.tasks.Room != nil && len(o.hold.after()) == 0 {
		if ran, err := s.takeRoom(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.sees {
		p.announce(t, TaskSubmitted, nil, func() {
			p.tasks.LeaveSlot(task.Seat{})
			o.hold.forget()
		})
	}
	if !p.hold(t, o.hold, false) {
		p.tasks.LeaveSlot(task.Seat{})
		o.hold.forget()
		return p.tooLate(t)
	}
	return nil
}

// takeRoom takes room for t, which has a slot of the pool, in the queue of s. It reports whether it has run t
// instead.
func (s *Subpool) takeRoom(ctx context.Context, t heldTask, try bool) (ran bool, err error) {
	if !s.tasks.Room.Take() {
		ran, err = s.pool.takeRoomOf(s.tasks.Room, s.overflow, ctx, task.Task{Body: callersTask{t, ctx}}, try)
	}
	if !ran && err == nil {
		t.task().held().HasRoom()
	}
	return ran, err
}

// callersTask is a task that its submitter runs, once nothing holds it back.
type callersTask struct {
	heldTask
	ctx context.Context // of the submitter
}

func (callersTask) lendsSlot() {}

// Start waits for what holds the task, and for a slot if it needs one. If only that is missing, it gets the slot of the
// submitter.
func (t callersTask) Start(p *task.Pool, s task.Seat, ctx context.Context, exclusive bool) bool {
	h := t.task().held()
	h.Caller = &task.Latch{}
	if !poolOf(p).hold(t.heldTask, h, s.Slots&task.PoolSlot != 0) {
		t.drop(ErrClosed)
		return false
	}
	defer taskOf(t.ctx).lendSlot(t.task().slotHeld()).Reclaim()
	if err := h.Caller.Wait(t.ctx, s, func() bool { return false }); err != nil {
		t.drop(err)
	}
	return t.heldTask.Start(p, s, ctx, exclusive)
}

// takeSlotOf makes the task of c run the one that h has held, in place, in the slot of c's task: if that is what it waits for.
// Reclaim must follow, when it has run.
func (h *hold) takeSlotOf(c *taskContext) (lent task.Lent, ok bool) {
	slot := c.slot()
	if h.sub == nil || slot == nil || slot.Slot.Of != &h.sub.tasks || !c.seat().SitDown() {
		return lent, false
	}
	if lent, ok = h.sub.tasks.Pass(slot, &h.Held); !ok {
		c.seat().StandUp()
		return lent, false
	}
	if !c.pool.tasks.Unhold(&h.Held) { // it was dropped meanwhile
		c.seat().StandUp()
		lent.Reclaim()
		return lent, false
	}
	h.task().Free()
	c.worker.Own.InPlace.Direct.Add(1)
	return lent, true
}

// help runs in place what holds w, and what holds that, as far as it has not begun, and then w. It is a
// loop, however long the chain is.
func (c *taskContext) help(ctx context.Context, w Waiter) {
	type step struct {
		of   Waiter
		next int // of its dependencies
	}
	way, seen := []step{{of: w}}, map[*taskContext]bool{}
	for len(way) > 0 && ctx.Err() == nil {
		at := &way[len(way)-1]
		h := at.of.task().held()
		var deps []dependency
		if h != nil && at.of.task().state.Load().IsHeld() {
			deps = h.after()
		}
		if at.next >= len(deps) {
			at.of.helped(ctx, c)
			way = way[:len(way)-1]
			continue
		}
		on := deps[at.next].on
		if at.next++; on.task().state.Load().IsUnstarted() && !seen[on.task()] {
			seen[on.task()] = true
			way = append(way, step{of: on})
		}
	}
}
