package filch

import (
	"context"
	"runtime/pprof"

	"github.com/filch-go/filch/internal/tag"
)

// runBody runs t, which was just accepted, on the caller's goroutine, and calls begins just
// before. It reports false if the pool has ended.
func (p *Pool) runBody(ctx context.Context, t task, without slots, begins func()) bool {
	return p.runHere(ctx, without, func(s seat) (task, bool) {
		begins()
		p.ended.direct.Add(1)
		if s.worker != nil {
			s.worker.tasks.inPlace.direct.Add(1)
		}
		return t, true
	})
}

// runHere runs what next returns, if anything, on the caller's goroutine, in the seat
// that next is called with, and reports whether it did. Who has ctx may be a task of the
// pool, in whose seat it runs, or one of another pool, whose place others can have
// meanwhile.
func (p *Pool) runHere(ctx context.Context, without slots, next func(s seat) (task, bool)) (ran bool) {
	c := taskOf(ctx)
	run := func(s seat) {
		if t, ok := next(s); ok {
			ran = true
			s.slots = without
			p.runCaught(ctx, t, s)
		}
	}
	if c != nil && c.pool == p && c.seat().beginInPlace() {
		defer func() {
			if !ran {
				c.seat().endInPlace()
			}
		}()
		run(c.seat())
		return ran
	}
	if !p.engine.EnterBlocked().Ended() { // Close waits for it
		if c != nil && c.pool != p && c.lend() {
			defer c.reclaim()
		}
		defer p.engine.LeaveBlocked()
		p.engine.Tag(func(uint64, tag.Step) { run(seat{}) })
		return ran
	}
	p.engine.LeaveBlocked()
	return false
}

// Help runs one queued task on the caller's goroutine, and reports whether there was one.
// It takes a task from the worker's own queue if ctx comes from a task, else the oldest of
// the global queue, else one of another worker's queue. If the order is by priority, it
// takes the most urgent in place of the oldest. Use Help in a loop that waits for
// something other than a Future or a Group. A task that runs on top of another must not
// wait for that one, so the pool never does this by itself. Panics and runtime.Goexit do
// what [Pool.Go] says for CallerRuns. Help panics if ctx is nil.
func (p *Pool) Help(ctx context.Context) bool {
	needs(ctx != nil, "Help", "ctx")
	return p.runHere(ctx, 0, func(seat) (t task, ok bool) {
		if p.paused.Load() {
			return t, false
		}
		queues := p.queues()
		c := taskOf(ctx)
		own := c != nil && c.pool == p && c.seated()
		if own {
			queues = append([]*taskQueue{&c.worker.tasks}, queues...)
		}
		for i, q := range queues {
			if !q.some.Load() {
				continue
			}
			q.mu.Lock()
			t, ok = q.pop(i == 0 && own && p.order == LIFO)
			q.mu.Unlock()
			if ok {
				p.leaveQueue()
				p.ended.helped.Add(1)
				break
			}
		}
		return t, ok
	})
}

// runCaught runs t elsewhere than at the bottom of a worker's stack, on the
// goroutine of who has ctx. If that is in a seat, it has begun there, and runCaught
// ends it.
func (p *Pool) runCaught(ctx context.Context, t task, s seat) {
	count := &p.ended.inPlace
	if s.worker != nil {
		count = &s.worker.tasks.inPlace
	}
	count.begun.Add(1)
	returned, ran := false, true
	defer func() { // whatever the callbacks do that fail calls
		if !ran {
			count.begun.Add(-1)
		}
		if s.worker != nil {
			s.endInPlace()
		} else if ran {
			count.ended.Add(1)
		}
		if p.labels {
			pprof.SetGoroutineLabels(labelled(ctx))
		}
	}()
	defer func() {
		switch {
		case returned, p.undropped(t.body):
		case t.body.catches(p):
			t.body.fail(p, s, howEnded(recover()))
		default:
			p.leaveSlot(s)
			p.crashed(t.body, ErrGoexit, false) // or a panic, which goes on
		}
	}()
	ran = p.startInPlace(t, s)
	returned = true
}

// howEnded returns the error of a function that did not return: of a panic with
// value v, or of runtime.Goexit if v is nil.
func howEnded(v any) error {
	if v == nil {
		return ErrGoexit
	}
	return panicError(v)
}
