package ordered

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/queue"
)

// Addressable is a [Queue] whose values can be reached: Push returns a [Handle], by which the value
// can be removed, or get another priority, for as long as no one has it. Make one with
// [NewAddressable]. Its methods may be called from any goroutine.
//
// What holds for a Queue holds for it too: each value is handed out exactly once, by a Pop or by
// Remove.
//
// An entry that Remove or Fix leaves behind stays in its queue until its turn, when it is skipped,
// or until such entries are half of the global queue, which is then swept. So there are at most as
// many of them as of values, and 128, and twice what fits into the local queues. The value itself is
// not kept.
//
// A Push allocates the Handle, 24 bytes for a word. Push and Pop take not quite twice as long as
// those of a Queue, whose values have no handle, and which lose nothing by this type.
type Addressable[T any] struct {
	q      *Queue[ticket[T]]
	locals []AddressableLocal[T]

	_      [line]byte
	behind atomic.Int64 // entries that were left behind, and are still there; all write, Remove and Fix read
	moving atomic.Int64 // values that a Fix is about to push; their Fix writes, Len reads
}

// ticket is a place of a value in a queue. It counts for as long as the handle has that turn.
type ticket[T any] struct {
	h    *Handle[T]
	turn uint64
}

// AddressableLocal is one of the local queues of an [Addressable]. Like a [Local], it must be used
// by one goroutine at a time.
type AddressableLocal[T any] struct {
	of    *Addressable[T]
	local *Local[ticket[T]]
}

// Handle is a value of an [Addressable]. Its methods may be called from any goroutine, at any
// time.
type Handle[T any] struct {
	of *Addressable[T]
	v  T // until it is taken; the goroutine that takes it reads and clears it

	// turn is even while the value is queued, and the number of its entry that counts. Fix makes
	// it the next even number, and the goroutine that takes the value makes it odd. Each does so
	// by a compare-and-swap, so one of those that come at once does.
	turn atomic.Uint64
}

// NewAddressable is [New] for an Addressable. It panics when that does.
func NewAddressable[T any](locals, capacity int, opts ...Option) *Addressable[T] {
	a := &Addressable[T]{q: New[ticket[T]](locals, capacity, opts...), locals: make([]AddressableLocal[T], max(0, locals))}
	for i := range a.locals {
		a.locals[i] = AddressableLocal[T]{a, a.q.Local(i)}
	}
	return a
}

// Push adds v to the global queue, as [Queue.Push] does, and returns its Handle.
func (a *Addressable[T]) Push(priority int, v T) *Handle[T] {
	h := &Handle[T]{of: a, v: v}
	a.q.Push(priority, ticket[T]{h, 0})
	return h
}

// Local returns the local queue i, counted from 0. It panics if there is none.
func (a *Addressable[T]) Local(i int) *AddressableLocal[T] {
	if i < 0 || i >= len(a.locals) {
		panic(fmt.Sprintf("ordered: Local(%d): there are %d", i, len(a.locals)))
	}
	return &a.locals[i]
}

// Len returns about how many values there are, and of entries that Remove and Fix have left behind.
// It returns 0 only if there was a moment without any value. When all values are taken, Pop finds
// nothing, and then Len is 0.
func (a *Addressable[T]) Len() int {
	for {
		n, version := a.q.look()
		n += int(a.moving.Load()) // (R56)
		if n > 0 {
			return n
		}
		if _, again := a.q.look(); version == again {
			return 0
		}
	}
}

// Push adds v, as [Local.Push] does, and returns its Handle.
func (l *AddressableLocal[T]) Push(priority int, v T) *Handle[T] {
	h := &Handle[T]{of: l.of, v: v}
	l.local.Push(priority, ticket[T]{h, 0})
	return h
}

// Pop removes and returns a value, as [Local.Pop] does.
func (l *AddressableLocal[T]) Pop() (v T, ok bool) {
	_, v, ok = l.Next()
	return v, ok
}

