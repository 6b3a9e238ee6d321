package task

import (
	"errors"
	"strings"
)

// The reasons why a task does not run, or ends without a result. Package filch says when.
var (
	ErrClosed    = errors.New("filch: the pool is closed")
	ErrQueueFull = errors.New("filch: the queue is full")
	ErrGoexit    = errors.New("filch: the task called runtime.Goexit")
	ErrInside    = errors.New("filch: called from inside a task, which would wait for itself")
)

// errNotSubmitted is the error of a task whose submission panicked, in a callback.
var errNotSubmitted = errors.New("filch: the task was not submitted: a callback panicked")

// InOp returns err as the error of op, followed by more. The package name, which both begin with, appears once.
func InOp(op string, err error, more string) error { return &opError{op, more, err} }

type opError struct {
	op, more string
	err      error
}

func (e *opError) Error() string {
	return "filch: " + e.op + ": " + strings.TrimPrefix(e.err.Error(), "filch: ") + e.more
}

func (e *opError) Unwrap() error { return e.err }
