// Package deque holds the queues of a work-stealing worker: the owner pushes and pops at one end, newest first, and
// thieves steal at the other, oldest first.
//
// The roles are two types, so an [Owner] cannot steal and a [Thief] cannot push. A constructor returns both. The Owner
// belongs to one goroutine at a time; any number may share the Thief.
//
// # Contract
//
//   - Every pushed value is handed out exactly once, by Pop or by Steal.
//   - Pop returns the newest value that is left, Steal the oldest.
//   - A Push synchronizes before the Pop or Steal that returns its value.
//   - Nothing is retained: a slot is cleared when its value is handed out, and the memory of a burst is freed as the
//     owner pops.
//   - Len is a hint, never negative.
//
// Indices are 64 bits wide on every platform and do not wrap.
//
// # Which one
//
//   - [NewChaseLev] takes no lock, and no goroutine ever waits. While the owner moves to another ring, thieves get
//     Retry.
//   - [NewHybrid] has a lock for thieves. Push takes it to grow, and Pop to shrink and for the last value.
//     [Thief.TrySteal] limits how long a thief waits for another.
//   - [NewMutex] always takes a lock. It is the baseline for the others.
package deque

import (
	"fmt"
	"runtime"
	"time"

	"github.com/filch-go/filch/internal/race"
)

// Owner is the end of a deque that pushes and pops. One goroutine at a time may use it; handing it over needs a
// synchronizing event. The race detector reports concurrent use.
type Owner[T any] struct {
	chaseLev[T]
	instead owned[T] // used instead of chaseLev, if not nil
	turns   int      // see touch
	_       [line - 3*8 - 5*word]byte
}

// touch shows every use to the race detector, also one that finds nothing.
func (o *Owner[T]) touch() { race.Touch(&o.turns) }

// Thief is the end of a deque that steals. Many goroutines may use it.
type Thief[T any] struct {
	s      *shared[T]
	locked locked[T] // used instead of s, if not nil
}

// owned is the owner's view of a deque with a lock. Behind an interface, and with method names of its own, it is linked
// only into programs that make one.
type owned[T any] interface {
	ownPush(v T)
	ownPop() (v T, ok bool)
	ownLen() int
}

// locked is the thieves' view of it.
type locked[T any] interface {
	size() int
	steal(timeout time.Duration) (T, Result)
	stealHalf(dst []T) (int, Result)
}

// forever is a timeout that never expires.
const forever = -1

// Len returns the number of values. Thieves may lower it at any time. If the deque has a lock, Len takes it where Pop
// does.
func (o *Owner[T]) Len() int {
	o.touch()
	if o.instead != nil {
		return o.instead.ownLen()
	}
	return int(o.bottom - o.s.top.Load())
}

// TrySteal is [Thief.Steal], but waits for other goroutines at the deque no longer than the timeout, by
// runtime.Gosched, and then returns Retry. With 0 it does not wait at all, for a first pass over many victims. It
// panics if the timeout is negative.
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

// StealHalf steals the oldest values into dst: half of what there is, rounded up, or as many as fit. It returns how
// many, and Success if there were any. It panics if dst is empty.
//
// From a Chase-Lev deque it takes the values one by one, so the owner and other thieves may interleave. With a lock, no
// other thief does.
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
	// Retry: another thief or the owner was first. The deque may hold more; the caller decides whether to retry here or
	// go elsewhere.
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
