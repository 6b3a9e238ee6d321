package filch

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/policy"
)

// The idle word packs all that decides about waking:
//
//	bits  0-20  places: goroutines that work for the pool, or look for work
//	bits 21-41  searching: those of them that look for work
//	bits 42-62  blocked: goroutines that gave up their place to wait at a join
//	bit  63     closed
const (
	onePlace     = 1
	oneSearching = 1 << 21
	oneBlocked   = 1 << 42
	maxPlaces    = 1<<21 - 1
	closed       = 1 << 63
)

// idle counts the places of a pool.
//
// # Why no wake-up is lost
//
// Work that another worker may take is either public, in a deque, or private
// to a busy worker, which publishes it when its demand flag is up. Who
// publishes does
//
//	(W10) push; then (R10) load the idle word, and wake a worker if there is a
//	free place and nobody searches.
//
// Who gives up its place, because it found nothing, or waits, or is done, does
//
//	(W11) lower the idle word; then, unless others search, (R11) look at every
//	deque, and wake a worker if one holds work, or else (W12) raise the demand
//	flag of every busy worker to hunger.
//
// In the one total order of these operations, either W10 comes before R11,
// and the leaver sees the work, or W11 comes before R10, and the publisher
// sees the free place. If R10 or W11 saw somebody search instead, then that
// worker either finds work, and then fills the free place by waking another,
// or comes to W11 itself. Private forks follow: after W12 the owner's next
// Fork, Join or Poll, (R12), publishes, and its R10 comes after W11. A fork
// that is taken back or stolen in the meantime waits for nobody any more.
type idle struct {
	state atomic.Uint64
	_     [120]byte
}

func (p *Pool) counts(s uint64) policy.Counts {
	return policy.Counts{
		Active:    int(s & maxPlaces),
		Searching: int(s / oneSearching & maxPlaces),
		Limit:     int(p.limit.Load()),
	}
}

// idlers returns how many workers could start on something at once.
func (p *Pool) idlers() int { return p.counts(p.state.Load()).Idle() }

// wake fills a free place with a new searching worker, if the policy says so.
// A goroutine is started for it: handing work to a parked one was measured to
// cost the waker half as much again, and parked goroutines would have to be
// kept and then let go.
func (p *Pool) wake() {
	for {
		s := p.state.Load() // (R10)
		if !p.counts(s).Wake() {
			return
		}
		if p.state.CompareAndSwap(s, s+onePlace+oneSearching) {
			w := p.hire()
			w.searching = true
			w.count.wakes++
			go w.run()
			return
		}
	}
}

// startSearching counts w as searching, if one more may search.
func (w *Worker) startSearching() bool {
	p := w.pool
	procs := p.follow()
	for {
		s := p.state.Load()
		c := p.counts(s)
		c.Procs = procs
		if c.Active > c.Limit || !c.MaySearch() {
			return false
		}
		if p.state.CompareAndSwap(s, s+oneSearching) {
			w.searching = true
			return true
		}
	}
}

// stopSearching is called when w has found work. If nobody else searches, the
// next worker is woken, so that a burst of work wakes all that it can use, one
// after the other, and nobody pays for more than one.
func (w *Worker) stopSearching() {
	w.searching = false
	w.pool.state.Add(minus(oneSearching))
	w.pool.wake()
}

// regain takes a free place, if there is one.
func (w *Worker) regain() bool {
	p := w.pool
	for {
		s := p.state.Load()
		if c := p.counts(s); c.Active >= c.Limit {
			return false
		}
		if p.state.CompareAndSwap(s, s+onePlace) {
			w.placed = true
			return true
		}
	}
}

// release changes the idle word by d, for a worker that gives up its place. If
// that may be the first free one, and nobody searches, it looks for work that
// the place could be filled for.
func (p *Pool) release(d uint64) {
	s := p.state.Add(d) // (W11)
	places := int32(s & maxPlaces)
	if p.quiet(s) {
		if s&closed != 0 {
			p.allLeft()
		}
		return
	}
	if s/oneSearching&maxPlaces == 0 && (d != minus(onePlace) || places == p.limit.Load()-1) {
		p.offer()
	}
}

// offer sees to it that whatever work there is finds the free place.
func (p *Pool) offer() {
	if p.global.n.Load() > 0 { // (R11)
		p.wake()
		return
	}
	for _, w := range *p.workers.Load() {
		if w.thief.Len() > 0 { // (R11)
			p.wake()
			return
		}
		w.raise(hunger) // (W12)
	}
}

// allLeft ends the wait of Close.
func (p *Pool) allLeft() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil && p.quiet(p.state.Load()) {
		select {
		case <-p.closed:
		default:
			close(p.closed)
		}
	}
}

// quiet reports whether nobody works for the pool, nor waits to go on.
func (d *idle) quiet(s uint64) bool { return s&^closed == 0 }

// minus is what to add to subtract n.
func minus(n uint64) uint64 { return ^(n - 1) }
