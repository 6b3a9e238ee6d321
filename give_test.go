package filch

import (
	"context"
	"testing"
)

// What comes when all has ended is refused, and leaves nothing behind in the counts: the look at
// the phase may have come before.
func TestTooLateToBegin(t *testing.T) {
	for name, begin := range map[string]func(p *Pool){
		"LongRunning": func(p *Pool) {
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }, LongRunning()); err != ErrClosed {
				t.Error(err)
			}
		},
		"CallerRuns": func(p *Pool) {
			for p.tasks.Room.Take() { // all there is
			}
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }); err != ErrClosed {
				t.Error(err)
			}
		},
		"Help": func(p *Pool) {
			if p.Help(t.Context()) {
				t.Error("something runs")
			}
		},
		"Go": func(p *Pool) {
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }); err != nil {
				t.Error(err)
			}
			if n := p.Stats().Tasks; n.Cancelled != 1 || n.Queued != 0 {
				t.Errorf("%+v", n)
			}
		},
	} {
		p := New(WithWorkers(1), WithQueueLimit(1, CallerRuns))
		p.tasks.Engine.Places.Close()
		p.tasks.Engine.Places.TryEnd()
		before := p.tasks.Engine.Places.Load()
		begin(p)
		if s := p.tasks.Engine.Places.Load(); s != before {
			t.Errorf("%s: the places were %v and are %v", name, before, s)
		}
	}
}
