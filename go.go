package filch

import (
	"context"

	"github.com/filch-go/filch/internal/task"
)

// Go queues f and does not wait for it. The context of f has the values of ctx and ends when ctx does or the pool is closed,
// but not when f returns; once f has returned and the context is unreachable, its channel may be closed. Inside f, pass that
// context to Go, [Submit], [ScopeOf] and Wait, so that they use the same worker.
//
// If Go returns nil, f is called unless its context ends first, [Pool.Close] is called, or the context of [Pool.Shutdown]
// ends. If the pool is closed, the queue is full, or ctx has ended, Go returns an error and f is not called. Go blocks only
// for room in the queue of [WithQueueLimit] and for a task slot of [WithTaskLimit], at most until ctx ends.
//
// A panic in f goes to the handler of [WithPanicHandler]. Without one it ends the program, as in any goroutine; with
// [CallerRuns] it reaches the caller. runtime.Goexit in f ends f, and also the caller's goroutine if f runs there.
//
// Without options, or with [AtPriority] and [Fair], Go allocates only 32 bytes of queue and costs about as much as an
// uncontended mutex or two. It panics if ctx or f is nil.
func (p *Pool) Go(ctx context.Context, f func(ctx context.Context), opts ...TaskOption) error {
	if len(opts) == 0 && p != nil && p.tasks.Plain && ctx != nil && f != nil && !p.tasks.IsLogical() {
		return p.tasks.QueuePlain(ctx, task.Task{Ctx: p.tasks.Inherited(ctx), Body: task.Plain(f)}, false)
	}
	return p.goTask("Go", ctx, f, opts, false)
}

// TryGo is [Pool.Go], but never blocks and never runs f itself: if the queue is full, or [WithTaskLimit] allows no more
// unfinished tasks, it returns ErrQueueFull.
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

// Help runs one queued task on the caller's goroutine, and returns false if there was none. It takes a task from the worker's
// own queue if ctx comes from a task, else the oldest of the global queue, else one of another worker's queue. By priority,
// it takes the most urgent instead of the oldest. Use Help in a loop that waits for something other than a Future or a Group.
// The task must not wait for the task that calls Help, which is why the pool never does this by itself. Panics and
// runtime.Goexit do what [Pool.Go] says for CallerRuns. Help panics if ctx is nil.
func (p *Pool) Help(ctx context.Context) bool {
	p.mustBeMade("Help")
	needs(ctx != nil, "Help", "ctx")
	return p.tasks.Help(ctx)
}

// Blocking calls f, which may block for long, and lends the caller's worker slot to another worker meanwhile. Afterwards the
// caller goes on at once, on an extra slot if all are taken. If ctx does not come from a task, Blocking just calls f. It
// panics if ctx or f is nil. With a Worker and no context, call [Worker.Blocking].
//
// The pool also notices tasks that block without Blocking, but only after no queued task could start for some time; see
// [WithStallTimeout].
func Blocking(ctx context.Context, f func()) {
	needs(ctx != nil, "Blocking", "ctx")
	needs(f != nil, "Blocking", "f")
	if c := task.Of(ctx); c != nil {
		c.Blocking(f)
	} else {
		f()
	}
}
