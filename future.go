package filch

import (
	"context"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// A Future, as those see it that submit its task and wait for it. What they have in common whatever the type stands in internal/task.

// Future is the result of a task of [Submit], once there is one. Its methods may
// be called from any goroutine, any number of times. Only Wait blocks.
type Future[T any] struct{ task futureTask[T] }

// futureTask is a Future as what runs it sees it.
type futureTask[T any] struct {
	task.Future
	f     func(ctx context.Context) (T, error)
	value T // written before it is done
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

// Entry is for what runs or submits the task, which has its function.
func (t *futureTask[T]) Entry() uintptr {
	if t.f == nil { // a promise
		return 0
	}
	return engine.EntryOf(t.f)
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
	if f == nil || !f.task.IsDone() {
		if err := task.Wait(ctx, f.made("Future.Wait")); err != nil {
			var zero T
			return zero, err
		}
	}
	return f.task.value, f.task.Err
}

// made returns the task of f. It panics if f is nil, or the zero Future, which no pool has.
func (f *Future[T]) made(op string) *futureTask[T] {
	if f == nil || f.task.Ctx.Pool == nil {
		isNotMade(op, "Future", "Submit or NewPromise")
	}
	return &f.task
}

// Done returns a channel that is closed when the task is done. Unlike Wait, it does not
// run the task in place.
func (f *Future[T]) Done() <-chan struct{} { return task.Done(f.made("Future.Done")) }

// Cancel ends the context of the task. A task that has not started is dropped, and its
// error is context.Canceled. A running task may look at its context and end. If the task
// is done, Cancel has no effect.
func (f *Future[T]) Cancel() { task.Cancel(f.made("Future.Cancel")) }

// awaited is for After.
func (f *Future[T]) awaited() task.FutureTask {
	if f == nil {
		return nil
	}
	return &f.task
}

// Promise is a [Future] that is completed by hand: what is awaited comes from outside of the pool,
// as the answer to a message does. Make one with [NewPromise]. Its methods may be called from any
// goroutine, and do not block.
type Promise[T any] struct{ future Future[T] }

// NewPromise returns a promise that is not complete. Tasks of p give up their place while they wait for it.
// So does a task of any other pool. NewPromise allocates 96 bytes for a result of a word. It panics if p is nil.
//
// The pool does not know the promise. It neither waits for it nor completes it when it is closed. A task that
// waits for it then goes on, since its own context ends, and a task that comes after it is dropped.
// An abandoned promise keeps those that wait for it until their contexts end, and [Pool.Shutdown] as well if a task
// comes after it. What came after it and was dropped takes memory until it is complete. [Pool.Dump] says which tasks wait for a promise.
func NewPromise[T any](p *Pool) *Promise[T] {
	needs(p != nil, "NewPromise", "p")
	p.mustBeMade("NewPromise")
	promise := &Promise[T]{}
	promise.future.task.InitPromise(&p.tasks)
	return promise
}

// Future returns the Future that Complete completes. It is always the same. It is waited for as that of
// a task is, and tasks may come after it; see [After]. Cancel completes it with context.Canceled.
func (p *Promise[T]) Future() *Future[T] {
	p.mustBeMade("Promise.Future")
	return &p.future
}

// Complete completes the promise with a result, as if a task had returned it, and reports true; or false if the
// promise is complete already. It synchronizes before the return from a Wait for the Future. Tasks that come after
// it are queued, or dropped if err is not nil. Nothing is run here.
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
