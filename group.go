package filch

import (
	"context"
	"fmt"

	"github.com/filch-go/filch/internal/task"
)

// Group waits for a number of tasks together. Make one with [Pool.Group]. Its methods may
// be called from any goroutine.
//
// A Group replaces golang.org/x/sync/errgroup.Group where the tasks should share
// a pool's workers. Its functions are called with the group's context, and
// panics become errors.
type Group struct{ tasks task.Group }

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
	return func(g *Group) { g.tasks.Max = max }
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
	return func(g *Group) { g.tasks.Slots = task.NewRoom(n, nil) }
}

// Group returns a group of tasks of p, and does not block. Its context has the values of
// ctx and ends with it. The context also ends when a task fails, unless the group has
// [CollectErrors], and when Wait or Stop returns. Tasks that have not started by then are
// dropped. Group panics if ctx or an option is nil.
func (p *Pool) Group(ctx context.Context, opts ...GroupOption) *Group {
	p.mustBeMade("Group")
	needs(ctx != nil, "Group", "ctx")
	g := &Group{}
	g.tasks.Begin(ctx, &p.tasks)
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: Group: option %d is nil", i))
		}
		opt(g)
	}
	return g
}

// mustBeMade panics if Pool.Group has not made g, which op is called on.
func (g *Group) mustBeMade(op string) {
	if g == nil || g.tasks.Pool == nil {
		isNotMade(op, "Group", "Pool.Group")
	}
}

// Context returns the group's context, with which its tasks are called. It does not
// block.
func (g *Group) Context() context.Context {
	g.mustBeMade("Group.Context")
	return g.tasks.Ctx
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

// submit queues f for the task that has ctx, or if that is nil, the one that made the group.
func (g *Group) submit(op string, ctx context.Context, f func(ctx context.Context) error, opts []TaskOption, try bool) bool {
	g.mustBeMade(op)
	if ctx == nil {
		ctx = g.tasks.Ctx
	}
	task.Of(ctx) // before anything is counted: a method of ctx may panic
	var o task.Options
	if err := poolOf(g.tasks.Pool).optionsOf(op, opts, &o); err != nil {
		g.tasks.Refuse(ctx, f, &o, err)
		return false
	}
	return g.tasks.Submit(ctx, f, &o, try)
}

// Wait waits until all tasks of the group are done and returns the first error, or the
// errors that [CollectErrors] asks for. If the group's context ended before, and no task
// has an error of its own, Wait returns the cause. Afterwards the group's context has
// ended, and the group must not be used again: what a later Go
// submits does not run.
//
// Inside the task that made the group, Wait runs tasks of the group that have
// not started, and then gives its place to another worker. If one of them calls
// runtime.Goexit, that ends the caller's task too, once all others are done. In another
// task, call Wait inside [Blocking].
func (g *Group) Wait() error {
	g.mustBeMade("Group.Wait")
	return g.tasks.Wait()
}

// Done returns a channel that is closed as soon as no task of the group is unfinished, from the
// call of Done on: at once if none is. So call it after the last Go that is not made by a task
// of the group. A later Go does not open the channel again; the next call of Done returns
// another one. When the channel is closed, Wait does not block, and it must still be called: it
// returns the error, and ends the group's context.
//
// Like Wait, Done drops tasks that have not started as soon as the group's context ends, and
// not only when their turn comes. Unlike Wait, it runs no tasks: to receive from the channel
// inside a task, do so inside [Blocking]. Done does not block.
func (g *Group) Done() <-chan struct{} {
	g.mustBeMade("Group.Done")
	return g.tasks.Done()
}

// Stop ends the group's context, so that tasks that have not started never do, and then
// waits for the others as Wait does. Tasks that Stop drops are no error. An error of a
// task that ran counts, unless it is that of the context.
func (g *Group) Stop() error {
	g.mustBeMade("Group.Stop")
	return g.tasks.Stop()
}
