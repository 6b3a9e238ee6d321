package filch

import (
	"sync/atomic"
)

// hire returns a worker for the caller's use, one that was used before if
// there is any. It holds a place, which the caller has taken for it.
func (p *Pool) hire() *Worker {
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
	old := *p.workers.Load()
	id := len(old)
	if n := len(p.ids); n > 0 {
		id, p.ids = p.ids[n-1], p.ids[:n-1]
	}
	w := newWorker(p, id)
	all := append(old, w) // those who have the old list do not see what is beyond it
	p.workers.Store(&all)
	return w
}

// fire takes w back. Its deque is empty.
func (p *Pool) fire(w *Worker) {
	_ = w.hold.RetakePlace() // for the next that hires it, if it was lent
	w.context, w.guest = nil, false
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
func (p *Pool) trim() {
	old := *p.workers.Load()
	keep := max(2*int(p.limit.Load()), 16)
	if len(p.free) <= keep || len(p.free) < len(old)/2 {
		return
	}
	gone := map[*Worker]bool{}
	stay := p.free[:keep/2]
	for _, w := range p.free[keep/2:] {
		if !w.tasks.leave() {
			stay = append(stay, w)
			continue
		}
		gone[w] = true
		p.ids = append(p.ids, w.id)
		w.flush()
		w.addTo(&p.retired, 0)
	}
	clear(p.free[len(stay):])
	p.free = stay
	for _, list := range []*atomic.Pointer[[]*Worker]{&p.workers, &p.forkers} {
		var left []*Worker
		for _, w := range *list.Load() {
			if !gone[w] {
				left = append(left, w)
			}
		}
		list.Store(&left)
	}
}
