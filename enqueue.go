package filch

import (
	"context"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
)

// submit queues t for a caller that has ctx. If try is set, it neither waits nor runs t.
func (p *Pool) submit(ctx context.Context, t task, priority int, fair, try bool) error {
	if p.sees && seenOf(t.body) == nil {
		return p.submit(ctx, task{t.ctx, p.see(ctx, t.body, priority)}, priority, fair, try)
	}
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.body, err)
	}
	w := p.workerOf(ctx)             // before anything is taken: a method of ctx may panic
	if p.plain && !p.paused.Load() { // what follows, for most: 39 ns for an empty task instead of 45
		if w == nil || fair || !w.tasks.pushAt(priority, 0, t) {
			p.tasks.pushAt(priority, 0, t)
		}
		p.pushed()
		return nil
	}
	if p.slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.room != nil {
		if ran, err := p.takeRoom(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.sees {
		p.announce(t.body, TaskSubmitted, nil, func() {
			p.leaveQueue()
			p.leaveSlot(seat{})
		})
	}
	at := p.pushTime()
	if p.ageing > 0 {
		priority = policy.Aged(priority, at-p.begun, int64(p.ageing))
	}
	if w == nil || fair || int64(priority) < p.way.least.Load() || !w.tasks.pushAt(priority, at, t) {
		p.tasks.pushAt(priority, at, t) // where those that run what is less urgent see it; see way
	}
	p.pushed()
	p.urge()
	return nil
}

// pushed is called when a task was queued.
func (p *Pool) pushed() {
	if !p.engine.Wake() || p.phase.Load() == cancelled { // (R10)
		p.dropQueued() // the end of Shutdown, or Close, may have come before the push
	}
	p.ensureWatch()
}

// levelOf returns what a task of the given priority that comes now is queued by.
func (p *Pool) levelOf(priority int) int {
	if p.ageing == 0 {
		return priority
	}
	return policy.Aged(priority, clock.Now()-p.begun, int64(p.ageing))
}
