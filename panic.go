package filch

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/task"
	"github.com/filch-go/filch/internal/tell"
)

// Errors of tasks, users' panics in transit, and panics for misuse.

// The reasons why a task does not run, or ends without a result. Test with errors.Is.
var (
	// ErrClosed is the error of tasks that are submitted after [Pool.Shutdown] or [Pool.Close], or dropped by them.
	ErrClosed = task.ErrClosed
	// ErrQueueFull is the error of a task that finds no room in a limited queue, or no task slot.
	ErrQueueFull = task.ErrQueueFull
	// ErrGoexit is the error of tasks that end in runtime.Goexit.
	ErrGoexit = task.ErrGoexit
	// ErrInside is the error of a call that would wait for the task that makes it, directly or through other tasks.
	ErrInside = task.ErrInside
)

// PanicError is a panic on its way to the caller. Do, Call and Join panic with it when something that they run panics, on any
// worker. It is also the error of a task that panics.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the panicking goroutine, as by debug.Stack
}

// Error returns the panic value, up to 12 frames of its stack in the caller's code, and the whole stack. It says whether
// filch panicked, because it was misused, or a function that it called.
func (e *PanicError) Error() string {
	text, own := strings.CutPrefix(fmt.Sprint(e.Value), "filch: ")
	where := "panic in a function called by filch: "
	if own {
		where = "panic in filch: "
	}
	return where + text + "\n\n" + tell.UserFrames(string(e.Stack)) + string(e.Stack)
}

// Unwrap returns the value if it is an error, otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// panicError wraps the value of a panic, unless it is wrapped already. Call it while the panic's stack is still there.
func panicError(v any) *PanicError {
	if err, ok := v.(*PanicError); ok && err != nil {
		return err
	}
	return &PanicError{Value: checks.OrDisorder(v), Stack: debug.Stack()}
}

// isNotMade panics because op was called on a nil or zero value of typ; by names the function that makes such values.
//
//go:noinline
func isNotMade(op, typ, by string) {
	panic("filch: " + op + ": the " + typ + " is nil or zero: make one with " + by)
}

// needs panics unless ok, because an argument of op is nil.
func needs(ok bool, op, argument string) {
	if !ok {
		isNil(op, argument)
	}
}

//go:noinline
func isNil(op, argument string) { panic("filch: " + op + ": " + argument + " is nil") }
