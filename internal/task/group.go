package task

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/race"
)

// A Group: how its tasks are submitted and counted, and what it keeps of their ends. Its tasks are in grouptask.go, the waits
// for it in groupwait.go.

// errStopped is the cause of the end of a stopped group's context.
var errStopped = errors.New("filch: the group was stopped")

// Group is a number of tasks that are awaited together.
type Group struct {
	// Its methods stand with what they are about: how a task is counted, what it ends with, waits.

	Pool   *Pool
	Max    int             // errors to keep
	Slots  *Room           // of unfinished tasks; nil without a limit
	Ctx    context.Context // of the tasks
	cancel context.CancelCauseFunc
	owner  *Context // the task that made the group, or nil

	tally place.Tally // of tasks; those with options count as started at once, and with a limit, all do until they have a slot

	mu   sync.Mutex // held while tasks are dropped, or counted as started
	errs []error
	lost int    // errors beyond Max
	over error  // the context's own, from a task that had no other; counts if no task has another
	done *Latch // released when no task is left; nil if there is no waiter
}

// Begin makes g a group of tasks of p, for a caller with ctx. Its limits are set afterwards.
func (g *Group) Begin(ctx context.Context, p *Pool) {
	g.Pool, g.owner = p, Of(ctx)
	g.Ctx, g.cancel = context.WithCancelCause(ctx)
}

// Refuse counts a task whose options cannot be met.
func (g *Group) Refuse(ctx context.Context, f func(ctx context.Context) error, o *Options, err error) {
	g.keep(err, false)
	_ = RefuseFuture(ctx, g.future(f, o, nil), o, err)
}

// Submit queues f for the task of ctx, and reports whether it did. If try is set, it neither waits nor runs f, and lack of
// room is no error.
func (g *Group) Submit(ctx context.Context, f func(ctx context.Context) error, o *Options, try bool) bool {
	switch {
	case g.Slots != nil && !g.takeSlot(ctx, f, o, try):
		return false
	case !o.Plain():
		return g.submitWith(ctx, f, o, try)
	}
	t := &groupTask{group: g, f: f}
	t.child = g.Pool.openTask()
	if !g.queue() {
		err := context.Cause(g.Ctx)
		g.keep(err, false)
		g.Pool.refuse(g.Pool.see(ctx, t, o.Priority), err)
		return false
	}
	err := errNotSubmitted // unless submit returns
	defer func() {
		dropChildUnless(err == nil, t)
		if err != nil && g.begins(t) {
			g.taskDone(unlessFull(err, try), false)
		}
	}()
	err = g.Pool.submit(ctx, Task{Ctx: g.Ctx, Body: t}, o.Priority, o.Fair, try)
	return err == nil
}

// unlessFull returns err, or nil if it tells a TryGo that there is no room.
func unlessFull(err error, try bool) error {
	if try && err == ErrQueueFull {
		return nil
	}
	return err
}

// queue counts one more task, which is about to be queued where dropQueued finds it. It returns false if those were dropped.
func (g *Group) queue() bool {
	if g.Slots == nil {
		race.Disable() // the count orders no tasks
		queued := g.tally.Queue()
		race.Enable()
		return queued
	}
	g.mu.Lock()
	queued := g.tally.Requeue() // takeSlot has counted it
	g.mu.Unlock()
	if !queued {
		g.Slots.Leave()
		g.leave()
	}
	return queued
}

// start counts one more task, which dropQueued does not find.
func (g *Group) start() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.Start()
}

// takeSlot counts a task and takes a slot for it. It returns false if it has run the task instead, or if no slot is free
// before the end, or at once if try is set.
func (g *Group) takeSlot(ctx context.Context, f func(ctx context.Context) error, o *Options, try bool) bool {
	g.start()
	if g.Slots.Take() {
		return true
	}
	t := &groupTask{group: g, f: f}
	err := errNotSubmitted // unless the code below returns: a method of ctx may panic
	defer func() {
		if err != nil {
			g.taskDoneIn(Seat{Slots: GroupSlot}, unlessFull(err, try), false)
			o.tellDropped(err)
		}
	}()
	if try {
		err = g.Pool.refuse(g.Pool.see(ctx, t, o.Priority), ErrQueueFull)
		return false
	}
	if c := Of(ctx); c != nil && c.Context == g.Ctx && g.Pool.runsTaskOf(ctx) {
		err = g.runNow(ctx, t, o, func() { err = nil }) // it counts itself at its end
		return false
	}
	if err = g.waitForSlot(ctx); err == nil {
		return true
	}
	g.Pool.refuse(g.Pool.see(ctx, t, o.Priority), err)
	return false
}

// waitForSlot waits for a free slot and takes it.
func (g *Group) waitForSlot(ctx context.Context) error {
	n := &g.Pool.Outcomes.Waiting
	n.Add(1)
	defer n.Add(-1) // even if a method of ctx panics
	return waitForRoom(ctx, g.Slots, g.Ctx, g.Pool.Life)
}

