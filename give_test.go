package filch

import (
	"context"
	"testing"

	"github.com/filch-go/filch/internal/task"
)

// What comes when all has ended is refused, and leaves nothing behind in the counts: the look at
// the phase may have come before.
func TestTooLateToBegin(t *testing.T) {
	for name, begin := range map[string]func(p *Pool){
		"LongRunning": func(p *Pool) {
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }, LongRunning()); err != ErrClosed {
				t.Error("p.Go(t.Context(), …, LongRunning()):", err)
			}
		},
		"CallerRuns": func(p *Pool) {
			for p.tasks.Room.Take() { // all there is
			}
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }); err != ErrClosed {
				t.Error("p.Go(t.Context(), …):", err)
			}
		},
		"Help": func(p *Pool) {
			if p.Help(t.Context()) {
				t.Error("something runs")
			}
		},
		"Go": func(p *Pool) {
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }); err != ErrClosed {
				t.Errorf("Go after the end returned %v, not ErrClosed", err)
			}
			if n := p.Stats().Tasks; n.Rejected != 1 || n.Submitted != 0 || p.tasks.Room.Taken() != 0 {
				t.Errorf("after a Go that came too late, %d tasks have room; %+v", p.tasks.Room.Taken(), n)
			}
		},
	} {
		p := New(WithWorkers(1), WithQueueLimit(1, CallerRuns))
		p.Close()
		p.tasks.Phase.Store(task.Open)
		before := p.tasks.Engine.Places.Load()
		begin(p)
		if s := p.tasks.Engine.Places.Load(); s != before {
			t.Errorf("%s: the places were %v and are %v", name, before, s)
		}
	}
}
