package filch

import "github.com/filch-go/filch/internal/engine"

// nextTask takes a task from w's own queue, or now and then from the global
// one.
func (w *Worker) nextTask() (t task, ok bool) {
	p, q := w.pool, &w.tasks
	if p.paused.Load() {
		return t, false
	}
	if p.order == ByPriority {
		return w.nextByPriority()
	}
	newest := p.order == LIFO
	if q.turn.Due() { // only w has to do with it
		q.turn.Outside()
		q.mu.Lock()
		buried := newest && q.foreign > 0 // from outside, below its own
		q.mu.Unlock()
		if buried {
			newest = false
		} else if t, ok = w.takeFrom(&p.tasks, 0, false); ok { // one, so as not to bury its own
			return t, true
		}
	}
	q.turn.Own()
	q.mu.Lock()
	q.ran += w.ran
	w.ran = 0
	if t, ok = q.pop(newest); ok {
		q.took(t)
	} else {
		q.running = task{}
	}
	q.mu.Unlock()
	if !ok {
		return w.takeFrom(&p.tasks, p.engine.Size(), false)
	}
	return t, true
}

// nextByPriority is nextTask, and also takes from other workers.
func (w *Worker) nextByPriority() (t task, ok bool) {
	p, q := w.pool, &w.tasks
	if q.turn.Due() {
		q.turn.Outside()
		if t, ok = w.takeFrom(&p.tasks, 0, false); ok {
			return t, true
		}
	}
	for !p.paused.Load() {
		q.mu.Lock()
		q.ran += w.ran
		w.ran = 0
		n := q.levels.Len()
		if n > 0 && int64(q.levels.Best()) <= p.tasks.best.Load() {
			w.taking = int64(q.levels.Best())
			t, _ = q.pop(false)
			q.took(t)
			q.mu.Unlock()
			q.turn.Own()
			return t, true
		}
		if n == 0 {
			q.refill()
			q.running = task{}
		}
		q.mu.Unlock()
		if n == 0 {
			if t, ok = w.stealTask(); ok {
				return t, true
			}
			return w.takeFrom(&p.tasks, p.engine.Size(), false)
		}
		if t, ok = w.takeFrom(&p.tasks, 0, false); ok {
			return t, true
		} // else somebody else has taken it
	}
	return t, false
}

// stealTask takes a task from another worker.
func (w *Worker) stealTask() (t task, ok bool) {
	p := w.pool
	if p.laden.Load() <= 0 {
		return t, false
	}
	all, pass, n := w.engine.Others()
	for i := range n {
		if t, ok = w.takeFrom(&asWorker(all[pass.At(i)]).tasks, 2, true); ok {
			w.tasks.turn.Own()
			return t, true
		}
	}
	return t, false
}

// takeFrom takes the oldest task of q, and moves others with it, one in share of
// them all unless that is 0, to w's queue, which is empty then. By priority it takes
// the best, and others of those that are as urgent, but not from another worker if
// there are more urgent ones in the global queue. Between the two
// queues they are in nobody's sight; but w, which has a place, queues them before
// it does anything else, and wakes another worker.
func (w *Worker) takeFrom(q *taskQueue, share int, steal bool) (t task, ok bool) {
	p := w.pool
	if !q.some.Load() || p.paused.Load() {
		return t, false
	}
	if steal {
		w.engine.Looked()
	}
	q.mu.Lock()
	more, priority, ok := q.portion(share)
	if !ok || steal && int64(priority) > p.tasks.best.Load() {
		q.mu.Unlock()
		return t, false
	}
	w.taking = int64(priority)
	if int64(priority) < p.way.least.Load() { // by priority
		more = 0 // others stay where those see them that run what is less urgent
	}
	t, _ = q.pop(false)
	n := q.give(more, &w.batch)
	wake := n > 0 && !w.engine.IsSearching()   // a searching worker wakes another when it stops
	if q == &p.tasks && w.engine.EndSearch() { // at once, for mayGiveWay
		wake = true
	}
	q.mu.Unlock()
	own := &w.tasks
	own.mu.Lock()
	own.took(t)
	if steal {
		own.stolen += int64(1 + n)
	}
	if n > 0 {
		own.receive(&w.batch, n)
	}
	own.mu.Unlock()
	if wake {
		p.engine.Wake() // (R10)
	}
	return t, true
}

// serve runs t, and whatever else is queued, at the bottom of w's stack. self is
// where the caller keeps w: if somebody still uses w as a Scope in the end, it
// is left to them, and the caller gets another worker.
func (w *Worker) serve(t task, self **engine.Worker) {
	p := w.pool
	s := seat{worker: w, round: w.engine.Hold.OpenRound()}
	w.engine.Note(engine.AtTasks, nil, 0)
	defer w.endBurst(self)
	defer w.caughtTask()
	for ok := true; ok; {
		p.leaveQueue() // (W31) w is not idle, and does not count as searching
		w.body = t.body
		if p.order == ByPriority {
			w.setLevel(w.taking)
		}
		if t.body.start(p, s, t.ctx, true) {
			w.ran++
		}
		w.body = nil
		if p.engine.Over() || !w.engine.Hold.Load().HasPlace() || p.engine.HandedOn() {
			return
		}
		if p.way.n.Load() > 0 && p.mayPass() {
			return // see passPlace
		}
		t, ok = w.nextTask()
	}
}

// caughtTask is deferred by serve, for a task that panicked, or called runtime.Goexit.
func (w *Worker) caughtTask() {
	b, p := w.body, w.pool
	if b == nil {
		return
	}
	w.body = nil
	w.ran++
	switch {
	case p.undropped(b):
	case b.catches(p):
		b.fail(p, seat{}, howEnded(recover()))
	default:
		p.leaveSlot(seat{})
		p.crashed(b, ErrGoexit, false) // unless it panics, which ends the program
	}
}

// endBurst is deferred by serve, and called whatever the callbacks do that caughtTask
// calls.
func (w *Worker) endBurst(self **engine.Worker) {
	engine.Unlabel() // what the tasks have set
	w.tasks.mu.Lock()
	w.tasks.ran += w.ran
	w.tasks.running = task{}
	w.tasks.mu.Unlock()
	w.ran = 0
	w.lastContext = nil
	if w.endRound() {
		*self = w.engine.Succeed()
	}
}

// endRound begins a new round, and reports whether w is left to another goroutine,
// which uses it as a Scope. Tasks that run on in w's seat, on other goroutines, are
// counted as blocked before that, so that Close waits for them and none can end
// before it is counted.
func (w *Worker) endRound() (left bool) {
	p := w.pool
	for {
		s := w.engine.Hold.Load()
		n := s.Seated()
		p.ended.left.Add(int64(n))
		w.engine.SetRuns(!s.Used()) // before w may be somebody else's
		_ = p.engine.Places.EnterBlocked(n)
		left, ok := w.engine.Hold.EndRound(s)
		if ok {
			return left
		}
		_ = p.engine.Places.LeaveBlocked(n) // w counts as well, so the pool is not at rest
		p.ended.left.Add(-int64(n))
	}
}
