package policy

import "testing"

// Each step of a day in a pool of two workers, in milliseconds.
func TestStall(t *testing.T) {
	s := Stall{After: 100}
	at := func(now, started int64, fresh, active, running, extra int) Sight {
		return Sight{Now: now, Started: started, Fresh: fresh, Active: active, Running: running, Extra: extra}
	}
	for i, c := range []struct {
		sight Sight
		extra int
		count bool
	}{
		{at(0, 5, 2, 2, 2, 0), 0, false},    // the watch begins
		{at(25, 5, 0, 2, 0, 0), 0, false},   // too early
		{at(100, 5, 0, 2, 0, 0), 2, false},  // both wait, for nothing runs
		{at(125, 7, 2, 4, 2, 2), 2, false},  // two others have started; they wait for no place
		{at(225, 7, 0, 4, 0, 2), 4, false},  // they wait as well
		{at(250, 9, 2, 6, 5, 4), 4, true},   // perhaps some run again
		{at(275, 11, 2, 4, 4, 2), 2, true},  // not counted yet, so asked again
		{at(300, 12, 4, 4, 4, 2), 0, false}, // all have begun something
		{at(400, 12, 0, 2, 9, 0), 0, true},  // all stand still, or others run
		{at(425, 12, 0, 2, 9, 0), 0, true},
	} {
		if extra, count := s.Look(c.sight); extra != c.extra || count != c.count {
			t.Errorf("%d: %+v: %d places, count: %t", i, c.sight, extra, count)
		}
	}
	o := at(450, 12, 0, 2, 9, 0)
	if s.Look(o); s.Counted(o, 1) != 1 {
		t.Error("a place that is known to be of no use is not replaced")
	}
	o = at(475, 12, 0, 3, 9, 1)
	if extra, count := s.Look(o); extra != 1 || count {
		t.Errorf("counted twice in a second; %d places", extra)
	}
	o = at(450+CountEvery, 13, 1, 3, 9, 1)
	if _, count := s.Look(o); !count || s.Counted(o, 7) != 1 || s.Counted(o, 0) != 0 {
		t.Error("while tasks start, a count takes places back and adds none")
	}
}
