package engine

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
)

// spend leaves nothing for searching.
func spend(p *Pool) { p.budget.word.Store(clock.Now() + 1e9) }

// While workers are held back, what begins publishes what it owes, as where nobody is idle, and what is published
// wakes none, but tasks do. When the time is over, a worker comes for what is public.
func TestWhatIsPublishedWhileWorkersAreHeldBackWakesNone(t *testing.T) {
	p := newPool(2)
	p.held.Store(true)
	ran := make(chan int, 1)
	body(func(f *forks, arg int) int {
		if arg == 1 {
			ran <- arg
			return 0
		}
		w := f.w
		if w.Demand != supply || w.unpaid != 1 {
			t.Errorf("at the start: demand %d, %d are owed", w.Demand, w.unpaid)
		}
		f.fork(1)
		if w.own.Len() != 1 || placesOf(p) != (counted{Active: 1}) {
			t.Errorf("%d are public; the places are %v", w.own.Len(), p.Places.Load())
		}
		p.MatchWork()
		if w.Demand == Hunger || placesOf(p) != (counted{Active: 1}) {
			t.Errorf("a free place: demand %d; the places are %v", w.Demand, p.Places.Load())
		}
		over := make(chan bool)
		give(p, func() { p.release(); close(over) })
		<-over
		if <-ran; p.held.Load() {
			t.Error("it is not over")
		}
		return f.join()
	}).call(p, 0)
}

// When searching has cost more than it may, workers are held back for a while. In a pool that is
// to poll, they are not.
func TestSearchingEndsWithTheBudget(t *testing.T) {
	for _, poll := range []bool{false, true} {
		p := newPool(2)
		p.BusyPoll = poll
		w := testWorker(p, 0)
		p.addForker(w)
		setPlaces(p, counted{Active: 1})
		if !w.startSearching() {
			t.Fatal("it does not search")
		}
		spend(p)
		w.EndSearch()
		if poll {
			if p.held.Load() {
				t.Error("held back, though it is to poll")
			}
			continue
		}
		for atomic.LoadUint32(&w.Demand) != Hunger { // at the end of that time
			runtime.Gosched()
		}
		if p.held.Load() {
			t.Error("still held back")
		}
	}
}

// Found work pays for the search. Work that needs none is counted as well, now and then.
func TestWorkPaysForSearching(t *testing.T) {
	p := newPool(2)
	w := testWorker(p, 0)
	p.budget.word.Store(clock.Now() - 1000)
	w.began = clock.Now() - 1e6
	before := p.budget.left(w.began + 1e6)
	w.countSteal(w.began + 1e6)
	if after := p.budget.left(clock.Now()); after < before+policy.SpinTime/2 || w.worth != 0 {
		t.Errorf("%d ns before, %d after; %d are not counted", before, after, w.worth)
	}
	w.countSteal(w.began + policy.Price + 5)
	if w.worth != 5 {
		t.Errorf("%d are not counted, not 5", w.worth)
	}
	w.searching = true
	if w.countSteal(w.began + 1e6); w.worth != 5 {
		t.Errorf("%d are not counted while it searches", w.worth)
	}
}

// A search in vain makes the next ones shorter, and costs what it would have cost at full length; found work changes nothing, and a
// wake-up soon after makes them longer again.
func TestSearchesInVainBecomeShorter(t *testing.T) {
	p := newPool(2)
	w := testWorker(p, 0)
	w.searching, w.began = true, clock.Now()-1000
	if w.countSearch(false); p.patience.left() != policy.SpinTime {
		t.Errorf("%d ns after a search that found something", p.patience.left())
	}
	before := p.budget.left(clock.Now())
	w.began = clock.Now() - 1000
	w.countSearch(true)
	if after := p.budget.left(clock.Now()); p.patience.left() != policy.SpinTime/2 || before-after < policy.SpinTime/2 {
		t.Errorf("%d ns after a search in vain, which cost %d", p.patience.left(), before-after)
	}
	if p.patience.woken(); p.patience.left() != policy.SpinTime {
		t.Errorf("%d ns when work came soon after", p.patience.left())
	}
	p.patience.word.Store(int64(policy.LeastPatience))
	p.patience.rested.Store(clock.Now() - 2*policy.SpinTime)
	if p.patience.woken(); p.patience.left() != int64(policy.LeastPatience) {
		t.Errorf("%d ns when work came late", p.patience.left())
	}
}

// In a bubble, where the clock stands still, nothing is held back: no timer may fire there.
func TestNothingIsHeldBackInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2)
		spend(p)
		if p.hold(); p.held.Load() {
			t.Error("held back")
		}
	})
}
