package deque

import "unsafe"

// minRing is the number of slots of a new deque, and its minimum.
const minRing = 32

// line is the span that two cores should not write at once: a cache line and its neighbour, which Intel's prefetcher
// loads with it.
const line = 128

// word is the size of a pointer.
const word = unsafe.Sizeof(uintptr(0))

// A ring is the memory of a deque: a power of two of slots. The value of index i is in slot i mod their number.
type ring[T any] struct{ slots []T }

func newRing[T any](n int) *ring[T] { return &ring[T]{make([]T, n)} }

func (r *ring[T]) at(i int64) *T { return &r.slots[int(i)&(len(r.slots)-1)] }

// take reads a slot and clears it.
func (r *ring[T]) take(i int64) T {
	p := r.at(i)
	v := *p
	var zero T
	*p = zero
	return v
}

// copied returns a ring of n slots with the values of r in [from, to).
func (r *ring[T]) copied(from, to int64, n int) *ring[T] {
	c := newRing[T](n)
	for i := from; i < to; i++ {
		*c.at(i) = *r.at(i)
	}
	return c
}

// fits returns how many slots a deque with n values and that many slots should have after a pop: fewer once an eighth
// is enough.
func fits(n, slots int) int {
	switch {
	case slots == minRing || n > slots/8:
		return slots
	case n == 0:
		return minRing
	}
	return max(minRing, slots/4)
}
