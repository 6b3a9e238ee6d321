package deque

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// hybrid is a deque after Duffy whose owner needs no lock as long as there is more than one value. The lock excludes
// thieves from one another, and the owner where it could meet them.
type hybrid[T any] struct {
	_    [line]byte
	head atomic.Int64 // index of the oldest value; thieves write, under the lock
	mu   lock
	ring *ring[T] // the owner writes, under the lock
	_    [line]byte
	tail atomic.Int64 // index of the next push; the owner writes
	_    [line]byte

	// Only the owner touches these.
	slots *ring[T] // as ring
	next  int64    // as tail, except during a pop
	room  int64    // indices below it are known to be free for pushing
	empty int64    // if next equals it, the deque is certainly empty
	_     [line]byte
}

// NewHybrid returns both ends of a deque whose thieves take a lock for each steal. Its owner takes the lock only if it
// may race for the last value, or if the deque grows or shrinks. Push costs an atomic store, Pop a store and a load.
// The ring has 32 slots at first, doubles when all but one are in use, and shrinks again as the owner pops.
//
// It is the queue of J. Duffy, "Building a custom thread pool, part 2: a work stealing queue" (2008), without the
// mistakes that README.md names.
func NewHybrid[T any]() (*Owner[T], *Thief[T]) { return newHybrid[T](0) }

// newHybrid starts the indices at start.
func newHybrid[T any](start int64) (*Owner[T], *Thief[T]) {
	h := &hybrid[T]{ring: newRing[T](minRing), next: start, empty: start}
	h.slots = h.ring
	h.head.Store(start)
	h.tail.Store(start)
	return &Owner[T]{instead: h}, &Thief[T]{locked: h}
}

// spare returns the index where pushing must stop if the oldest value is at head. One slot stays free, because a thief
// advances head before it has read the value.
func (h *hybrid[T]) spare(head int64) int64 { return head + int64(len(h.slots.slots)) - 1 }

func (h *hybrid[T]) ownPush(v T) {
	if h.next >= h.room {
		h.makeRoom()
	}
	*h.slots.at(h.next) = v
	h.next++
	h.tail.Store(h.next) // (W5) the value; pairs with (R5)
}

// makeRoom ensures that the slot of index next may be written.
func (h *hybrid[T]) makeRoom() {
	// The load sees that the values before head-1 were read and their slots cleared: the thief that claimed head-1 held
	// the lock after them.
	if h.room = h.spare(h.head.Load()); h.next >= h.room { // (R7)
		h.resize(2 * len(h.slots.slots))
	}
}

// resize moves the values to a ring of n slots.
func (h *hybrid[T]) resize(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := h.head.Load()
	h.slots = h.slots.copied(head, h.next, n)
	h.ring = h.slots
	h.room = h.spare(head)
}

func (h *hybrid[T]) ownPop() (v T, ok bool) {
	if h.next == h.empty {
		return v, false
	}
	i := h.next - 1
	h.tail.Store(i)       // (W6) then load head; pairs with (R6)
	head := h.head.Load() // (R8) if i is still there, no thief can claim it any more
	if head > i && !h.isThere(i) {
		return v, false
	}
	h.next = i
	if head == i {
		h.empty = i
	}
	v = h.slots.take(i)
	if n := len(h.slots.slots); n > minRing && fits(int(i-head), n) < n {
		h.resize(fits(int(i-head), n))
	}
	return v, true
}

// isThere checks under the lock whether i is the owner's although it seems stolen. A thief may have advanced head
// before tail tells it to take that back; once the lock is free, it has done so.
func (h *hybrid[T]) isThere(i int64) bool {
	h.mu.Lock()
	there := h.head.Load() <= i
	if !there {
		h.tail.Store(h.next)
		h.empty = h.next
	}
	h.mu.Unlock()
	if n := len(h.slots.slots); !there && fits(0, n) < n {
		h.resize(fits(0, n))
	}
	return there
}

// ownLen checks under the lock, as ownPop does, if the deque seems empty.
func (h *hybrid[T]) ownLen() int {
	if h.next == h.empty {
		return 0
	}
	if n := int(h.next - h.head.Load()); n > 0 {
		return n
	}
	return h.size()
}

// size takes the lock: without it, a thief that is about to take back its claim would make the deque look empty.
func (h *hybrid[T]) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(0, int(h.tail.Load()-h.head.Load()))
}

func (h *hybrid[T]) steal(timeout time.Duration) (v T, r Result) {
	if !h.mu.lockWithin(timeout) {
		return v, Retry
	}
	defer h.mu.Unlock()
	return h.stealOne()
}

// stealOne steals under the lock.
func (h *hybrid[T]) stealOne() (v T, r Result) {
	head := h.head.Load()
	if head >= h.tail.Load() {
		return v, Empty
	}
	h.head.Store(head + 1)     // (W8) then load tail; pairs with (R8)
	if h.tail.Load() <= head { // (R6) (R5) the owner pops it
		h.head.Store(head)
		return v, Empty
	}
	return h.ring.take(head), Success // (W7) the slot is cleared, for the owner that sees the next claim
}

func (h *hybrid[T]) stealHalf(dst []T) (n int, r Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	half := int(h.tail.Load()-h.head.Load()+1) / 2
	for n < min(max(half, 1), len(dst)) {
		if dst[n], r = h.stealOne(); r != Success {
			break
		}
		n++
	}
	if n > 0 {
		r = Success
	}
	return n, r
}

// lock is a mutex with a timeout and a counter.
type lock struct {
	sync.Mutex
	taken int // how many times; for tests
}

func (l *lock) Lock() {
	l.Mutex.Lock()
	l.taken++
}

// lockWithin waits for the lock no longer than the timeout, and reports whether it got it.
func (l *lock) lockWithin(timeout time.Duration) bool {
	if timeout == forever {
		l.Lock()
		return true
	}
	ok := l.TryLock()
	if !ok && timeout > 0 {
		for end := time.Now().Add(timeout); !ok && time.Now().Before(end); ok = l.TryLock() {
			runtime.Gosched()
		}
	}
	if ok {
		l.taken++
	}
	return ok
}
