package filch

import (
	"context"
	"errors"
	"fmt"

	"github.com/filch-go/filch/internal/task"
)

// The end of a Group: waits for it, what they run meanwhile, and what they return.

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
	if !g.made() {
		isNotMade("Group.Wait", "Group", "Pool.Group")
	}
	g.waitsForItself("Group.Wait")
	defer g.waitForAll()
	g.help()
	g.waitForAll()
	err := g.result()
	g.cancel(err)
	return err
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
	if !g.made() {
		isNotMade("Group.Done", "Group", "Pool.Group")
	}
	l := g.latch()
	if l == nil {
		l = &task.Latch{}
		l.Release()
	}
	return l.Channel(func() func() bool { return context.AfterFunc(g.ctx, g.dropQueued) })
}

// latch returns one that is released when nothing is left, or nil if nothing is.
func (g *Group) latch() *task.Latch {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tally.Watch() {
		return nil
	}
	if g.done == nil {
		g.done = &task.Latch{}
	}
	return g.done
}

// waitForAll waits until nothing is left.
func (g *Group) waitForAll() {
	l := g.latch()
	if l == nil {
		return
	}
	stop := context.AfterFunc(g.ctx, g.dropQueued)
	for ; l != nil; l = g.latch() {
		g.wait(l)
	}
	stop()
}

// wait waits for l.
func (g *Group) wait(l *task.Latch) {
	never := func() bool { return false }
	if g.owner == nil {
		l.Wait(context.Background(), task.Seat{}, never)
		return
	}
	blocked(waitMark{2: g.owner}, wait{by: g.owner, group: g}, l, context.WithoutCancel(g.owner), never)
}

// result returns what Wait does.
func (g *Group) result() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.errs) == 0 && context.Cause(g.ctx) == errStopped:
		return nil
	case len(g.errs) == 0:
		return g.over
	case g.max <= 1:
		return g.errs[0]
	case g.lost > 0:
		return errors.Join(append(g.errs, fmt.Errorf("and %d more errors", g.lost))...)
	}
	return errors.Join(g.errs...)
}

// help runs the group's tasks for as long as they are the newest of the worker
// whose task has made the group.
func (g *Group) help() {
	c := g.owner
	if c == nil || c.pool != g.pool {
		return
	}
	for c.seat().SitDown() {
		t, ok := c.worker.Own.TakeBack(g.has)
		if !ok {
			c.seat().StandUp()
			return
		}
		g.pool.tasks.LeaveQueue()
		g.pool.runOnTop(c, g.ctx, t, c.seat(), false)
	}
}

// has reports whether b is a task of the group.
func (g *Group) has(b task.Body) bool {
	t, ok := bare(b).(*groupTask)
	return ok && t.group == g
}

// Stop ends the group's context, so that tasks that have not started never do, and then
// waits for the others as Wait does. Tasks that Stop drops are no error. An error of a
// task that ran counts, unless it is that of the context.
func (g *Group) Stop() error {
	if !g.made() {
		isNotMade("Group.Stop", "Group", "Pool.Group")
	}
	g.cancel(errStopped)
	return g.Wait()
}
