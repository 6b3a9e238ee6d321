package engine

import (
	"slices"
	"testing"
)

// noted are checks that note what they are told.
type noted struct {
	strict bool
	told   []string
}

func (n *noted) Strict() bool { return n.strict }

func (n *noted) Begins(*Worker) func() {
	n.told = append(n.told, "begins")
	return func() { n.told = append(n.told, "ends") }
}

func (n *noted) Uses(*Worker) { n.told = append(n.told, "uses") }

// With strict checks, a worker whose goroutine has left it is forgotten, but for its figures, unless its
// Source needs it. Without, it is used again.
func TestStrictChecksForgetWorkers(t *testing.T) {
	for _, checks := range []*noted{nil, {strict: false}, {strict: true}} {
		p := newPool(2)
		if checks != nil {
			p.Checks = checks
		}
		strict := checks != nil && checks.strict
		first := p.Hire()
		first.count.steals = 7
		p.Fire(first)
		if again := p.Hire(); (again == first) == strict || again.ID != 0 {
			t.Errorf("%+v: worker %d, the same: %t", checks, again.ID, again == first)
		} else if n := len(*p.Workers.Load()); n != 1 {
			t.Errorf("%+v: there are %d workers", checks, n)
		} else if f := p.retired; f.Steals != 7 && strict {
			t.Errorf("%d steals are left of 7", f.Steals)
		} else {
			tasksOf(p).stays = again
			p.Fire(again)
			if p.Hire() != again {
				t.Errorf("%+v: one that its Source needs is forgotten", checks)
			}
		}
		if p.hold(); strict && p.held.Load() { // else it may be over by now
			t.Errorf("%+v: workers are held back", checks)
		}
	}
}

// Checks are told of each use that looks at demand, and with strict ones all do: nothing else comes of it.
func TestWhatChecksAreTold(t *testing.T) {
	p := newPool(1)
	checks := &noted{}
	p.Checks = checks
	w := p.Hire()
	if w.Asked() != w || !w.Checked() || w.Strict() || p.Public() {
		t.Errorf("asked: %t, strict: %t", w.Asked() == w, w.Strict())
	}
	checks.strict = true
	if a := w.Asked(); a == w || a.Demand == None || !w.Strict() {
		t.Error("there is no demand that never ends")
	}
	told := func(want ...string) {
		t.Helper()
		if !slices.Equal(checks.told, want) {
			t.Errorf("told of %q, not %q", checks.told, want)
		}
		checks.told = nil
	}
	fresh := w.fresh
	w.Answer()
	told("uses")
	if w.fresh != fresh || w.Demand != None {
		t.Error("it has looked for credit without demand")
	}
	_ = w.Try(func() {})
	told("uses")
	w.execute(&Job{owner: w, run: func(*Worker) { checks.told = append(checks.told, "runs") }})
	told("begins", "runs", "ends")
	late := &Worker{}
	late.Late(p)
	late.CheckUse()
	told("uses")
}
