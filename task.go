package filch

import (
	"context"
	"errors"
	"runtime"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
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

// Go queues f and does not wait for it. f is called with a context that has the values
// of ctx, and that ends when ctx does or when the pool is closed. If ctx ends before f is
// called, f is not called. Inside f, pass that context to Go, [Submit], [ScopeOf] and
// Wait: by it they use the same worker. The context does not end when f returns. Once
// f has returned and the context is unreachable, its channel may be closed.
//
// Go waits for room in the queue only if [WithQueueLimit] says so, and for a slot only if
// [WithTaskLimit] does, at most until ctx ends. It returns an error, and f is not called,
// if the pool is closed, the queue is full, or ctx has ended. A panic in f goes to the
// handler of [WithPanicHandler]. Without a handler it ends the program, like that of any
// goroutine; with [CallerRuns] it arrives at the caller. runtime.Goexit in f ends f. If f
// runs on the caller's goroutine, it ends that too.
//
// Without options, or with [AtPriority] and [Fair], Go allocates only room in the queue,
// 32 bytes, and costs about as much as an uncontended mutex or two. It panics if ctx or f
// is nil.
func (p *Pool) Go(ctx context.Context, f func(ctx context.Context), opts ...TaskOption) error {
	return p.goTask("Go", ctx, f, opts, false)
}

// TryGo is [Pool.Go], but it never waits and never runs f itself: if the queue is
// full, or as many tasks are unfinished as [WithTaskLimit] allows, it returns
// ErrQueueFull.
func (p *Pool) TryGo(ctx context.Context, f func(ctx context.Context), opts ...TaskOption) error {
	return p.goTask("TryGo", ctx, f, opts, true)
}

func (p *Pool) goTask(op string, ctx context.Context, f func(ctx context.Context), opts []TaskOption, try bool) error {
	needs(ctx != nil, op, "ctx")
	needs(f != nil, op, "f")
	var o taskOptions
	var err error
	if len(opts) > 0 {
		o, err = p.optionsOf(op, opts)
	}
	if o.plain() && err == nil {
		return p.submit(ctx, task{p.inherited(ctx), plainTask(f)}, o.priority, o.fair, try)
	}
	o.detached = true
	future := newFuture(ctx, p, func(ctx context.Context) (struct{}, error) {
		f(ctx)
		return struct{}{}, nil
	}).with(o, nil)
	if err != nil {
		return future.refuse(ctx, o, err)
	}
	return future.submit(ctx, o, try)
}

// task is what queues hold.
type task struct {
	ctx  context.Context // of the submitter; nil if the body has it
	body body
}

// body is what there is to do, and who wants to know how it ends.
type body interface {
	// start calls the function, for a worker in the given seat, and reports true,
	// unless its context has ended, or another goroutine has started or dropped the
	// task. If exclusive, the caller is the worker's goroutine.
	start(p *Pool, s seat, ctx context.Context, exclusive bool) bool
	// drop ends a task with err, if it has not started.
	drop(p *Pool, err error)
	// catches reports whether fail wants to know of panics. If not, they go on.
	catches(p *Pool) bool
	// fail ends a task whose function did not return, in the given seat, with a
	// *PanicError or ErrGoexit.
	fail(p *Pool, s seat, err error)
	// about tells what is known of the task.
	about() (name string, f any)
}

// plainTask is a task of Go without options.
type plainTask func(ctx context.Context)

func (f plainTask) start(p *Pool, s seat, ctx context.Context, exclusive bool) bool {
	c := p.contextFor(ctx, s, exclusive)
	switch {
	case c.Err() != nil:
		p.dropped()
		p.leaveSlot(s)
		return false
	case p.watched():
		p.watch(c, f, func() error { f(c); return nil })
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

// dropped counts a task that was cancelled before it started.
func (p *Pool) dropped() { p.ended.cancelled.Add(1) }

// crashed counts a task whose function did not return: err is a *PanicError, or
// ErrGoexit. If handle is set, a panic goes to the handler.
func (p *Pool) crashed(b body, err error, handle bool) {
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

// submit queues t for a caller that has ctx. If try is set, it neither waits nor runs t.
func (p *Pool) submit(ctx context.Context, t task, priority int, fair, try bool) error {
	if p.observer != nil && seenOf(t.body) == nil {
		return p.submit(ctx, task{t.ctx, p.see(ctx, t.body, priority)}, priority, fair, try)
	}
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.body, err)
	}
	w := p.workerOf(ctx)             // before anything is taken: a method of ctx may panic
	if p.plain && !p.paused.Load() { // what follows, for most: 39 ns for an empty task instead of 45
		if w == nil || fair || !w.tasks.pushAt(priority, 0, t) {
			p.tasks.pushAt(priority, 0, t)
		}
		p.pushed()
		return nil
	}
	if p.slots != nil {
		if ran, err := p.takeSlot(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.room != nil {
		if ran, err := p.takeRoom(ctx, t, try); ran || err != nil {
			return err
		}
	}
	if p.observer != nil {
		p.announce(t.body, TaskSubmitted, nil, func() {
			p.leaveQueue()
			p.leaveSlot(seat{})
		})
	}
	at := p.pushTime()
	if p.ageing > 0 {
		priority = policy.Aged(priority, at-p.begun, int64(p.ageing))
	}
	if w == nil || fair || int64(priority) < p.way.least.Load() || !w.tasks.pushAt(priority, at, t) {
		p.tasks.pushAt(priority, at, t) // where those that run what is less urgent see it; see way
	}
	p.pushed()
	p.urge()
	return nil
}

// pushed is called when a task was queued.
func (p *Pool) pushed() {
	if !p.engine.Wake() || p.phase.Load() == cancelled { // (R10)
		p.dropQueued() // the end of Shutdown, or Close, may have come before the push
	}
	p.guard()
}

// refuse counts a task that was not accepted, and returns err.
func (p *Pool) refuse(b body, err error) error {
	if p.observer != nil {
		p.announce(b, TaskRejected, err, func() {})
	}
	p.ended.rejected.Add(1)
	return err
}

// levelOf returns what a task of the given priority that comes now is queued by.
func (p *Pool) levelOf(priority int) int {
	if p.ageing == 0 {
		return priority
	}
	return policy.Aged(priority, clock.Now()-p.begun, int64(p.ageing))
}
