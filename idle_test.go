package filch

import (
	"context"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/place"
)

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
