package strand

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
)

// Real spawns are paid by time: two at once, then one for each 4 us, and no more than 64 after a rest.
func TestCreditIsEarned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &list{run: &run{}}
		paid := func() (n int) {
			for n < 1000 && l.pays(-100) {
				n++
			}
			return n
		}
		l.pay.start(3)
		for _, step := range []struct {
			rest time.Duration
			want int
		}{{0, 2}, {0, 0}, {price - 1, 0}, {1, 1}, {3 * price, 3}, {time.Second, maxCredit}, {price, 1}} {
			time.Sleep(step.rest)
			if got := paid(); got != step.want {
				t.Errorf("%d are paid after %v, and not %d", got, step.rest, step.want)
			}
		}
	})
}

// Credit that is left makes more levels spawn really, and none makes it fewer.
func TestShallowSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &list{run: &run{}}
		l.pay.start(3)
		l.pays(0)
		l.pays(0)
		if l.pays(0); l.pay.shallow != 2 {
			t.Errorf("without credit: from 3 to %d", l.pay.shallow)
		}
		time.Sleep(time.Second)
		if l.pays(0); l.pay.shallow != 3 {
			t.Errorf("with credit: from 2 to %d", l.pay.shallow)
		}
	})
}

// Where another worker asks in vain, the next spawn is real if they come seldom, wherever it is; else
// there is a look at each eighth alone.
func TestDeepSpawnsAreRealWhereAnotherAsksInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pay{}
		p.start(0)
		const deep = 50
		looks := func(after time.Duration, pays bool, skip int) {
			t.Helper()
			time.Sleep(after)
			if got := p.paysDeep(deep); got != pays || p.skip != skip {
				t.Errorf("after %v: %t, and %d are skipped", after, got, p.skip)
			}
		}
		looks(seldom, true, 0)
		looks(seldom-1, false, atOnce-1)
		looks(seldom*atOnce-1, false, atOnce-1)
		looks(seldom*atOnce, false, 0) // perhaps nobody has asked for a while
		looks(seldom, true, 0)
	})
}

// After a child that takes as long as a real spawn costs, deep spawns are real, one for each worker; a thief goes on with
// that. Where children take less, there is no look any more.
func TestAfterCoarseChildrenDeepSpawnsAreReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 3
		p := &pay{}
		p.start(0)
		looks := func(after time.Duration, pays, more bool) {
			t.Helper()
			time.Sleep(after)
			if got := p.isCoarse(workers); got != pays || p.looks() != more {
				t.Errorf("after %v: %t, looks %t", after, got, p.looks())
			}
		}
		looks(time.Second, false, true) // since the start, which is no spawn
		looks(price-1, false, false)
		p.start(0)
		looks(0, false, true)
		looks(price, true, true)
		looks(price, true, true)
		looks(1, true, true) // two children have earned two
		looks(1, true, true)
		looks(1, false, true)
		looks(1, false, true)
		looks(1, false, false)

		p.coarse, p.credit = workers, 1
		looks(price, true, true)
		at := p.legacy()
		p.follow(at, workers)
		for range 2 { // which a thief has credit for
			looks(1, true, true)
		}
		at = p.legacy()
		time.Sleep(price)
		p.follow(at, workers)
		if p.coarse != workers {
			t.Errorf("%d are real after a child that takes long", p.coarse)
		}
		p.start(-1) // of a pool of one worker
		if p.looks() {
			t.Error("looks where nobody steals")
		}
	})
}

// Where children take no time, plain calls are soon made without a look.
func TestFastSpawnsAreNotLookedAt(t *testing.T) {
	racetest.Skip(t, "each spawn is looked at")
	if race.Enabled {
		t.Skip("on a busy machine a spawn takes as long as the work that pays for it")
	}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	Run(p, func(s *Strand) {
		s.Spawn(func(s *Strand) {
			s.Spawn(func(s *Strand) {
				s.Spawn(func(s *Strand) {
					for range 10_000 {
						if s.Spawn(func(*Strand) {}); s.c.limit < s.depth {
							return
						}
					}
					t.Error("each of 10,000 spawns was looked at")
				})
			})
		})
	})
}
