package filch

import (
	"context"

	"github.com/filch-go/filch/internal/task"
)

// A Future, as those see it that submit its task and wait for it. The type stands in model.go, and its task
// in futuretask.go.

func newFuture[T any](ctx context.Context, p *Pool, f func(ctx context.Context) (T, error)) *Future[T] {
	future := &Future[T]{f: f}
	future.ctx.init(p.inherited(ctx), p)
	return future
}

// Submit queues f, as [Pool.Go] does, and returns its Future. If f cannot be
// queued, the Future has the error. Submit waits when Go does. A panic in f becomes the
// error of the Future, a [*PanicError]; runtime.Goexit becomes [ErrGoexit].
//
// If ctx ends before f begins, f is dropped; if f runs, its context ends. So what others wait for
// as well, such as the entry of a cache, is submitted with [context.WithoutCancel] of ctx.
//
// Submit allocates the Future, 96 bytes for a result of a word. It panics if an
// argument is nil.
func Submit[T any](ctx context.Context, p *Pool, f func(ctx context.Context) (T, error), opts ...TaskOption) *Future[T] {
	needs(ctx != nil, "Submit", "ctx")
	needs(p != nil, "Submit", "p")
	needs(f != nil, "Submit", "f")
	future := newFuture(ctx, p, f)
	if len(opts) == 0 && p.plain {
		if p.isLogical() {
			future.logical.Set(future.ctx.openChild(nil))
		}
		if err := p.submitPlain(ctx, task.Task{Body: future.body()}, false); err != nil {
			future.resolve(future.value, err)
		}
		return future
	}
	if !p.made() {
		isNotMade("Submit", "Pool", "New")
	}
	var o taskOptions
	var err error
	if len(opts) > 0 {
		o, err = p.optionsOf("Submit", opts)
	}
	if !o.plain() {
		future.with(o, nil)
	}
	if err == nil {
		err = future.submit(ctx, o, false)
	} else {
		err = future.refuse(ctx, o, err)
	}
	if err != nil {
		future.resolve(future.value, err)
	}
	return future
}

// with gives the task options.
func (f *Future[T]) with(o taskOptions, onDone func(err error, ran bool)) *Future[T] {
	m := o.extras()
	m.options, m.onDone = o, onDone
	f.ctx.extras.Store(m)
	return f
}

// submit queues the task. If it returns an error, the Future is not resolved.
func (f *Future[T]) submit(ctx context.Context, o taskOptions, try bool) (err error) {
	if o.onDrop != nil {
		err = errNotSubmitted // unless what follows returns
		defer func() {
			if err != nil && f.ctx.state.Load().IsQueued() { // else it has run, and does not return
				o.tellDropped(err)
			}
		}()
	}
	f.see(ctx, o)
	if f.ctx.pool.isLogical() {
		f.logical.Set(f.ctx.openChild(o.hold))
		err = errNotSubmitted // likewise
		defer func() { dropChildUnless(err != errNotSubmitted, f.body()) }()
	}
	if !o.deadline.IsZero() {
		f.ctx.makeCancellation()
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, o.deadline) // a wait for room ends, too
		defer cancel()
	}
	if o.hold != nil {
		if holds, err := o.hold.holds(); holds {
			if f.ctx.pool.isLogical() && f.ctx.pool.plain && (o.hold.sub == nil || o.hold.sub.tasks.Room == nil) {
				return aside(func() error { return f.ctx.pool.submitHeld(ctx, f.body(), &o, try) })
			}
			return f.ctx.pool.submitHeld(ctx, f.body(), &o, try)
		} else if err != nil {
			return f.ctx.pool.refuse(f.body(), err)
		}
	}
	if o.longRunning {
		return f.ctx.pool.runLong(ctx, task.Task{Body: f.body()}, try)
	}
	return f.ctx.pool.submit(ctx, task.Task{Body: f.body()}, o.priority, o.fair, try)
}

// refuse counts a task with options that cannot be met.
func (f *Future[T]) refuse(ctx context.Context, o taskOptions, err error) error {
	defer o.tellDropped(err) // even if the observer does not return
	f.see(ctx, o)
	return f.ctx.pool.refuse(f.body(), err)
}

// see lets the pool's observer, and its hook, see the task, if there is one.
func (f *Future[T]) see(ctx context.Context, o taskOptions) {
	if p := f.ctx.pool; p.sees {
		f.ctx.needExtras().seen = p.newSeen(ctx, f.body(), o.priority)
	}
}

