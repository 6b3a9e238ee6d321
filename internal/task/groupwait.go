package task

import (
	"context"
	"errors"
	"fmt"
)

// The end of a Group: waits for it, what they run meanwhile, and what they return.

// Wait waits until all tasks of the group are done, and returns their errors.
func (g *Group) Wait() error {
	g.waitsForItself()
	defer g.waitForAll()
	g.help()
	g.waitForAll()
	err := g.result()
	g.cancel(err)
	return err
}

// Done returns a channel that is closed when no task of the group is unfinished.
func (g *Group) Done() <-chan struct{} {
	l := g.latch()
	if l == nil {
		l = &Latch{}
		l.Release()
	}
	return l.Channel(func() func() bool { return context.AfterFunc(g.Ctx, g.dropQueued) })
}

// latch returns a latch that is released when no task is left, or nil if none is.
func (g *Group) latch() *Latch {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tally.Watch() {
		return nil
	}
	if g.done == nil {
		g.done = &Latch{}
	}
	return g.done
}

// waitForAll waits until no task is left.
func (g *Group) waitForAll() {
	l := g.latch()
	if l == nil {
		return
	}
	stop := context.AfterFunc(g.Ctx, g.dropQueued)
	for ; l != nil; l = g.latch() {
		g.wait(l)
	}
	stop()
}

// wait waits for l.
func (g *Group) wait(l *Latch) {
	never := func() bool { return false }
	if g.owner == nil {
		l.Wait(context.Background(), Seat{}, never)
		return
	}
	blocked(waitMark{2: g.owner}, wait{by: g.owner, group: g}, l, context.WithoutCancel(g.owner), never)
}

// result returns the result of Wait.
func (g *Group) result() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.errs) == 0 && context.Cause(g.Ctx) == errStopped:
		return nil
	case len(g.errs) == 0:
		return g.over
	case g.Max <= 1:
		return g.errs[0]
	case g.lost > 0:
		return errors.Join(append(g.errs, fmt.Errorf("and %d more errors", g.lost))...)
	}
	return errors.Join(g.errs...)
}

// help runs the group's tasks as long as they are the newest of the worker whose task made the group.
func (g *Group) help() {
	c := g.owner
	if c == nil || c.Pool != g.Pool {
		return
	}
	for c.Seat().SitDown() {
		t, ok := c.Worker.Own.TakeBack(g.has)
		if !ok {
			c.Seat().StandUp()
			return
		}
		g.Pool.LeaveQueue()
		g.Pool.runOnTop(c, g.Ctx, t, c.Seat(), false)
	}
}

// has reports whether b is a task of the group.
func (g *Group) has(b Body) bool {
	t, ok := bare(b).(*groupTask)
	return ok && t.group == g
}

// Stop ends the group's context and waits.
func (g *Group) Stop() error {
	g.cancel(errStopped)
	return g.Wait()
}
