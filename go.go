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
	if p != nil && p.isLogical() {
		return p.goTask("Go", ctx, f, opts, false)
	}
	if len(opts) == 0 && p != nil && p.plain && ctx != nil && f != nil {
		return p.submitPlain(ctx, task.Task{Ctx: p.inherited(ctx), Body: plainTask(f)}, false)
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
	if !p.made() {
		isNotMade(op, "Pool", "New")
	}
	needs(ctx != nil, op, "ctx")
	needs(f != nil, op, "f")
	var o taskOptions
	var err error
	if len(opts) > 0 {
		o, err = p.optionsOf(op, opts)
	}
	if o.plain() && err == nil {
		if p.isLogical() {
			own := p.inherited(ctx) // before the child is opened, which reads it
			t, submitted := p.newChildTask(f), false
			defer func() { dropChildUnless(submitted, t) }()
			err = p.submit(ctx, task.Task{Ctx: own, Body: t}, o.priority, o.fair, try)
			submitted = true
			return err
		}
		return p.submit(ctx, task.Task{Ctx: p.inherited(ctx), Body: plainTask(f)}, o.priority, o.fair, try)
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
