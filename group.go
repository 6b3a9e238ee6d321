package filch

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/task"
)

// A Group: its options, how tasks are submitted to it and counted, and what it keeps of their ends. The type stands
// in model.go, its tasks in grouptask.go, and the waits for it in groupwait.go.

// errStopped is why the context of a group ended that was stopped.
var errStopped = errors.New("filch: the group was stopped")

// GroupOption configures a [Group]. A nil one makes [Pool.Group] panic.
type GroupOption func(g *Group)

// CollectErrors makes a group go on when a task fails. Wait then returns the first max
// errors and how many more there were, joined by errors.Join. CollectErrors(1) returns
// the first error as it is, and does not count the others. It panics if max < 1.
//
// When the group's context ends, tasks that never ran, or gave up, have the error of the
// context, or its cause. This error counts only if there is no other, and not if the
// group was stopped. An error that wraps it counts like any other.
func CollectErrors(max int) GroupOption {
	if max < 1 {
		panic(fmt.Sprintf("filch: CollectErrors(%d): there must be room for an error", max))
	}
	return func(g *Group) { g.max = max }
}

// GroupLimit makes [Group.Go] and [Group.GoFrom] wait until fewer than n tasks of the
// group are unfinished. A task is unfinished until it returns, panics or is dropped,
// whether it waits or runs. Waiting calls go on in the order in which they came. When
// the group's context ends, all of them go on, and their tasks never run.
//
// A task of the group may submit more by GoFrom. If there is no slot, the new task
// runs at once on the caller's goroutine, within the slot of the task that submits
// it, and GoFrom returns when it is done. So the tasks of a group cannot keep one
// another from ending. Go does not know which task calls it, and waits. If all n tasks
// of a group wait in its Go, they wait until the group's context ends.
//
// SetLimit of errgroup does the same. GroupLimit panics if n < 1. See [WithTaskLimit] for
// a limit of all tasks of a pool.
func GroupLimit(n int) GroupOption {
	if n < 1 {
		panic(fmt.Sprintf("filch: GroupLimit(%d): there must be a slot for a task", n))
	}
	return func(g *Group) { g.slots = task.NewRoom(n, nil) }
}

// Group returns a group of tasks of p, and does not block. Its context has the values of
// ctx and ends with it. The context also ends when a task fails, unless the group has
// [CollectErrors], and when Wait or Stop returns. Tasks that have not started by then are
// dropped. Group panics if ctx or an option is nil.
func (p *Pool) Group(ctx context.Context, opts ...GroupOption) *Group {
	if !p.made() {
		isNotMade("Group", "Pool", "New")
	}
	needs(ctx != nil, "Group", "ctx")
	g := &Group{pool: p, owner: taskOf(ctx)}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: Group: option %d is nil", i))
		}
		opt(g)
	}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

// made reports whether Pool.Group has made g.
func (g *Group) made() bool { return g != nil && g.pool != nil }

// Context returns the group's context, with which its tasks are called. It does not
// block.
func (g *Group) Context() context.Context {
	if !g.made() {
		isNotMade("Group.Context", "Group", "Pool.Group")
	}
	return g.ctx
}

// Go queues f as a task of the group. Limits of the pool apply as to [Pool.Go]. If f
// cannot be queued, the reason counts as the error of a task, and Wait returns it. It
// does not count once the group's context has ended.
//
// Go does not know which task calls it. It queues f where the task that made the group
// queues its submissions, or globally if no task made it. Inside another task,
// [Group.GoFrom] is faster.
//
// Go waits for room in the queue if [WithQueueLimit] says so, and for a slot if
// [GroupLimit] or [WithTaskLimit] does, at most until the group's context ends. In a task of a [Subpool] it keeps the slot
// meanwhile. Otherwise it does not block. It panics if f is nil.
func (g *Group) Go(f func(ctx context.Context) error, opts ...TaskOption) {
	needs(f != nil, "Group.Go", "f")
	g.submit("Group.Go", nil, f, opts, false)
}

// TryGo is [Group.Go], but it never waits and never runs f itself. It reports whether f was
// queued. If it was not because there is no slot under [GroupLimit] or [WithTaskLimit], or no
// room in the queue, that is no error of the group: Stats counts it as rejected, and the caller
// may do something else or try later. Any other reason counts as it does for Go, so Wait
// returns it. A call costs what one of Go does. It panics if f is nil.
//
// TryGo of errgroup does the same.
func (g *Group) TryGo(f func(ctx context.Context) error, opts ...TaskOption) bool {
	needs(f != nil, "Group.TryGo", "f")
	return g.submit("Group.TryGo", nil, f, opts, true)
}

