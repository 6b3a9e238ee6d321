package filch

import (
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
)

// addTo adds the figures of w's tasks to those of t.
func (w *Worker) addTo(t *TaskStats, now int64) {
	w.tasks.addTo(t, now)
	t.Done += w.tasks.inPlace.begun.Load() - int64(w.engine.Hold.Load().Seated())
}

func (q *taskQueue) addTo(t *TaskStats, now int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	queued, pushed := q.count()
	t.Submitted += pushed
	t.Done += q.ran
	t.Started += q.ran
	if q.running.body != nil {
		t.Started++
	}
	t.Stolen += q.stolen
	t.InPlace += q.inPlace.begun.Load()
	t.Queued += queued
	t.Oldest = max(t.Oldest, q.age(now))
}

// Stats returns what the pool has done so far. It may be called at any time. It takes
// some hundred nanoseconds for each worker. With [ByPriority] it also looks at the oldest
// task of each priority, and at each task whose priority is thousands away from the most
// urgent ones. A million of these take some milliseconds, during which nothing is queued
// or taken.
func (p *Pool) Stats() Stats {
	p.engine.Follow()
	at := clock.Now()
	var t Stats
	f := p.engine.Figures(
		func() { t.Tasks = p.retiredTasks },
		func(w *engine.Worker) { asWorker(w).addTo(&t.Tasks, at) })
	t.Published, t.TakenBack, t.Attempts, t.Steals = f.Published, f.TakenBack, f.Attempts, f.Steals
	t.Helped, t.Waits, t.Wakes, t.Tasks.Attempts = f.Helped, f.Waits, f.Wakes, f.Looks
	queued := t.Tasks.Queued
	p.tasks.addTo(&t.Tasks, at)
	t.Tasks.Global = t.Tasks.Queued - queued
	c := &p.ended
	t.Tasks.Failed, t.Tasks.Panicked, t.Tasks.Cancelled = c.failed.Load(), c.panicked.Load(), c.cancelled.Load()
	t.Tasks.Rejected, t.Tasks.Helped, t.Tasks.Stalls = c.rejected.Load(), c.helped.Load(), c.stalls.Load()
	t.Tasks.Submitted += c.direct.Load()
	t.Tasks.Done += c.inPlace.ended.Load() - c.left.Load()
	t.Tasks.InPlace += c.inPlace.begun.Load()
	t.Tasks.Started += t.Tasks.InPlace
	s := p.engine.Places.Load()
	n := p.engine.Counts(s)
	t.Workers, t.Active, t.Searching = p.engine.Size(), n.Active, n.Searching
	t.Busy, t.Idle = n.Active-n.Searching, max(0, n.Limit-n.Active)
	t.Extra = p.engine.Extra()
	t.Tasks.Waiting = p.room.waiting() + p.slots.waiting()
	t.Blocked = s.Blocked()
	return t
}
