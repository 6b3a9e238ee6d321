package ordered

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/queue"
)

// Addressable is a [Queue] whose values can be removed or given another priority until they are taken: Push returns a
// [Handle] for that. Make one with [NewAddressable]. Any goroutine may call its methods.
//
// As in a Queue, each value is handed out exactly once, by a Pop or by Remove.
//
// Remove and Fix leave a stale entry behind, without the value. Pop skips it when its turn comes, or a sweep removes it
// once half of the global queue is stale. At most, there are as many stale entries as values, plus 128, plus twice the
// capacity of all local queues.
//
// A Push allocates the Handle, 24 bytes if T is a word. Push and Pop take not quite twice as long as a Queue's.
type Addressable[T any] struct {
	q      *Queue[ticket[T]]
	locals []AddressableLocal[T]

	_      [line]byte
	behind atomic.Int64 // stale entries still queued; all write, Remove and Fix read
	moving atomic.Int64 // values that a Fix is about to push; that Fix writes, Len reads
}

// ticket is an entry for a value in a queue. It counts as long as the handle has that turn.
type ticket[T any] struct {
	h    *Handle[T]
	turn uint64
}

// AddressableLocal is one of the local queues of an [Addressable]. As with a [Local], one goroutine at a time may use
// it.
type AddressableLocal[T any] struct {
	of    *Addressable[T]
	local *Local[ticket[T]]
}

// Handle is a value of an [Addressable]. Any goroutine may call its methods at any time.
type Handle[T any] struct {
	of *Addressable[T]
	v  T // until it is taken; the taker reads and clears it

	// turn is even while the value is queued, and is then the turn of the ticket that counts. Fix sets it to the next
	// even number; the goroutine that takes the value makes it odd. Each uses a compare-and-swap, so only one of
	// several succeeds.
	turn atomic.Uint64
}

// NewAddressable is [New] for an Addressable. It panics as New does.
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

// Local returns local queue i, counted from 0. It panics if there is none.
func (a *Addressable[T]) Local(i int) *AddressableLocal[T] {
	if i < 0 || i >= len(a.locals) {
		panic(fmt.Sprintf("ordered: Local(%d): there are %d", i, len(a.locals)))
	}
	return &a.locals[i]
}

// Len returns about how many values there are, plus stale entries left by Remove and Fix. It returns 0 only if at some
// moment there was no value. When all values are taken, Pop finds nothing, and after that Len is 0.
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

// Next is [AddressableLocal.Pop] and also returns the priority.
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

// Len returns about how many entries this queue has: no fewer than values.
func (l *AddressableLocal[T]) Len() int { return l.local.Len() }

// Fix is [Handle.Fix], but puts the value into this local queue, as Push does. It panics if h belongs to another
// Addressable.
func (l *AddressableLocal[T]) Fix(h *Handle[T], priority int) bool {
	if h == nil || h.of != l.of {
		panic("ordered: AddressableLocal.Fix: the Handle is not of this queue")
	}
	return h.fix(func(t ticket[T]) { l.local.Push(priority, t) })
}

// Fix gives the value another priority, and reports whether it did: false if the value was taken or removed. It moves
// the value to the global queue, as the newest of its priority, even if it had that priority before. Fix takes as long
// as a Push. It panics if h is not from a Push.
func (h *Handle[T]) Fix(priority int) bool {
	h.check("Fix")
	return h.fix(func(t ticket[T]) { h.of.q.Push(priority, t) })
}

// Remove removes and returns the value. It reports false if the value was already taken or removed. It takes no lock,
// except to sweep; see [Addressable]. It panics if h is not from a Push.
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

// advance adds n to the turn, if the value is queued, and returns the new turn. The old entry then no longer counts.
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

// take returns the value to the goroutine that made the turn odd.
func (h *Handle[T]) take() T {
	v := h.v
	var zero T
	h.v = zero
	return v
}

// fix makes a new entry for the value, if it is queued. Of several concurrent fixes, each makes one, and the last
// counts. Between the turn and the push no queue has the value, so fix counts it as moving.
func (h *Handle[T]) fix(push func(t ticket[T])) bool {
	a := h.of
	a.moving.Add(1) // (W56) before the old entry stops counting; pairs with (R56)
	defer a.moving.Add(-1)
	turn, ok := h.advance(2)
	if ok {
		push(ticket[T]{h, turn})
		a.leftBehind()
	}
	return ok
}

// leftBehind counts a stale entry, and sweeps the global queue if at least half of it must be stale.
func (a *Addressable[T]) leftBehind() {
	q := a.q
	if !a.isStale(a.behind.Add(1)) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !a.isStale(a.behind.Load()) { // another goroutine has swept it
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

// isStale reports whether at least half of the global queue must be stale, given the number of stale entries.
func (a *Addressable[T]) isStale(behind int64) bool {
	q := a.q
	n := behind - int64(len(q.locals)*q.capacity) - 64 // that many may be in local queues
	return n > 0 && 2*n > int64(length(q.word.Load()))
}
