package task

import "github.com/filch-go/filch/internal/race"

// Invariants that only the race detector build checks. As functions with a constant condition, they cost nothing otherwise,
// not even inlining budget.

// mustBeSome panics if a task has left a room that was empty.
func mustBeSome(after roomState) {
	if race.Enabled && after.taken() == maxRoom {
		panic("filch: internal error: a task left a queue without tasks")
	}
}

// mustBeFirst panics if a finished task receives another result.
func mustBeFirst(before Status) {
	if race.Enabled && before&stateProgress == stateDone {
		panic("filch: internal error: a task got a second result: it was " + before.String())
	}
}
