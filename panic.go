package filch

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/tell"
)

// Panics: those of users that are on their way, and those of misuse.

// PanicError is a panic on its way to the caller. Do, Call and Join panic with it when
// something that they run panics, on any worker. It is also the error of a task that
// panics.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine that panicked, as by debug.Stack
}

// Error returns the value of the panic, the frames of its stack that are the caller's code, up to 12, and the
// whole stack. It says whether filch panicked, because it was misused, or a function that it called.
func (e *PanicError) Error() string {
	text, own := strings.CutPrefix(fmt.Sprint(e.Value), "filch: ")
	where := "panic in a function called by filch: "
	if own {
		where = "panic in filch: "
	}
	return where + text + "\n\n" + tell.UserFrames(string(e.Stack)) + string(e.Stack)
}

// Unwrap returns the value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// panicError wraps the value of a panic, unless it is wrapped already. It must be
// called while the panic's stack is still there.
func panicError(v any) *PanicError {
	if err, ok := v.(*PanicError); ok && err != nil {
		return err
	}
	return &PanicError{Value: checks.OrDisorder(v), Stack: debug.Stack()}
}

// inOp returns err as the error of op, with more behind it. Both begin with the name of the package,
// which is said once.
func inOp(op string, err error, more string) error { return &opError{op, more, err} }

type opError struct {
	op, more string
	err      error
}

func (e *opError) Error() string {
	return "filch: " + e.op + ": " + strings.TrimPrefix(e.err.Error(), "filch: ") + e.more
}

func (e *opError) Unwrap() error { return e.err }

// isNotMade panics, since op was called on a nil or zero value of a type whose values the function
// named by is there to make.
//
//go:noinline
func isNotMade(op, typ, by string) {
	panic("filch: " + op + ": the " + typ + " is nil or zero: make one with " + by)
}

// needs panics if an argument of op is nil: if it is not ok.
func needs(ok bool, op, argument string) {
	if !ok {
		isNil(op, argument)
	}
}

//go:noinline
func isNil(op, argument string) { panic("filch: " + op + ": " + argument + " is nil") }
