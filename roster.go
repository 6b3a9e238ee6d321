package filch

import (
	"slices"
	"sync/atomic"
)

// hire returns a worker for the caller's use, one that was used before if
// there is any. It holds a place, which the caller has taken for it.
func (p *enginePool) hire() *engineWorker {
	w := p.spare.Swap(nil)
	if w == nil {
		w = p.hireSlow()
	}
	return w
}

func (p *enginePool) hireSlow() *engineWorker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		w := p.free[n-1]
		p.free = p.free[:n-1]
		return w
	}
	old := *p.workers.Load()
	id := len(old)
	if n := len(p.ids); n > 0 {
		id, p.ids = p.ids[n-1], p.ids[:n-1]
	}
	w := p.source.New()
	w.init(p, id)
	all := append(old, w) // those who have the old list do not see what is beyond it
	p.workers.Store(&all)
	return w
}

// fire takes w back. Its deque is empty.
func (p *enginePool) fire(w *engineWorker) {
	_ = w.hold.RetakePlace() // for the next that hires it, if it was lent
	w.worksForNobody()
	if w.runs.Load() {
		w.runs.Store(false)
	}
	if w.level.Load() != nothing {
		w.level.Store(nothing)
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
func (p *enginePool) trim() {
	old := *p.workers.Load()
	keep := max(2*int(p.limit.Load()), 16)
	if len(p.free) <= keep || len(p.free) < len(old)/2 {
		return
	}
	gone := map[*engineWorker]bool{}
	stay := p.free[:keep/2]
	for _, w := range p.free[keep/2:] {
		if !p.source.Retire(w) {
			stay = append(stay, w)
			continue
		}
		gone[w] = true
		p.ids = append(p.ids, w.id)
		w.flush()
		w.addTo(&p.retired)
	}
	clear(p.free[len(stay):])
	p.free = stay
	for _, list := range []*atomic.Pointer[[]*engineWorker]{&p.workers, &p.forkers} {
		var left []*engineWorker
		for _, w := range *list.Load() {
			if !gone[w] {
				left = append(left, w)
			}
		}
		list.Store(&left)
	}
}

// succeed returns another worker for the goroutine of w, with a place: w is left to somebody
// else.
func (w *engineWorker) succeed() *engineWorker {
	w.crew.enter()
	next := w.crew.hire()
	next.runs.Store(true)
	w.runs.Store(false)
	return next
}

// unused returns the workers that nobody uses.
func (p *enginePool) unused() map[*engineWorker]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	unused := map[*engineWorker]bool{p.spare.Load(): true}
	for _, w := range slices.Concat(p.free, p.parked) {
		unused[w] = true
	}
	return unused
}
