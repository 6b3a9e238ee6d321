package policy

import (
	"math"
	"testing"
)

// The order of tasks of different age is that of when they would be of one level.
func TestAged(t *testing.T) {
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

// Unaged undoes Aged, within its range.
func TestUnaged(t *testing.T) {
	for _, priority := range []int{-1 << 40, -7, 0, 1, 60, 1 << 40} {
		for _, at := range []int64{0, 1, 63, 1e6, 1e9 + 1, 1e15} {
			for _, step := range []int64{1, 1e3, 1e9} {
				if got := Unaged(Aged(priority, at, step), at, step); got != priority {
					t.Errorf("%d at %d, a level in %d: %d", priority, at, step, got)
				}
			}
		}
	}
}
