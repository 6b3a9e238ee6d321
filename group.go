package filch

import (
	"context"
	"fmt"

	"github.com/filch-go/filch/internal/task"
)

// Group waits for a number of tasks together. Make one with [Pool.Group]. Its methods may be called from any goroutine.
//
// A Group replaces golang.org/x/sync/errgroup.Group where tasks should share a pool's workers. Its functions receive the
// group's context, and panics become errors.
type Group struct{ tasks task.Group }

// GroupOption configures a [Group]. [Pool.Group] panics for nil.
type GroupOption func(g *Group)

// CollectErrors makes a group go on when a task fails. Wait then returns the first max errors and the number of further ones,
// joined by errors.Join. CollectErrors(1) returns the first error itself and does not count the others. It panics if max < 1.
//
// When the group's context ends, tasks that never ran, or gave up, have its error or cause. That error counts only if there
// is no other and the group was not stopped; an error that wraps it counts like any other.
func CollectErrors(max int) GroupOption {
	if max < 1 {
		panic(fmt.Sprintf("filch: CollectErrors(%d): there must be room for an error", max))
	}
	return func(g *Group) { g.tasks.Max = max }
}

// GroupLimit makes [Group.Go] and [Group.GoFrom] wait until fewer than n tasks of the group are unfinished. A task is
// unfinished, waiting or running, until it returns, panics or is dropped. Waiting calls proceed in FIFO order; when the
// group's context ends, all of them proceed, and their tasks never run.
//
// A task of the group should submit by GoFrom. If no task slot is free, GoFrom runs the new task at once on the caller's
// goroutine, within the caller's slot, and returns when it is done, so the tasks cannot deadlock. Go does not know which task
// calls it, and waits: if all n tasks of a group wait in its Go, they wait until the group's context ends.
//
// It is errgroup's SetLimit. GroupLimit panics if n < 1. [WithTaskLimit] limits all tasks of a pool.
func GroupLimit(n int) GroupOption {
	if n < 1 {
		panic(fmt.Sprintf("filch: GroupLimit(%d): there must be a slot for a task", n))
	}
	return func(g *Group) { g.tasks.Slots = task.NewRoom(n, nil) }
}

// Group returns a group of tasks of p, and does not block. Its context has the values of ctx and ends with it, and also when
// a task fails, unless the group has [CollectErrors], and when Wait or Stop returns. Tasks that have not started by then are
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

// Context returns the group's context, which its tasks receive. It does not block.
func (g *Group) Context() context.Context {
	g.mustBeMade("Group.Context")
	return g.tasks.Ctx
}

// Go queues f as a task of the group. Limits of the pool apply as to [Pool.Go]. If f cannot be queued, the reason counts as
// the error of a task, which Wait returns, unless the group's context has ended.
//
// Go does not know which task calls it: it queues f where the task that made the group queues its submissions, or globally if
// no task made it. Inside another task, [Group.GoFrom] is faster.
//
// Go waits for room in the queue of [WithQueueLimit], and for a slot of [GroupLimit] or [WithTaskLimit], at most until the
// group's context ends; otherwise it does not block. In a task of a [Subpool], it keeps the task slot while it waits. It
// panics if f is nil.
func (g *Group) Go(f func(ctx context.Context) error, opts ...TaskOption) {
	needs(f != nil, "Group.Go", "f")
	g.submit("Group.Go", nil, f, opts, false)
}

// TryGo is [Group.Go], but never waits and never runs f itself. It reports whether f was queued. No free slot under
// [GroupLimit] or [WithTaskLimit], or no room in the queue, is no error of the group: Stats counts it as rejected, and the
// caller may try later. Any other reason counts as for Go, so Wait returns it. A call costs as much as Go. It panics if f is
// nil.
//
// It is errgroup's TryGo.
func (g *Group) TryGo(f func(ctx context.Context) error, opts ...TaskOption) bool {
	needs(f != nil, "Group.TryGo", "f")
	return g.submit("Group.TryGo", nil, f, opts, true)
}

// GoFrom is [Group.Go], but queues f where ctx comes from: for a task of the pool, at the worker that runs it, as [Pool.Go]
// does. Tasks that a task adds to its group, such as the next pages of a crawl, then run where it ran, newest first in [LIFO]
// order. f still receives the group's context, not the values and the end of ctx. If ctx has ended, f is not called, and the
// cause counts as the error of a task.
//
// GoFrom waits when Go does. Exception: if no slot is free, and ctx comes from a task of the group, or from any task of a
// pool with [WithTaskLimit], it runs f itself. It waits at most until ctx ends, and for a slot of the group at most until the
// group's context ends. It panics if ctx or f is nil.
func (g *Group) GoFrom(ctx context.Context, f func(ctx context.Context) error, opts ...TaskOption) {
	needs(ctx != nil, "Group.GoFrom", "ctx")
	needs(f != nil, "Group.GoFrom", "f")
	g.submit("Group.GoFrom", ctx, f, opts, false)
}

// submit queues f for the task of ctx, or if ctx is nil, for the task that made the group.
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

// Wait waits until all tasks of the group are done and returns the first error, or the errors that [CollectErrors] asks for.
// If the group's context ended before, and no task has an error of its own, Wait returns the cause. Afterwards the group's
// context has ended, and the group must not be used again: later tasks do not run.
//
// Inside the task that made the group, Wait runs tasks of the group that have not started, and then yields its slot to
// another worker. If one of them calls runtime.Goexit, that ends the caller's task too, once all others are done. In another
// task, call Wait inside [Blocking].
func (g *Group) Wait() error {
	g.mustBeMade("Group.Wait")
	return g.tasks.Wait()
}

// Done returns a channel that is closed as soon as no task of the group is unfinished, at once if none is now. Call it after
// the last Go from outside of the group's tasks: a later Go does not open the channel again, and the next Done returns
// another one. Once the channel is closed, Wait does not block. It must still be called: it returns the error and ends the
// group's context.
//
// Like Wait, Done makes the end of the group's context drop tasks that have not started at once instead of at their turn.
// Unlike Wait, it runs no tasks: inside a task, receive from the channel inside [Blocking]. Done does not block.
func (g *Group) Done() <-chan struct{} {
	g.mustBeMade("Group.Done")
	return g.tasks.Done()
}

// Stop ends the group's context, so that tasks that have not started never do, and waits for the others as Wait does. Dropped
// tasks are no error. The error of a task that ran counts, unless it is that of the context.
func (g *Group) Stop() error {
	g.mustBeMade("Group.Stop")
	return g.tasks.Stop()
}
