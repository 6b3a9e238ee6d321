package flow

import (
	"fmt"
	"strings"

	"github.com/filch-go/filch"
)

// Error is why a run failed, or why a graph cannot run. Its text names the way to what failed:
//
//	flow: graph "build": node "link": exit status 1
//
// The error of a graph that is a node of another comes inside that of the other.
type Error struct {
	Graph string // its name
	Node  string // the name of the node, or "" if none has failed
	Err   error  // the cause; of a node that has panicked a *[filch.PanicError]
}

// Error returns the way, and the text of the cause.
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

// panicked returns the value of a panic as Do of a pool wraps it. It must be called while the
// stack of the panic is still there: Do runs on the same goroutine. The pool is one of its own, since
// the caller's would be used inside its own work.
func panicked(v any) (err error) {
	defer func() { err, _ = recover().(error) }()
	filch.New(filch.WithWorkers(1)).Do(func(*filch.Worker) { panic(v) })
	return nil
}