// runNow runs t on the caller's goroutine, within the slot of the caller's task. It calls begins first.
func (g *Group) runNow(ctx context.Context, t *groupTask, o *Options, begins func()) error {
	if o.Plain() {
		return g.Pool.runNow(ctx, Task{Ctx: g.Ctx, Body: g.Pool.see(ctx, t, o.Priority)}, GroupSlot, begins)
	}
	future := g.future(t.f, o, func(err error, ran bool) { g.taskDoneIn(Seat{Slots: GroupSlot}, err, ran) })
	if !o.Deadline.IsZero() {
		future.Ctx.makeCancellation()
	}
	seeFuture(ctx, future, o)
	b := Body(future)
	if o.hold != nil {
		if holds, err := o.hold.holds(); err != nil {
			return g.Pool.refuse(b, err)
		} else if holds {
			b = callersTask{future, ctx}
		}
	}
	return g.Pool.runNow(ctx, Task{Body: b}, GroupSlot, begins)
}

// future returns f as a task with options.
func (g *Group) future(f func(ctx context.Context) error, o *Options, onDone func(err error, ran bool)) *errTask {
	t := &errTask{f: f}
	t.Ctx.Init(g.Pool.Inherited(g.Ctx), g.Pool)
	t.With(*o, onDone)
	return t
}

// submitWith is the rest of submit, for options that groupTask does not have.
func (g *Group) submitWith(ctx context.Context, f func(ctx context.Context) error, o *Options, try bool) bool {
	if g.Slots == nil { // else takeSlot has counted it
		g.Pool.OrdersNone(g.start)
	}
	future := g.future(f, o, g.taskDone)
	err := errNotSubmitted // unless submit returns
	defer func() {
		if err != nil && future.Ctx.state.ClaimToDrop() { // else it has run and does not return
			g.taskDone(unlessFull(err, try), false)
		}
	}()
	if err = SubmitFuture(ctx, future, o, try); err != nil {
		return false
	}
	g.Pool.OrdersNone(func() { watchEnd(future) })
	return true
}

// begins counts a task that is no longer queued. It returns false if the task was counted before, or dropped with all queued
// ones.
func (g *Group) begins(t *groupTask) bool {
	if t.begun {
		return false
	}
	t.begun = true
	return g.tally.Begin()
}

// dropQueued drops all tasks that have not started, because the context has ended.
func (g *Group) dropQueued() {
	g.mu.Lock()
	n, last := g.tally.Drop()
	if n > 0 {
		g.over = context.Cause(g.Ctx)
	}
	g.mu.Unlock()
	if last {
		g.release()
	}
	for range n {
		g.leaveSlot(Seat{})
	}
}

// taskDone counts a finished task, with its error. ran tells whether its function was called.
func (g *Group) taskDone(err error, ran bool) { g.taskDoneIn(Seat{}, err, ran) }

// leaveSlot returns the slot of a task that ran, or would have run, in s.
func (g *Group) leaveSlot(s Seat) {
	if g.Slots != nil && s.Slots&GroupSlot == 0 {
		g.Slots.Leave()
	}
}

// taskDoneIn is taskDone for a task that ran, or would have run, in s.
func (g *Group) taskDoneIn(s Seat, err error, ran bool) (answers bool) {
	g.leaveSlot(s)
	if err != nil {
		g.keep(err, ran)
	}
	return g.leave()
}

// leave counts a finished task. Like release, it reports what Release of a Latch does.
func (g *Group) leave() (answers bool) { return g.tally.Done() && g.release() }

// release wakes those that wait for the group.
func (g *Group) release() (answers bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done != nil {
		answers = g.done.Release()
		g.done = nil
	}
	return answers
}

// keep keeps err for Wait. Without [CollectErrors], the first ends the context.
func (g *Group) keep(err error, ran bool) {
	if g.tellsEnd(err, ran) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.over = err
		return
	}
	g.mu.Lock()
	if len(g.errs) < max(1, g.Max) {
		g.errs = append(g.errs, err)
	} else {
		g.lost++
	}
	g.mu.Unlock()
	if g.Max == 0 {
		g.cancel(err) // without the lock: it may call methods of a foreign parent
	}
}

// tellsEnd reports whether err only says that the group's context has ended. An error that wraps the context's says more.
// errors.Is would call a method of err, which may do anything.
func (g *Group) tellsEnd(err error, ran bool) bool {
	cause := context.Cause(g.Ctx)
	return cause != nil && (identical(err, cause, ran) || identical(err, g.Ctx.Err(), ran))
}

// identical reports whether a and b are the same error. Errors that cannot be compared are not, unless no task made them:
// then a was passed on unchanged.
func identical(a, b error, ran bool) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	if !reflect.ValueOf(a).Comparable() || !reflect.ValueOf(b).Comparable() {
		return !ran
	}
	return a == b
}
