package filch

import (
	"context"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/place/placetest"
	"github.com/filch-go/filch/internal/task"
)

// counted is what places are set to.
type counted struct{ Active, Searching, Blocked int }

// setPlaces makes the counts of p those.
func setPlaces(p *Pool, c counted) { placetest.Set(&p.tasks.Engine.Places, placetest.Counts(c)) }

// hasEnded reports whether all is over, and nobody is counted.
func hasEnded(s place.State) bool { return s.Closed() && s.Ended() && s.AtRest() }

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

// What comes when the counts are full is refused, and carries into no other field.
func TestCountsDoNotCarry(t *testing.T) {
	for name, fill := range map[string]func(w *place.Word){
		"blocked": func(w *place.Word) { w.EnterBlocked(place.MaxCrowd) },
		"both": func(w *place.Word) {
			for range 1000 {
				w.Enter()
			}
			w.EnterBlocked(place.MaxCrowd - 1000)
		},
	} {
		for call, f := range map[string]func(p *Pool){
			"Do":            func(p *Pool) { p.Do(func(*Worker) {}) },
			"LongRunning":   func(p *Pool) { p.Go(context.Background(), func(context.Context) {}, LongRunning()) },
			"Help":          func(p *Pool) { p.Help(context.Background()) },
			"Do of a Scope": func(p *Pool) { taskScope{p: p}.Do(func(*Worker) {}) },
		} {
			t.Run(name+"/"+call, func(t *testing.T) {
				p := New(WithWorkers(1))
				fill(&p.tasks.Engine.Places)
				full := p.tasks.Engine.Places.Load()
				defer func() {
					if s, _ := recover().(string); !strings.Contains(s, "goroutines are in the pool") {
						t.Errorf("panic: %q", s)
					}
					if s := p.tasks.Engine.Places.Load(); s != full {
						t.Errorf("the places were %v and are %v", full, s)
					}
				}()
				f(p)
			})
		}
	}
}
