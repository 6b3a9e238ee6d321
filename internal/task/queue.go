package task

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/queue"
)

// Queue is a queue of tasks: a worker's own, or the global one. What all have stands here;
// how the tasks are kept is up to their items.
type Queue struct {
	// some is set if there may be something. It is written under the lock that
	// tasks are pushed under; others load it to spare themselves the lock. A worker
	// that finds nothing clears it. The one that takes the last task does not, since the
	// next often comes at once.
	some atomic.Bool
	_    [120]byte

	laden   *atomic.Int64 // counts the queues with some set; nil for the global one
	items   items         // under mu; chosen when the queue is made
	InPlace InPlace       // by tasks that have a seat at its worker

	mu      sync.Mutex
	gone    bool  // it takes no tasks any more: its worker was let go, or the pool has ended
	moving  int32 // see unfinished; it wraps around
	pushed  int64 // tasks that were submitted to it
	taken   int64 // tasks that its worker took from anywhere
	before  int64 // taken at the last stamp
	when    int64 // time of the first stamp with that
	ran     int64 // tasks that its worker ran
	stolen  int64 // tasks that its worker took from other workers
	awaited int64 // tasks that TakeNewest took, which run in place
	running Body  // what its worker took last
	turn    policy.Fairness
	seen    int64 // taken at the last look of the watch for stalls
}

// items keep the tasks of a Queue: a list, an inbox, or levels of a worker's own or global.
// All but push and walk are called under the Queue's lock; freeze takes the lock of push as well,
// if there is one, and thaw gives it back.
type items interface {
	// push adds t, and reports false if q takes no tasks any more. at is what pushTime
	// returned.
	push(q *Queue, priority int, at int64, t Task) bool
	// pop removes the newest task, unless only such are left that came from other
	// queues, or the oldest; or the best.
	pop(q *Queue, newest bool) (Task, bool)
	// newest returns the newest task, or the best, which removeNewest removes.
	newest() (Task, bool)
	removeNewest()
	// len returns how many tasks pop finds without a refill.
	len() int
	// best returns the priority of the best task, if there is one.
	best() int
	// bests returns how many tasks are as urgent as the best. It may stop at most.
	bests(most int) int
	// give moves up to n of the tasks that come first to the end of to, and returns how
	// many. receive moves the n tasks of from here.
	give(n int, to items) int
	receive(from items, n int)
	// refill is called when len is 0: it brings what was pushed elsewhere, or notes that
	// there is nothing.
	refill(q *Queue)
	// freeze keeps tasks from being pushed until thaw, and returns how many there are. If gone
	// is set, none is pushed after thaw either.
	freeze() int
	thaw(gone bool)
	// count returns how many tasks there are, and how many were submitted.
	count(q *Queue) (queued int, pushed int64)
	// stamp notes that all were pushed by now.
	stamp(now int64)
	// oldest returns for how long the oldest task has been there.
	oldest(now int64) time.Duration
	// walk calls f with each task, and the time that it was pushed by.
	walk(q *Queue, now int64, f func(priority int, at int64, b Body))
}

// chunks are shared by all queues of tasks.
var chunks, parts sync.Pool

// aging is a task in a queue with priorities, which was pushed by the time at.
type aging struct {
	Task
	at int64
}

// noPriority is a priority below that of any task, but for the last of all.
const noPriority = math.MaxInt64

// initQueues chooses how p keeps tasks.
func (p *Pool) initQueues() {
	p.best.Store(noPriority)
	if p.Order == ByPriority {
		p.Global.items = p.Urgency.global(p)
	} else {
		p.Global.items = newInbox()
	}
}

// initQueue makes w.Own the queue of a worker of p, with which tasks move to and from it. It is a part of Init.
//
//go:norace
func (p *Pool) initQueue(w *Worker) {
	w.Own.laden = &p.laden
	if p.Order == ByPriority {
		w.Own.items, w.batch = p.Urgency.own(p)
	} else {
		w.Own.items, w.batch = newList(), newList()
	}
}

