package engine

import (
	"testing"

	"github.com/filch-go/filch/internal/clock"
)

// A thief asks its victim for more, for those that come later, if it leaves little behind and
// steals come seldom; hunger is not lowered by that.
func TestAThiefAsksForMore(t *testing.T) {
	for _, c := range []struct {
		seldom bool
		public int
		before uint32
		want   uint32
	}{
		{true, 1, None, supply}, {true, 4, None, supply}, {true, 5, None, None}, {false, 1, None, None}, {true, 1, Hunger, Hunger}, {false, 9, None, None},
	} {
		p := newPool(4)
		v, w := testWorker(p, 0), testWorker(p, 1)
		for range c.public {
			v.own.Push(&Job{})
		}
		v.Demand = c.before
		if w.lastSteal = clock.Now() + 1<<40; c.seldom {
			w.lastSteal = clock.Now() - 1<<40
		}
		if w.steal(v) == nil {
			t.Fatal("nothing was stolen")
		}
		if v.Demand != c.want {
			t.Errorf("%+v: the demand is %d", c, v.Demand)
		}
		if w.count.attempts != 1 || w.count.steals != 1 {
			t.Errorf("testWorker(p, 1): %+v", w.count)
		}
	}
	p := newPool(4)
	v, w := testWorker(p, 0), testWorker(p, 1)
	if w.steal(v) != nil || w.count.attempts != 1 || w.count.steals != 0 || v.Demand != None {
		t.Errorf("of nothing: %+v", w.count)
	}
}

// Demand only rises, and is none again when it is met.
func TestDemandOnlyRises(t *testing.T) {
	for _, c := range [][3]uint32{{None, supply, supply}, {None, Hunger, Hunger}, {supply, Hunger, Hunger}, {Hunger, supply, Hunger}, {supply, supply, supply}} {
		w := &Worker{Demand: c[0]}
		if w.Raise(c[1]); w.Demand != c[2] {
			t.Errorf("raised from %d to %d it is %d", c[0], c[1], w.Demand)
		}
	}
}
