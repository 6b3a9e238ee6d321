package policy

import (
	"math"
	"testing"
)

// The order of tasks of different age is that of when they would be of one level.
func TestAgedTasksGoByWhenTheyWouldBeOfOneLevel(t *testing.T) {
	const second = 1_000_000_000
	for _, c := range []struct {
		priority int
		at       int64
		than     int
		laterAt  int64
		first    bool
	}{
		{5, 0, 0, 4 * second, false},
		{5, 0, 0, 6 * second, true},
		{5, 0, 5, 1 * second, true},
		{-3, 100 * second, -4, 102 * second, true},
		{math.MaxInt, 0, math.MaxInt, second, true},
		{math.MaxInt, second, 0, 1000 * second, false},
		{math.MinInt, 1000 * second, math.MinInt + 1, second, false},
		{0, 3, math.MinInt, 1000 * second, false},
	} {
		a, b := Aged(c.priority, c.at, second), Aged(c.than, c.laterAt, second)
		if (a < b) != c.first {
			t.Errorf("%+v: %d and %d", c, a, b)
		}
	}
	if Aged(0, second, 100) != 64*1e7 { // 100 ns each
		t.Error(Aged(0, second, 100))
	}
}

// A task that is a step older is as urgent as one of the next priority, and the priority can be told from
// both.
func TestAgeingIsExact(t *testing.T) {
	for _, step := range []int64{1, 7, 64, 1000, 1e9} {
		for _, at := range []int64{0, 1, 63, 64, 65, 1e9, 1e9 + 7, 123456789012} {
			if at/step > math.MaxInt>>7 {
				continue // in 32 bits there is no more age than that
			}
			for _, priority := range []int{-1000, -1, 0, 1, 1000, 1 << 20} {
				by := Aged(priority, at, step)
				if got := Unaged(by, at, step); got != priority {
					t.Errorf("%d after %d of %d: %d", priority, at, step, got)
				}
				if next := Aged(priority, at+step, step); next != Aged(priority+1, at, step) || next != by+64 {
					t.Errorf("%d after %d of %d: %d, a step later %d, and that of the next %d", priority, at, step, by, next, Aged(priority+1, at, step))
				}
				if half := Aged(priority, at+step/2, step); half < by || half > by+33 {
					t.Errorf("%d after %d of %d: %d, half a step later %d", priority, at, step, by, half)
				}
			}
		}
	}
	for _, extreme := range []int{math.MinInt, math.MaxInt} {
		if a, b := Aged(extreme, 0, 1e9), Aged(extreme/1000, 0, 1e9); (a > b) != (extreme > 0) {
			t.Errorf("%d comes out as %d, %d as %d", extreme, a, extreme/1000, b)
		}
	}
}
