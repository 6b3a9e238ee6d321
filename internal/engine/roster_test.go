package engine

import (
	"context"
	"testing"
)

// A worker that is let go is as good as new.
func TestWorkersAreLetGoClean(t *testing.T) {
	p := newPool(1)
	p.TakePlace()
	w := p.Hire()
	bg := context.Background()
	w.client, w.labels = bg, &bg
	w.runs.Store(true)
	w.Level.Store(0)
	p.Fire(w)
	if w.client != nil || w.labels != nil || w.runs.Load() || w.Level.Load() != Nothing || !w.Hold.Load().HasPlace() {
		t.Errorf("p.Hire(): %v, %v, %t, %d, %v", w.client, w.labels, w.runs.Load(), w.Level.Load(), w.Hold.Load())
	}
	if p.Hire() != w || !w.Hold.YieldPlace() {
		t.Error("another worker is made")
	}
	if p.Fire(w); !w.Hold.Load().HasPlace() {
		t.Error("one without a slot is let go")
	}
	if p.Hire() != w {
		t.Error("another worker is made")
	}
}
