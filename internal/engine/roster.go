package engine

import (
	"slices"
	"sync/atomic"

	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/event"
)

// Hire returns a worker for the caller's use, one that was used before if
// there is any. It holds a place, which the caller has taken for it.
func (p *Pool) Hire() *Worker {
	w := p.spare.Swap(nil)
	if w == nil {
		w = p.hireSlow()
	}
	return w
}

func (p *Pool) hireSlow() *Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		w := p.free[n-1]
		p.free = p.free[:n-1]
		return w
	}
	old := *p.Workers.Load()
	id := len(old)
	if n := len(p.ids); n > 0 {
		id, p.ids = p.ids[n-1], p.ids[:n-1]
	}
	w := p.source.New(id)
	all := append(old, w) // readers of the old list do not see what is beyond it
	p.Workers.Store(&all)
	return w
}

// Fire takes w back. Its deque is empty.
func (p *Pool) Fire(w *Worker) {
	_ = w.Hold.RetakePlace() // for the next that hires it, if it was lent
	w.company.end()
	w.SetRuns(false)
	if w.Level.Load() != Nothing {
		w.Level.Store(Nothing)
	}
	if p.strict() {
		p.forget(w)
		return
	}
	if p.spare.CompareAndSwap(nil, w) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, w)
	p.trim()
}

// trim forgets workers that a crowd of callers has left behind, so that
// thieves need not look at them for ever.
func (p *Pool) trim() {
	old := *p.Workers.Load()
	keep := max(2*int(p.limit.Load()), 16)
	if len(p.free) <= keep || len(p.free) < len(old)/2 {
		return
	}
	gone := map[*Worker]bool{}
	stay := p.free[:keep/2]
	for _, w := range p.free[keep/2:] {
		if !p.retire(w) {
			stay = append(stay, w)
			continue
		}
		gone[w] = true
	}
	clear(p.free[len(stay):])
	p.free = stay
	p.strike(gone)
}

// retire keeps the figures of w, and reports false if w must stay. The caller holds the lock.
func (p *Pool) retire(w *Worker) bool {
	if !p.source.Retire(w) {
		return false
	}
	p.ids = append(p.ids, w.ID)
	w.seeker = nil // which has a list of others that may be retired
	w.flush()
	w.addTo(&p.retired)
	return true
}

// forget lets w go for good, so that whatever still has it uses no other call's worker.
func (p *Pool) forget(w *Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.retire(w) {
		p.free = append(p.free, w)
		return
	}
	p.strike(map[*Worker]bool{w: true})
}

// strike takes workers out of the lists. The caller holds the lock.
func (p *Pool) strike(gone map[*Worker]bool) {
	for _, list := range []*atomic.Pointer[[]*Worker]{&p.Workers, &p.forkers} {
		var left []*Worker
		for _, w := range *list.Load() {
			if !gone[w] {
				left = append(left, w)
			}
		}
		list.Store(&left)
	}
}

// SetRuns notes whether a goroutine of the pool fills w's place.
func (w *Worker) SetRuns(runs bool) {
	if w.runs.Load() != runs {
		w.runs.Store(runs)
	}
}

// Succeed returns another worker for the goroutine of w, with a place: another
// goroutine has w already. seat is that of the caller.
func (w *Worker) Succeed(seat *affinity.Seat) *Worker {
	w.pool.Enter()
	next := w.pool.Hire()
	w.passSeat(seat, &next.seating)
	next.Tell(event.Entered, nil)
	next.runs.Store(true)
	return next
}

// Unused returns the workers that are not in use.
func (p *Pool) Unused() map[*Worker]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	unused := map[*Worker]bool{p.spare.Load(): true}
	for _, w := range slices.Concat(p.free, p.parked) {
		unused[w] = true
	}
	return unused
}

// Kept returns how many goroutines are kept without a slot.
func (p *Pool) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.parked)
}

// Dismiss lets all parked workers leave, since the pool is closed.
func (p *Pool) Dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.parked {
		w.unparked <- false
	}
	p.parked = nil
}
