package filch

import (
	"context"
	"runtime/pprof"

	"github.com/filch-go/filch/internal/tag"
	"github.com/filch-go/filch/internal/task"
)

// Tasks that run on the goroutine of a caller, and not on that of a worker that has found them: on top of the task
// that waits for one or submits it, or on a goroutine that is none of the pool's. A caller that is a task lends its
// seat to what it runs.

// runBody runs t, which was just accepted, on the caller's goroutine, and calls begins just
// before. It reports false if the pool has ended.
func (p *Pool) runBody(ctx context.Context, t task.Task, without task.Slots, begins func()) bool {
	return p.runHere(ctx, without, false, func(s task.Seat) (task.Task, bool) {
		begins()
		p.tasks.Totals.Direct.Add(1)
		if s.Worker != nil {
			s.Worker.Own.InPlace.Direct.Add(1)
		}
		return t, true
	})
}

// runHere runs what next returns, if anything, on the caller's goroutine, in the seat
// that next is called with, and reports whether it did. Who has ctx may be a task of the
// pool, in whose seat it runs, or one of another pool, whose place others can have
// meanwhile. counted tells whether next counts the task as begun in place.
func (p *Pool) runHere(ctx context.Context, without task.Slots, counted bool, next func(s task.Seat) (task.Task, bool)) (ran bool) {
	c := taskOf(ctx)
	run := func(s task.Seat) {
		if t, ok := next(s); ok {
			ran = true
			s.Slots = without
			if _, ok := t.Body.(lender); ok {
				p.runCaught(ctx, t, s, counted)
			} else {
				p.runOnTop(c, ctx, t, s, counted)
			}
		}
	}
	if c != nil && c.pool == p && c.seat().SitDown() {
		defer func() {
			if !ran {
				c.seat().StandUp()
			}
		}()
		run(c.seat())
		return ran
	}
	if !p.tasks.Engine.EnterBlocked().Ended() { // Close waits for it
		if c != nil && c.pool != p && c.seat().Lend() {
			defer c.seat().Reclaim()
		}
		defer p.tasks.Engine.LeaveBlocked()
		p.tasks.Engine.Tag(func(uint64, tag.Step) { run(task.Seat{}) })
		return ran
	}
	p.tasks.Engine.LeaveBlocked()
	return false
}

// Help runs one queued task on the caller's goroutine, and reports whether there was one.
// It takes a task from the worker's own queue if ctx comes from a task, else the oldest of
// the global queue, else one of another worker's queue. If the order is by priority, it
// takes the most urgent in place of the oldest. Use Help in a loop that waits for
// something other than a Future or a Group. The task that Help runs must not wait for the
// task that calls Help, so the pool never does this by itself. Panics and runtime.Goexit
// do what [Pool.Go] says for CallerRuns. Help panics if ctx is nil.
func (p *Pool) Help(ctx context.Context) bool {
	if !p.made() {
		isNotMade("Help", "Pool", "New")
	}
	needs(ctx != nil, "Help", "ctx")
	return p.runHere(ctx, 0, true, func(s task.Seat) (t task.Task, ok bool) {
		helpers := &p.tasks.Totals.Helpers
		helpers.Add(1) // (W70)
		defer helpers.Add(-1)
		if p.tasks.Paused.Load() {
			return t, false
		}
		queues, newest := p.tasks.Queues(), false
		if c := taskOf(ctx); c != nil && c.pool == p && c.seat().Taken() {
			queues, newest = append([]*task.Queue{&c.worker.Own}, queues...), p.tasks.Order == task.LIFO
		}
		for _, q := range queues {
			if t, ok = q.Pop(newest); ok {
				p.inPlace(s).Begun.Add(1)
				p.tasks.LeaveQueue()
				p.outcomes.helped.Add(1)
				break
			}
			newest = false
		}
		return t, ok
	})
}

// runDirect is runBody for a task that needs no slot, of a caller whose context is that of c, if
// of any task. It allocates nothing, which is why it does not use Tag: that the goroutine is one
// of the pool shows by startInPlace.
func (p *Pool) runDirect(ctx context.Context, c *taskContext, t task.Task) bool {
	s := task.Seat{}
	switch {
	case c != nil && c.pool == p && c.seat().SitDown():
		s = c.seat()
		s.Worker.Own.InPlace.Direct.Add(1)
	case p.tasks.Engine.EnterBlocked().Ended(): // else Close waits for it
		p.tasks.Engine.LeaveBlocked()
		return false
	default:
		defer p.tasks.Engine.LeaveBlocked()
		if c != nil && c.pool != p && c.seat().Lend() {
			defer c.seat().Reclaim()
		}
	}
	s.Slots = task.PoolSlot
	p.tasks.Totals.Direct.Add(1)
	p.runCaught(ctx, t, s, false)
	return true
}

// inPlace returns where tasks count that run in place in s.
func (p *Pool) inPlace(s task.Seat) *task.InPlace {
	if s.Worker != nil {
		return &s.Worker.Own.InPlace
	}
	return &p.tasks.Totals.InPlace
}

// runOnTop is runCaught on top of the task of c, if c is not nil. That task waits meanwhile.
func (p *Pool) runOnTop(c *taskContext, ctx context.Context, t task.Task, s task.Seat, counted bool) {
	defer c.lendSlot(slotOfBody(t.Body)).Reclaim()
	p.runCaught(ctx, t, s, counted)
}

// runCaught runs t elsewhere than at the bottom of a worker's stack, on the
// goroutine of the caller that has ctx. If that is in a seat, it has begun there, and runCaught
// ends it. counted tells whether it counts as begun in place already.
func (p *Pool) runCaught(ctx context.Context, t task.Task, s task.Seat, counted bool) {
	count := p.inPlace(s)
	if !counted {
		count.Begun.Add(1)
	}
	ran := true
	defer func() { // whatever the callbacks do that Fail calls
		if !ran {
			count.Begun.Add(-1)
		}
		if s.Worker != nil {
			s.StandUp()
		} else if ran {
			count.Ended.Add(1)
		}
		if p.labels != nil {
			pprof.SetGoroutineLabels(labelled(ctx))
		}
	}()
	body := t.Body
	defer p.tasks.Caught(&body, s)
	ran = p.startInPlace(t, s)
	body = nil
}
