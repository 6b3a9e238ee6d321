package task

import (
	"context"

	"github.com/filch-go/filch/internal/tag"
)

// Tasks that run on the goroutine of a caller, not on a worker's that found them: on top of the task that waits for one or
// submits it, or on a goroutine outside of the pool. A caller that is a task lends its seat to what it runs.

// runBody runs t, which was just accepted, on the caller's goroutine, and calls begins first. It returns false if the pool
// has ended.
func (p *Pool) runBody(ctx context.Context, t Task, without Slots, begins func()) bool {
	return p.runHere(ctx, without, false, func(s Seat) (Task, bool) {
		begins()
		p.Totals.Direct.Add(1)
		if s.Worker != nil {
			s.Worker.Own.InPlace.Direct.Add(1)
		}
		return t, true
	})
}

// runHere runs the task that next returns, if any, on the caller's goroutine, in the seat that next receives, and reports
// whether it did. The caller, with ctx, may be a task of the pool, in whose seat it runs, or one of another pool, which lends
// its place meanwhile. counted tells whether next counts the task as begun in place.
func (p *Pool) runHere(ctx context.Context, without Slots, counted bool, next func(s Seat) (Task, bool)) (ran bool) {
	c := Of(ctx)
	run := func(s Seat) {
		if t, ok := next(s); ok {
			ran = true
			s.Slots = without
			if _, ok := t.Body.(callersTask); ok { // which lends the caller's slot itself
				p.runCaught(ctx, t, s, counted)
			} else {
				p.runOnTop(c, ctx, t, s, counted)
			}
		}
	}
	if c != nil && c.Pool == p && c.Seat().SitDown() {
		defer func() {
			if !ran {
				c.Seat().StandUp()
			}
		}()
		run(c.Seat())
		return ran
	}
	if !p.Engine.EnterBlocked().Ended() { // Close waits for it
		if c != nil && c.Pool != p && c.Seat().Lend() {
			defer c.Seat().Reclaim()
		}
		defer p.Engine.LeaveBlocked()
		p.Engine.Tag(func(uint64, tag.Step) { run(Seat{}) })
		return ran
	}
	p.Engine.LeaveBlocked()
	return false
}

// Help runs one queued task on the caller's goroutine, with the caller's ctx, and reports whether there was one.
func (p *Pool) Help(ctx context.Context) bool {
	return p.runHere(ctx, 0, true, func(s Seat) (t Task, ok bool) {
		helpers := &p.Totals.Helpers
		helpers.Add(1) // (W70)
		defer helpers.Add(-1)
		if p.Paused.Load() {
			return t, false
		}
		queues, newest := p.Queues(), false
		if c := Of(ctx); c != nil && c.Pool == p && c.Seat().Taken() {
			queues, newest = append([]*Queue{&c.Worker.Own}, queues...), p.Order == LIFO
		}
		for _, q := range queues {
			if t, ok = q.Pop(newest); ok {
				p.inPlace(s).Begun.Add(1)
				p.LeaveQueue()
				p.Outcomes.Helped.Add(1)
				break
			}
			newest = false
		}
		return t, ok
	})
}

// runDirect is runBody for a task that needs no slot. c is the context of the caller's task, or nil. It allocates nothing,
// and so does without Tag: startInPlace shows that the goroutine is one of the pool.
func (p *Pool) runDirect(ctx context.Context, c *Context, t Task) bool {
	s := Seat{}
	switch {
	case c != nil && c.Pool == p && c.Seat().SitDown():
		s = c.Seat()
		s.Worker.Own.InPlace.Direct.Add(1)
	case p.Engine.EnterBlocked().Ended(): // else Close waits for it
		p.Engine.LeaveBlocked()
		return false
	default:
		defer p.Engine.LeaveBlocked()
		if c != nil && c.Pool != p && c.Seat().Lend() {
			defer c.Seat().Reclaim()
		}
	}
	s.Slots = PoolSlot
	p.Totals.Direct.Add(1)
	p.runCaught(ctx, t, s, false)
	return true
}

// RunDirect runs t, a task of p that needs no slot, on the goroutine of the caller with ctx, in a context derived from
// parent. It returns false if the pool has ended; t is then refused.
func RunDirect(ctx context.Context, t FutureTask, parent context.Context, p *Pool) bool {
	f, by := t.Core(), Of(ctx)
	f.Ctx.Init(parent, p)
	if by != nil && by.slot() != nil {
		f.Ctx.needExtras().slot = by.slot() // the caller waits for what t waits for
	}
	seeFuture(ctx, t, &Options{})
	if p.runDirect(ctx, by, Task{Body: t}) {
		return true
	}
	_ = p.refuse(t, ErrClosed)
	return false
}

// inPlace returns the counts for tasks that run in place in s.
func (p *Pool) inPlace(s Seat) *InPlace {
	if s.Worker != nil {
		return &s.Worker.Own.InPlace
	}
	return &p.Totals.InPlace
}

// runOnTop is runCaught on top of the task of c, which waits meanwhile, if c is not nil.
func (p *Pool) runOnTop(c *Context, ctx context.Context, t Task, s Seat, counted bool) {
	defer c.lendSlot(slotOfBody(t.Body)).Reclaim()
	p.runCaught(ctx, t, s, counted)
}

// runCaught runs t elsewhere than at the bottom of a worker's stack, on the goroutine of the caller with ctx. If t has begun
// in a seat, runCaught ends it there. counted tells whether it already counts as begun in place.
func (p *Pool) runCaught(ctx context.Context, t Task, s Seat, counted bool) {
	count := p.inPlace(s)
	if !counted {
		count.Begun.Add(1)
	}
	ran := true
	defer func() { // whatever the callbacks of Fail do
		if !ran {
			count.Begun.Add(-1)
		}
		if s.Worker != nil {
			s.StandUp()
		} else if ran {
			count.Ended.Add(1)
		}
		p.label(ctx)
	}()
	body := t.Body
	defer p.Caught(&body, s)
	ran = p.startInPlace(t, s)
	body = nil
}