// GoFrom queues f as Go does, but where ctx says. If ctx comes from a task of the pool,
// f goes into the queue of the worker that runs that task, as with [Pool.Go]. So the tasks
// that a task submits to its group, such as the next pages of a crawl, run where it ran,
// the newest first if the order of the pool is [LIFO]. f is still called with the group's
// context, not with the values and the end of ctx. If ctx has ended, f is not called, and
// the cause counts as the error of a task.
//
// GoFrom waits when Go does, with one exception. If there is no slot, and ctx comes from
// a task of the group, or from any task of a pool with [WithTaskLimit], it runs f itself.
// It waits at most until ctx ends, and for a slot of the group at most until the group's
// context ends. It panics if ctx or f is nil.
func (g *Group) GoFrom(ctx context.Context, f func(ctx context.Context) error, opts ...TaskOption) {
	needs(ctx != nil, "Group.GoFrom", "ctx")
	needs(f != nil, "Group.GoFrom", "f")
	g.submit("Group.GoFrom", ctx, f, opts, false)
}

// submit queues f for the task that has ctx, or if that is nil, the one that made the group, and reports
// whether it did. If try is set, it neither waits nor runs f, and that there is no room is no error.
func (g *Group) submit(op string, ctx context.Context, f func(ctx context.Context) error, opts []TaskOption, try bool) bool {
	if !g.made() {
		isNotMade(op, "Group", "Pool.Group")
	}
	if ctx == nil {
		ctx = g.ctx
	}
	taskOf(ctx) // before anything is counted: a method of ctx may panic
	var o taskOptions
	var err error
	if len(opts) > 0 {
		o, err = g.pool.optionsOf(op, opts)
	}
	switch {
	case err != nil:
		g.keep(err, false)
		g.future(f, o, nil).refuse(ctx, o, err)
		return false
	case g.slots != nil && !g.takeSlot(ctx, f, o, try):
		return false
	case !o.plain():
		return g.submitWith(ctx, f, o, try)
	}
	t := &groupTask{group: g, f: f}
	t.child = g.pool.openTask()
	if !g.queue() {
		err = context.Cause(g.ctx)
		g.keep(err, false)
		g.pool.refuse(g.pool.see(ctx, t, o.priority), err)
		return false
	}
	err = errNotSubmitted // unless submit returns
	defer func() {
		dropChildUnless(err == nil, t)
		if err != nil && g.begins(t) {
			g.taskDone(unlessFull(err, try), false)
		}
	}()
	err = g.pool.submit(ctx, task.Task{Ctx: g.ctx, Body: t}, o.priority, o.fair, try)
	return err == nil
}

// unlessFull returns err, unless it tells a TryGo that there is no room.
func unlessFull(err error, try bool) error {
	if try && err == ErrQueueFull {
		return nil
	}
	return err
}

// queue counts one more task, which is about to be queued in a way that dropQueued knows of. It
// reports false if those were dropped.
func (g *Group) queue() bool {
	if g.slots == nil {
		race.Disable() // the count orders no tasks
		queued := g.tally.Queue()
		race.Enable()
		return queued
	}
	g.mu.Lock()
	queued := g.tally.Requeue() // takeSlot has counted it
	g.mu.Unlock()
	if !queued {
		g.slots.Leave()
		g.leave()
	}
	return queued
}

// start counts one more task, of which dropQueued knows nothing.
func (g *Group) start() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.Start()
}

// takeSlot counts a task and takes a slot for it. It reports false if it has run the
// task instead, or if there is no slot before the end, or at once if try is set.
func (g *Group) takeSlot(ctx context.Context, f func(ctx context.Context) error, o taskOptions, try bool) bool {
	g.start()
	if g.slots.Take() {
		return true
	}
	t := &groupTask{group: g, f: f}
	err := errNotSubmitted // unless what follows returns: a method of ctx may panic
	defer func() {
		if err != nil {
			g.taskDoneIn(task.Seat{Slots: task.GroupSlot}, unlessFull(err, try), false)
			o.tellDropped(err)
		}
	}()
	if try {
		err = g.pool.refuse(g.pool.see(ctx, t, o.priority), ErrQueueFull)
		return false
	}
	if c := taskOf(ctx); c != nil && c.Context == g.ctx && g.pool.runsTaskOf(ctx) {
		err = g.runNow(ctx, t, o, func() { err = nil }) // it counts itself when it is done
		return false
	}
	if err = g.waitForSlot(ctx); err == nil {
		return true
	}
	g.pool.refuse(g.pool.see(ctx, t, o.priority), err)
	return false
}

// waitForSlot waits until there is a slot, and takes it.
func (g *Group) waitForSlot(ctx context.Context) error {
	n := &g.pool.outcomes.waiting
	n.Add(1)
	defer n.Add(-1) // even if a method of ctx panics
	return waitForRoom(ctx, g.slots, g.ctx, g.pool.tasks.Life)
}

