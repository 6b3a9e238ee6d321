package policy

import "testing"

// Searching has what was saved up, what time brings, and what found work earns.
func TestWhatSearchingMayCost(t *testing.T) {
	const us = 1000
	now := int64(1_000_000 * us)
	for name, c := range map[string]struct {
		before          int64 // what may be spent, ns
		later           int64
		searched, worth int64
		searchers       int
		left            int64
	}{
		"all is saved up":                 {1000 * us, 0, 0, 0, 1, 1000 * us},
		"no more than that":               {1000 * us, 500_000 * us, 0, 0, 1, 1000 * us},
		"a search":                        {1000 * us, 0, 100 * us, 0, 1, 900 * us},
		"a search, eight may":             {1000 * us, 0, 100 * us, 0, 8, 987_500},
		"a search that was interrupted":   {1000 * us, 0, 5000 * us, 0, 1, 800 * us},
		"a twentieth of the time is free": {0, 200 * us, 0, 0, 1, 10 * us},
		"work pays for it":                {500 * us, 0, 100 * us, 100 * us, 1, 500 * us},
		"work earns":                      {500 * us, 0, 20 * us, 96 * us, 1, 576 * us},
		"steals that are too short":       {500 * us, 0, 20 * us, -30 * us, 1, 450 * us},
		"all is spent":                    {50 * us, 0, 100 * us, 0, 1, 0},
		"no searchers":                    {1000 * us, 0, 100 * us, 0, 0, 900 * us},
		"a clock that went back":          {500 * us, 0, -100 * us, 0, 1, 500 * us},
	} {
		s := Search(now - c.before*FreeSearch)
		s = s.Count(now+c.later, c.searched, c.worth, c.searchers)
		if left := s.Left(now + c.later); left != c.left {
			t.Errorf("%s: %d ns are left, not %d", name, left, c.left)
		}
	}
	if left := FullSearch(now).Left(now); left != MaxSearch {
		t.Errorf("a full one has %d ns", left)
	}
}

// However much was spent, nothing is owed: time brings something at once.
func TestNothingIsOwed(t *testing.T) {
	s := FullSearch(0)
	for range 1000 {
		s = s.Count(0, 2*SpinTime, -SpinTime, 1)
	}
	if left := s.Left(0); left != 0 {
		t.Errorf("%d ns are left", left)
	}
	if left := s.Left(HoldTime); left != HoldTime/FreeSearch {
		t.Errorf("%d ns are left after a hold", left)
	}
}

// Searches in vain become shorter, and as long as before when work comes soon after a rest; neither without end.
func TestPatience(t *testing.T) {
	p := Patience(SpinTime)
	for range 10 {
		p = p.Vain()
	}
	if p != LeastPatience {
		t.Errorf("after searches in vain: %d ns, not %d", p, LeastPatience)
	}
	for rested, want := range map[int64]Patience{SpinTime: LeastPatience, 1 << 60: LeastPatience, SpinTime - 1: 2 * LeastPatience, 0: 2 * LeastPatience, -5: 2 * LeastPatience} {
		if got := p.Woken(rested); got != want {
			t.Errorf("woken after a rest of %d ns: %d ns, not %d", rested, got, want)
		}
	}
	for range 10 {
		p = p.Woken(0)
	}
	if p != SpinTime {
		t.Errorf("after short rests: %d ns, not %d", p, SpinTime)
	}
}

// What takes less than a publication is worth costs more than it gives; nothing pays for more
// than one search; and where the clock stands still, work is worth nothing.
func TestWhatWorkIsWorth(t *testing.T) {
	for took, worth := range map[int64]int64{
		-5: 0, 0: 0, 1: 1 - Price, Price: 0, Price + 1: 1, SpinTime: SpinTime - Price, SpinTime + 1: SpinTime - Price, 1 << 60: SpinTime - Price,
	} {
		if got := Worth(took); got != worth {
			t.Errorf("work of %d ns is worth %d, not %d", took, got, worth)
		}
	}
}
