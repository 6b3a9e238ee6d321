package deque

import (
	"math"
	"sync/atomic"
)

// minRing is the number of slots of a new deque, and the fewest it ever has.
const minRing = 32

// frozen stands in bottom while the owner moves the values to another ring:
// thieves that meet it answer Retry.
const frozen = math.MinInt64

// line is the span that two cores should not write at once: a cache line, and
// its neighbour, which Intel's prefetcher brings along.
const line = 128

// A ring is the memory of a deque: a power of two of slots, the value of index
// i in slot i mod its length.
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

// shared is what owner and thieves both touch. The values are those of
// [top, bottom).
type shared[T any] struct {
	_      [line]byte
	top    atomic.Int64 // index of the oldest value; thieves and owner advance it by CAS, never back
	_      [line - 8]byte
	done   atomic.Int64 // steals whose value has been read and its slot cleared; thieves add, owner loads
	_      [line - 8]byte
	bottom atomic.Int64            // index of the next push, or frozen; owner stores, thieves load
	ring   atomic.Pointer[ring[T]] // owner stores, thieves load
	_      [line - 16]byte
}

// Owner is the end of a deque that pushes and pops. It must be used by one
// goroutine at a time; handing it on needs a synchronizing event in between.
type Owner[T any] struct {
	s      *shared[T]
	ring   *ring[T] // as s.ring
	bottom int64    // as s.bottom
	free   int64    // every index below it is finished with in this ring
	claims int64    // how far the owner itself has advanced top
	_      [line - 40]byte
}

// Thief is the end of a deque that steals. It may be used by many goroutines.
type Thief[T any] struct{ s *shared[T] }

// NewChaseLev returns both ends of a lock-free deque after Chase and Lev,
// "Dynamic Circular Work-Stealing Deque" (SPAA 2005), changed in one respect:
// a thief claims an index before it reads the slot, so no value is ever read
// that is not the reader's own. Any T is therefore fine, however large, and
// the race detector has nothing to report; README.md has the argument.
//
// Push costs one atomic store, Pop one store or one compare-and-swap, Steal a
// compare-and-swap and an add. None of them blocks. The ring has 32 slots at
// first, doubles when full, and shrinks again while the owner pops.
func NewChaseLev[T any]() (*Owner[T], *Thief[T]) { return newChaseLev[T](0) }

// newChaseLev starts the indices at start.
func newChaseLev[T any](start int64) (*Owner[T], *Thief[T]) {
	s := &shared[T]{}
	s.top.Store(start)
	s.bottom.Store(start)
	o := &Owner[T]{s: s, ring: newRing[T](minRing), bottom: start, free: start, claims: start}
	s.ring.Store(o.ring)
	return o, &Thief[T]{s}
}

// Push adds v as the newest value. It never blocks; it allocates when the
// deque grows.
func (o *Owner[T]) Push(v T) {
	if o.bottom-o.free >= int64(len(o.ring.slots)) {
		o.makeRoom()
	}
	*o.ring.at(o.bottom) = v
	o.bottom++
	o.s.bottom.Store(o.bottom) // (W1) the value; pairs with (R1)
}

// Pop removes and returns the newest value, or reports false if there is none.
// It never blocks.
func (o *Owner[T]) Pop() (v T, ok bool) {
	s := o.s
	t := s.top.Load()
	switch o.bottom - t {
	case 0:
		if len(o.ring.slots) > minRing {
			o.move(minRing)
		}
		return v, false
	case 1:
		// The last value: claim it as a thief would.
		if !s.top.CompareAndSwap(t, t+1) { // (C1) against (C2)
			return v, false
		}
		o.claims++
		return o.ring.take(t), true
	}
	b := o.bottom - 1
	s.bottom.Store(b) // (W2) then load top; pairs with (R2), which loads top, then bottom
	t = s.top.Load()
	if t < b { // No thief can claim b any more.
		o.bottom = b
		v = o.ring.take(b)
		if n := len(o.ring.slots); n > minRing && int(b-t) <= n/8 {
			o.move(max(minRing, n/4))
		}
		return v, true
	}
	// Thieves took all but b, and perhaps b as well.
	won := t == b && s.top.CompareAndSwap(b, b+1) // (C1) against (C2)
	s.bottom.Store(o.bottom)
	if !won {
		return v, false
	}
	o.claims++
	return o.ring.take(b), true
}

// Len returns the number of values. Thieves may lower it at any time.
func (o *Owner[T]) Len() int { return max(0, int(o.bottom-o.s.top.Load())) }

// makeRoom sees to it that the slot of index bottom may be written.
func (o *Owner[T]) makeRoom() {
	// Steals finish in any order, so only their number can tell that all are
	// done. It is loaded before top: steals counted later cannot stand in for
	// one that is under way now.
	done := o.s.done.Load() // (R3) slots cleared; pairs with (W3)
	t := o.s.top.Load()
	if done == t-o.claims {
		o.free = t
	}
	n := len(o.ring.slots)
	if o.bottom-o.free < int64(n) {
		return
	}
	// Full, or a thief is still reading: a new ring either way, larger only if
	// it is the values that fill it.
	if o.bottom-t > int64(n/2) {
		n *= 2
	}
	o.move(n)
}

// move puts what is queued into a new ring of n slots. The owner claims all the
// values at once by advancing top to bottom, and queues them anew above; so
// indices only ever grow, and a thief that saw the old top cannot succeed.
func (o *Owner[T]) move(n int) {
	s := o.s
	s.bottom.Store(frozen)
	t := s.top.Load()
	for !s.top.CompareAndSwap(t, o.bottom) { // (C1) against (C2)
		t = s.top.Load()
	}
	o.claims += o.bottom - t
	to := newRing[T](n)
	o.free = o.bottom
	for i := t; i < o.free; i++ {
		*to.at(o.bottom) = *o.ring.at(i)
		o.bottom++
	}
	o.ring = to
	s.ring.Store(to)
	s.bottom.Store(o.bottom) // (W1)
}

// Steal removes and returns the oldest value. It never blocks; the value is
// the zero value unless the result is Success.
func (th *Thief[T]) Steal() (v T, r Result) {
	s := th.s
	t := s.top.Load()    // (R2) before bottom; pairs with (W2)
	b := s.bottom.Load() // (R1) the value of t, if t < b; pairs with (W1)
	if t >= b {
		if b == frozen {
			return v, Retry
		}
		return v, Empty
	}
	// If the claim succeeds, top did not move since it was loaded, so no move
	// to another ring came between: this is the ring that holds t.
	from := s.ring.Load()
	if !s.top.CompareAndSwap(t, t+1) { // (C2) against (C1) and other thieves
		return v, Retry
	}
	v = from.take(t)
	s.done.Add(1) // (W3) the slot is cleared; pairs with (R3)
	return v, Success
}

// Len returns about how many values there are: at least 1 unless it is sure
// that there is none.
func (th *Thief[T]) Len() int {
	t := th.s.top.Load()
	b := th.s.bottom.Load()
	if b == frozen {
		return 1
	}
	return max(0, int(b-t))
}
