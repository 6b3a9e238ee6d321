package filch

// dropQueued drops all tasks that are queued.
func (p *Pool) dropQueued() {
	done := false
	defer func() {
		if !done { // the observer did not return; the others are dropped all the same
			p.dropQueued()
		}
	}()
	for _, q := range p.queues() {
		for {
			q.mu.Lock()
			t, ok := q.pop(false)
			q.mu.Unlock()
			if !ok {
				break
			}
			p.leaveQueue()
			t.body.drop(p, ErrClosed)
		}
	}
	done = true
}

// queues returns all queues of tasks.
func (p *Pool) queues() []*taskQueue {
	all := *p.engine.Workers.Load()
	qs := make([]*taskQueue, 0, 1+len(all))
	qs = append(qs, &p.tasks)
	for _, w := range all {
		qs = append(qs, &asWorker(w).tasks)
	}
	return qs
}

// depth returns how many tasks are queued.
func (p *Pool) depth() (n int) {
	for _, q := range p.queues() {
		if q.some.Load() {
			q.mu.Lock()
			queued, _ := q.count()
			n += queued
			q.mu.Unlock()
		}
	}
	return n
}

// leaveQueue makes room in a limited queue when a task was taken out of it.
func (p *Pool) leaveQueue() {
	if p.room != nil {
		p.room.leave()
	}
}

// mayHaveTasks reports whether tasks seem to be queued.
func (p *Pool) mayHaveTasks() bool { return p.tasks.some.Load() || p.laden.Load() > 0 }

// moreThanIdle reports whether the global queue has more tasks of the best priority than
// there are idle workers to take them. A worker that takes one does not count as idle any
// more when it leaves the lock.
func (p *Pool) moreThanIdle() bool {
	q := &p.tasks
	q.mu.Lock()
	defer q.mu.Unlock()
	idle := max(0, p.engine.Idlers())
	return q.levels.Len() > 0 && q.levels.Bests(idle+1) > idle
}

// longRunning returns the tasks that run on goroutines of their own.
func (p *Pool) longRunning() (all []runnable) {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	for e := p.long.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(runnable))
	}
	return all
}
