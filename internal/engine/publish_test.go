package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/policy"
)

// What a worker publishes is what it is asked for, the oldest first, or as many as are missing; the rest it owes.
func TestWhatAWorkerPublishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no time passes
		p := newPool(4)
		setPlaces(p, counted{Active: 4, Searching: 3}) // three could take something at once, and nobody is woken
		w := testWorker(p, 0)
		fn := body(func(f *forks, n int) int { return n })
		f := fn.enter(w)
		for i := range 10 {
			f.args = append(f.args, i)
		}
		answer := func(what string, demand uint32, owed int, public, left int, after uint32) {
			t.Helper()
			before := w.own.Len()
			w.earn()
			w.credit.Spend(policy.MaxCredit) // there is none
			w.Demand, w.unpaid = demand, owed
			w.Answer()
			if n := w.own.Len(); n != before+public || w.unpaid != left || w.Demand != after || w.count.published != n {
				t.Errorf("%s: %d more are public, not %d; %d are owed, not %d; demand %d, not %d; %d were published",
					what, n-before, public, w.unpaid, left, w.Demand, after, w.count.published)
			}
		}
		answer("hunger", Hunger, 0, 3, 0, None)
		answer("hunger again", Hunger, 0, 1, 0, None)
		answer("supply", supply, 2, 2, 0, None)
		answer("supply of nothing", supply, 0, 0, 0, None)
		for i, j := range f.jobs.open {
			if j.arg != i || j.owner != w {
				t.Errorf("fork %d has the argument %d", i, j.arg)
			}
		}
		answer("more than there is", supply, 9, 4, 5, supply)
		answer("more than nothing", Hunger, 5, 0, 5, Hunger)
		g := fn.enter(w)
		answer("an activation without forks", Hunger, 0, 0, 1, Hunger)
		g.args = append(g.args, 1, 2, 3)
		answer("a newer activation", Hunger, 2, 2, 0, None)
		if f.public != 10 || g.public != 2 || w.first != 1 {
			t.Errorf("%d and %d are public; the first with private ones is %d", f.public, g.public, w.first)
		}
		w.Pop()
		if w.first != 0 || len(w.activations) != 1 {
			t.Errorf("the first with private ones is %d of %d", w.first, len(w.activations))
		}
	})
}

// Where something new begins, old demand does not count: what does is whether a worker is idle.
func TestDemandAtTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		limit, extra  int32
		state         counted
		demand, after uint32
		owed          int
	}{
		"one place":             {1, 0, counted{Active: 1}, None, None, 0},
		"one place, supply":     {1, 0, counted{Active: 1}, supply, supply, 0},
		"one place, hunger":     {1, 0, counted{Active: 1}, Hunger, None, 0},
		"one place, give way":   {1, 0, counted{Active: 1}, GiveWay, GiveWay, 0},
		"one and an extra one":  {1, 1, counted{Active: 1}, None, Hunger, 0},
		"the same, hunger":      {1, 1, counted{Active: 1}, Hunger, Hunger, 0},
		"the same, taken":       {1, 1, counted{Active: 2}, Hunger, None, 0},
		"all at work":           {2, 0, counted{Active: 2}, None, supply, 1},
		"all at work, hunger":   {5, 0, counted{Active: 5}, Hunger, supply, 4},
		"all at work, give way": {5, 0, counted{Active: 5}, GiveWay, GiveWay, 4},
		"one is idle":           {5, 0, counted{Active: 4}, None, Hunger, 0},
		"one searches":          {5, 0, counted{Active: 5, Searching: 1}, supply, Hunger, 0},
		"one is idle, give way": {5, 0, counted{Active: 4}, GiveWay, GiveWay, 0},
	} {
		p := newPool(int(c.limit))
		p.extra.Store(c.extra)
		setPlaces(p, c.state)
		w := testWorker(p, 0)
		w.Demand, w.unpaid = c.demand, 7
		for range 2 {
			w.Start()
		}
		if !w.fresh || w.unpaid != c.owed || w.Demand != c.after || len(*p.forkers.Load()) != 1 || !w.forks.Load() {
			t.Errorf("%s: %d are owed, demand %d; %d forkers", name, w.unpaid, w.Demand, len(*p.forkers.Load()))
		}
	}
}

