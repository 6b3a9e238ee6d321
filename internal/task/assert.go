package task

import "github.com/filch-go/filch/internal/race"

// What must be so, and is looked at with the race detector alone. As functions with a constant, these cost nothing else, in the budget for
// inlining neither.

// mustBeSome panics if a task has left a room that had none.
func mustBeSome(after roomState) {
	if race.Enabled && after.taken() == maxRoom {
		panic("filch: internal error: a task left a queue without tasks")
	}
}

// mustBeFirst panics if a task that was done has got a result.
func mustBeFirst(before Status) {
	if race.Enabled && before&stateProgress == stateDone {
		panic("filch: internal error: a task got a second result: it was " + before.String())
	}
}
