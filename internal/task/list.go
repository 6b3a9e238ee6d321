package task

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/queue"
)

// list is the items of a worker's own queue, in order of arrival.
type list struct {
	q       queue.Deque[Task]
	foreign int                    // how many at the front came from other queues, which stay FIFO
	ahead   *atomic.Pointer[Queue] // Pool.ahead while it names the queue of this list, or nil

	// Fills two cache lines: workers write their lists at each task, and the next object may be another's list.
	_ [128 - unsafe.Sizeof(queue.Deque[Task]{}) - 2*unsafe.Sizeof(uintptr(0))]byte
}

func newList() *list { return &list{q: newDeque()} }

func (l *list) push(q *Queue, _ int, at int64, t Task) bool {
	q.mu.Lock()
	if q.gone {
		q.mu.Unlock()
		return false
	}
	q.pushed++
	if l.q.PushBack(t); at != 0 {
		l.q.Stamp(at)
	}
	q.notEmpty()
	q.mu.Unlock()
	return true
}

func (l *list) pop(q *Queue, newest bool) (t Task, ok bool) {
	if newest && l.q.Len() > l.foreign {
		return l.q.PopBack()
	}
	if l.less(1); l.q.Len() == 0 {
		l.refill(q)
	}
	return l.q.PopFront()
}

func (l *list) newest() (Task, bool) { return l.q.Back() }

func (l *list) removeNewest() {
	l.q.DropBack()
	l.less(l.foreign - l.q.Len())
}

// less notes that n of the foreign tasks have left, if n > 0.
func (l *list) less(n int) {
	if l.foreign -= min(max(0, n), l.foreign); l.foreign == 0 && l.ahead != nil {
		l.ahead.Store(nil)
		l.ahead = nil
	}
}

func (l *list) len() int { return l.q.Len() }

func (l *list) best() int { return 0 }

func (l *list) bests(int) int { return l.q.Len() }

func (l *list) give(n int, to items) int {
	b := &to.(*list).q
	if n > 2*policy.MostMoved { // chunks move whole
		n = l.q.MoveChunk(b)
	} else {
		n = min(n, policy.MostMoved)
		l.q.MoveFront(n, b)
	}
	l.less(n)
	return n
}

func (l *list) receive(from items, _ int) {
	from.(*list).q.MoveChunk(&l.q)
	l.foreign = l.q.Len() // tasks pushed since l was found empty are before them, and go with them
}

func (l *list) refill(q *Queue) { q.empty() }

func (l *list) freeze() int { return l.q.Len() }

func (l *list) thaw(bool) {}

func (l *list) count(q *Queue) (int, int64) { return l.q.Len(), q.pushed }

func (l *list) stamp(now int64) { l.q.Stamp(now) }

func (l *list) oldest(now int64) time.Duration { return oldestOf(&l.q, now) }

// oldestOf returns how long the oldest task of d has been there.
func oldestOf(d *queue.Deque[Task], now int64) time.Duration {
	if by, ok := d.Oldest(); ok {
		return since(by, now)
	}
	return 0
}

// atATime is how many tasks are visited without releasing the queue.
const atATime = 4096

func (l *list) walk(q *Queue, now int64, f func(priority int, at int64, b Body)) {
	from := 0
	for more := true; more; runtime.Gosched() {
		q.mu.Lock()
		q.stamp(now)
		from, more = walkPart(&l.q, from, now, f)
		q.mu.Unlock()
	}
}

// walkPart continues the walk at task from, and returns where to continue.
func walkPart(d *queue.Deque[Task], from int, now int64, f func(priority int, at int64, b Body)) (next int, more bool) {
	return d.Walk(from, atATime, now, func(t Task, by int64) { f(0, by, t.Body) })
}

// inbox is the items of the global queue, in order of arrival. Tasks are pushed to its back part, in, which has its own lock, so
// that a push does not wait for a worker that takes. One that finds the rest empty moves the whole back part at once. These
// are the two locks of Michael and Scott (PODC 1996), for lists instead of nodes. With one lock, a million empty tasks cost
// 43 ns each instead of 25. The back lock is taken after that of the queue.
type inbox struct {
	list
	refills int // times that the back part became the list
	in      backPart
}

type backPart struct {
	_      [128]byte
	mu     sync.Mutex
	q      queue.Deque[Task]
	pushed int64
	gone   bool // the pool has ended
	_      [128]byte
}

func newInbox() *inbox { return &inbox{list: list{q: newDeque()}, in: backPart{q: newDeque()}} }

func (l *inbox) push(q *Queue, _ int, at int64, t Task) bool {
	in := &l.in
	in.mu.Lock()
	if in.gone {
		in.mu.Unlock()
		return false
	}
	in.pushed++
	if in.q.PushBack(t); at != 0 {
		in.q.Stamp(at)
	}
	q.notEmpty()
	in.mu.Unlock()
	return true
}

func (l *inbox) pop(q *Queue, _ bool) (t Task, ok bool) {
	if l.q.Len() == 0 {
		l.refill(q)
	}
	return l.q.PopFront()
}

func (l *inbox) refill(q *Queue) {
	if !q.some.Load() {
		return
	}
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	l.q, l.in.q = l.in.q, l.q
	if l.refills++; l.q.Len() == 0 {
		q.empty()
	}
}

func (l *inbox) freeze() int {
	l.in.mu.Lock()
	return l.q.Len() + l.in.q.Len()
}

func (l *inbox) thaw(gone bool) {
	l.in.gone = l.in.gone || gone
	l.in.mu.Unlock()
}

func (l *inbox) count(*Queue) (int, int64) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.q.Len() + l.in.q.Len(), l.in.pushed
}

func (l *inbox) stamp(now int64) {
	l.q.Stamp(now)
	l.in.mu.Lock()
	l.in.q.Stamp(now)
	l.in.mu.Unlock()
}

func (l *inbox) oldest(now int64) time.Duration {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return max(oldestOf(&l.q, now), oldestOf(&l.in.q, now))
}

// walk visits the list, and then the back part, which may meanwhile become the list if that was empty.
func (l *inbox) walk(q *Queue, now int64, f func(priority int, at int64, b Body)) {
	from, back, turn := 0, false, -1
	for more := true; more; runtime.Gosched() {
		q.mu.Lock()
		if turn != l.refills {
			if !back || l.refills > turn+1 {
				from = 0
			}
			back, turn = false, l.refills
		}
		q.stamp(now)
		if back {
			l.in.mu.Lock()
			from, more = walkPart(&l.in.q, from, now, f)
			l.in.mu.Unlock()
		} else if from, more = walkPart(&l.q, from, now, f); !more {
			from, back, more = 0, true, true
		}
		q.mu.Unlock()
	}
}
