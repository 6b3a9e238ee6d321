package filch

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/policy"
)

// The idle word packs the counts that decide about waking:
//
//	bits  0-24  places: goroutines that work for the pool, or look for work
//	bits 25-36  searching: those of them that look for work
//	bits 37-61  blocked: goroutines that gave up their place to wait, or have none
//	bit  62     ended: closed, and all was done
//	bit  63     closed
//
// No field carries into its neighbour. Goroutines that come from outside, to take a place
// or to count as blocked, are refused beyond maxCrowd in all. Those that are counted already
// only change from one field to the other.
const (
	onePlace     = 1
	oneSearching = 1 << 25
	oneBlocked   = 1 << 37
	maxPlaces    = oneSearching - 1
	maxSearching = oneBlocked/oneSearching - 1
	maxBlocked   = ended/oneBlocked - 1
	ended        = 1 << 62
	closed       = 1 << 63

	// maxWorkers is the greatest number of workers that a pool may have.
	maxWorkers = 1<<20 - 1
	// maxCrowd leaves room for as many as may come at once before they see that
	// there are too many.
	maxCrowd = maxPlaces - 1<<22
)

// idle counts the places of a pool.
//
// # Why no wake-up is lost
//
// Work that another worker may take is either public, in a deque, or private
// to a busy worker, which publishes it when its demand flag is up. A publisher
// does
//
//	(W10) push; then (R10) load the idle word, and wake a worker if there is a
//	free place and no worker searches.
//
// A worker that gives up its place, because it found nothing, waits, or is done, does
//
//	(W11) lower the idle word; then, unless others search, (R11) look at the
//	count of queues that may hold tasks and at the deque of every forker, and wake
//	a worker if one holds work, or else (W12) raise the demand flag of every
//	forker to hunger.
//
// The forkers are the workers that have run fork-join work. All others have
// neither forks nor a use for the flag, so a pool of a thousand workers that runs
// nothing but tasks does not look at one of them. Before its first fork-join work,
// a worker does
//
//	(W13) enter the list of forkers; then (R10) load the idle word, and raise its
//	own flag if there is a free place.
//
// In the one total order of these operations, either W10 comes before R11,
// and the leaver sees the work, or W11 comes before R10, and the publisher
// sees the free place. If R10 or W11 saw a worker search instead, that
// worker either finds work, and then fills the free place by waking another,
// or comes to W11 itself. Private forks follow: after W12 the owner's next
// Fork, Join or Poll, (R12), publishes, and its R10 comes after W11. A fork
// that is taken back or stolen in the meantime does not wait any more. A
// leaver that does not find a new forker in the list, (R13), has come to W11 before
// W13, and so before the new forker's R10.
type idle struct {
	state atomic.Uint64
	_     [120]byte
}

func (p *Pool) counts(s uint64) policy.Counts {
	return policy.Counts{
		Active:    int(s & maxPlaces),
		Searching: int(s / oneSearching & maxSearching),
		Limit:     int(p.limit.Load() + p.extra.Load()),
	}
}

// idlers returns how many workers could start on something at once.
func (p *Pool) idlers() int { return p.counts(p.state.Load()).Idle() }

// wake fills a free place with a new searching worker, if the policy says so. It
// reports false if the pool has ended.
// A goroutine is started for it: handing work to a parked one was measured to
// cost the waker half as much again, and parked goroutines would have to be
// kept and then let go.
func (p *Pool) wake() bool {
	for {
		s := p.state.Load() // (R10)
		if !p.counts(s).Wake() {
			return s&ended == 0
		}
		if s&ended != 0 {
			return false
		}
		if p.state.CompareAndSwap(s, s+onePlace+oneSearching) {
			p.forgetLostWatch()
			if p.linger > 0 && p.unpark() {
				return true
			}
			w := p.hire()
			w.searching = true
			w.doing.Store(makeDoing(atSearch, nil, 0))
			w.count.wakes++
			w.runs.Store(true) // by now: on a busy machine its goroutine may not run for long
			go p.mark(w.run)
			return true
		}
	}
}

// park keeps the goroutine of w, which has given up its place, until wake has
// use for it. It reports false if that does not happen in time.
func (w *Worker) park() bool {
	p := w.pool
	w.flush()
	p.mu.Lock()
	if p.closed != nil {
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
	w.doing.Store(makeDoing(atSearch, nil, 0))
	w.runs.Store(true)
	w.unparked <- true
	return true
}

// startSearching counts w as searching, if one more may search.
func (w *Worker) startSearching() bool {
	p := w.pool
	procs := p.follow()
	for {
		s := p.state.Load()
		c := p.counts(s)
		c.Procs = procs
		if c.Active > c.Limit || c.Searching == maxSearching || !c.MaySearch() {
			return false
		}
		if p.state.CompareAndSwap(s, s+oneSearching) {
			w.searching = true
			w.doing.Store(makeDoing(atSearch, nil, 0))
			return true
		}
	}
}

// stopSearching is called when w has found work. If no other worker searches, the
// next one is woken. So a burst of work wakes as many workers as it can use, one
// after the other, and none pays for more than one wake-up.
func (w *Worker) stopSearching() {
	w.searching = false
	w.pool.state.Add(minus(oneSearching))
	w.pool.wake()
}

// regain takes a free place for w, if there is one.
func (w *Worker) regain() bool {
	if !w.pool.takePlace() {
		return false
	}
	w.hold.retakePlace()
	return true
}

// takePlace takes a free place, if there is one.
func (p *Pool) takePlace() bool {
	for {
		s := p.state.Load()
		if c := p.counts(s); c.Active >= c.Limit {
			return false
		}
		if p.state.CompareAndSwap(s, s+onePlace) {
			return true
		}
	}
}

// join counts a goroutine that comes from outside, as one, which is onePlace or
// oneBlocked, and returns the idle word. It panics if there are too many.
func (p *Pool) join(one uint64) uint64 {
	s := p.state.Add(one)
	if s&maxPlaces+s/oneBlocked&maxBlocked > maxCrowd {
		p.release(minus(one))
		panic(fmt.Sprintf("filch: more than %d goroutines are in the pool, at work or waiting", maxCrowd))
	}
	return s
}

// release changes the idle word by d, for a worker that gives up its place. If
// that may be the first free one, and no worker searches, it looks for work with
// which to fill the place.
func (p *Pool) release(d uint64) {
	s := p.state.Add(d) // (W11)
	places := int32(s & maxPlaces)
	if p.quiet(s) && s&closed != 0 && p.allLeft() {
		return
	}
	if s/oneSearching&maxSearching == 0 && (d != minus(onePlace) || places == p.limit.Load()+p.extra.Load()-1) {
		p.offer()
	}
}

// offer sees to it that whatever work there is finds the free place.
func (p *Pool) offer() {
	for p.way.n.Load() > 0 && p.resume() { // (R11)
	}
	tasks := !p.paused.Load()
	if p.global.n.Load() > 0 || tasks && p.mayHaveTasks() { // (R11)
		p.wake()
		p.urge() // if another has the place
		p.guard()
		return
	}
	for _, w := range *p.forkers.Load() { // (R13)
		if w.thief.Len() > 0 { // (R11)
			p.wake()
			p.guard()
			return
		}
		w.raise(hunger) // (W12)
	}
}

// quiet reports whether no goroutine works for the pool, nor waits to go on.
func (d *idle) quiet(s uint64) bool { return s&^(closed|ended) == 0 }

// minus is what to add to subtract n.
func minus(n uint64) uint64 { return ^(n - 1) }
