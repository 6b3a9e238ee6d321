package filch

import (
	"fmt"
	"runtime/debug"
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

// mark is a state of a worker's forks to return to.
type mark struct{ acts, forks int }

func (w *Worker) mark() mark {
	m := mark{acts: len(w.acts)}
	if m.acts > 0 {
		m.forks = w.acts[m.acts-1].mark()
	}
	return m
}

// try calls f. If f panics, the forks it has left open are dropped, and the
// panic is returned. If f ends in runtime.Goexit, they are dropped as well, and
// the goroutine exits.
func (w *Worker) try(f func(w *Worker)) (err *PanicError) {
	w.checkUse()
	returned := false
	m := w.mark()
	defer func() {
		if !returned {
			err = w.caught(m, recover())
		}
	}()
	f(w)
	returned = true
	return nil
}

// caught drops the forks above m after a panic with value v, or after
// runtime.Goexit, if v is nil: then it returns nil. It must be called while
// the panic's stack is still there.
func (w *Worker) caught(m mark, v any) *PanicError {
	var err *PanicError
	if v != nil {
		err = panicError(v)
	}
	w.unwinding = true
	for n := len(w.acts); n > m.acts; n-- {
		a := w.acts[n-1]
		a.drop(0)
		w.pop()
		a.close()
	}
	if m.acts > 0 {
		w.acts[m.acts-1].drop(m.forks)
	}
	w.unwinding = false
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
func call[A, R any](s Scope, fn callee[A, R], arg A) (r R) {
	var w *Worker
	switch s := s.(type) {
	case *Worker:
		w = s
	case *Pool:
		w = s.mustEnter("Call")
		w.doing.Store(makeDoing(atCall, nil, fn.entryPoint()))
		defer s.exit(w)
	case nil:
		panic("filch: Call: s is nil")
	default:
		return callIn(s, fn, arg)
	}
	if err := w.try(func(w *Worker) { r = fn.run(w, arg) }); err != nil {
		panic(err)
	}
	return r
}

func callIn[A, R any](s Scope, fn callee[A, R], arg A) (r R) {
	s.Do(func(w *Worker) {
		if _, ok := s.(taskScope); ok {
			w.doing.Store(makeDoing(atCall, nil, fn.entryPoint()))
		}
		r = fn.run(w, arg)
	})
	return r
}
