package filch

import (
	"fmt"
	"slices"
	"time"

	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
)

// maxWorkers is the greatest number of workers that a pool may have.
const maxWorkers = 1<<20 - 1

// counts returns what the rules for waking go by. Why no wake-up is lost is in
// internal/place/README.md.
func (p *enginePool) counts(s place.State) policy.Counts {
	return policy.Counts{
		Active:    s.Active(),
		Searching: s.Searching(),
		Limit:     int(p.limit.Load() + p.extra.Load()),
	}
}

// over reports whether more places are taken than there are.
func (p *enginePool) over() bool {
	c := p.counts(p.places.Load())
	return c.Active > c.Limit
}

// idlers returns how many workers could start on something at once.
func (p *enginePool) idlers() int { return p.counts(p.places.Load()).Idle() }

// wake fills a free place with a new searching worker, if the policy says so. It
// reports false if the pool has ended.
// A goroutine is started for it: handing work to a parked one was measured to
// cost the waker half as much again, and parked goroutines would have to be
// kept and then let go.
func (p *enginePool) wake() bool {
	for {
		s := p.places.Load() // (R10)
		if !p.counts(s).Wake() {
			return !s.Ended()
		}
		if s.Ended() {
			return false
		}
		if p.places.TryWake(s) {
			p.source.Woken()
			if p.linger > 0 && p.unpark() {
				return true
			}
			w := p.hire()
			w.searching = true
			w.note(atSearch, nil, 0)
			w.count.wakes++
			w.runs.Store(true) // by now: on a busy machine its goroutine may not run for long
			go p.mark(w.run)
			return true
		}
	}
}

// park keeps the goroutine of w, which has given up its place, until wake has
// use for it. It reports false if that does not happen in time.
func (w *engineWorker) park() bool {
	p := w.crew
	p.mu.Lock()
	if p.places.Load().Closed() {
		p.mu.Unlock()
		return false
	}
	w.unparked = make(chan bool, 1)
	p.parked = append(p.parked, w)
	p.mu.Unlock()
	w.runs.Store(false) // fills no place until it is woken
	timer := time.NewTimer(p.linger)
	defer timer.Stop()
	select {
	case goOn := <-w.unparked:
		return goOn
	case <-timer.C:
	}
	p.mu.Lock()
	if i := slices.Index(p.parked, w); i >= 0 {
		p.parked = slices.Delete(p.parked, i, i+1)
		w.unparked <- false
	}
	p.mu.Unlock()
	return <-w.unparked
}

// unpark wakes a parked worker to search, on a place that wake has taken.
func (p *enginePool) unpark() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.parked) - 1
	if n < 0 {
		return false
	}
	w := p.parked[n]
	p.parked = p.parked[:n]
	w.searching = true
	w.note(atSearch, nil, 0)
	w.runs.Store(true)
	w.unparked <- true
	return true
}

// startSearching counts w as searching, if one more may search.
func (w *engineWorker) startSearching() bool {
	p := w.crew
	procs := p.follow()
	for {
		s := p.places.Load()
		c := p.counts(s)
		c.Procs = procs
		if c.Active > c.Limit || c.Searching == place.MaxSearching || !c.MaySearch() {
			return false
		}
		if p.places.TrySearch(s) {
			w.searching = true
			w.note(atSearch, nil, 0)
			return true
		}
	}
}

// stopSearching is called when w has found work. If no other worker searches, the
// next one is woken. So a burst of work wakes as many workers as it can use, one
// after the other, and none pays for more than one wake-up.
func (w *engineWorker) stopSearching() {
	w.endSearch()
	w.crew.wake()
}

// isSearching reports whether w looks for work, and wakes another when it has found some.
func (w *engineWorker) isSearching() bool { return w.searching }

// endSearch ends the search of w without waking another, and reports whether it searched.
func (w *engineWorker) endSearch() bool {
	if !w.searching {
		return false
	}
	w.searching = false
	w.crew.places.Found()
	return true
}

// regain takes a free place for w, if there is one.
func (w *engineWorker) regain() bool {
	if !w.crew.takePlace() {
		return false
	}
	_ = w.hold.RetakePlace() // it has none, since it looks for one
	return true
}

// takePlace takes a free place, if there is one.
func (p *enginePool) takePlace() bool { return p.places.TryEnter(int(p.limit.Load() + p.extra.Load())) }

// enter takes a place for a goroutine from outside, an extra one if all are taken. It
// panics if there are too many.
func (p *enginePool) enter() place.State {
	s := p.places.Enter()
	if s.Crowded() {
		p.leave()
		crowded()
	}
	return s
}

// enterBlocked counts a goroutine from outside as blocked. It panics if there are too many.
func (p *enginePool) enterBlocked() place.State {
	s := p.places.EnterBlocked(1)
	if s.Crowded() {
		p.leaveBlocked()
		crowded()
	}
	return s
}

func crowded() {
	panic(fmt.Sprintf("filch: more than %d goroutines are in the pool, at work or waiting", place.MaxCrowd))
}

// leave gives up a place. If it is the first free one, and no worker searches, the pool
// looks for work with which to fill it.
func (p *enginePool) leave() {
	s := p.places.Leave() // (W11)
	p.left(s, s.Active() == int(p.limit.Load()+p.extra.Load())-1)
}

// leaveSearching gives up the place of a worker that has found nothing.
func (p *enginePool) leaveSearching() { p.left(p.places.LeaveSearching(), true) } // (W11)

// block gives up the place of a goroutine that waits, or is about to block.
func (p *enginePool) block() { p.left(p.places.Block(), true) } // (W11)

// unblock takes a place for it again, an extra one if all are taken.
func (p *enginePool) unblock() { p.left(p.places.Unblock(), true) }

// leaveBlocked ends the count of a goroutine as blocked.
func (p *enginePool) leaveBlocked() { p.left(p.places.LeaveBlocked(1), true) }

// left is called after a place was given up, and the State is s. If look is set, and no
// worker searches, a place may be free that nobody fills.
func (p *enginePool) left(s place.State, look bool) {
	if s.AtRest() && s.Closed() && p.source.AllLeft() {
		return
	}
	if look && s.Searching() == 0 {
		p.offer()
	}
}

// offer sees to it that whatever work there is finds the free place.
func (p *enginePool) offer() {
	if p.source.Offer() || p.global.n.Load() > 0 { // (R11)
		p.wake()
		p.source.Found()
		return
	}
	for _, w := range *p.forkers.Load() { // (R13)
		if w.thief.Len() > 0 { // (R11)
			p.wake()
			p.source.Found()
			return
		}
		w.raise(hunger) // (W12)
	}
}

// dismiss lets all parked workers leave, since the pool is closed.
func (p *enginePool) dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.parked {
		w.unparked <- false
	}
	p.parked = nil
}
