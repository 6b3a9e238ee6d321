package cluster

import (
	"errors"
	"fmt"
	"time"
)

// Errors that calls return, possibly wrapped. Compare with [errors.Is].
var (
	// ErrClosed is returned by calls on a node that was closed.
	ErrClosed = errors.New("cluster: the node is closed")
	// ErrUnknownHandler is returned by Submit for a handler that no node has ever had in this cluster.
	ErrUnknownHandler = errors.New("cluster: no node has a handler of that name")
	// ErrHandlerInUse is returned by [Node.RemoveHandler] for a handler that a node has, or of which tasks are there.
	ErrHandlerInUse = errors.New("cluster: the handler is in use")
	// ErrQueueFull is returned by Submit if the stream has as many tasks, or bytes of them, as it may have, and the node is to reject.
	ErrQueueFull = errors.New("cluster: the stream of tasks is full")
	// ErrTooLarge is returned for an argument or a result that is larger than the server takes in a message.
	ErrTooLarge = errors.New("cluster: larger than a message of the server may be")
	// ErrCanceled is the outcome of a task that was canceled.
	ErrCanceled = errors.New("cluster: the task was canceled")
	// ErrDeadline is the outcome of a task whose time was over before it had ended.
	ErrDeadline = errors.New("cluster: the task's time was over")
	// ErrSilent is the cause of the end of a handler's context if it went on for too long without progress.
	ErrSilent = errors.New("cluster: the handler made no progress for too long")
	// ErrUnknownTask is returned by [Node.Cancel] and [Node.Show] for an ID of which the cluster knows nothing, or nothing any more.
	ErrUnknownTask = errors.New("cluster: nothing is known of a task of that ID")
	// ErrNoDeadLetter is returned for the ID of a task that is not in the dead letters.
	ErrNoDeadLetter = errors.New("cluster: no dead letter has that ID")
	// ErrNoResult is returned by Wait for a task that was submitted with [NoResult].
	ErrNoResult = errors.New("cluster: the task was submitted without a result")
	// ErrCycle is returned by Submit for a task that would wait for itself, by way of others.
	ErrCycle = errors.New("cluster: the task would wait for itself")
)

// TaskError is the outcome of a task that has failed for good: its handler returned an error that is not to be
// tried again, or failed as often as it may. The task is in the dead letters.
type TaskError struct {
	ID       string
	Handler  string
	Attempts int    // how often it was tried
	Message  string // of the last error
}

func (e *TaskError) Error() string {
	switch e.Attempts {
	case 0:
		return fmt.Sprintf("cluster: task %s of %s failed before it ran: %s", e.ID, e.Handler, e.Message)
	case 1:
		return fmt.Sprintf("cluster: task %s of %s failed after 1 attempt: %s", e.ID, e.Handler, e.Message)
	}
	return fmt.Sprintf("cluster: task %s of %s failed after %d attempts: %s", e.ID, e.Handler, e.Attempts, e.Message)
}

// permanent is an error that is not tried again.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent returns an error that says that its task would fail again. The task goes to the dead letters at once; it does not run
// again, also while these cannot be stored.
// It panics if err is nil.
func Permanent(err error) error {
	if err == nil {
		panic("cluster: Permanent of a nil error")
	}
	return permanent{err}
}

// later is an error that says when its task is to be tried again.
type later struct {
	error
	after time.Duration
}

func (l later) Unwrap() error { return l.error }

// RetryAfter returns an error that says that its task is to be tried again after d, instead of the backoff of the
// handler. The attempt counts. It panics if err is nil or d is negative.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		panic("cluster: RetryAfter of a nil error")
	}
	if d < 0 {
		panic("cluster: RetryAfter with a negative duration")
	}
	return later{err, d}
}