// Wait waits until the task is done and returns its result. If ctx ends before that, Wait
// returns its error, as by context.Cause, and the task goes on.
//
// Inside a task of the same pool, ctx must come from the context of that task. If the
// awaited task has not started, it runs at once, on the caller's goroutine, so tasks may
// wait for tasks on a single worker. If it runs elsewhere, the caller's place goes to
// another worker until it is done. With another context, such as context.Background() or
// that of a task around it, Wait blocks the worker. All workers may then stand still
// until the pool adds a place; see [WithStallTimeout]. A pool with [WithLogger] logs that
// once.
//
// If the awaited task is held, since it comes after others, these run in place first, as far as they have
// not started; see [After]. A [Promise] has nothing to run.
//
// Wait does not run unrelated tasks meanwhile: such a task could wait for the caller's
// task, and keep it from going on. A task that runs in place is not given up when ctx
// ends. If it calls runtime.Goexit, that ends the caller's task too, with [ErrGoexit].
//
// A task that waits for itself gets an error that wraps [ErrInside]. So does one of
// several tasks that wait for one another, with the names of all of them. Such a circle is
// found if each wait is made on the goroutine of its task, lasts as long as that task's
// context, and is on a stack of fewer than 100 calls. Waits for a Group are not checked;
// see [Pool.Dump].
//
// The end of the task synchronizes before the return from Wait. It panics if ctx
// is nil.
func (f *Future[T]) Wait(ctx context.Context) (T, error) {
	needs(ctx != nil, "Wait", "ctx")
	if f == nil || !f.isDone() {
		if err := f.await(ctx); err != nil {
			var zero T
			return zero, err
		}
	}
	return f.value, f.err
}

func (f *Future[T]) await(ctx context.Context) error {
	needsPool(f.task(), "Future.Wait")
	c := taskOf(ctx)
	if c == &f.ctx {
		return inOp("Wait", ErrInside, "")
	}
	// If f was submitted by the task that waits, it has ended if ctx has.
	if parent, ok := f.ctx.Context.(*taskContext); (!ok || ctx != context.Context(parent)) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c != nil && c.pool == f.ctx.pool && f.runInPlace(ctx, c) {
		return nil
	}
	if c != nil && f.ctx.state.Load().IsHeld() {
		if c.help(ctx, f); f.isDone() {
			return nil
		}
	}
	for range 200 { // a result that is about to come is not worth a switch
		if f.isDone() {
			return nil
		}
	}
	if p := f.ctx.pool; p.logger != nil {
		p.noticeForeign(c, &f.ctx)
	}
	l := f.watchedLatch()
	stop := f.dropAtEnd()
	defer stop()
	if c == nil {
		err := l.Wait(ctx, task.Seat{}, f.isDone)
		return f.unlessDone(err)
	}
	mark := waitMark{&f.ctx, c.lasts(ctx), c}
	err := blocked(mark, wait{by: c, task: &f.ctx}, l, ctx, f.isDone)
	return f.unlessDone(err)
}

// needsPool panics if c is nil, which is that of a nil Future, or that of the zero Future, which no pool has.
func needsPool(c *taskContext, op string) {
	if c == nil || c.pool == nil {
		isNotMade(op, "Future", "Submit or NewPromise")
	}
}

// unlessDone returns err, unless the Future has a result.
func (f *Future[T]) unlessDone(err error) error {
	if f.isDone() {
		return nil
	}
	return err
}

// runInPlace runs the task on top of that of c, if it has not started.
func (f *Future[T]) runInPlace(ctx context.Context, c *taskContext) bool {
	if !f.ctx.state.Load().IsQueued() || !c.seat().SitDown() {
		return false
	}
	// It leaves the queue if it is where it is likely to be. Elsewhere it stays, and is found
	// to have started.
	found := c.worker.Own.TakeNewest(f.body())
	if found {
		f.ctx.pool.tasks.LeaveQueue()
	}
	f.ctx.pool.runOnTop(c, ctx, task.Task{Body: f.body()}, c.seat(), found)
	return f.isDone()
}

// helped runs the task in place, as runInPlace does, also if it waits for a slot of the Subpool
// that the task of c has one of, and gets that.
func (f *Future[T]) helped(ctx context.Context, c *taskContext) bool {
	if c.pool != f.ctx.pool {
		return false
	}
	if h := f.ctx.held(); h != nil && f.ctx.state.Load().IsHeld() {
		if lent, ok := h.takeSlotOf(c); ok {
			defer lent.Reclaim()
			f.ctx.pool.runCaught(ctx, task.Task{Body: f.body()}, c.seat(), false)
			return f.isDone()
		}
	}
	return f.runInPlace(ctx, c)
}

// Done returns a channel that is closed when the task is done. Unlike Wait, it does not
// run the task in place.
func (f *Future[T]) Done() <-chan struct{} {
	needsPool(f.task(), "Future.Done")
	l := f.watchedLatch()
	return l.Channel(f.dropAtEnd)
}

// follow is for the submitter of a task that is held: Done is what drops it when its context ends.
func (t *futureTask[T]) follow() { t.future().Done() }

// Cancel ends the context of the task. A task that has not started is dropped, and its
// error is context.Canceled. A running task may look at its context and end. If the task
// is done, Cancel has no effect.
func (f *Future[T]) Cancel() {
	needsPool(f.task(), "Future.Cancel")
	if f.drop(context.Canceled); f.isDone() {
		return
	}
	f.ctx.makeCancellation().cancel(context.Canceled)
	f.ctx.pool.dropEnded()
}

func (f *Future[T]) task() *taskContext {
	if f == nil {
		return nil
	}
	return &f.ctx
}

// failure returns the error of the task, which is done.
func (f *Future[T]) failure() error { return f.err }
