package filch

import (
	"context"
	"strings"
	"testing"
)

// What comes when the counts are full is refused, and carries into no other field.
func TestCountsDoNotCarry(t *testing.T) {
	for name, full := range map[string]uint64{
		"places":  maxCrowd * onePlace,
		"blocked": maxCrowd * oneBlocked,
		"both":    maxCrowd/2*onePlace + (maxCrowd-maxCrowd/2)*oneBlocked,
	} {
		for call, f := range map[string]func(p *Pool){
			"Do":            func(p *Pool) { p.Do(func(*Worker) {}) },
			"LongRunning":   func(p *Pool) { p.Go(context.Background(), func(context.Context) {}, LongRunning()) },
			"Help":          func(p *Pool) { p.Help(context.Background()) },
			"Do of a Scope": func(p *Pool) { taskScope{p: p}.Do(func(*Worker) {}) },
		} {
			t.Run(name+"/"+call, func(t *testing.T) {
				p := New(WithWorkers(1))
				p.state.Store(full)
				defer func() {
					if s, _ := recover().(string); !strings.Contains(s, "goroutines are in the pool") {
						t.Errorf("panic: %q", s)
					}
					if s := p.state.Load(); s != full {
						t.Errorf("the word was %#x and is %#x", full, s)
					}
				}()
				f(p)
			})
		}
	}
}