// Next is [AddressableLocal.Pop], and also returns the priority.
func (l *AddressableLocal[T]) Next() (priority int, v T, ok bool) {
	for {
		priority, e, ok := l.local.Next()
		if !ok {
			return 0, v, false
		}
		if e.h.turn.CompareAndSwap(e.turn, e.turn+1) {
			return priority, e.h.take(), true
		}
		l.of.behind.Add(-1)
	}
}

// Len returns about how many entries this queue has: no fewer than there are values.
func (l *AddressableLocal[T]) Len() int { return l.local.Len() }

// Fix is [Handle.Fix], but puts the value into this local queue, as Push does. It panics if h
// is not of the same Addressable.
func (l *AddressableLocal[T]) Fix(h *Handle[T], priority int) bool {
	if h == nil || h.of != l.of {
		panic("ordered: AddressableLocal.Fix: the Handle is not of this queue")
	}
	return h.fix(func(t ticket[T]) { l.local.Push(priority, t) })
}

// Fix gives the value another priority, and reports whether it did: false if the value was taken
// or removed. It puts the value into the global queue, as the newest of its priority, also if
// that is what it has been. Fix takes as long as a Push. It panics if h is not from a Push.
func (h *Handle[T]) Fix(priority int) bool {
	h.check("Fix")
	return h.fix(func(t ticket[T]) { h.of.q.Push(priority, t) })
}

// Remove takes the value out, and returns it. It reports false if the value was taken or removed
// before. It takes no lock, except to sweep; see [Addressable]. It panics if h is not from a Push.
func (h *Handle[T]) Remove() (v T, ok bool) {
	h.check("Remove")
	if _, ok := h.advance(1); !ok {
		return v, false
	}
	v = h.take()
	h.of.leftBehind()
	return v, true
}

func (h *Handle[T]) check(op string) {
	if h == nil || h.of == nil {
		panic("ordered: Handle." + op + ": the Handle is not from a Push")
	}
}

// advance adds n to the turn, if the value is queued, and returns the new turn. The entry counts no
// more.
func (h *Handle[T]) advance(n uint64) (turn uint64, ok bool) {
	for {
		turn = h.turn.Load()
		if turn%2 != 0 {
			return 0, false
		}
		if h.turn.CompareAndSwap(turn, turn+n) {
			return turn + n, true
		}
	}
}

// take returns the value for the goroutine that has made the turn odd.
func (h *Handle[T]) take() T {
	v := h.v
	var zero T
	h.v = zero
	return v
}

// fix makes a new entry for the value, if it is queued. Of those that fix at once, each makes one,
// and the last counts. Between the turn and the push no queue has the value. So it counts as
// moving.
func (h *Handle[T]) fix(push func(t ticket[T])) bool {
	a := h.of
	a.moving.Add(1) // (W56) before the entry counts no more; pairs with (R56)
	defer a.moving.Add(-1)
	turn, ok := h.advance(2)
	if ok {
		push(ticket[T]{h, turn})
		a.leftBehind()
	}
	return ok
}

// leftBehind counts an entry that does not count any more, and sweeps the global queue if half of
// what it has must be such entries.
func (a *Addressable[T]) leftBehind() {
	q := a.q
	if !a.isStale(a.behind.Add(1)) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !a.isStale(a.behind.Load()) { // another goroutine has swept it meanwhile
		return
	}
	var rest queue.Levels[ticket[T]]
	for q.global.Len() > 0 {
		if priority, e := q.global.Pop(); e.h.turn.Load() == e.turn {
			rest.Push(priority, e)
		} else {
			a.behind.Add(-1)
		}
	}
	q.global = rest
	q.changed()
}

// isStale reports whether half of the global queue must be entries that were left behind, if there are
// so many.
func (a *Addressable[T]) isStale(behind int64) bool {
	q := a.q
	n := behind - int64(len(q.locals)*q.capacity) - 64 // so many may be in local queues
	return n > 0 && 2*n > int64(length(q.word.Load()))
}
