package filch

import (
	"context"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// A Future, as the submitters and waiters of its task see it. What is the same for all types is in internal/task.

// Future holds the result of a task of [Submit]. Its methods may be called any number of times, from any goroutine. Only Wait
// blocks.
type Future[T any] struct{ task futureTask[T] }

// futureTask is a Future as what runs it sees it.
type futureTask[T any] struct {
	task.Future
	f     func(ctx context.Context) (T, error)
	value T // written before the task is done
}

func (t *futureTask[T]) Start(_ *task.Pool, s task.Seat, _ context.Context, exclusive bool) bool {
	return t.StartTask(t, s, exclusive)
}

func (t *futureTask[T]) Call(c *task.Context) (err error) {
	t.value, err = t.f(c)
	return err
}

func (t *futureTask[T]) Drop(_ *task.Pool, err error) { task.DropFuture(t, err) }

func (t *futureTask[T]) Fail(_ *task.Pool, _ task.Seat, err error) { task.FailFuture(t, err) }

func (t *futureTask[T]) Release(result bool) {
	if t.f = nil; result {
		t.value = *new(T)
	}
}

// Entry is for whatever runs or submits the task, and so has its function.
func (t *futureTask[T]) Entry() uintptr {
	if t.f == nil { // a promise
		return 0
	}
	return engine.EntryOf(t.f)
}

// Submit queues f, as [Pool.Go] does, and returns its Future. It blocks when Go does. If f cannot be queued, the Future has
// the error. A panic in f becomes the Future's error, a [*PanicError]; runtime.Goexit becomes [ErrGoexit].
//
// If ctx ends before f begins, f is dropped; later, the context of f ends. Submit work that others wait for as well, such as
// a cache entry, with [context.WithoutCancel] of ctx.
//
// Submit allocates the Future, 96 bytes for a one-word result. It panics if an argument is nil.
func Submit[T any](ctx context.Context, p *Pool, f func(ctx context.Context) (T, error), opts ...TaskOption) *Future[T] {
	needs(ctx != nil, "Submit", "ctx")
	needs(p != nil, "Submit", "p")
	needs(f != nil, "Submit", "f")
	future := &Future[T]{futureTask[T]{f: f}}
	t := &future.task
	t.Ctx.Init(p.tasks.Inherited(ctx), &p.tasks)
	if len(opts) == 0 && p.tasks.Plain && !p.tasks.IsLogical() {
		if err := p.tasks.QueuePlain(ctx, task.Task{Body: t}, false); err != nil {
			task.Resolve(t, err)
		}
		return future
	}
	p.mustBeMade("Submit")
	var o task.Options
	err := p.optionsOf("Submit", opts, &o)
	if !o.Plain() {
		t.With(o, nil)
	}
	if err == nil {
		err = task.SubmitFuture(ctx, t, &o, false)
	} else {
		err = task.RefuseFuture(ctx, t, &o, err)
	}
	if err != nil {
		task.Resolve(t, err)
	}
	return future
}

// Wait waits until the task is done and returns its result. If ctx ends first, Wait returns context.Cause of ctx, and the
// task goes on.
//
// Inside a task of the same pool, derive ctx from that task's context. A task that has not started then runs at once, inline
// on the caller's goroutine, so tasks may wait for tasks even on one worker; while a task runs elsewhere, the caller yields
// its slot. With another context, such as context.Background() or that of an outer task, Wait blocks the worker. All workers
// may then stall until the pool adds a slot; see [WithStallTimeout]. A pool with [WithLogger] logs that once.
//
// If the task is held, the tasks that it comes after run inline first, unless they have started; see [After]. A [Promise] has
// nothing to run. Wait runs no unrelated tasks: such a task could wait for the caller's, and block it. A task that runs
// inline is not abandoned when ctx ends. If it calls runtime.Goexit, that ends the caller's task too, with [ErrGoexit].
//
// A task that waits for itself gets an error that wraps [ErrInside]. In a circle of waiting tasks, one gets that error, with
// the names of all. A circle is found if each wait is made on its task's goroutine, lasts as long as that task's context, and
// is on a stack of fewer than 100 calls. Waits for a Group are not checked; see [Pool.Dump].
//
// The end of the task synchronizes before the return from Wait. It panics if ctx is nil.
func (f *Future[T]) Wait(ctx context.Context) (T, error) {
	needs(ctx != nil, "Wait", "ctx")
	if f == nil || !f.task.IsDone() {
		if err := task.Wait(ctx, f.made("Future.Wait")); err != nil {
			var zero T
			return zero, err
		}
	}
	return f.task.value, f.task.Err
}

// made returns the task of f. It panics if f is nil or the zero Future, which has no pool.
func (f *Future[T]) made(op string) *futureTask[T] {
	if f == nil || f.task.Ctx.Pool == nil {
		isNotMade(op, "Future", "Submit or NewPromise")
	}
	return &f.task
}

// Done returns a channel that is closed when the task is done. Unlike Wait, it does not run the task inline.
func (f *Future[T]) Done() <-chan struct{} { return task.Done(f.made("Future.Done")) }

// Cancel ends the context of the task. A task that has not started is dropped with the error context.Canceled; a running task
// may notice and return. Once the task is done, Cancel has no effect.
func (f *Future[T]) Cancel() { task.Cancel(f.made("Future.Cancel")) }

// awaited is for After.
func (f *Future[T]) awaited() task.FutureTask {
	if f == nil {
		return nil
	}
	return &f.task
}

// Promise is a [Future] that is completed by hand, for results from outside of the pool, such as the answer to a message.
// Make one with [NewPromise]. Its methods may be called from any goroutine and do not block.
type Promise[T any] struct{ future Future[T] }

// NewPromise returns an incomplete promise. Tasks of p, or of any other pool, yield their slot while they wait for it.
// NewPromise allocates 96 bytes for a one-word result. It panics if p is nil.
//
// The pool does not track the promise: closing the pool neither waits for it nor completes it. A waiting task then goes on,
// because its own context ends, and a task that comes after the promise is dropped. An abandoned promise blocks its waiters
// until their contexts end, and [Pool.Shutdown] too if a task comes after it. Tasks that came after it and were dropped take
// memory until it is complete. [Pool.Dump] shows which tasks wait for a promise.
func NewPromise[T any](p *Pool) *Promise[T] {
	needs(p != nil, "NewPromise", "p")
	p.mustBeMade("NewPromise")
	promise := &Promise[T]{}
	promise.future.task.InitPromise(&p.tasks)
	return promise
}

// Future returns the Future that Complete completes, always the same. Wait for it as for that of a task; tasks may come after
// it, see [After]. Its Cancel completes it with context.Canceled.
func (p *Promise[T]) Future() *Future[T] {
	p.mustBeMade("Promise.Future")
	return &p.future
}

// Complete completes the promise with a result, as if a task had returned it, and returns true; or false if it is already
// complete. It queues the tasks that come after the promise, or drops them if err is not nil, and runs nothing itself. It
// synchronizes before the return from a Wait for the Future.
func (p *Promise[T]) Complete(v T, err error) bool {
	p.mustBeMade("Promise.Complete")
	t := &p.future.task
	return t.Complete(func() error { t.value = v; return err })
}

// mustBeMade panics if NewPromise has not made p, which op is called on.
func (p *Promise[T]) mustBeMade(op string) {
	if p == nil || p.future.task.Ctx.Pool == nil {
		isNotMade(op, "Promise", "NewPromise")
	}
}
