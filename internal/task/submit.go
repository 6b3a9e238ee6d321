package task

import (
	"context"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/policy"
)

// What a task goes through before it is queued: whether the pool accepts it, and what happens at a limit.

// submit queues t for a caller with ctx. If try is set, it neither waits nor runs t.
func (p *Pool) submit(ctx context.Context, t Task, priority int, fair, try bool) error {
	switch {
	case p.Plain && p.IsLogical():
		return aside(func() error { return p.QueuePlain(ctx, t, fair) })
	case p.Plain:
		return p.QueuePlain(ctx, t, fair)
	}
	if p.Sees && seenOf(t.Body) == nil {
		return p.submit(ctx, Task{Ctx: t.Ctx, Body: p.see(ctx, t.Body, priority)}, priority, fair, try)
	}
	if err := p.Admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	w := p.workerOf(ctx) // before anything is taken: a method of ctx may panic
	if fair {
		w = nil
	}
	if p.Slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.Room != nil {
		if ran, err := p.takeRoom(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.Sees {
		p.announce(t.Body, event.Submitted, nil, func() {
			p.LeaveQueue()
			p.LeaveSlot(Seat{})
		})
	}
	if !p.Submit(w, t, priority) {
		p.LeaveQueue()
		p.LeaveSlot(Seat{})
		return p.tooLate(t.Body)
	}
	return nil
}

// QueuePlain is submit for most pools, those without observers, limits, priorities and logical races: 39 ns for an empty task
// instead of 45.
func (p *Pool) QueuePlain(ctx context.Context, t Task, fair bool) error {
	if err := p.Admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	w := p.workerOf(ctx)
	if fair {
		w = nil
	}
	if p.Paused.Load() {
		if !p.Submit(w, t, 0) {
			return p.tooLate(t.Body)
		}
		return nil
	}
	if (w == nil || !w.Own.Push(0, 0, t)) && !p.Global.Push(0, 0, t) {
		return p.tooLate(t.Body)
	}
	p.Pushed()
	return nil
}

// Admits returns why a task of a caller with ctx is refused, or nil. A pool that is shutting down accepts tasks from its own
// tasks. An admitted task may still be tooLate.
func (p *Pool) Admits(ctx context.Context) error {
	if phase := p.Phase.Load(); phase != Open {
		if c := Of(ctx); phase != Draining || c == nil || c.Pool != p {
			return ErrClosed
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// refuse counts a refused task, and returns err.
func (p *Pool) refuse(b Body, err error) error {
	if p.Sees {
		p.announce(b, event.Rejected, err, func() {})
	}
	p.Outcomes.Rejected.Add(1)
	dropChildOf(b)
	return err
}

// tooLate refuses a task that found the pool ended after it was admitted. If it was announced as accepted, it counts as
// cancelled.
func (p *Pool) tooLate(b Body) error {
	o := seenOf(b)
	if o == nil {
		return p.refuse(b, ErrClosed)
	}
	p.Totals.Direct.Add(1)
	p.dropped()
	dropChildOf(b)
	o.tell(event.Cancelled, ErrClosed)
	return ErrClosed
}

// takeSlot takes a slot of [WithTaskLimit] for t. It reports whether it has run t instead.
func (p *Pool) takeSlot(ctx context.Context, t Task, try bool) (ran bool, err error) {
	switch {
	case p.Slots.Take():
		return false, nil
	case try || p.SlotOverflow == Reject:
		err = ErrQueueFull
	case p.SlotOverflow == CallerRuns || p.runsTaskOf(ctx):
		if p.runBody(ctx, t, PoolSlot, func() {}) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = waitForRoom(ctx, p.Slots, p.Life)
	}
	if err != nil {
		err = p.refuse(t.Body, err)
	}
	return false, err
}

// runNow runs t, submitted by a task of p, on the caller's goroutine. It calls begins first.
func (p *Pool) runNow(ctx context.Context, t Task, without Slots, begins func()) error {
	if err := p.Admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	taken := p.Slots != nil && p.Slots.Take()
	if p.Slots != nil && !taken {
		without |= PoolSlot
	}
	defer func() {
		if taken { // and t has not begun
			p.Slots.Leave()
		}
	}()
	if p.runBody(ctx, t, without, func() { taken = false; begins() }) {
		return nil
	}
	return p.refuse(t.Body, ErrClosed)
}

// runsTaskOf reports whether ctx comes from a task of p that has not ended.
func (p *Pool) runsTaskOf(ctx context.Context) bool {
	c := Of(ctx)
	switch {
	case c == nil || c.Pool != p:
		return false
	case !c.isShared():
		return c.state.Load().IsRunning()
	}
	return c.Worker == nil || c.Seat().Taken()
}

// takeRoom takes room in the queue for t, which has a slot. It reports whether it has run t instead.
func (p *Pool) takeRoom(ctx context.Context, t Task, try bool) (ran bool, err error) {
	if p.Room.Take() {
		return false, nil
	}
	return p.takeRoomOf(p.Room, p.Overflow, ctx, t, try)
}

// takeRoomOf is takeRoom for any queue, when there is no room.
func (p *Pool) takeRoomOf(room *Room, overflow Overflow, ctx context.Context, t Task, try bool) (ran bool, err error) {
	keeps := false // t keeps its slot
	defer func() { // deferred, since a method of ctx may panic
		if !keeps {
			p.LeaveSlot(Seat{})
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
		err = waitForRoom(ctx, room, p.Life)
	}
	if err != nil {
		return false, p.refuse(t.Body, err)
	}
	keeps = true
	return false, nil
}

// Push adds t, which was pushed by the time at, and returns false if q no longer takes tasks; otherwise Pushed must follow.
// If the global queue takes none, the pool has ended.
func (q *Queue) Push(priority int, at int64, t Task) bool { return q.items.push(q, priority, at, t) }

// Submit queues t, which has room and a slot: in w's own queue, unless w is nil, or t is so urgent that others must see it.
// It returns false if the pool has ended.
func (p *Pool) Submit(w *Worker, t Task, priority int) bool {
	if !p.push(w, t, priority) {
		return false
	}
	p.Pushed()
	p.urge()
	return true
}

// push is Submit without the steps after it.
func (p *Pool) push(w *Worker, t Task, priority int) bool {
	at := p.pushTime()
	if p.Ageing > 0 {
		priority = policy.Aged(priority, at-p.begun, int64(p.Ageing))
	}
	if w != nil {
		if int64(priority) >= p.way.least.Load() && w.Own.Push(priority, at, t) {
			return true
		}
		w.Engine.Tell(event.Spilled, nil)
	}
	return p.Global.Push(priority, at, t) // where workers with less urgent work see it; see way
}

// Pushed is called after a task was queued.
func (p *Pool) Pushed() {
	if p.Engine.Wake(); p.Phase.Load() == Cancelled { // (R10)
		p.dropQueued() // Cancel may have dropped the queued tasks before the push
	}
	p.EnsureWatch()
}

// How long tasks have been queued is known without reading the clock at each submission.
//
// Queues without priorities have stamps. Code that reads the clock anyway (the stall watch, Stats, Queued, Dump) notes that
// all queued tasks were pushed by now. So the age of a task counts from the first stamp after its push.
//
// With priorities the oldest task may be anywhere in a queue, so each has its own time: that of the next check of the stall
// watch. If no watch runs, because a worker is free, it is the clock's time.

// pushTime returns the time by which a task pushed now counts as pushed, or 0 if stamps say.
func (p *Pool) pushTime() int64 {
	switch {
	case p.Ageing > 0 || p.Paused.Load(): // no watch runs in a pause
	case p.Order != ByPriority:
		return 0
	default:
		if soon := p.soon.Load(); soon != 0 {
			return soon
		}
	}
	return clock.Now()
}
