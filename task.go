package filch

import (
	"context"
	"errors"
	"runtime"
)

// Why a task does not run, or ends without a result. Test with errors.Is.
var (
	// ErrClosed is the error of tasks that come after [Pool.Shutdown] or
	// [Pool.Close], or are cancelled by them.
	ErrClosed = errors.New("filch: the pool is closed")
	// ErrQueueFull is the error of tasks for which a limited queue has no room, or a
	// limited number of tasks no slot.
	ErrQueueFull = errors.New("filch: the queue is full")
	// ErrGoexit is the error of tasks that end in runtime.Goexit.
	ErrGoexit = errors.New("filch: the task called runtime.Goexit")
	// ErrInside is the error of a call that would wait for the task that makes it,
	// directly, or by way of another task that waits for that task.
	ErrInside = errors.New("filch: called from inside a task, which would wait for itself")
)

// plainTask is a task of Go without options.
type plainTask func(ctx context.Context)

func (f plainTask) start(p *Pool, s seat, ctx context.Context, exclusive bool) bool {
	c := p.contextFor(ctx, s, exclusive)
	switch {
	case c.Err() != nil:
		p.dropped()
		p.leaveSlot(s)
		return false
	case p.isObserved():
		p.runObserved(c, f, func() error { f(c); return nil })
	default:
		f(c)
	}
	p.leaveSlot(s)
	runtime.KeepAlive(c)
	return true
}

func (f plainTask) drop(p *Pool, _ error) {
	p.leaveSlot(seat{})
	p.dropped()
}

func (f plainTask) catches(p *Pool) bool { return p.onPanic != nil }

func (f plainTask) fail(p *Pool, s seat, err error) {
	p.leaveSlot(s)
	p.crashed(f, err, true)
}

func (f plainTask) about() (string, any) { return "", f }

// crashed counts a task whose function did not return: err is a *PanicError, or
// ErrGoexit. If handle is set, a panic goes to the handler.
func (p *Pool) crashed(b runnable, err error, handle bool) {
	panicked, ok := err.(*PanicError)
	if ok {
		p.ended.panicked.Add(1)
	} else {
		p.ended.failed.Add(1)
	}
	if ok && handle && p.onPanic != nil {
		defer p.onPanic(panicked) // even if the observer does not return
	}
	if o := seenOf(b); o != nil {
		o.tell(TaskDone, err)
	}
}

// admits returns why a task of a caller that has ctx is refused, if it is. A pool that is
// being shut down takes tasks from its own.
func (p *Pool) admits(ctx context.Context) error {
	if phase := p.phase.Load(); phase != open {
		if c := taskOf(ctx); phase != draining || c == nil || c.pool != p {
			return ErrClosed
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// refuse counts a task that was not accepted, and returns err.
func (p *Pool) refuse(b runnable, err error) error {
	if p.sees {
		p.announce(b, TaskRejected, err, func() {})
	}
	p.ended.rejected.Add(1)
	return err
}
