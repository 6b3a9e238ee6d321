package task

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/queue"
)

// Urgency is what differs in a pool ByPriority, as implemented by ByUrgency. It is an interface, so that a program without
// such a pool does not link the code.
type Urgency interface {
	global(p *Pool) items
	own(p *Pool) (queue, batch items)
	next(w *Worker) (t Task, ok bool) // see nextTask
}

// ByUrgency is the only Urgency.
type ByUrgency struct{}

func (ByUrgency) global(p *Pool) items { return &globalLevels{levels: newLevels(), told: &p.best} }

// own is a part of a Worker's Init.
//
//go:norace
func (ByUrgency) own(p *Pool) (queue, batch items) {
	return &ownLevels{levels: newLevels(), global: &p.Global}, &ownLevels{}
}

func (ByUrgency) next(w *Worker) (t Task, ok bool) { return w.nextByPriority() }

// levels is the common part of items by priority.
type levels struct{ q queue.Levels[aging] }

func newLevels() levels { return levels{queue.Levels[aging]{Parts: &parts}} }

func (l *levels) len() int { return l.q.Len() }

func (l *levels) best() int { return l.q.Best() }

func (l *levels) bests(most int) int { return l.q.Bests(most) }

func (l *levels) refill(q *Queue) { q.empty() }

func (l *levels) freeze() int { return l.q.Len() }

func (l *levels) thaw(bool) {}

func (l *levels) count(q *Queue) (int, int64) { return l.q.Len(), q.pushed }

func (l *levels) stamp(int64) {} // each task has its own time

func (l *levels) oldest(now int64) (d time.Duration) {
	l.q.Oldest(func(a aging) { d = max(d, since(a.at, now)) })
	return d
}

func (l *levels) walk(q *Queue, now int64, f func(priority int, at int64, b Body)) {
	var at queue.Place
	for more := true; more; runtime.Gosched() {
		q.mu.Lock()
		q.stamp(now)
		more = l.q.Walk(&at, atATime, func(priority int, a aging) { f(priority, a.at, a.Body) })
		q.mu.Unlock()
	}
}

func (l *levels) pop(q *Queue, _ bool) (t Task, ok bool) {
	if l.q.Len() == 0 {
		l.refill(q)
		return t, false
	}
	_, a := l.q.Pop()
	return a.Task, true
}

func (l *levels) newest() (t Task, ok bool) {
	if l.q.Len() == 0 {
		return t, false
	}
	return l.q.Peek().Task, true
}

func (l *levels) removeNewest() { l.q.Pop() }

func (l *levels) give(n int, to items) int {
	n = min(n, policy.MostMoved)
	l.q.MoveBests(n, &to.(*ownLevels).q)
	return n
}

func (l *levels) receive(from items, n int) { from.(*ownLevels).q.MoveBests(n, &l.q) }

// ownLevels are the items of a worker's own queue, by priority.
type ownLevels struct {
	levels
	global *Queue // takes tasks for which there is no room
}

// push spills the less urgent half to the global queue if there is no room.
func (l *ownLevels) push(q *Queue, priority int, at int64, t Task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return false
	}
	q.pushed++
	if l.q.Len() < policy.OwnQueue {
		l.q.Push(priority, aging{t, at})
	} else {
		g := l.global
		g.mu.Lock()
		to := g.items.(*globalLevels)
		l.q.Spill(policy.Spilled, to.q.Push)
		to.add(g, priority, aging{t, at})
		g.mu.Unlock()
	}
	q.notEmpty()
	return true
}

// globalLevels are the items of the global queue, by priority.
type globalLevels struct {
	levels
	told *atomic.Int64 // has the priority of the best task, or noPriority, for readers without the lock
}

func (l *globalLevels) push(q *Queue, priority int, at int64, t Task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		return false
	}
	q.pushed++
	l.add(q, priority, aging{t, at})
	return true
}

// add adds a task. The caller holds the lock.
func (l *globalLevels) add(q *Queue, priority int, a aging) {
	l.q.Push(priority, a)
	l.tell()
	q.notEmpty()
}

func (l *globalLevels) pop(q *Queue, newest bool) (t Task, ok bool) {
	t, ok = l.levels.pop(q, newest)
	l.tell()
	return t, ok
}

func (l *globalLevels) give(n int, to items) int {
	n = l.levels.give(n, to)
	l.tell()
	return n
}

// tell publishes the priority of the best task.
func (l *globalLevels) tell() {
	best := int64(noPriority)
	if l.q.Len() > 0 {
		best = int64(l.q.Best())
	}
	if l.told.Load() != best {
		l.told.Store(best) // (W14)
	}
}
