package checks

import "testing"

// A look that is seldom taken is taken each time at first, then one time in as many; and something is told once.
func TestALookIsTakenEachTimeAtFirstAndSeldomThen(t *testing.T) {
	var s Seldom
	looks := map[int]int{}
	for i := range 5 * alwaysLooks {
		if s.Due() {
			looks[i/alwaysLooks]++
		}
	}
	for part, want := range []int{alwaysLooks, 1, 1, 1, 1} {
		if looks[part] != want {
			t.Errorf("of the calls of Due from %d on, %d say so, not %d", part*alwaysLooks, looks[part], want)
		}
	}
	if s.Over() || !s.Tell() || s.Tell() || !s.Over() {
		t.Error("it is not told once")
	}
}
