package filch

import (
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/policy"
)

// What a worker publishes is what it is asked for, the oldest first, or as many as are missing; the rest it owes.
func TestWhatAWorkerPublishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no time passes
		p := New(WithWorkers(4), WithStallTimeout(0))
		setPlaces(p, counted{active: 4, searching: 3}) // three could take something at once, and nobody is woken
		w := testWorker(p, 0)
		fn := NewFunc(func(f *Frame[int, int], n int) int { return n })
		f := fn.enter(&w.engine)
		for i := range 10 {
			f.args = append(f.args, i)
		}
		answer := func(what string, demand uint32, owed int, public, left int, after uint32) {
			t.Helper()
			before := w.engine.own.Len()
			w.engine.earn()
			w.engine.credit.Spend(policy.MaxCredit) // there is none
			w.engine.demand, w.engine.owed = demand, owed
			w.engine.answer()
			if n := w.engine.own.Len(); n != before+public || w.engine.owed != left || w.engine.demand != after || w.engine.count.published != n {
				t.Errorf("%s: %d more are public, not %d; %d are owed, not %d; demand %d, not %d; %d were published",
					what, n-before, public, w.engine.owed, left, w.engine.demand, after, w.engine.count.published)
			}
		}
		answer("hunger", hunger, 0, 3, 0, none)
		answer("hunger again", hunger, 0, 1, 0, none)
		answer("supply", supply, 2, 2, 0, none)
		answer("supply of nothing", supply, 0, 0, 0, none)
		for i, j := range f.jobs.open {
			if j.arg != i || j.owner != &w.engine {
				t.Errorf("fork %d has the argument %d", i, j.arg)
			}
		}
		answer("more than there is", supply, 9, 4, 5, supply)
		answer("more than nothing", hunger, 5, 0, 5, hunger)
		g := fn.enter(&w.engine)
		answer("an activation without forks", hunger, 0, 0, 1, hunger)
		g.args = append(g.args, 1, 2, 3)
		answer("a newer activation", hunger, 2, 2, 0, none)
		if f.public != 10 || g.public != 2 || w.engine.first != 1 {
			t.Errorf("%d and %d are public; the first with private ones is %d", f.public, g.public, w.engine.first)
		}
		w.engine.pop()
		if w.engine.first != 0 || len(w.engine.acts) != 1 {
			t.Errorf("the first with private ones is %d of %d", w.engine.first, len(w.engine.acts))
		}
	})
}

// Where something new begins, old demand does not count: what does is whether a worker is idle.
func TestDemandAtTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		limit         int
		state         counted
		demand, after uint32
		owed          int
	}{
		"one place":             {1, counted{active: 1}, none, none, 0},
		"one place, hunger":     {1, counted{active: 1}, hunger, hunger, 0},
		"all at work":           {2, counted{active: 2}, none, supply, 1},
		"all at work, hunger":   {5, counted{active: 5}, hunger, supply, 4},
		"all at work, give way": {5, counted{active: 5}, giveWay, giveWay, 4},
		"one is idle":           {5, counted{active: 4}, none, hunger, 0},
		"one searches":          {5, counted{active: 5, searching: 1}, supply, hunger, 0},
		"one is idle, give way": {5, counted{active: 4}, giveWay, giveWay, 0},
	} {
		p := New(WithWorkers(c.limit), WithStallTimeout(0))
		setPlaces(p, c.state)
		w := testWorker(p, 0)
		w.engine.demand, w.engine.owed = c.demand, 7
		for range 2 {
			w.engine.start()
		}
		if !w.engine.fresh || w.engine.owed != c.owed || w.engine.demand != c.after || len(*p.engine.forkers.Load()) != 1 || !w.engine.forks.Load() {
			t.Errorf("%s: %d are owed, demand %d; %d forkers", name, w.engine.owed, w.engine.demand, len(*p.engine.forkers.Load()))
		}
	}
}

// Demand is raised and not lowered by others.
func TestDemandIsRaised(t *testing.T) {
	w := testWorker(New(WithWorkers(1)), 0)
	for _, c := range [][2]uint32{{supply, supply}, {none, supply}, {hunger, hunger}, {supply, hunger}, {giveWay, giveWay}, {hunger, giveWay}} {
		if w.engine.raise(c[0]); w.engine.demand != c[1] {
			t.Errorf("raised to %d: %d", c[0], w.engine.demand)
		}
	}
}
