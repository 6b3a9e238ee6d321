// Package task has the tasks of a pool, from submission to result: their queues, the order in which workers take them, the
// limits on them, their contexts, and the waits for them. It is between the engine, whose Source it is, and package filch,
// which has the types that users hold. See README.md.
package task

import (
	"context"
)

// Task is an element of a queue.
type Task struct {
	Ctx  context.Context // of the submitter; nil if the body has one
	Body Body
}

// Body is the work of a task, which learns how it ends.
type Body interface {
	// Start calls the function, for a worker in the given seat, and returns true, unless its context has ended, or another
	// goroutine has started or dropped the task. If exclusive is set, the caller is the worker's goroutine.
	Start(p *Pool, s Seat, ctx context.Context, exclusive bool) bool
	// Drop ends a task with err, if it has not started.
	Drop(p *Pool, err error)
	// Catches reports whether to call Fail if Start does not return. If not, a panic goes on, and Crash is called.
	Catches(p *Pool) bool
	// Fail ends a task whose function did not return, in the given seat, with an error of Users.HowEnded.
	Fail(p *Pool, s Seat, err error)
	// Crash counts a task whose function did not return, and whose panic goes on.
	Crash(p *Pool, s Seat)
	// About returns what is known of the task.
	About() (name string, f any)
}

// Order is the order in which queued tasks start.
type Order int

const (
	LIFO       Order = iota // the newest first, of a worker's own queue
	FIFO                    // the oldest first
	ByPriority              // the most urgent first
)

// Overflow is what happens to a task that exceeds a limit.
type Overflow int

const (
	Block      Overflow = iota // the submitter waits
	Reject                     // the task is refused
	CallerRuns                 // the submitter runs it
)

// Slots are those that a task does without, because it runs within those of its submitter, which waits for its end.
type Slots uint8

const (
	PoolSlot  Slots = 1 << iota // of the pool's limit of unfinished tasks
	GroupSlot                   // of its group's
)

// Caught is deferred by all that start a task in the seat s: by serve, and by code that runs one on top of another or on its
// own goroutine. If the body is still there, its function has not returned: it has panicked, or called runtime.Goexit.
func (p *Pool) Caught(body *Body, s Seat) {
	b := *body
	if b == nil {
		return
	}
	*body = nil
	if b.Catches(p) {
		b.Fail(p, s, p.Users.HowEnded(recover()))
	} else {
		b.Crash(p, s)
	}
}
