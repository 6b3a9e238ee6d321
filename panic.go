package filch

import (
	"fmt"
	"runtime/debug"

	"github.com/filch-go/filch/internal/engine"
)

// PanicError is a panic on its way to the caller. Do, Call and Join panic with it when
// something that they run panics, on any worker. It is also the error of a task that
// panics.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine that panicked, as by debug.Stack
}

// Error returns the value and the stack of the panic.
func (e *PanicError) Error() string {
	return fmt.Sprintf("panic in filch: %v\n\n%s", e.Value, e.Stack)
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
	return &PanicError{Value: v, Stack: debug.Stack()}
}

// call runs fn with arg in the scope s.
func call[A, R any](s Scope, fn engine.Callee[A, R], arg A) (r R) {
	var w *engine.Worker
	switch s := s.(type) {
	case *Worker:
		w = &s.engine
	case *Pool:
		guest := s.mustEnter("Call")
		w = &guest.engine
		w.Note(engine.AtCall, nil, fn.Entry())
		defer s.exit(guest)
	case nil:
		panic("filch: Call: s is nil")
	default:
		return callIn(s, fn, arg)
	}
	if err := w.Try(func() { r = fn.Run(w, arg) }); err != nil {
		panic(err)
	}
	return r
}

func callIn[A, R any](s Scope, fn engine.Callee[A, R], arg A) (r R) {
	s.Do(func(w *Worker) {
		if _, ok := s.(taskScope); ok {
			w.engine.Note(engine.AtCall, nil, fn.Entry())
		}
		r = fn.Run(&w.engine, arg)
	})
	return r
}

// needs panics if an argument of op is nil: if it is not ok.
func needs(ok bool, op, argument string) {
	if !ok {
		isNil(op, argument)
	}
}

//go:noinline
func isNil(op, argument string) { panic("filch: " + op + ": " + argument + " is nil") }
