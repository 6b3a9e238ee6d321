// Package deque holds the queues of a work-stealing worker: its owner pushes
// and pops at one end, newest first, and thieves steal at the other, oldest
// first.
//
// The two roles are two types, so that an [Owner] cannot steal and a [Thief]
// cannot push. A constructor returns both. The Owner belongs to one goroutine
// at a time; the Thief may be shared by any number.
//
// # Contract
//
//   - Every pushed value is handed out exactly once, by Pop or by Steal.
//   - Pop returns the newest value that is left, Steal the oldest.
//   - A Push synchronizes before the Pop or Steal that returns its value.
//   - Nothing is kept: a slot whose value was handed out is cleared, and the
//     memory of a burst is given back as the owner pops.
//   - Len is a hint, never negative.
//
// Indices are 64 bits wide on every platform and do not wrap.
//
// # Which one
//
//   - [NewChaseLev] takes no lock, and no goroutine ever waits. While the owner moves to
//     another ring, thieves get Retry.
//   - [NewHybrid] has a lock for thieves. Push takes it to grow, and Pop to shrink and for
//     the last value. [Thief.TrySteal] limits how long a thief waits for another.
//   - [NewMutex] always takes a lock. The others are compared with it.
package deque

import (
	"fmt"
	"runtime"
	"time"

	"github.com/filch-go/filch/internal/race"
)

// Owner is the end of a deque that pushes and pops. It must be used by one
// goroutine at a time; handing it on needs a synchronizing event in between. The
// race detector reports a second one.
type Owner[T any] struct {
	chaseLev[T]
	instead owned[T] // what it is, if not nil
	turns   int      // see touch
	_       [line - 3*8 - 5*word]byte
}

// touch shows the race detector every use, also one that finds nothing.
func (o *Owner[T]) touch() { race.Touch(&o.turns) }

// Thief is the end of a deque that steals. It may be used by many goroutines.
type Thief[T any] struct {
	s      *shared[T]
	locked locked[T] // instead, if not nil
}

// owned is what the owner sees of a deque with a lock. A program that makes none carries none, nor anything else, by the names of the methods, that the
// linker takes for one.
type owned[T any] interface {
	ownPush(v T)
	ownPop() (v T, ok bool)
	ownLen() int
}

// locked is what thieves see of it.
type locked[T any] interface {
	size() int
	steal(timeout time.Duration) (T, Result)
	stealHalf(dst []T) (int, Result)
}

// forever is a timeout.
const forever = -1

// Len returns the number of values. Thieves may lower it at any time. It takes the
// lock, if the deque has one, where Pop does.
func (o *Owner[T]) Len() int {
	o.touch()
	if o.instead != nil {
		return o.instead.ownLen()
	}
	return int(o.bottom - o.s.top.Load())
}

// TrySteal is [Thief.Steal], but it waits at most the timeout for other goroutines at the
// deque, by runtime.Gosched, and then returns Retry. With 0 it does not wait at all, for
// a first pass over many victims. It panics if the timeout is negative.
func (th *Thief[T]) TrySteal(timeout time.Duration) (v T, r Result) {
	if timeout < 0 {
		panic(fmt.Sprintf("deque: TrySteal(%v): the timeout must not be negative", timeout))
	}
	if th.locked != nil {
		return th.locked.steal(timeout)
	}
	if v, r = th.Steal(); r == Retry && timeout > 0 {
		for end := time.Now().Add(timeout); r == Retry && time.Now().Before(end); v, r = th.Steal() {
			runtime.Gosched()
		}
	}
	return v, r
}

// StealHalf steals the oldest values into dst: half of what there is, rounded up,
// or as many as dst has room for. It returns how many, and Success if there were any. It
// takes the values of a Chase-Lev deque one by one, since the owner checks only one claim
// at a time. So the owner and other thieves may come in between. With a lock, no other
// thief does. It panics if dst is empty.
func (th *Thief[T]) StealHalf(dst []T) (n int, r Result) {
	if len(dst) == 0 {
		panic("deque: StealHalf: dst is empty")
	}
	if th.locked != nil {
		return th.locked.stealHalf(dst)
	}
	for half := (th.Len() + 1) / 2; n < min(max(half, 1), len(dst)); n++ {
		if dst[n], r = th.Steal(); r != Success {
			break
		}
	}
	if n > 0 {
		r = Success
	}
	return n, r
}

// Result says how an attempt to steal ended.
type Result int

const (
	// Success: the value was stolen and belongs to the caller.
	Success Result = iota
	// Empty: there was nothing to steal.
	Empty
	// Retry: another thief or the owner came first. The deque may hold more;
	// the caller decides whether to try here again or elsewhere.
	Retry
)

// String returns the name of the result.
func (r Result) String() string {
	switch r {
	case Success:
		return "Success"
	case Empty:
		return "Empty"
	case Retry:
		return "Retry"
	}
	return fmt.Sprintf("Result(%d)", int(r))
}
