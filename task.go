package filch

import (
	"context"
	"errors"
	"runtime"

	"github.com/filch-go/filch/internal/task"
)

// Errors of tasks, tasks of Go, and what becomes of a task of any kind that panics or does not return.

// Why a task does not run, or ends without a result. Test with errors.Is.
var (
	// ErrClosed is the error of tasks that are submitted after [Pool.Shutdown] or
	// [Pool.Close], or dropped by them.
	ErrClosed = task.ErrClosed
	// ErrQueueFull is the error of a task that finds no room in a limited queue, or no
	// slot under a limit of tasks.
	ErrQueueFull = errors.New("filch: the queue is full")
	// ErrGoexit is the error of tasks that end in runtime.Goexit.
	ErrGoexit = errors.New("filch: the task called runtime.Goexit")
	// ErrInside is the error of a call that would wait for the task that makes it,
	// directly or by way of other tasks.
	ErrInside = errors.New("filch: called from inside a task, which would wait for itself")
)

// plainTask is a task of Go without options.
type plainTask func(ctx context.Context)

func (f plainTask) Start(tp *task.Pool, s task.Seat, ctx context.Context, exclusive bool) bool {
	c := contextFor(tp, ctx, s, exclusive)
	p := c.pool
	switch {
	case c.Err() != nil:
		p.dropped()
		p.tasks.LeaveSlot(s)
		return false
	case p.isObserved():
		p.runObserved(c, f, exclusive, func() error { f(c); return nil })
	default:
		f(c)
	}
	p.tasks.LeaveSlot(s)
	runtime.KeepAlive(c)
	return true
}

func (f plainTask) Drop(p *task.Pool, _ error) {
	p.LeaveSlot(task.Seat{})
	poolOf(p).dropped()
}

func (f plainTask) Catches(p *task.Pool) bool { return poolOf(p).onPanic != nil }

func (f plainTask) Fail(p *task.Pool, s task.Seat, err error) {
	p.LeaveSlot(s)
	poolOf(p).crashed(f, err, true)
}

func (f plainTask) Crash(p *task.Pool, s task.Seat) { crash(p, f, s) }

func (f plainTask) About() (string, any) { return "", f }

// crashed counts a task whose function did not return: err is a *PanicError, or
// ErrGoexit. If handle is set, a panic goes to the handler.
func (p *Pool) crashed(b task.Body, err error, handle bool) {
	panicked, ok := err.(*PanicError)
	if ok {
		p.outcomes.panicked.Add(1)
	} else {
		p.outcomes.failed.Add(1)
	}
	if ok && handle && p.onPanic != nil {
		defer p.onPanic(panicked) // even if the observer does not return
	}
	if o := seenOf(b); o != nil {
		o.crashed = true
		o.tell(TaskDone, err)
	}
}

// crash is the Crash of b: unless b was dropped when it was to start, and the observer
// did not return, its function has ended as by runtime.Goexit, or its panic goes on.
func crash(tp *task.Pool, b task.Body, s task.Seat) {
	p := poolOf(tp)
	if wasDropped(b) {
		p.outcomes.cancelled.Add(-1) // counted as dropped and as run
		return
	}
	p.tasks.LeaveSlot(s)
	p.crashed(b, ErrGoexit, false)
}

func (o *seen) Crash(p *task.Pool, s task.Seat) { crash(p, o, s) }

// howEnded returns the error of a function that did not return: of a panic with
// value v, or of runtime.Goexit if v is nil.
func howEnded(v any) error {
	if v == nil {
		return ErrGoexit
	}
	return panicError(v)
}
