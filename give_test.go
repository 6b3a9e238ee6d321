package filch

import (
	"context"
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
			p := New(WithWorkers(2), WithOrder(order))
			victim := &taskQueue{}
			victim.init(p)
			for i := range c.queued {
				victim.push(0, numbered(i, &got))
			}
			thief := newWorker(p, 0)
			setPlaces(p, counted{Active: p.Workers()}) // so that nobody is woken
			if _, ok := thief.takeFrom(victim, c.share, c.steal); !ok {
				t.Fatalf("%+v: nothing was taken", c)
			}
			if n := victim.len(); n != c.stay || thief.tasks.len() != c.queued-1-n {
				t.Errorf("%+v: %d stay, and %d have moved", c, n, thief.tasks.len())
			}
			if want := map[bool]int64{true: int64(c.queued - c.stay)}[c.steal]; thief.tasks.stolen != want {
				t.Errorf("%+v: %d count as stolen, not %d", c, thief.tasks.stolen, want)
			}
			if moved := thief.tasks.len(); order != ByPriority && (victim.foreign != 0 || thief.tasks.foreign != moved) {
				t.Errorf("%+v: %d and %d count as moved, not 0 and %d", c, victim.foreign, thief.tasks.foreign, moved)
			}
			if thief.tasks.taken != 1 {
				t.Errorf("%+v: %d count as taken to run", c, thief.tasks.taken)
			}
		}
	}
}

// What comes when all has ended is refused, and leaves nothing behind in the counts: the look at
// the phase may have come before.
func TestTooLateToBegin(t *testing.T) {
	for name, begin := range map[string]func(p *Pool){
		"LongRunning": func(p *Pool) {
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }, LongRunning()); err != ErrClosed {
				t.Error(err)
			}
		},
		"CallerRuns": func(p *Pool) {
			for p.room.take() { // all there is
			}
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }); err != ErrClosed {
				t.Error(err)
			}
		},
		"Help": func(p *Pool) {
			if p.Help(t.Context()) {
				t.Error("something runs")
			}
		},
		"Go": func(p *Pool) {
			if err := p.Go(t.Context(), func(context.Context) { t.Error("it runs") }); err != nil {
				t.Error(err)
			}
			if n := p.Stats().Tasks; n.Cancelled != 1 || n.Queued != 0 {
				t.Errorf("%+v", n)
			}
		},
	} {
		p := New(WithWorkers(1), WithQueueLimit(1, CallerRuns))
		p.engine.Places.Close()
		p.engine.Places.TryEnd()
		before := p.engine.Places.Load()
		begin(p)
		if s := p.engine.Places.Load(); s != before {
			t.Errorf("%s: the places were %v and are %v", name, before, s)
		}
	}
}
