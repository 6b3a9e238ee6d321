package place

import (
	"fmt"
	"sync/atomic"
)

// Tally counts the tasks of a group. A task is queued until it begins; then it runs until it is
// done. All that are queued can be dropped at once:
//
//	         Begin            Done
//	queued ────────> running ──────> done
//	  ^  │               ^
//	  │  └─ Drop: done   └─ Start: without having been queued
//
// Submitters write one cache line and workers another. So a task costs one atomic operation
// where it is submitted and two where it runs, and no line goes to and fro for each. With all
// counts under one lock, a million empty tasks of a group took 340 ns each on one worker, and 400 on
// two; this way 210 and 110.
type Tally struct {
	_  [64]byte      // what all read
	in atomic.Uint64 // those that were queued or started, times two, and over; submitters write it
	_  [56]byte
	// Workers write these.
	begun atomic.Uint64 // those that have begun, or were started, times two, and over
	done  atomic.Uint64 // those that are done, times two, and watched
	_     [48]byte
}

const (
	over    = 1 // what was queued has been dropped; nothing more is
	watched = 1 // there is a waiter
	oneTask = 2
)

// Queue counts a task that is about to be queued. It reports false, and counts nothing, if what was
// queued has been dropped.
func (t *Tally) Queue() bool {
	for {
		in := t.in.Load()
		if in&over != 0 {
			return false
		}
		if t.in.CompareAndSwap(in, in+oneTask) {
			return true
		}
	}
}

// Start counts a task that runs without having been queued. It must not run at the same time as Drop.
func (t *Tally) Start() {
	t.in.Add(oneTask)
	t.begun.Add(oneTask)
}

// Requeue makes a started task one that is about to be queued. It reports false if what was queued
// has been dropped. It must not run at the same time as Drop.
func (t *Tally) Requeue() bool {
	if t.begun.Load()&over != 0 {
		return false
	}
	t.begun.Add(^uint64(oneTask - 1))
	return true
}

// Begin makes a queued task one that runs. It reports false if it was dropped before.
func (t *Tally) Begin() bool {
	return t.begun.Add(oneTask)&over == 0 // if it is over, this count is of no use any more
}

// Done counts a task as done, and reports whether it was the last and there is a waiter.
func (t *Tally) Done() (last bool) { return t.end(1) }

func (t *Tally) end(n uint64) (last bool) {
	done := t.done.Add(n * oneTask) // (W43) then load in; pairs with (R43)
	t.check(done)
	return done&watched != 0 && done>>1 == t.in.Load()>>1
}

// Drop drops all that are queued, and whatever would be queued from now on. It returns how many
// those are, and whether there is a waiter, and nothing left. Only the first call drops any.
func (t *Tally) Drop() (n int, last bool) {
	begun := t.begun.Or(over) // from here on, none begins
	in := t.in.Or(over)       // from here on, none is queued
	dropped := in>>1 - begun>>1
	if begun&over != 0 || dropped == 0 {
		return 0, false
	}
	return int(dropped), t.end(dropped)
}

// Watch says that there is a waiter, and reports whether nothing is left to wait for.
func (t *Tally) Watch() (none bool) {
	done := t.done.Or(watched) // (R43) then load in: of those whose Done comes later, the last sees the waiter
	return done>>1 == t.in.Load()>>1
}

// Left returns how many are not done.
func (t *Tally) Left() int {
	done := t.done.Load() >> 1 // first, so that it is not more than in
	return int(t.in.Load()>>1 - done)
}

// String tells the counts.
func (t *Tally) String() string {
	done, begun, in := t.done.Load(), t.begun.Load(), t.in.Load()
	return fmt.Sprintf("{in: %d, over: %t, begun: %d, done: %d, watched: %t}", in>>1, in&over != 0, begun>>1, done>>1, done&watched != 0)
}
