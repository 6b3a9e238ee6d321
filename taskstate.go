package filch

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/race"
)

// taskState tells how far the task of a Future is:
//
//	      free            claim              finish
//	held ──────> queued ─────────> running ──────────> done
//	  └───────────────────────────────^
//	            claimToDrop
//
// Few are held: those of [After] and of a [Subpool]. A promise is held until it is completed. In any of these states, watch notes that there is a waiter, so that finish says so. The
// context of tasks without a Future is shared from the beginning, and stays so.
//
//	bits 0-1   queued, running or done
//	bit  2     watched
//	bit  3     shared: of no Future
//	bit  4     within: the task runs within the slot of another
//	bit  5     held: not queued yet
//	bits 6-31  the runner: Worker.number of the worker that runs it, or 0
type taskState struct{ word atomic.Uint32 }

// A taskStatus is a value of the word.
type taskStatus uint32

const (
	taskQueued    = 0
	taskRunning   = 1
	taskDone      = 2
	taskProgress  = 3 // the bits of the above
	taskWatched   = 1 << 2
	taskShared    = 1 << 3
	taskWithin    = 1 << 4
	taskHeld      = 1 << 5
	taskOneRunner = 1 << 6
)

func (s taskStatus) isQueued() bool { return s&(taskProgress|taskShared|taskHeld) == taskQueued }
func (s taskStatus) isHeld() bool   { return s&(taskProgress|taskHeld) == taskHeld }
func (s taskStatus) isUnstarted() bool {
	return s&(taskProgress|taskShared) == taskQueued
}
func (s taskStatus) isRunning() bool { return s&taskProgress == taskRunning }
func (s taskStatus) isDone() bool    { return s&taskProgress == taskDone }
func (s taskStatus) isShared() bool  { return s&taskShared != 0 }

// holdsSlot reports whether the task was claimed and has a slot of its own.
func (s taskStatus) holdsSlot() bool { return s.isRunning() && s&taskWithin == 0 }

// runner returns the number of the worker that runs the task, or 0.
func (s taskStatus) runner() uint32 { return uint32(s / taskOneRunner) }

// String tells the parts.
func (s taskStatus) String() string {
	if s.isShared() {
		return "shared"
	}
	return fmt.Sprintf("{%s, watched: %t, within: %t, held: %t, runner: %d}",
		[...]string{"queued", "running", "done", "?"}[s&taskProgress], s&taskWatched != 0, s&taskWithin != 0, s&taskHeld != 0, s.runner())
}

func (t *taskState) load() taskStatus { return taskStatus(t.word.Load()) }

// share makes the state that of a context for any number of tasks. It is for a new one.
func (t *taskState) share() { t.word.Store(taskShared) }

// claim makes the caller the one that runs the task, on a worker with that number unless
// it is 0, or that drops it. It reports false if another has claimed it.
func (t *taskState) claim(runner uint32, within bool) bool {
	to := taskStatus(taskRunning + runner*taskOneRunner)
	if within {
		to |= taskWithin
	}
	for {
		s := t.load()
		if !s.isQueued() {
			return false
		}
		if t.word.CompareAndSwap(uint32(s), uint32(s|to)) {
			return true
		}
	}
}

// hold makes the task one that is held. It is for a new one. within tells whether it needs no slot.
func (t *taskState) hold(within bool) {
	if within {
		t.word.Or(taskHeld | taskWithin)
	} else {
		t.word.Or(taskHeld)
	}
}

// free makes a task that was held one that may start.
func (t *taskState) free() { t.word.And(^uint32(taskHeld)) }

// claimToDrop is claim for a caller that drops the task, which may be held.
func (t *taskState) claimToDrop() bool {
	for {
		s := t.load()
		if !s.isUnstarted() {
			return false
		}
		if t.word.CompareAndSwap(uint32(s), uint32(s&^taskHeld|taskRunning)) {
			return true
		}
	}
}

// finish notes that the task has its result, and reports whether there is a waiter.
// A task may be refused without ever having been queued.
func (t *taskState) finish() (watched bool) {
	s := taskStatus(t.word.Swap(taskDone)) // (W40) the result; pairs with (R40)
	if race.Enabled && s&taskProgress == taskDone {
		panic("filch: internal error: a task got a second result: it was " + s.String())
	}
	return s&taskWatched != 0
}

// watch notes that there is a waiter, and reports whether there is nothing to wait for.
func (t *taskState) watch() (done bool) { return taskStatus(t.word.Or(taskWatched)).isDone() } // (R40)