// runNow runs t on the caller's goroutine, within the slot of the caller's task. It calls
// begins just before.
func (g *Group) runNow(ctx context.Context, t *groupTask, o taskOptions, begins func()) error {
	if o.plain() {
		return g.pool.runNow(ctx, task.Task{Ctx: g.ctx, Body: g.pool.see(ctx, t, o.priority)}, task.GroupSlot, begins)
	}
	future := g.future(t.f, o, func(err error, ran bool) { g.taskDoneIn(task.Seat{Slots: task.GroupSlot}, err, ran) })
	if !o.deadline.IsZero() {
		future.ctx.makeCancellation()
	}
	future.see(ctx, o)
	b := task.Body(future.body())
	if o.hold != nil {
		if holds, err := o.hold.holds(); err != nil {
			return g.pool.refuse(b, err)
		} else if holds {
			b = callersTask{future.body(), ctx}
		}
	}
	return g.pool.runNow(ctx, task.Task{Body: b}, task.GroupSlot, begins)
}

// future returns f as a task with options.
func (g *Group) future(f func(ctx context.Context) error, o taskOptions, onDone func(err error, ran bool)) *Future[struct{}] {
	return newFuture(g.ctx, g.pool, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }).with(o, onDone)
}

// submitWith is the rest of submit, with options that groupTask does not know.
func (g *Group) submitWith(ctx context.Context, f func(ctx context.Context) error, o taskOptions, try bool) bool {
	if g.slots == nil { // else takeSlot has counted it
		g.pool.ordersNone(g.start)
	}
	future := g.future(f, o, g.taskDone)
	err := errNotSubmitted // unless submit returns
	defer func() {
		if err != nil && future.ctx.state.ClaimToDrop() { // else it has run, and does not return
			g.taskDone(unlessFull(err, try), false)
		}
	}()
	if err = future.submit(ctx, o, try); err != nil {
		return false
	}
	g.pool.ordersNone(func() { future.Done() }) // so that it is dropped when the context ends, and not only when its turn comes
	return true
}

// begins counts a task that is queued no longer, and reports false if it was counted
// before, or all that were queued have been dropped, with it.
func (g *Group) begins(t *groupTask) bool {
	if t.begun {
		return false
	}
	t.begun = true
	return g.tally.Begin()
}

// dropQueued drops all tasks that have not started, since the context has ended.
func (g *Group) dropQueued() {
	g.mu.Lock()
	n, last := g.tally.Drop()
	if n > 0 {
		g.over = context.Cause(g.ctx)
	}
	g.mu.Unlock()
	if last {
		g.release()
	}
	for range n {
		g.leaveSlot(task.Seat{})
	}
}

// taskDone counts a task that is done, with its error. ran tells whether its function
// was called.
func (g *Group) taskDone(err error, ran bool) { g.taskDoneIn(task.Seat{}, err, ran) }

// leaveSlot gives back the slot of a task that ran, or would have run, in s.
func (g *Group) leaveSlot(s task.Seat) {
	if g.slots != nil && s.Slots&task.GroupSlot == 0 {
		g.slots.Leave()
	}
}

// taskDoneIn is taskDone for a task that ran, or would have run, in s.
func (g *Group) taskDoneIn(s task.Seat, err error, ran bool) {
	g.leaveSlot(s)
	if err != nil {
		g.keep(err, ran)
	}
	g.leave()
}

// leave counts a task that is done.
func (g *Group) leave() {
	if g.tally.Done() {
		g.release()
	}
}

// release lets those go on that wait for the group.
func (g *Group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done != nil {
		g.done.Release()
		g.done = nil
	}
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
	if len(g.errs) < max(1, g.max) {
		g.errs = append(g.errs, err)
	} else {
		g.lost++
	}
	g.mu.Unlock()
	if g.max == 0 {
		g.cancel(err) // outside of the lock: it may call methods of a parent that is not ours
	}
}

// tellsEnd reports whether err only says that the group's context has ended. An
// error that wraps the context's tells more. To ask errors.Is would be to call a
// method of err, which may do anything.
func (g *Group) tellsEnd(err error, ran bool) bool {
	cause := context.Cause(g.ctx)
	return cause != nil && (identical(err, cause, ran) || identical(err, g.ctx.Err(), ran))
}

// identical reports whether a and b are the same error. Errors that cannot be
// compared are not, unless no task has made them: then a was handed on as it was.
func identical(a, b error, ran bool) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	if !reflect.ValueOf(a).Comparable() || !reflect.ValueOf(b).Comparable() {
		return !ran
	}
	return a == b
}
