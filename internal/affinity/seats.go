// Package affinity pins goroutines to processors: each is locked to a thread, and that thread may run on one
// processor only.
//
// Seats belong to a pool, and have its processors. A goroutine that fills a place of the pool takes a [Seat], which is on the
// processor that the fewest others are on. While it waits it lends that processor, so that the goroutine that
// fills its place gets it; but it stays locked to its thread, for it may be using coroutines of iter.Pull,
// which Go binds to the thread that they were made on. When it leaves, its thread may run where it could before.
package affinity

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// most is how many goroutines of a pool have a seat at a time, those that wait included. Each of them
// holds a thread, and Go ends a program with 10,000.
const most = 1000

// Seats are the processors of a pool, and what is pinned to them.
type Seats struct {
	kernel     Kernel
	processors []int           // in the order in which they are taken; never written again
	masks      []Mask          // of each alone; likewise
	refused    func(err error) // is told of what the kernel refuses first, once

	mu      sync.Mutex
	load    []int // how many run on each, by the index of the processor
	running int   // the sum of that
	pinned  int   // these, and those that wait
	err     error // what was refused; then nothing is pinned any more
}

// inUse is set when there are Seats.
var inUse atomic.Bool

// InUse reports whether there may be goroutines that are locked to threads by Seats.
func InUse() bool { return inUse.Load() }

// New returns Seats on the given processors. refused is told, once, if k refuses to pin a thread to one.
func New(k Kernel, processors []int, refused func(err error)) *Seats {
	inUse.Store(true)
	s := &Seats{kernel: k, processors: processors, refused: refused, load: make([]int, len(processors))}
	for _, p := range processors {
		s.masks = append(s.masks, Of(p))
	}
	return s
}

// Processors returns the processors, in the order in which they are taken.
func (s *Seats) Processors() []int { return s.processors }

// Err returns why nothing is pinned any more, or nil.
func (s *Seats) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Load returns how many goroutines run on each processor, in the order of Processors, and how many are pinned
// with those that wait.
func (s *Seats) Load() (load []int, pinned int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.load...), s.pinned
}

// A Seat is what a goroutine has that is pinned. A nil Seat is that of one that is not, and Lend, Return and Leave
// do nothing with it.
type Seat struct {
	thread int  // which the goroutine is locked to; never written again
	before Mask // that of the thread; likewise

	// The goroutine alone touches these.
	at   int  // the index of the processor
	lent bool // the goroutine waits

	on atomic.Int32 // the processor, or -1 while it is lent; the goroutine writes, thieves load
}

// Take pins the caller, which has a place of a pool of so many workers, and returns its Seat. It returns nil, and the
// caller runs anywhere, if as many run in seats already, if too many wait in them, or if the kernel refuses.
func (s *Seats) Take(workers int) *Seat {
	at, ok := s.choose(workers)
	if !ok {
		return nil
	}
	runtime.LockOSThread()
	seat := &Seat{thread: s.kernel.Thread(), at: at}
	before, err := s.kernel.Mask(0)
	if err == nil {
		err = s.kernel.SetMask(0, s.masks[at])
	}
	if err != nil {
		runtime.UnlockOSThread()
		s.leave(at, 1)
		s.refuse(at, err)
		return nil
	}
	seat.before = before
	narrowed.Store(thread{s.kernel, seat.thread}, before)
	seat.on.Store(int32(s.processors[at]))
	return seat
}

// choose counts one more on the processor that the fewest are on.
func (s *Seats) choose(workers int) (at int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.running >= workers || s.pinned >= most {
		return 0, false
	}
	s.pinned++
	return s.enter(0), true
}

// enter is the rest of choose, under the lock. Of processors with as few, the preferred one is taken, or else the first.
func (s *Seats) enter(prefer int) (at int) {
	at = prefer
	for i, n := range s.load {
		if n < s.load[at] {
			at = i
		}
	}
	s.load[at]++
	s.running++
	return at
}

// leave takes one off a processor, and so many off those that are pinned.
func (s *Seats) leave(at, pinned int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load[at]--
	s.running--
	s.pinned -= pinned
}

// refuse notes that nothing can be pinned any more, and tells of the first reason.
func (s *Seats) refuse(at int, err error) {
	err = fmt.Errorf("the kernel refuses to place a thread on processor %d: %w", s.processors[at], err)
	s.mu.Lock()
	first := s.err == nil
	if first {
		s.err = err
	}
	s.mu.Unlock()
	if first {
		s.refused(err)
	}
}

// Processor returns which processor the goroutine is pinned to, or -1 if it is not, or waits.
func (t *Seat) Processor() int {
	if t == nil {
		return -1
	}
	return int(t.on.Load())
}

// isMine reports whether t is of the caller, which is pinned: no other runs on its thread.
func (s *Seats) isMine(t *Seat) bool { return t != nil && s.kernel.Thread() == t.thread }

// Lend lets another goroutine have the caller's processor, which is about to give up its place. If the
// caller is not the goroutine that is pinned, it does nothing.
func (s *Seats) Lend(t *Seat) {
	if !s.isMine(t) || t.lent {
		return
	}
	t.lent = true
	t.on.Store(-1)
	s.leave(t.at, 0)
}

// Return takes a processor for the caller again, which has a place again: the one that it had, unless fewer run on
// another. If the caller is not the goroutine that is pinned, or has lent nothing, it does nothing.
func (s *Seats) Return(t *Seat) {
	if !s.isMine(t) || !t.lent {
		return
	}
	t.lent = false
	s.mu.Lock()
	at := s.enter(t.at)
	s.mu.Unlock()
	if at != t.at {
		if err := s.kernel.SetMask(0, s.masks[at]); err != nil {
			s.moveBack(at, t.at)
			s.refuse(at, err)
			at = t.at
		}
	}
	t.at = at
	t.on.Store(int32(s.processors[at]))
}

// moveBack counts one on another processor.
func (s *Seats) moveBack(from, to int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load[from]--
	s.load[to]++
}

// Leave ends t. It is for the goroutine that is pinned, which then runs anywhere, on a thread that may run where it could
// before. If the kernel refuses that, the goroutine stays locked to the thread, and Go ends that with it.
func (s *Seats) Leave(t *Seat) {
	if t == nil {
		return
	}
	if t.lent {
		s.mu.Lock()
		s.pinned--
		s.mu.Unlock()
	} else {
		s.leave(t.at, 1)
	}
	t.on.Store(-1)
	narrowed.Delete(thread{s.kernel, t.thread}) // in any case: the number may be another thread's when this one has ended
	if err := s.kernel.SetMask(t.thread, t.before); err != nil {
		return
	}
	runtime.UnlockOSThread()
}
