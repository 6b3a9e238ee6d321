package filch

import (
	"context"

	"github.com/filch-go/filch/internal/tag"
)

// runLong runs t on a goroutine of its own.
func (p *Pool) runLong(ctx context.Context, t task, try bool) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.body, err)
	}
	if p.slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.engine.EnterBlocked().Ended() {
		p.engine.LeaveBlocked()
		p.leaveSlot(seat{})
		return p.refuse(t.body, ErrClosed)
	}
	if p.sees {
		p.engine.Tag(func(uint64, tag.Step) { // Close waits for it by now
			p.announce(t.body, TaskSubmitted, nil, func() {
				p.leaveSlot(seat{})
				p.engine.LeaveBlocked()
			})
		})
	}
	p.ended.direct.Add(1)
	p.endMu.Lock()
	entry := p.long.PushBack(t.body)
	p.endMu.Unlock()
	go p.engine.Tag(func(uint64, tag.Step) {
		defer p.engine.LeaveBlocked()
		defer func() {
			p.endMu.Lock()
			defer p.endMu.Unlock()
			p.long.Remove(entry)
		}()
		p.runCaught(context.Background(), t, seat{})
	})
	return nil
}
