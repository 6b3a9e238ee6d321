package deque

import "time"

// mutexDeque is a ring behind a lock.
type mutexDeque[T any] struct {
	mu         lock
	ring       *ring[T]
	head, tail int64
}

// NewMutex returns both ends of a deque that takes a lock for everything: the simplest one that works, and the baseline
// in every comparison. The ring has 32 slots at first, doubles when full, and shrinks again as the owner pops.
func NewMutex[T any]() (*Owner[T], *Thief[T]) { return newMutex[T](0) }

// newMutex starts the indices at start.
func newMutex[T any](start int64) (*Owner[T], *Thief[T]) {
	d := &mutexDeque[T]{ring: newRing[T](minRing), head: start, tail: start}
	return &Owner[T]{instead: d}, &Thief[T]{locked: d}
}

func (d *mutexDeque[T]) ownPush(v T) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.ring.slots); int(d.tail-d.head) == n {
		d.ring = d.ring.copied(d.head, d.tail, 2*n)
	}
	*d.ring.at(d.tail) = v
	d.tail++
}

func (d *mutexDeque[T]) ownPop() (v T, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ok = d.tail > d.head; ok {
		d.tail--
		v = d.ring.take(d.tail)
	}
	if n, left := len(d.ring.slots), int(d.tail-d.head); fits(left, n) < n {
		d.ring = d.ring.copied(d.head, d.tail, fits(left, n))
	}
	return v, ok
}

func (d *mutexDeque[T]) ownLen() int { return d.size() }

func (d *mutexDeque[T]) size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int(d.tail - d.head)
}

func (d *mutexDeque[T]) steal(timeout time.Duration) (v T, r Result) {
	if !d.mu.lockWithin(timeout) {
		return v, Retry
	}
	defer d.mu.Unlock()
	if d.head == d.tail {
		return v, Empty
	}
	d.head++
	return d.ring.take(d.head - 1), Success
}

func (d *mutexDeque[T]) stealHalf(dst []T) (n int, r Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.head == d.tail {
		return 0, Empty
	}
	n = min(int(d.tail-d.head+1)/2, len(dst))
	for i := range n {
		dst[i] = d.ring.take(d.head)
		d.head++
	}
	return n, Success
}
