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

// Queue is a queue of tasks: a worker's own, or the global one. This is the common part; its items decide how tasks are kept.
type Queue struct {
	// some is set if there may be tasks. It is written under the lock of pushes; others load it to spare themselves the lock.
	// A worker that finds nothing clears it. One that takes the last task does not, because the next often comes at once.
	some atomic.Bool
	_    [120]byte

	laden   *atomic.Int64 // counts the queues with some set; nil for the global one
	items   items         // under mu; chosen when the queue is made
	InPlace InPlace       // of tasks that have a seat at its worker

	mu      sync.Mutex
	gone    bool  // it no longer takes tasks: its worker was let go, or the pool has ended
	moving  int32 // see unfinished; it wraps around
	pushed  int64 // tasks submitted to it
	taken   int64 // tasks its worker took from anywhere
	before  int64 // taken at the last stamp
	when    int64 // time of the first stamp with that count
	ran     int64 // tasks its worker ran
	stolen  int64 // tasks its worker stole
	awaited int64 // tasks taken by TakeNewest, which run in place
	running Body  // the last task its worker took
	turn    policy.Fairness
	seen    int64 // taken at the last check of the stall watch
}

// items keep the tasks of a Queue: a list, an inbox, or own or global levels. All but push and walk are called under the
// Queue's lock. freeze also takes the lock of push, if there is one, and thaw releases it.
type items interface {
	// push adds t, and returns false if q no longer takes tasks. at is the result of pushTime.
	push(q *Queue, priority int, at int64, t Task) bool
	// pop removes the newest task, unless only tasks from other queues are left, or the oldest; or the best.
	pop(q *Queue, newest bool) (Task, bool)
	// newest returns the newest task, or the best; removeNewest removes it.
	newest() (Task, bool)
	removeNewest()
	// len returns how many tasks pop finds without a refill.
	len() int
	// best returns the priority of the best task, if any.
	best() int
	// bests returns how many tasks are as urgent as the best. It may stop counting at most.
	bests(most int) int
	// give moves up to n of the first tasks to the end of to, and returns how many. receive moves the n tasks of from here.
	give(n int, to items) int
	receive(from items, n int)
	// refill is called when len is 0: it fetches tasks pushed elsewhere, or notes that there are none.
	refill(q *Queue)
	// freeze keeps tasks from being pushed until thaw, and returns how many there are. If gone is set, none is pushed after
	// thaw either.
	freeze() int
	thaw(gone bool)
	// count returns how many tasks are queued, and how many were submitted.
	count(q *Queue) (queued int, pushed int64)
	// stamp notes that all tasks were pushed by now.
	stamp(now int64)
	// oldest returns how long the oldest task has been there.
	oldest(now int64) time.Duration
	// walk calls f with each task and a time by which it was pushed.
	walk(q *Queue, now int64, f func(priority int, at int64, b Body))
}

// chunks are shared by all queues of tasks.
var chunks, parts sync.Pool

// aging is a task in a queue by priority, pushed by the time at.
type aging struct {
	Task
	at int64
}

// noPriority is below the priority of any task except the last possible.
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

// initQueue makes w.Own the queue of a worker of p, and its batch for moving tasks to and from it. It is a part of Init.
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

// notEmpty notes that there are tasks. The caller holds the lock that it pushed under.
func (q *Queue) notEmpty() {
	if !q.some.Load() {
		q.some.Store(true) // (W10)
		if q.laden != nil {
			q.laden.Add(1) // (W10)
		}
	}
}

// empty notes that there are none. The caller holds the lock of pushes.
func (q *Queue) empty() {
	if !q.some.Load() {
		return
	}
	if q.laden != nil {
		q.laden.Add(-1) // first: a worker that sees the count checks the flag again and again
	}
	q.some.Store(false)
}

// Pop takes a task out: if newest is set, the newest of an own queue; otherwise the oldest; or the best.
func (q *Queue) Pop(newest bool) (t Task, ok bool) {
	if !q.some.Load() {
		return t, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items.pop(q, newest)
}

// TakeBack removes the newest task, or the best, if the caller waits for it; the caller then calls LeaveQueue.
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

// TakeNewest removes the newest task, or the best, if it is b, and counts it as begun in place. It is TakeBack for a wait for
// one task.
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

// leave reports whether the worker of q may be let go: nothing was pushed to it with the context of a finished task. Nothing
// will be, then.
func (q *Queue) leave() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone = q.items.len() == 0; q.gone {
		q.items.refill(q) // so that it is no longer counted
	}
	return q.gone
}

// freeze keeps tasks from being pushed and taken until thaw, and returns how many there are.
func (q *Queue) freeze() int {
	q.mu.Lock()
	return q.items.freeze()
}

// thaw reverses freeze. If gone is set, q refuses tasks from now on.
func (q *Queue) thaw(gone bool) {
	q.gone = q.gone || gone
	q.items.thaw(gone)
	q.mu.Unlock()
}

// portion returns how many tasks move with the oldest, or the best, to another queue, and their priority: one in share of
// all, or of those as urgent, or none if share is 0. It returns false if there is no task. The caller holds the lock.
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

// stamp notes that all queued tasks were pushed by now, and the running one has begun. The caller holds the lock.
func (q *Queue) stamp(now int64) {
	if q.before != q.taken {
		q.before, q.when = q.taken, now
	}
	q.items.stamp(now)
}

// since returns how long a task pushed by then has been queued.
func since(by, now int64) time.Duration { return time.Duration(max(0, now-by)) }

// Running returns the task that the worker of q took last, if it has not ended, and for how long it has run at least.
func (q *Queue) Running() (b Body, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.before == q.taken { // otherwise it has begun since the last stamp
		d = since(q.when, clock.Now())
	}
	return q.running, d
}

// newDeque returns a Deque of tasks.
func newDeque() queue.Deque[Task] { return queue.Deque[Task]{Chunks: &chunks} }
