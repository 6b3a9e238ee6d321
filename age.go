package filch

import (
	"time"

	"github.com/filch-go/filch/internal/clock"
)

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
	case p.ageing > 0 || p.paused.Load(): // there is no watch in a pause
	case p.order != ByPriority:
		return 0
	default:
		if soon := p.soon.Load(); soon != 0 {
			return soon
		}
	}
	return clock.Now()
}

// since returns for how long what was pushed by then has been queued.
func since(by, now int64) time.Duration { return time.Duration(max(0, now-by)) }

// stamp notes that all that is queued was pushed by now, and what runs begun. The caller holds the lock.
func (q *taskQueue) stamp(now int64) {
	if q.before != q.taken {
		q.before, q.when = q.taken, now
	}
	q.q.Stamp(now)
	if q.in != nil {
		q.in.mu.Lock()
		q.in.q.Stamp(now)
		q.in.mu.Unlock()
	}
}

// age returns for how long the oldest task has been queued. The caller holds the lock.
func (q *taskQueue) age(now int64) (d time.Duration) {
	q.stamp(now)
	if by, ok := q.q.Oldest(); ok {
		d = since(by, now)
	}
	if q.levels != nil {
		q.levels.Oldest(func(a aging) { d = max(d, since(a.at, now)) })
	}
	if q.in != nil {
		q.in.mu.Lock()
		defer q.in.mu.Unlock()
		if by, ok := q.in.q.Oldest(); ok {
			d = max(d, since(by, now))
		}
	}
	return d
}

// waiting returns how many submitters wait for room.
func (r *room) waiting() (n int) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for range r.line.All() {
		n++
	}
	return n
}
