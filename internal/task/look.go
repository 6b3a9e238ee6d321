package task

import (
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
)

// nextTask takes a task from w's own queue, or now and then from the global one.
func (w *Worker) nextTask() (t Task, ok bool) {
	p, q := w.Pool, &w.Own
	if p.Paused.Load() {
		return t, false
	}
	if p.Order == ByPriority {
		return p.Urgency.next(w)
	}
	own, newest := q.items.(*list), p.Order == LIFO
	if q.turn.Due() { // only w touches it
		q.turn.Outside()
		q.mu.Lock()
		buried := own.foreign > 0 && (newest || own.ahead != nil) // there are tasks from outside, below its own or ahead of the global queue
		q.mu.Unlock()
		if buried {
			newest = false
		} else if t, ok = w.takeFrom(&p.Global, 0, false); ok { // one, so as not to bury its own
			return t, true
		}
	}
	q.turn.Own()
	q.mu.Lock()
	q.ran += w.ran
	w.ran = 0
	if p.Paused.Load() { // see Unfinished
		q.mu.Unlock()
		return t, false
	}
	if own.ahead != nil && p.InOrder {
		w.turn = p.starts.give()
	}
	if t, ok = own.pop(q, newest); ok {
		q.took(t.Body)
	} else {
		q.running = nil
	}
	q.mu.Unlock()
	if !ok {
		return w.takeFrom(&p.Global, p.Engine.Size(), false)
	}
	return t, true
}

// nextByPriority is nextTask by priority, and also takes from other workers.
func (w *Worker) nextByPriority() (t Task, ok bool) {
	p, q := w.Pool, &w.Own
	own := q.items.(*ownLevels)
	if q.turn.Due() {
		q.turn.Outside()
		if t, ok = w.takeFrom(&p.Global, 0, false); ok {
			return t, true
		}
	}
	for !p.Paused.Load() {
		q.mu.Lock()
		q.ran += w.ran
		w.ran = 0
		n := own.q.Len()
		if p.Paused.Load() { // see Unfinished
			q.mu.Unlock()
			return t, false
		}
		if n > 0 && int64(own.q.Best()) <= p.best.Load() {
			w.taking = int64(own.q.Best())
			t, _ = own.pop(q, false)
			q.took(t.Body)
			q.mu.Unlock()
			q.turn.Own()
			return t, true
		}
		if n == 0 {
			own.refill(q)
			q.running = nil
		}
		q.mu.Unlock()
		if n == 0 {
			if t, ok = w.stealTask(); ok {
				return t, true
			}
			return w.takeFrom(&p.Global, p.Engine.Size(), false)
		}
		if t, ok = w.takeFrom(&p.Global, 0, false); ok {
			return t, true
		} // else another worker has taken it
	}
	return t, false
}

// stealTask takes a task from another worker.
func (w *Worker) stealTask() (t Task, ok bool) {
	p := w.Pool
	if p.laden.Load() <= 0 {
		return t, false
	}
	share := policy.StealHalf
	if p.Engine.Stealing.One {
		share = policy.StealOne
	}
	all, look := w.Engine.Others()
	for at, more := look.Next(); more; at, more = look.Next() {
		v := all[at]
		if t, ok = w.takeFrom(&of(v).Own, share, true); ok {
			w.Engine.Robbed(v)
			w.Own.turn.Own()
			return t, true
		}
	}
	return t, false
}

// takeFrom takes the oldest task of q, and moves others with it to w's queue, which is empty then: one in share of all, or
// none if share is 0. By priority it takes the best, with others as urgent, but does not steal if the global queue has more
// urgent ones. With FIFO, tasks moved from the global queue are ahead of it: until they have begun, others take them one by
// one, and nothing from the global queue. Between the queues they are invisible; but w, which has a place, queues them before
// it does anything else, and wakes another worker.
func (w *Worker) takeFrom(q *Queue, share int, steal bool) (t Task, ok bool) {
	p := w.Pool
	if !q.some.Load() || p.Paused.Load() {
		return t, false
	}
	if steal {
		w.Engine.Looks()
	}
	if q == &p.Global {
		w.standAside()
	}
	q.mu.Lock()
	if q == &p.Global {
		if ahead := p.ahead.Load(); ahead != nil {
			q.mu.Unlock()
			return w.takeFrom(ahead, 0, ahead != &w.Own)
		}
	}
	more, priority, ok := q.portion(share)
	if !ok || steal && int64(priority) > p.best.Load() || p.Paused.Load() { // see Unfinished
		q.mu.Unlock()
		return t, false
	}
	w.taking = int64(priority)
	if int64(priority) < p.way.least.Load() { // by priority
		more = 0 // others stay visible to workers that run less urgent work
	}
	global := q == &p.Global
	if l, isOwn := q.items.(*list); isOwn && l.ahead != nil {
		global, more = true, 0
	}
	if global && p.InOrder {
		w.turn = p.starts.give()
	}
	t, _ = q.items.pop(q, false)
	n := q.items.give(more, w.batch)
	ahead := q == &p.Global && p.Order == FIFO && n > 0
	if ahead {
		p.ahead.Store(&w.Own)
	}
	q.moving++
	wake := n > 0 && !w.Engine.IsSearching()        // a searching worker wakes another when it stops
	stops := q == &p.Global && w.Engine.EndSearch() // at once, for mayGiveWay
	if stops && q.items.len() == 0 {
		q.items.refill(q) // so that it does not seem to have tasks
	}
	q.mu.Unlock()
	own := &w.Own
	own.mu.Lock()
	own.took(t.Body)
	own.moving--
	if steal {
		own.stolen += int64(1 + n)
	}
	if n > 0 {
		own.items.receive(w.batch, n)
		if ahead {
			own.items.(*list).ahead = &p.ahead
		}
		own.notEmpty()
	}
	own.mu.Unlock()
	if stops {
		p.Engine.WakeNext()
	} else if wake {
		p.Engine.Wake() // (R10)
	}
	if steal || n > 0 {
		w.tellFetched(q, 1+n)
	}
	return t, true
}

// standAside leaves the tasks ahead of the global queue to the worker that has them, if w comes for the next of them in less
// time than alternating costs both.
func (w *Worker) standAside() {
	if ahead := w.Pool.ahead.Load(); ahead == nil || ahead == &w.Own {
		return
	}
	now := clock.Now()
	if now-w.came < policy.Brief {
		for range policy.AsideTurns {
			w.Engine.Pause()
		}
		now = clock.Now()
	}
	w.came = now
}
