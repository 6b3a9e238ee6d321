package deque

import (
	"math"
	"sync/atomic"
)

// frozen is the value of bottom while the owner moves the values to another ring: thieves that load it return Retry.
const frozen = math.MinInt64

// shared is the part that owner and thieves both touch. The values are those of [top, bottom).
type shared[T any] struct {
	_      [line]byte
	top    atomic.Int64 // index of the oldest value; thieves and owner advance it by CAS, never back
	_      [line - 8]byte
	done   atomic.Int64 // steals whose value has been read and slot cleared; thieves add, owner loads
	_      [line - 8]byte
	bottom atomic.Int64            // index of the next push, or frozen; owner stores, thieves load
	ring   atomic.Pointer[ring[T]] // owner stores, thieves load
	_      [line - 8 - word]byte
}

// chaseLev is the owner's part of a Chase-Lev deque.
type chaseLev[T any] struct {
	s      *shared[T]
	ring   *ring[T] // as s.ring
	bottom int64    // as s.bottom
	free   int64    // no thief reads the slots of this ring below that index
	claims int64    // how far the owner itself has advanced top
}

// NewChaseLev returns both ends of a lock-free deque after Chase and Lev, "Dynamic Circular Work-Stealing Deque" (SPAA
// 2005). Push costs one atomic store, Pop one store or one compare-and-swap, Steal a compare-and-swap and an add. None
// of them blocks.
//
// Unlike the original, a thief claims an index before it reads the slot, so it never reads a value that is not its own.
// T may therefore be any type of any size, and the race detector has nothing to report; README.md has the argument. The
// ring has 32 slots at first, doubles when full, and shrinks again as the owner pops.
func NewChaseLev[T any]() (*Owner[T], *Thief[T]) { return newChaseLev[T](0) }

// newChaseLev starts the indices at start.
func newChaseLev[T any](start int64) (*Owner[T], *Thief[T]) {
	s := &shared[T]{}
	s.top.Store(start)
	s.bottom.Store(start)
	o := &Owner[T]{chaseLev: chaseLev[T]{s: s, ring: newRing[T](minRing), bottom: start, free: start, claims: start}}
	s.ring.Store(o.ring)
	return o, &Thief[T]{s: s}
}

// Push adds v as the newest value. It allocates when the deque grows, and blocks only for the lock of a deque that has
// one.
func (o *Owner[T]) Push(v T) {
	o.touch()
	if o.instead != nil {
		o.instead.ownPush(v)
		return
	}
	if o.bottom-o.free >= int64(len(o.ring.slots)) {
		o.makeRoom()
	}
	*o.ring.at(o.bottom) = v
	o.bottom++
	o.s.bottom.Store(o.bottom) // (W1) the value; pairs with (R1)
}

// Pop removes and returns the newest value, or reports false if there is none. It blocks only for the lock of a deque
// that has one.
func (o *Owner[T]) Pop() (v T, ok bool) {
	o.touch()
	if o.instead != nil {
		return o.instead.ownPop()
	}
	s := o.s
	t := s.top.Load()
	switch o.bottom - t {
	case 0:
		if n := len(o.ring.slots); fits(0, n) < n {
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
		if n := len(o.ring.slots); fits(int(b-t), n) < n {
			o.move(fits(int(b-t), n))
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

// makeRoom ensures that the slot of index bottom may be written.
func (o *chaseLev[T]) makeRoom() {
	// Steals finish in any order, so only their number tells whether all are done. It is loaded before top: steals
	// counted later cannot stand in for one that is still under way.
	done := o.s.done.Load() // (R3) slots cleared; pairs with (W3)
	t := o.s.top.Load()
	if done == t-o.claims {
		o.free = t
	}
	n := len(o.ring.slots)
	if o.bottom-o.free < int64(n) {
		return
	}
	// The ring is full, or a thief is still reading. Take a new ring either way, larger only if values fill it.
	if o.bottom-t > int64(n/2) {
		n *= 2
	}
	o.move(n)
}

// move puts the queued values into a new ring of n slots. The owner claims all of them at once by advancing top to
// bottom, and queues them anew above, so indices only grow, and a thief that saw the old top cannot succeed.
func (o *chaseLev[T]) move(n int) {
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

// Steal removes and returns the oldest value. The value is the zero value unless the result is Success. Steal blocks
// only for the lock of a deque that has one.
func (th *Thief[T]) Steal() (v T, r Result) {
	if th.locked != nil {
		return th.locked.steal(forever)
	}
	s := th.s
	t := s.top.Load()    // (R2) before bottom; pairs with (W2)
	b := s.bottom.Load() // (R1) the value of t, if t < b; pairs with (W1)
	if t >= b {
		if b == frozen {
			return v, Retry
		}
		return v, Empty
	}
	// If the claim succeeds, top has not moved since it was loaded, so the owner has not moved to another ring: this is
	// the ring that holds t.
	from := s.ring.Load()
	if !s.top.CompareAndSwap(t, t+1) { // (C2) against (C1) and other thieves
		return v, Retry
	}
	v = from.take(t)
	s.done.Add(1) // (W3) the slot is cleared; pairs with (R3)
	return v, Success
}

// Len returns about how many values there are: at least 1 unless the deque is certainly empty.
func (th *Thief[T]) Len() int {
	if th.locked != nil {
		return th.locked.size()
	}
	t := th.s.top.Load()
	b := th.s.bottom.Load()
	if b == frozen {
		return 1
	}
	return max(0, int(b-t))
}
