package policy

import (
	"fmt"
	"testing"
)

// Each step of a day in a pool of two workers, in milliseconds. It does not matter when the day
// begins.
func TestPlacesAreAddedAndTakenBackAsWorkersStandStill(t *testing.T) {
	for _, begin := range []int64{0, 5 * CountEvery} {
		t.Run(fmt.Sprintf("from %d", begin), func(t *testing.T) { testStall(t, begin) })
	}
}

func testStall(t *testing.T, begin int64) {
	s := Stall{After: 100}
	at := func(now, started int64, fresh, active, running, extra int) Sight {
		return Sight{Now: begin + now, Started: started, Fresh: fresh, Active: active, Running: running, Extra: extra}
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
		{at(150, 7, 0, 4, 0, 2), 2, false},  // too early
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

// Nothing has started for long once that time is over, to the nanosecond.
func TestStalledFromWhen(t *testing.T) {
	s := Stall{After: 100}
	for _, started := range []int64{1, 2} {
		now := 1000 * started
		s.Look(Sight{Now: now, Started: started})
		if s.Stalled(now+99) || !s.Stalled(now+100) {
			t.Errorf("stalled after 99: %t, after 100: %t", s.Stalled(now+99), s.Stalled(now+100))
		}
	}
}

// There are never fewer places than the pool's own, also if more have started something than are
// still there. Where none were added, nobody is counted to take some back.
func TestNoPlacesToTakeBack(t *testing.T) {
	s := Stall{After: 100}
	s.Look(Sight{Now: 0, Started: 1})
	if extra, count := s.Look(Sight{Now: 10, Started: 5, Fresh: 4, Active: 2, Running: 2, Extra: 2}); extra != 0 || count {
		t.Errorf("%d places, count: %t", extra, count)
	}
	if extra, count := s.Look(Sight{Now: 20, Started: 7, Fresh: 2, Active: 2, Running: 9}); extra != 0 || count {
		t.Errorf("%d places, count: %t", extra, count)
	}
}

// A count at the time 0 is one as well.
func TestCountedAtZero(t *testing.T) {
	s := Stall{After: 100}
	o := Sight{Now: 0, Started: 1, Active: 2, Running: 9}
	s.Look(o)
	s.Counted(o, 0)
	o.Now = 200
	if _, count := s.Look(o); count {
		t.Error("counted twice in a second")
	}
}

// Goroutines are counted again after a second, whatever the clock shows: in a bubble of
// testing/synctest it is years before that of the program.
func TestGoroutinesAreCountedAgainAfterASecond(t *testing.T) {
	for _, start := range []int64{0, 1, -848_000_000_000_000_000, 848_000_000_000_000_000} {
		s := Stall{After: 100}
		s.Look(Sight{Now: start, Active: 2, Running: 2})
		for i := range int64(3) {
			now := start + 100 + i*CountEvery
			if _, count := s.Look(Sight{Now: now, Active: 2, Running: 2}); !count {
				t.Fatalf("from %d: no count %d", start, i+1)
			}
			s.Counted(Sight{Now: now, Active: 2, Running: 2}, 0)
			if _, count := s.Look(Sight{Now: now + CountEvery - 1, Active: 2, Running: 2}); count {
				t.Fatalf("from %d: count %d comes too soon", start, i+2)
			}
		}
	}
}
