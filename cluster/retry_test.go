package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestWaitsGrowUpToTheMost(t *testing.T) {
	r := Retry{First: time.Second, Most: 5 * time.Second}.filled()
	for i, want := range []time.Duration{1, 2, 4, 5, 5} {
		if got := r.longest(i + 1); got != want*time.Second {
			t.Errorf("after attempt %d at most %v, want %v", i+1, got, want*time.Second)
		}
		for range 100 {
			if d := r.wait(i + 1); d < 0 || d >= want*time.Second {
				t.Errorf("a wait of %v after attempt %d", d, i+1)
			}
		}
	}
	if d := r.longest(1 << 20); d != r.Most {
		t.Error("after a million attempts", d)
	}
}

func TestAttemptAndErrorSayWhetherATaskIsTriedAgain(t *testing.T) {
	r := Retry{Attempts: 3}.filled()
	plain := errors.New("plain")
	for _, c := range []struct {
		attempt int
		err     error
		dead    bool
		wait    time.Duration
	}{
		{1, plain, false, -1},
		{3, plain, true, 0},
		{1, fmt.Errorf("wrapped: %w", Permanent(plain)), true, 0},
		{1, RetryAfter(plain, time.Hour), false, time.Hour},
		{3, RetryAfter(plain, time.Hour), true, 0},
	} {
		if d := r.decide(c.attempt, c.err); d.dead != c.dead || c.wait >= 0 && d.wait != c.wait {
			t.Errorf("%d, %v: %+v", c.attempt, c.err, d)
		}
	}
}

func TestRetriesThatMakeNoSense(t *testing.T) {
	for _, r := range []Retry{{Attempts: -1}, {First: -1}, {First: 2, Most: 1}, {Factor: 0.5}} {
		if r.filled().check() == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}
