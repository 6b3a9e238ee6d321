package flow

import (
	"fmt"
	"strings"

	"github.com/filch-go/filch"
)

// Error is the reason why a run failed, or why a graph cannot run. Its text names the path to the failure:
//
//	flow: graph "build": node "link": exit status 1
//
// The error of a graph that is a node of another is nested in the error of the other.
type Error struct {
	Graph string // its name
	Node  string // the failed node's name, or "" if none failed
	Err   error  // the cause; for a panic, a *[filch.PanicError]
}

// Error returns the path and the text of the cause.
func (e *Error) Error() string {
	way := fmt.Sprintf("flow: graph %q: ", e.Graph)
	if e.Node != "" {
		way += fmt.Sprintf("node %q: ", e.Node)
	}
	if inner, ok := e.Err.(*Error); ok {
		return way + strings.TrimPrefix(inner.Error(), "flow: ")
	}
	return way + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// panicked returns the value of a panic as Do of a pool wraps it. Call it while the stack of the panic still exists: Do
// runs on the same goroutine. The pool is a new one, because the caller's would be used inside its own work.
func panicked(v any) (err error) {
	defer func() { err, _ = recover().(error) }()
	filch.New(filch.WithWorkers(1)).Do(func(*filch.Worker) { panic(v) })
	return nil
}
