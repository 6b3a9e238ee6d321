package filch

import (
	"context"
	"time"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
)

// Observer receives the events of a pool's tasks; see [WithObserver].
//
// The goroutines that submit and run tasks call Observe, several at once, and wait for it, so it must be quick and safe for
// concurrent use. No lock is held during the call: Observe may call any method of the pool. Tasks that it submits are
// observed too.
//
// With [FIFO], the calls for TaskStarted of tasks from outside come one after the other, in the order in which these tasks
// left the queue. Such a call must not wait for a later task, except with the event's context.
//
// Each task has an ID. Its events come in one of three sequences:
//
//   - TaskRejected
//   - TaskSubmitted, TaskCancelled
//   - TaskSubmitted, TaskStarted, TaskDone
//
// Each call returns before the next begins, and the last one before [Future.Wait] or [Group.Wait] returns. Exception: a task
// of a stopped group is cancelled for the group at once, but for the observer at its turn in the queue.
//
// Observe should not panic or call runtime.Goexit. If it does, no count, worker slot or queue room is lost. At TaskSubmitted
// and TaskRejected the panic reaches the caller of Go or Submit, and the task counts as cancelled. At TaskStarted and
// TaskDone it is a panic of the task. At TaskCancelled it reaches the caller of Cancel or Close if that call drops the task,
// and the caller of Wait, Help, Go or Submit if that was about to run the task inline; it ends the program if the end of a
// context drops the task elsewhere.
type Observer interface {
	Observe(e Event)
}

// Event describes a step in the life of a task. TaskDone has all times: the task waited for Started minus Submitted and ran
// for Ended minus Started.
type Event struct {
	Kind EventKind
	Pool string // the pool's name
	Task string // the task's name, if it has one; see Named
	Err  error  // of TaskDone, TaskCancelled and TaskRejected, if any

	ID       uint64 // unique in the pool; never 0
	Parent   uint64 // ID of the task whose context it was submitted with, or that made its Group; 0 if there is none in this pool
	Priority int    // see AtPriority

	Submitted time.Time // when it was accepted; zero in TaskRejected
	Started   time.Time // when it began to run; zero if it has not
	Ended     time.Time // when it was done, cancelled or rejected; zero if it was not yet

	// Worker is the number of the worker that runs the task, also inline, as Dump shows it. It is -1 before the task starts,
	// for a LongRunning task, and for a task that runs inline outside of the workers.
	Worker int

	// Context is the context that the task was submitted with; from TaskStarted on, the one that the task is called with.
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

// observing returns a function that calls o.
func observing(o Observer) func(e *task.Event) {
	return func(e *task.Event) {
		o.Observe(Event{Kind: eventKinds[e.Kind], Pool: e.Pool, Task: e.Task, Err: e.Err, ID: e.ID, Parent: e.Parent, Priority: e.Priority,
			Submitted: e.Submitted, Started: e.Started, Ended: e.Ended, Worker: e.Worker, Context: e.Context})
	}
}

// eventKinds maps the kinds of package event to EventKinds.
var eventKinds = [...]EventKind{
	event.Submitted: TaskSubmitted,
	event.Rejected:  TaskRejected,
	event.Started:   TaskStarted,
	event.Done:      TaskDone,
	event.Cancelled: TaskCancelled,
}
