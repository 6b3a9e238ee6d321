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
//     memory of a burst is given back as the deque drains.
//   - Len is a hint, never negative.
//
// Indices are 64 bits wide on every platform and do not wrap.
package deque

import "fmt"

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
