package filch

import (
	"context"

	"github.com/filch-go/filch/internal/task"
)

// Go queues f and does not wait for it. f is called with a context that has the values
// of ctx, and that ends when ctx does or when the pool is closed. If ctx ends before f is
// called, f is not called. Inside f, pass that context to Go, [Submit], [ScopeOf] and
// Wait, so that they use the same worker. The context does not end when f returns. Once f
// has returned and the context is unreachable, its channel may be closed.
//
// If Go returns nil, f is called, unless its context ends before that, [Pool.Close] is called, or the context of
// [Pool.Shutdown] ends.
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
	if len(opts) == 0 && p != nil && p.tasks.Plain && ctx != nil && f != nil && !p.tasks.IsLogical() {
		return p.tasks.QueuePlain(ctx, task.Task{Ctx: p.tasks.Inherited(ctx), Body: task.Plain(f)}, false)
	}
	return p.goTask("Go", ctx, f, opts, false)
}

// TryGo is [Pool.Go], but it never waits and never runs f itself: if the queue is
// full, or as many tasks are unfinished as [WithTaskLimit] allows, it returns
// ErrQueueFull.
func (p *Pool) TryGo(ctx context.Context, f func(ctx context.Context), opts ...TaskOption) error {
	return p.goTask("TryGo", ctx, f, opts, true)
}

func (p *Pool) goTask(op string, ctx context.Context, f func(ctx context.Context), opts []TaskOption, try bool) error {
	p.mustBeMade(op)
	needs(ctx != nil, op, "ctx")
	needs(f != nil, op, "f")
	var o task.Options
	err := p.optionsOf(op, opts, &o)
	return p.tasks.Go(ctx, f, &o, err, try)
}

// Help runs one queued task on the caller's goroutine, and reports whether there was one.
// It takes a task from the worker's own queue if ctx comes from a task, else the oldest of
// the global queue, else one of another worker's queue. If the order is by priority, it
// takes the most urgent in place of the oldest. Use Help in a loop that waits for
// something other than a Future or a Group. The task that Help runs must not wait for the
// task that calls Help, so the pool never does this by itself. Panics and runtime.Goexit
// do what [Pool.Go] says for CallerRuns. Help panics if ctx is nil.
func (p *Pool) Help(ctx context.Context) bool {
	p.mustBeMade("Help")
	needs(ctx != nil, "Help", "ctx")
	return p.tasks.Help(ctx)
}

// Blocking calls f, which may block for long, and lends the caller's place to another
// worker meanwhile. Afterwards the caller goes on at once, on an extra place if all are
// taken. If ctx does not come from a task, Blocking just calls f. It panics if ctx or f
// is nil. Code that has a Worker and no context calls [Worker.Blocking].
//
// The pool also notices a task that blocks without Blocking, but only after no queued
// task could start for some time; see [WithStallTimeout].
func Blocking(ctx context.Context, f func()) {
	needs(ctx != nil, "Blocking", "ctx")
	needs(f != nil, "Blocking", "f")
	if c := task.Of(ctx); c != nil {
		c.Blocking(f)
	} else {
		f()
	}
}
