package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// Goroutines that a pool has kept are unused until they are woken, and leave when they are
// dismissed. In a closed pool none is kept.
func TestKeptGoroutinesLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(3)
		p.Linger = time.Hour
		second := func() { time.Sleep(time.Second) }
		check := func(when string, workers, parked int) {
			t.Helper()
			synctest.Wait()
			all, unused := *p.Workers.Load(), p.Unused()
			if n := p.Kept(); n != parked || len(all) != workers || !p.Places.Load().AtRest() {
				t.Errorf("%s: %d of %d goroutines are kept, not %d of %d; %v", when, n, len(all), parked, workers, p.Places.Load())
			}
			for _, w := range all {
				if !unused[w] || w.runs.Load() || w.searching {
					t.Errorf("%s: worker %d is unused: %t; runs: %t; searches: %t", when, w.ID, unused[w], w.runs.Load(), w.searching)
				}
			}
		}
		for range 2 {
			for range 3 {
				give(p, second)
			}
			synctest.Wait()
			if held, lent := p.Fill(); held != 3 || lent != 0 || p.Kept() != 0 {
				t.Errorf("at work, %d have a place, %d have none, and %d are kept", held, lent, p.Kept())
			}
			for w := range p.Unused() {
				if w != nil {
					t.Errorf("worker %d is unused, and works", w.ID)
				}
			}
			time.Sleep(2 * time.Second)
			check("after the work", 3, 3)
		}
		begin := time.Now()
		p.Places.Close()
		for range 4 {
			p.Dismiss()
			check("dismissed", 3, 0)
		}
		ran := false
		give(p, func() { ran = true })
		check("in a closed pool", 3, 0)
		if n := tasksOf(p).left.Load(); !ran || n != 1 || time.Since(begin) > 0 {
			t.Errorf("it ran: %t; all have left %d times; after %v", ran, n, time.Since(begin))
		}
	})
}

// Goroutines that are kept leave when the time is over, one after the other.
func TestGoroutinesAreKeptForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2)
		p.Linger = 10 * time.Second
		give(p, func() { time.Sleep(time.Second) })
		give(p, func() { time.Sleep(4 * time.Second) })
		for at, want := range []int{0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0} {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if n := p.Kept(); at != 1 && at != 4 && n != want { // at a moment when two things happen
				t.Errorf("after %d s, %d are kept, not %d", at, n, want)
			}
			time.Sleep(time.Second - time.Millisecond)
		}
		if s := p.Places.Load(); s != 0 {
			t.Errorf("p.Places.Load(): %v", s)
		}
	})
}
