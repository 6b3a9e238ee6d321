package policy_test

import (
	"testing"

	"github.com/filch-go/filch/internal/policy"
)

func TestWorkersAreWokenByHowManySearch(t *testing.T) {
	for _, c := range []struct {
		active, searching, limit, procs int
		wake, search                    bool
		idle                            int
	}{
		{0, 0, 1, 1, true, true, 1},
		{1, 0, 1, 1, false, true, 0},
		{1, 0, 2, 2, true, true, 1},
		{2, 1, 8, 8, false, true, 7},
		{2, 0, 8, 8, true, true, 6},
		{8, 0, 8, 8, false, true, 0},
		{3, 1, 64, 64, false, true, 62}, // below 4, one at a time
		{4, 1, 64, 64, true, true, 61},
		{7, 2, 64, 64, false, true, 59},
		{8, 2, 64, 64, true, true, 58},
		{64, 0, 64, 64, false, true, 0},
		{8, 3, 8, 8, false, true, 3},
		{8, 4, 8, 8, false, false, 4},
		{8, 1, 8, 2, false, false, 1},
		{1005, 0, 8, 8, false, true, 0},
	} {
		k := policy.Counts{Active: c.active, Searching: c.searching, Limit: c.limit, Procs: c.procs}
		if k.Wake() != c.wake || k.MaySearch() != c.search || k.Idle() != c.idle {
			t.Errorf("%+v: wake %v, search %v, %d idle", k, k.Wake(), k.MaySearch(), k.Idle())
		}
	}
}

func TestCreditIsEarnedByTime(t *testing.T) {
	const us = 1000
	var c policy.Credit
	now := int64(1_000_000 * us)
	if n := c.Start(now, 8); n != 48+14 {
		t.Errorf("after a rest: %d, want the reserve and two for each other worker", n)
	}
	c.Keep(7)
	if n := c.Worth(100); n != 14 {
		t.Errorf("worth %d publications, want 14", n)
	}
	c.Spend(14)
	for i := range 48 {
		keeps, want := 7, min(32-i, 5)
		if i >= 32 {
			keeps, want = 1, 1
		}
		if n, k := c.Worth(2), c.Keeps(); n != want || k != keeps {
			t.Errorf("of the reserve, %d spent: with 2 public worth %d, keeps %d; want %d, %d", i, n, k, want, keeps)
		}
		if n := c.Worth(7); n != 1 {
			t.Errorf("of the reserve, %d spent: with 7 public worth %d, want one at a time", i, n)
		}
		c.Spend(1)
		c.Spend(-1)
	}
	c.Spend(20)
	if n := c.Earn(now); n != 0 || c.Worth(0) != 0 {
		t.Errorf("after spending it: %d, worth %d", n, c.Worth(0))
	}
	n := 0
	for range 1000 {
		now += policy.Price / 10
		n = c.Earn(now)
	}
	if n != 100 {
		t.Errorf("earned %d in small steps, want 100", n)
	}
	if n := c.Earn(now + policy.MaxCredit*policy.Price*10); n != policy.MaxCredit {
		t.Errorf("saved up %d", n)
	}
	if n := c.Start(now, 1); n != 48 {
		t.Errorf("with one worker: %d", n)
	}
	c.Spend(policy.MaxCredit)
	c.Earn(now)
	c.Spend(policy.MaxCredit)
	if n := c.Earn(now - policy.Price); n < 0 {
		t.Errorf("%d, after the clock has gone back", n)
	}
}