// Where there is one place, demand that no other worker can have raised is forgotten, and nothing is
// published. Elsewhere it stays until something is.
func TestOneWorkerForgetsDemand(t *testing.T) {
	for _, c := range []struct {
		places, extra int
		level, after  uint32
		public        int
	}{
		{1, 0, Hunger, None, 0}, {1, 0, supply, None, 0},
		{1, 1, Hunger, None, 1}, {2, 0, Hunger, None, 1},
	} {
		p := newPool(c.places)
		p.SetExtra(c.extra)
		setPlaces(p, counted{Active: c.places + c.extra})
		w := testWorker(p, 0)
		fn := body(func(f *forks, n int) int { return n })
		f := fn.enter(w)
		w.earn()
		w.credit.Spend(policy.MaxCredit)
		if w.Demand = Hunger; c.places+c.extra > 1 {
			if w.Answer(); w.Demand != Hunger {
				t.Errorf("%+v: without forks, the demand is %d", c, w.Demand)
			}
		}
		f.args = append(f.args, 1)
		w.Demand = c.level
		if w.Answer(); w.Demand != c.after || w.own.Len() != c.public {
			t.Errorf("%+v: the demand is %d, %d forks are public", c, w.Demand, w.own.Len())
		}
	}
}

// The clock is not read for each of the forks that a worker owes.
func TestOwedForksDoNotCountTheCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(4)
		setPlaces(p, counted{Active: 4})
		w := testWorker(p, 0)
		fn := body(func(f *forks, n int) int { return n })
		f := fn.enter(w)
		f.args = append(f.args, 1, 2, 3, 4, 5)
		w.earn()
		w.credit.Spend(policy.MaxCredit)
		time.Sleep(time.Second)
		w.Demand, w.unpaid = Hunger, 2
		for i, public := range []int{2, 5} {
			if w.Answer(); w.own.Len() != public {
				t.Errorf("answer %d: %d forks are public, not %d", i+1, w.own.Len(), public)
			}
		}
	})
}

// A fork that is taken back is replaced by another if it was the last that was public, and there is
// credit. Demand has no answer then, since nothing is private, except that the worker gives way.
func TestAfterTheLastPublicFork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(4)
		setPlaces(p, counted{Active: 4, Searching: 3})
		w := testWorker(p, 0)
		fn := body(func(f *forks, n int) int { return n })
		f := fn.enter(w)
		f.args = append(f.args, 1, 2)
		w.Demand = Hunger
		w.Answer()
		w.Demand, w.unpaid = None, 0
		for i, after := range []uint32{None, supply} {
			if f.jobs.TakeBack(w); w.Demand != after {
				t.Errorf("after %d of two: demand %d, not %d", i+1, w.Demand, after)
			}
		}
		w.Demand, w.fresh = Hunger, true
		if w.PollPublic(); w.Demand != Hunger || !w.fresh {
			t.Errorf("hunger has become %d; the credit was counted: %t", w.Demand, !w.fresh)
		}
		w.Demand = GiveWay
		if w.PollPublic(); tasksOf(p).gaveWay != 1 {
			t.Errorf("it gave way %d times", tasksOf(p).gaveWay)
		}
	})
}

// Demand is raised and not lowered by others.
func TestDemandIsRaised(t *testing.T) {
	w := testWorker(newPool(1), 0)
	for _, c := range [][2]uint32{{supply, supply}, {None, supply}, {Hunger, Hunger}, {supply, Hunger}, {GiveWay, GiveWay}, {Hunger, GiveWay}} {
		if w.Raise(c[0]); w.Demand != c[1] {
			t.Errorf("raised to %d: %d", c[0], w.Demand)
		}
	}
}
