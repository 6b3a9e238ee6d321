package task

import (
	"testing"

	"github.com/filch-go/filch/internal/policy"
)

// How much moves when a worker takes from another's queue: half of what there is, 33 at most, or
// the first chunk with one if there is more than that of two; and from the global queue its
// share.
func TestHowMuchMoves(t *testing.T) {
	var got int
	for _, c := range []struct {
		queued, share int
		steal         bool
		stay          int
	}{
		{1, 2, true, 0}, {2, 2, true, 1}, {3, 2, true, 1}, {10, 2, true, 5}, {64, 2, true, 32}, {65, 2, true, 32},
		{100, 2, true, 67}, {129, 2, true, 96}, {10, 4, false, 7}, {100, 1, false, 36}, {10, 0, false, 9}, {5, 1, false, 0},
	} {
		for _, order := range []Order{LIFO, FIFO, ByPriority} {
			if order == ByPriority && c.queued > 64 { // there are no chunks; see give
				c.stay = c.queued - 1 - policy.MostMoved
			}
			p := newPool(2, order)
			victim := &newWorker(p, 1).Own
			for i := range c.queued {
				victim.push(0, numbered(i, &got))
			}
			thief := newWorker(p, 0)
			setPlaces(p, counted{Active: p.Engine.Size()}) // so that nobody is woken
			if _, ok := thief.takeFrom(victim, c.share, c.steal); !ok {
				t.Fatalf("%+v: nothing was taken", c)
			}
			if n := victim.len(); n != c.stay || thief.Own.len() != c.queued-1-n {
				t.Errorf("%+v: %d stay, and %d have moved", c, n, thief.Own.len())
			}
			if want := map[bool]int64{true: int64(c.queued - c.stay)}[c.steal]; thief.Own.stolen != want {
				t.Errorf("%+v: %d count as stolen, not %d", c, thief.Own.stolen, want)
			}
			if moved := thief.Own.len(); order != ByPriority && (victim.list().foreign != 0 || thief.Own.list().foreign != moved) {
				t.Errorf("%+v: %d and %d count as moved, not 0 and %d", c, victim.list().foreign, thief.Own.list().foreign, moved)
			}
			if thief.Own.taken != 1 {
				t.Errorf("%+v: %d count as taken to run", c, thief.Own.taken)
			}
		}
	}
}
