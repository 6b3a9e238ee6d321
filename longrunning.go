package filch

import (
	"context"

	"github.com/filch-go/filch/internal/tag"
	"github.com/filch-go/filch/internal/task"
)

// runLong runs t on a goroutine of its own.
func (p *Pool) runLong(ctx context.Context, t task.Task, try bool) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	if p.tasks.Slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.tasks.Engine.EnterBlocked().Ended() {
		p.tasks.Engine.LeaveBlocked()
		p.tasks.LeaveSlot(task.Seat{})
		return p.refuse(t.Body, ErrClosed)
	}
	if p.sees {
		p.tasks.Engine.Tag(func(uint64, tag.Step) { // Close waits for it by now
			p.announce(t.Body, TaskSubmitted, nil, func() {
				p.tasks.LeaveSlot(task.Seat{})
				p.tasks.Engine.LeaveBlocked()
			})
		})
	}
	p.tasks.Totals.Direct.Add(1)
	p.startLong(t)
	return nil
}

// startLong starts t, which counts as blocked.
func (p *Pool) startLong(t task.Task) {
	p.longMu.Lock()
	entry := p.long.PushBack(t.Body)
	p.longMu.Unlock()
	go p.tasks.Engine.Tag(func(uint64, tag.Step) {
		defer p.tasks.Engine.LeaveBlocked()
		defer func() {
			p.longMu.Lock()
			defer p.longMu.Unlock()
			p.long.Remove(entry)
		}()
		p.runCaught(context.Background(), t, task.Seat{}, false)
	})
}
