package task

import (
	"context"
	"slices"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/line"
	"github.com/filch-go/filch/internal/tag"
)

// runLong runs t on its own goroutine.
func (p *Pool) runLong(ctx context.Context, t Task, try bool) error {
	if err := p.Admits(ctx); err != nil {
		return p.refuse(t.Body, err)
	}
	if p.Slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.Engine.EnterBlocked().Ended() {
		p.Engine.LeaveBlocked()
		p.LeaveSlot(Seat{})
		return p.refuse(t.Body, ErrClosed)
	}
	if p.Sees {
		p.Engine.Tag(func(uint64, tag.Step) { // Close already waits for it
			p.announce(t.Body, event.Submitted, nil, func() {
				p.LeaveSlot(Seat{})
				p.Engine.LeaveBlocked()
			})
		})
	}
	p.Totals.Direct.Add(1)
	p.startLong(t)
	return nil
}

// startLong starts t, which counts as blocked.
func (p *Pool) startLong(t Task) {
	entry := &line.Turn[Body]{Of: t.Body}
	p.longMu.Lock()
	p.long.Add(entry)
	p.longMu.Unlock()
	go p.Engine.Tag(func(uint64, tag.Step) {
		defer p.Engine.LeaveBlocked()
		defer func() {
			p.longMu.Lock()
			defer p.longMu.Unlock()
			p.long.Remove(entry)
		}()
		p.runCaught(context.Background(), t, Seat{}, false)
	})
}

// LongRunning returns the tasks that run on their own goroutines.
func (p *Pool) LongRunning() []Body {
	p.longMu.Lock()
	defer p.longMu.Unlock()
	return slices.Collect(p.long.All())
}

// Running counts the running tasks by name: those that workers took from queues, and those on their own goroutines.
func (p *Pool) Running() map[string]int {
	counts := map[string]int{}
	for _, w := range *p.Engine.Workers.Load() {
		if b, _ := of(w).Own.Running(); b != nil {
			counts[Name(b)]++
		}
	}
	for _, b := range p.LongRunning() {
		counts[Name(b)]++
	}
	return counts
}
