package filch

import (
	"math"
	"sync"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/queue"
)

// chunks are shared by all queues of tasks.
var chunks, parts sync.Pool

// init makes q the queue of a worker of p, or the global one.
func (q *taskQueue) init(p *Pool) {
	global := q == &p.tasks
	switch {
	case p.order == ByPriority:
		q.levels = &queue.Levels[aging]{Parts: &parts}
		if !global {
			q.global = &p.tasks
		}
	case global:
		q.in = &inbox{}
		q.in.q.Chunks = &chunks
	}
	if !global {
		q.laden = &p.laden
	}
	q.q.Chunks = &chunks
	q.best.Store(noPriority)
}

// pushAt adds t, and reports false if the worker was let go. at is what
// pushTime returned.
func (q *taskQueue) pushAt(priority int, at int64, t task) bool {
	if in := q.in; in != nil {
		in.mu.Lock()
		in.pushed++
		if in.q.PushBack(t); at != 0 {
			in.q.Stamp(at)
		}
		q.notEmpty()
		in.mu.Unlock()
		return true
	}
	q.mu.Lock()
	if q.gone {
		q.mu.Unlock()
		return false
	}
	q.pushed++
	q.add(priority, at, t)
	q.mu.Unlock()
	return true
}

// add adds t. The caller holds the lock.
func (q *taskQueue) add(priority int, at int64, t task) {
	if q.levels == nil {
		if q.q.PushBack(t); at != 0 {
			q.q.Stamp(at)
		}
		q.notEmpty()
		return
	}
	switch t := (aging{t, at}); {
	case q.global == nil || q.levels.Len() < policy.OwnQueue:
		q.levels.Push(priority, t)
		q.tellBest()
	default:
		g := q.global
		g.mu.Lock()
		q.levels.Spill(policy.Spilled, g.levels.Push)
		g.levels.Push(priority, t)
		g.tellBest()
		g.notEmpty()
		g.mu.Unlock()
	}
	q.notEmpty()
}

// noPriority is a priority below that of any task, but for the last of all.
const noPriority = math.MaxInt64

// tellBest notes the priority of the best task, for those who do not have the lock.
func (q *taskQueue) tellBest() {
	if q.global != nil {
		return
	}
	best := int64(noPriority)
	if q.levels.Len() > 0 {
		best = int64(q.levels.Best())
	}
	if q.best.Load() != best {
		q.best.Store(best) // (W14)
	}
}

// notEmpty notes that there is something. The caller holds the lock that it
// pushed under.
func (q *taskQueue) notEmpty() {
	if !q.some.Load() {
		q.some.Store(true) // (W10)
		if q.laden != nil {
			q.laden.Add(1) // (W10)
		}
	}
}

// refill is called when q.q is empty: it takes all that was pushed from outside,
// or notes that there is nothing. The caller holds the lock.
func (q *taskQueue) refill() {
	if !q.some.Load() {
		return
	}
	if q.in != nil {
		q.in.mu.Lock()
		defer q.in.mu.Unlock()
		q.q, q.in.q = q.in.q, q.q
		q.refills++
	}
	if q.len() == 0 {
		if q.laden != nil {
			q.laden.Add(-1) // first: who sees the count looks for the flag, again and again
		}
		q.some.Store(false)
	}
}

// len returns how many tasks there are but for the inbox. The caller holds the lock.
func (q *taskQueue) len() int {
	if q.levels != nil {
		return q.levels.Len()
	}
	return q.q.Len()
}

// count returns how many tasks are queued, and how many were submitted to q. The
// caller holds the lock.
func (q *taskQueue) count() (queued int, pushed int64) {
	if q.in == nil {
		return q.len(), q.pushed
	}
	q.in.mu.Lock()
	defer q.in.mu.Unlock()
	return q.len() + q.in.q.Len(), q.in.pushed
}

// leave reports whether the worker of q may be let go: nobody has pushed to it
// with the context of a task that is over. Nobody will, then.
func (q *taskQueue) leave() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone = q.len() == 0; q.gone {
		q.refill() // to be counted no more
	}
	return q.gone
}

// give moves up to n tasks to b, and returns how many. The caller holds the lock.
func (q *taskQueue) give(n int, b *batch) int {
	switch {
	case q.levels != nil:
		n = min(n, policy.MostMoved)
		q.levels.MoveBests(n, &b.levels)
		q.tellBest()
		return n
	case n > 2*policy.MostMoved: // chunks move whole
		n = q.q.MoveChunk(&b.q)
	default:
		n = min(n, policy.MostMoved)
		q.q.MoveFront(n, &b.q)
	}
	q.foreign = max(0, q.foreign-n)
	return n
}

// receive moves the n tasks of b here. The caller holds the lock.
func (q *taskQueue) receive(b *batch, n int) {
	if q.levels != nil {
		b.levels.MoveBests(n, q.levels)
	} else {
		b.q.MoveChunk(&q.q)
		q.foreign += n
	}
	q.notEmpty()
}

// pop removes the newest task, unless only such are left that came from other
// queues, or the oldest; or the best. The caller holds the lock.
func (q *taskQueue) pop(newest bool) (t task, ok bool) {
	if q.levels != nil {
		if q.len() == 0 {
			q.refill()
			return t, false
		}
		_, a := q.levels.Pop()
		q.tellBest()
		return a.task, true
	}
	if newest && q.q.Len() > q.foreign {
		return q.q.PopBack()
	}
	if q.q.Len() == 0 {
		q.refill()
	}
	q.foreign = max(0, q.foreign-1)
	return q.q.PopFront()
}

// takeBack removes the newest task, or the best, if it is one that the caller waits
// for, who then calls leaveQueue.
func (q *taskQueue) takeBack(is func(b runnable) bool) (t task, ok bool) {
	if !q.some.Load() {
		return t, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.levels != nil {
		if q.len() == 0 || !is(q.levels.Peek().body) {
			return t, false
		}
		return q.pop(false)
	}
	if t, ok = q.q.Back(); !ok || !is(t.body) {
		return task{}, false
	}
	q.q.PopBack()
	q.foreign = min(q.foreign, q.q.Len())
	return t, true
}

// portion returns how many tasks move with the oldest, or the best, to another queue:
// one in share of them all, or of those that are as urgent, unless that is 0, and what
// their priority is. It reports false if there is no task. The caller holds the
// lock.
func (q *taskQueue) portion(share int) (more, priority int, ok bool) {
	if q.len() == 0 {
		q.refill()
	}
	n := q.len()
	switch {
	case n == 0:
		return 0, 0, false
	case q.levels != nil:
		priority = q.levels.Best()
		more = policy.Share(q.levels.Bests(1+policy.MostMoved*share), share)
	default:
		more = policy.Share(n, share)
	}
	return more, priority, true
}

// took notes that the worker of q took t to run it. The caller holds the lock.
func (q *taskQueue) took(t task) {
	q.taken++
	q.running = t
}
