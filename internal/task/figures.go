package task

import (
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/policy"
)

// Figures are the queues' counts of tasks.
type Figures struct {
	Submitted int64 // to the queue
	Started   int64 // begun
	Done      int64 // of these, ended in any way
	InPlace   int64 // of these, begun elsewhere than at the bottom of the worker's stack
	Stolen    int64 // moved from another worker's queue
	Queued    int   // entries now
	Global    int   // of these, in the global queue
	Held      int   // that are not queued yet
	Oldest    time.Duration

	moving int32 // see unfinished
}

// Totals are the counts of tasks beside those of their queues.
type Totals struct {
	Direct  atomic.Int64 // tasks accepted but never queued
	Left    atomic.Int64 // tasks that run in the seat of a finished task
	Stalls  atomic.Int64 // times that places were added for queued tasks
	Helpers atomic.Int64 // goroutines about to take a task from a queue without being its workers
	InPlace InPlace      // on no worker
}

// InPlace counts tasks that run elsewhere than at the bottom of a worker's stack.
type InPlace struct {
	Begun  atomic.Int64
	Ended  atomic.Int64 // only of those in no worker's seat; see place.Hold
	Direct atomic.Int64 // of those begun in a worker's seat, never queued ones
}

// Figures returns the figures of all tasks, and those of the engine.
func (p *Pool) Figures() (f Figures, e engine.Figures) {
	now := clock.Now()
	e = p.Engine.Figures(
		func() { f = p.retired },
		func(w *engine.Worker) { of(w).addTo(&f, now) })
	queued := f.Queued
	p.Global.addTo(&f, now)
	f.Global = f.Queued - queued
	c := &p.Totals
	f.Held = p.Held()
	f.Submitted += c.Direct.Load() + int64(f.Held)
	f.Done += c.InPlace.Ended.Load() - c.Left.Load()
	f.InPlace += c.InPlace.Begun.Load()
	f.Started += f.InPlace
	return f, e
}

// addTo adds the figures of w's tasks to f.
func (w *Worker) addTo(f *Figures, now int64) {
	w.Own.addTo(f, now)
	f.Done += w.Own.InPlace.Begun.Load() - int64(w.Engine.Hold.Load().Seated())
}

func (q *Queue) addTo(f *Figures, now int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	queued, pushed := q.items.count(q)
	f.Submitted += pushed
	f.Done += q.ran
	f.Started += q.ran
	if q.running != nil {
		f.Started++
	}
	f.Stolen += q.stolen
	f.InPlace += q.InPlace.Begun.Load() + q.awaited
	f.Done += q.awaited
	f.Queued += queued
	f.moving += q.moving
	q.stamp(now)
	if queued > 0 { // finding the oldest in empty levels takes longer than all the rest
		f.Oldest = max(f.Oldest, q.items.oldest(now))
	}
}

// Queues returns all queues of tasks, the global one first.
func (p *Pool) Queues() []*Queue {
	all := *p.Engine.Workers.Load()
	qs := make([]*Queue, 0, 1+len(all))
	qs = append(qs, &p.Global)
	for _, w := range all {
		qs = append(qs, &of(w).Own)
	}
	return qs
}

// Depth returns how many tasks are queued.
func (p *Pool) Depth() (n int) {
	for _, q := range p.Queues() {
		n += q.Depth()
	}
	return n
}

// Depth returns how many tasks are queued.
func (q *Queue) Depth() int {
	if !q.some.Load() {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	queued, _ := q.items.count(q)
	return queued
}

// Walk calls f with each queued task, its priority, and how long it has been queued. It visits some thousands at a time,
// during which nothing is queued or taken.
func (p *Pool) Walk(f func(priority int, d time.Duration, b Body)) {
	now := clock.Now()
	for _, q := range p.Queues() {
		if q.some.Load() {
			q.items.walk(q, now, func(priority int, at int64, b Body) {
				if p.Ageing > 0 {
					priority = policy.Unaged(priority, at-p.begun, int64(p.Ageing))
				}
				f(priority, since(at, now), b)
			})
		}
	}
}

// mayHaveTasks reports whether tasks seem to be queued.
func (p *Pool) mayHaveTasks() bool { return p.Global.some.Load() || p.laden.Load() > 0 }

// moreThanIdle reports whether the global queue has more tasks of the best priority than there are idle workers. A worker
// that takes one stops counting as idle before it releases the lock.
func (p *Pool) moreThanIdle() bool {
	q := &p.Global
	q.mu.Lock()
	defer q.mu.Unlock()
	idle := max(0, p.Engine.Idlers())
	return q.items.len() > 0 && q.items.bests(idle+1) > idle
}
