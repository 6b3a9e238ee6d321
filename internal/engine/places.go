package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
)

// MaxWorkers is the greatest number of workers that a pool may have.
const MaxWorkers = 1<<20 - 1

// Counts returns what the rules for waking go by. Why no wake-up is lost is in README.md.
func (p *Pool) Counts(s place.State) policy.Counts {
	return policy.Counts{
		Active:    s.Active(),
		Searching: s.Searching(),
		Limit:     int(p.limit.Load() + p.extra.Load()),
	}
}

// Over reports whether more places are taken than there are.
func (p *Pool) Over() bool {
	c := p.Counts(p.Places.Load())
	return c.Active > c.Limit
}

// Idlers returns how many workers could start on something at once.
func (p *Pool) Idlers() int { return p.Counts(p.Places.Load()).Idle() }

// Wake fills a free place with a new searching worker, if the policy says so and the pool has not
// ended. A goroutine is started for it: handing work to a parked one was measured to
// cost the waker half as much again, and parked goroutines would have to be
// kept and then let go.
func (p *Pool) Wake() {
	for {
		s := p.Places.Load() // (R10)
		if !p.Counts(s).Wake() || s.Ended() {
			return
		}
		if p.Places.TryWake(s) {
			p.patience.woken()
			p.source.Woken()
			if p.Linger > 0 && p.unpark() {
				return
			}
			w := p.Hire()
			w.searching = true
			w.Note(AtSearch, nil, 0)
			w.count.wakes++
			w.Tell(event.Woken, nil)
			w.runs.Store(true) // by now: on a busy machine its goroutine may not run for long
			go w.start()
			return
		}
	}
}

// park keeps the goroutine of w, which has given up its place, until Wake has
// use for it. It reports false if that does not happen in time.
func (w *Worker) park() bool {
	p := w.pool
	p.mu.Lock()
	if p.Places.Load().Closed() {
		p.mu.Unlock()
		return false
	}
	unparked := make(chan bool, 1)
	w.unparked = unparked
	p.parked = append(p.parked, w)
	p.mu.Unlock()
	w.runs.Store(false) // fills no place until it is woken
	defer time.AfterFunc(p.Linger, func() { p.dismiss(w, unparked) }).Stop()
	return <-unparked
}

// dismiss lets w leave, unless it has been woken since it was parked with that channel.
func (p *Pool) dismiss(w *Worker, unparked chan bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.parked, w); i >= 0 && w.unparked == unparked {
		p.parked = slices.Delete(p.parked, i, i+1)
		unparked <- false
	}
}

// unpark wakes a parked worker to search, on a place that Wake has taken.
func (p *Pool) unpark() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.parked) - 1
	if n < 0 {
		return false
	}
	w := p.parked[n]
	p.parked = p.parked[:n]
	w.searching = true
	w.Note(AtSearch, nil, 0)
	w.Tell(event.Woken, nil)
	w.runs.Store(true)
	w.unparked <- true
	return true
}

// startSearching counts w as searching, if one more may search.
func (w *Worker) startSearching() bool {
	p := w.pool
	procs := p.Follow()
	for {
		s := p.Places.Load()
		c := p.Counts(s)
		c.Procs = procs
		if c.Active > c.Limit || c.Searching == place.MaxSearching || !c.MaySearch() {
			return false
		}
		if p.Places.TrySearch(s) {
			w.searching = true
			w.countWork(clock.Now())
			w.Note(AtSearch, nil, 0)
			w.Tell(event.Searching, nil)
			return true
		}
	}
}

// stopSearching is called when w has found work.
func (w *Worker) stopSearching() {
	w.EndSearch()
	w.pool.WakeNext()
}

// WakeNext is called when a worker has found work and searches no more. If few other workers search, the next one is woken. So a
// burst of work wakes as many workers as it can use, the more at a time the more there are, and none pays for more than one
// wake-up. Where no worker forks, that is so only if more is queued: on a processor that was at rest, to wake another took from 10 to
// 25 us of the time to the start of a task. (W11)
func (p *Pool) WakeNext() {
	if p.held.Load() || len(*p.forkers.Load()) == 0 { // (R13)
		p.MatchWork()
	} else {
		p.Wake()
	}
}

// EndSearch ends the search of w without waking another, and reports whether it searched.
func (w *Worker) EndSearch() bool {
	if !w.searching {
		return false
	}
	w.searching = false
	w.countSearch(false)
	w.Tell(event.Found, nil)
	w.pool.Places.Found()
	return true
}

// tryPlace takes a free place for w, if there is one.
func (w *Worker) tryPlace() bool {
	if !w.pool.TakePlace() {
		return false
	}
	_ = w.Hold.RetakePlace() // it has none, since it looks for one
	w.ReturnSeat()
	w.Tell(event.Resumed, nil)
	return true
}

// TakePlace takes a free place, if there is one.
func (p *Pool) TakePlace() bool { return p.Places.TryEnter(int(p.limit.Load() + p.extra.Load())) }

// Enter takes a place for a goroutine from outside, an extra one if all are taken. It
// panics if there are too many.
func (p *Pool) Enter() place.State {
	s := p.Places.Enter()
	if s.Crowded() {
		p.Leave()
		crowded()
	}
	return s
}

// EnterBlocked counts a goroutine from outside as blocked. It panics if there are too many.
func (p *Pool) EnterBlocked() place.State {
	s := p.Places.EnterBlocked(1)
	if s.Crowded() {
		p.LeaveBlocked()
		crowded()
	}
	return s
}

func crowded() {
	panic(fmt.Sprintf("filch: more than %d goroutines are in the pool, at work or waiting", place.MaxCrowd))
}

// Leave gives up a place. If it is the first free one, and no worker searches, the pool
// looks for work with which to fill it.
func (p *Pool) Leave() {
	s := p.Places.Leave() // (W11)
	p.left(s, s.Active() == int(p.limit.Load()+p.extra.Load())-1)
}

// leaveSearching gives up the place of a worker that has found nothing.
func (p *Pool) leaveSearching() { p.left(p.Places.LeaveSearching(), true) } // (W11)

// Block gives up the place of a goroutine that waits, or is about to block.
func (p *Pool) Block() { p.left(p.Places.Block(), true) } // (W11)

// Unblock takes a place for it again, an extra one if all are taken.
func (p *Pool) Unblock() { p.left(p.Places.Unblock(), true) }

// LeaveBlocked ends the count of a goroutine as blocked.
func (p *Pool) LeaveBlocked() { p.left(p.Places.LeaveBlocked(1), true) }

// left is called after a place was given up, and the State is s. If look is set, and no
// worker searches, a place may be free that no goroutine fills.
func (p *Pool) left(s place.State, look bool) {
	if s.AtRest() && s.Closed() && p.source.AllLeft() {
		return
	}
	if look && s.Searching() == 0 {
		p.MatchWork()
	}
}

// MatchWork sees to it that whatever work there is finds the free place.
func (p *Pool) MatchWork() {
	if p.source.PlaceFree() || p.HandedOn() { // (R11)
		p.Wake()
		p.source.Found()
		return
	}
	if p.held.Load() {
		return
	}
	if p.Places.Load().AtRest() { // no worker has forks, and the next to come sees the free place, (R10)
		return
	}
	for _, w := range *p.forkers.Load() { // (R13)
		if w.thief.Len() > 0 { // (R11)
			p.Wake()
			p.source.Found()
			return
		}
		w.Raise(Hunger) // (W12)
	}
}
