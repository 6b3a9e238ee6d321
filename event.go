package filch

import (
	"context"
	"time"
)

// Observer is told what happens to the tasks of a pool; see [WithObserver].
//
// Observe is called by the goroutines that submit and run tasks, several at once, and
// they wait for it. So it must be quick and safe for concurrent use. No lock is held
// during the call, so Observe may call any method of the pool. Tasks that it submits
// are observed too.
//
// Each task has an ID and goes one of three ways, in this order of time and of calls:
//
//   - TaskRejected
//   - TaskSubmitted, TaskCancelled
//   - TaskSubmitted, TaskStarted, TaskDone
//
// Each call returns before the next begins, and the last before [Future.Wait] or
// [Group.Wait] returns. There is one exception: a task of a group that is stopped is
// cancelled for the group at once, and for the observer at its turn in the queue.
//
// Observe should not panic or call runtime.Goexit. If it does, no count, place or
// room in a queue is lost. At TaskSubmitted and TaskRejected the panic arrives at the
// caller of Go or Submit, and the task counts as cancelled. At TaskStarted and TaskDone
// it is a panic of the task. At TaskCancelled it arrives at the caller of Cancel or
// Close if that call drops the task, and at the caller of Wait, Help, Go or Submit if that
// call was about to run it in place. If the end of a context drops the task elsewhere, the
// panic ends the program.
type Observer interface {
	Observe(e Event)
}

// Event is something that happened to a task. The event of TaskDone has all that the
// earlier ones had: Started less Submitted is how long the task waited, and Ended
// less Started how long it ran.
type Event struct {
	Kind EventKind
	Pool string // its name
	Task string // its name, if it has one; see Named
	Err  error  // of TaskDone, TaskCancelled and TaskRejected, if any

	ID       uint64 // no other task of the pool has it; it is not 0
	Parent   uint64 // ID of the task whose context it was submitted with, 0 if that was none of the pool; of a Group, the task that made the group
	Priority int    // see AtPriority

	Submitted time.Time // when it was accepted; zero in TaskRejected
	Started   time.Time // when it began to run; zero if it has not
	Ended     time.Time // when it was done, cancelled or rejected; zero if it was not yet

	// Worker is the number of the worker that the task runs on, as in Dump, also if it
	// runs in place there. It is -1 before the task starts, and if it has none: for a
	// task of LongRunning, and one that runs in place elsewhere.
	Worker int

	// Context is the context that the task is called with, from TaskStarted on. Before
	// that, and for a task that never starts, it is the one that it was submitted with.
	Context context.Context
}

// EventKind is a kind of [Event].
type EventKind int

const (
	TaskSubmitted EventKind = iota // accepted
	TaskRejected                   // not accepted, with the error
	TaskStarted                    // begins to run
	TaskDone                       // has ended, with its error, a *PanicError or ErrGoexit
	TaskCancelled                  // will never run, with the reason
)

// String returns the name of the kind.
func (k EventKind) String() string {
	return nameOf("EventKind", int(k), "TaskSubmitted", "TaskRejected", "TaskStarted", "TaskDone", "TaskCancelled")
}