// notEmpty notes that there is something. The caller holds the lock that it
// pushed under.
func (q *Queue) notEmpty() {
	if !q.some.Load() {
		q.some.Store(true) // (W10)
		if q.laden != nil {
			q.laden.Add(1) // (W10)
		}
	}
}

// empty notes that there is nothing. The caller holds the lock that tasks are pushed under.
func (q *Queue) empty() {
	if !q.some.Load() {
		return
	}
	if q.laden != nil {
		q.laden.Add(-1) // first: a worker that sees the count looks for the flag, again and again
	}
	q.some.Store(false)
}

// Pop takes a task out: the newest of an own queue, if that is set, the oldest, or the best.
func (q *Queue) Pop(newest bool) (t Task, ok bool) {
	if !q.some.Load() {
		return t, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items.pop(q, newest)
}

// TakeBack removes the newest task, or the best, if it is one that the caller waits
// for, which then calls LeaveQueue.
func (q *Queue) TakeBack(is func(b Body) bool) (t Task, ok bool) {
	if !q.some.Load() {
		return t, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if t, ok = q.items.newest(); !ok || !is(t.Body) {
		return Task{}, false
	}
	q.items.removeNewest()
	return t, true
}

// TakeNewest removes the newest task, or the best, if it is b, and counts it as begun in
// place. It is TakeBack for a goroutine that waits for a single task.
func (q *Queue) TakeNewest(b Body) (ok bool) {
	if !q.some.Load() {
		return false
	}
	q.mu.Lock()
	if t, found := q.items.newest(); found && t.Body == b {
		q.items.removeNewest()
		q.awaited++
		ok = true
	}
	q.mu.Unlock()
	return ok
}

// leave reports whether the worker of q may be let go: nothing was pushed to it
// with the context of a task that is over. Nothing will be, then.
func (q *Queue) leave() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone = q.items.len() == 0; q.gone {
		q.items.refill(q) // to be counted no more
	}
	return q.gone
}

// freeze keeps tasks from being pushed and taken until thaw, and returns how many there are.
func (q *Queue) freeze() int {
	q.mu.Lock()
	return q.items.freeze()
}

// thaw ends what freeze began. If gone is set, q refuses tasks from now on.
func (q *Queue) thaw(gone bool) {
	q.gone = q.gone || gone
	q.items.thaw(gone)
	q.mu.Unlock()
}

// portion returns how many tasks move with the oldest, or the best, to another queue:
// one in share of them all, or of those that are as urgent, unless that is 0, and what
// their priority is. It reports false if there is no task. The caller holds the
// lock.
func (q *Queue) portion(share int) (more, priority int, ok bool) {
	if q.items.len() == 0 {
		q.items.refill(q)
		if q.items.len() == 0 {
			return 0, 0, false
		}
	}
	return policy.Share(q.items.bests(1+policy.MostMoved*share), share), q.items.best(), true
}

// took notes that the worker of q took b to run it. The caller holds the lock.
func (q *Queue) took(b Body) {
	q.taken++
	q.running = b
}

// stamp notes that all that is queued was pushed by now, and what runs begun. The caller
// holds the lock.
func (q *Queue) stamp(now int64) {
	if q.before != q.taken {
		q.before, q.when = q.taken, now
	}
	q.items.stamp(now)
}

// since returns for how long what was pushed by then has been queued.
func since(by, now int64) time.Duration { return time.Duration(max(0, now-by)) }

// Running returns what the worker of q took last, if that has not ended, and for how long
// it has run at least.
func (q *Queue) Running() (b Body, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.before == q.taken { // else it has begun since the last stamp
		d = since(q.when, clock.Now())
	}
	return q.running, d
}

// newDeque returns a Deque of tasks.
func newDeque() queue.Deque[Task] { return queue.Deque[Task]{Chunks: &chunks} }
