package task

import (
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/policy"
)

// Push adds t, which was pushed by the time at, and reports false if q takes no tasks any more.
// Otherwise Pushed must follow. If the global queue takes none, the pool has ended.
func (q *Queue) Push(priority int, at int64, t Task) bool { return q.items.push(q, priority, at, t) }

// Submit queues t, which has room and a slot: in w's own queue, unless w is nil, or t is so
// urgent that others have to see it. It reports false if the pool has ended.
func (p *Pool) Submit(w *Worker, t Task, priority int) bool {
	if !p.push(w, t, priority) {
		return false
	}
	p.Pushed()
	p.urge()
	return true
}

// push is Submit without what follows.
func (p *Pool) push(w *Worker, t Task, priority int) bool {
	at := p.pushTime()
	if p.Ageing > 0 {
		priority = policy.Aged(priority, at-p.begun, int64(p.Ageing))
	}
	if w != nil {
		if int64(priority) >= p.way.least.Load() && w.Own.Push(priority, at, t) {
			return true
		}
		w.Engine.Tell(event.Spilled, nil)
	}
	return p.Global.Push(priority, at, t) // where those that run what is less urgent see it; see way
}

// Pushed is called when a task was queued.
func (p *Pool) Pushed() {
	if p.Engine.Wake(); p.Phase.Load() == Cancelled { // (R10)
		p.dropQueued() // Cancel may have dropped what was queued before the push
	}
	p.EnsureWatch()
}

// How long tasks have been queued is known without a look at the clock at each submission.
//
// Queues without priorities have stamps. Code that reads the clock anyway (the watch
// for stalls, Stats, Queued, Dump) notes that all queued tasks were pushed by now. So the
// age of a task counts from the first stamp after its push.
//
// With priorities the oldest task may be anywhere in a queue, so each has a time of its own:
// the time at which the watch for stalls looks next. If no watch runs, because a worker is
// free, it is the time of the clock.

// pushTime returns the time by which a task was pushed that is pushed now, or 0 if stamps
// tell.
func (p *Pool) pushTime() int64 {
	switch {
	case p.Ageing > 0 || p.Paused.Load(): // there is no watch in a pause
	case p.Order != ByPriority:
		return 0
	default:
		if soon := p.soon.Load(); soon != 0 {
			return soon
		}
	}
	return clock.Now()
}
