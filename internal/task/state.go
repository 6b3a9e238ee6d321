package task

import (
	"fmt"
	"sync/atomic"
)

// State is the progress of a Future's task:
//
//	      Free            Claim              Finish
//	held ──────> queued ─────────> running ──────────> done
//	  └───────────────────────────────^
//	            ClaimToDrop
//
// Few tasks are held: those of After and of a Subpool. A promise is held until it is completed. In any of these states, Watch
// notes that there is a waiter, so that Finish says so. The context of tasks without a Future is shared from the beginning,
// and stays so.
//
//	bits 0-1   queued, running or done
//	bit  2     watched
//	bit  3     shared: of no Future
//	bit  4     within: the task runs within the slot of another
//	bit  5     held: not queued yet
//	bits 6-31  the runner: Worker.number of the worker that runs it, or 0
type State struct{ word atomic.Uint32 }

// A Status is a value of the word.
type Status uint32

const (
	stateQueued    = 0
	stateRunning   = 1
	stateDone      = 2
	stateProgress  = 3 // the bits of the progress
	stateWatched   = 1 << 2
	stateShared    = 1 << 3
	stateWithin    = 1 << 4
	stateHeld      = 1 << 5
	stateOneRunner = 1 << 6
)

func (s Status) IsQueued() bool { return s&(stateProgress|stateShared|stateHeld) == stateQueued }
func (s Status) IsHeld() bool   { return s&(stateProgress|stateHeld) == stateHeld }
func (s Status) IsUnstarted() bool {
	return s&(stateProgress|stateShared) == stateQueued
}
func (s Status) IsRunning() bool { return s&stateProgress == stateRunning }
func (s Status) IsDone() bool    { return s&stateProgress == stateDone }
func (s Status) IsShared() bool  { return s&stateShared != 0 }

// HoldsSlot reports whether the task was claimed and has its own slot.
func (s Status) HoldsSlot() bool { return s.IsRunning() && s&stateWithin == 0 }

// Runner returns the number of the worker that runs the task, or 0.
func (s Status) Runner() uint32 { return uint32(s / stateOneRunner) }

// String names the parts.
func (s Status) String() string {
	if s.IsShared() {
		return "shared"
	}
	return fmt.Sprintf("{%s, watched: %t, within: %t, held: %t, runner: %d}",
		[...]string{"queued", "running", "done", "?"}[s&stateProgress], s&stateWatched != 0, s&stateWithin != 0, s&stateHeld != 0, s.Runner())
}

func (t *State) Load() Status { return Status(t.word.Load()) }

// Share makes a new state that of a context for any number of tasks.
func (t *State) Share() { t.word.Store(stateShared) }

// Claim claims the task for the caller, to run it on the worker with the number runner unless that is 0, or to drop it. It
// returns false if another has claimed it.
func (t *State) Claim(runner uint32, within bool) bool {
	to := Status(stateRunning + runner*stateOneRunner)
	if within {
		to |= stateWithin
	}
	for {
		s := t.Load()
		if !s.IsQueued() {
			return false
		}
		if t.word.CompareAndSwap(uint32(s), uint32(s|to)) {
			return true
		}
	}
}

// Hold makes a new task held. within tells whether it needs no slot.
func (t *State) Hold(within bool) {
	if within {
		t.word.Or(stateHeld | stateWithin)
	} else {
		t.word.Or(stateHeld)
	}
}

// Free lets a held task start.
func (t *State) Free() { t.word.And(^uint32(stateHeld)) }

// ClaimToDrop is Claim for a caller that drops the task, even if it is held.
func (t *State) ClaimToDrop() bool {
	for {
		s := t.Load()
		if !s.IsUnstarted() {
			return false
		}
		if t.word.CompareAndSwap(uint32(s), uint32(s&^stateHeld|stateRunning)) {
			return true
		}
	}
}

// Finish notes that the task has its result, and reports whether there is a waiter. A refused task may never have been
// queued.
func (t *State) Finish() (watched bool) {
	s := Status(t.word.Swap(stateDone)) // (W40) the result; pairs with (R40)
	mustBeFirst(s)
	return s&stateWatched != 0
}

// Watch notes that there is a waiter, and reports whether there is nothing to wait for.
func (t *State) Watch() (done bool) { return Status(t.word.Or(stateWatched)).IsDone() } // (R40)
