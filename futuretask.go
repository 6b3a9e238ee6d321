package filch

import (
	"context"
	"runtime"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// The task of a Future. Many may come to it: the worker that takes it from a queue, a Wait that runs it in
// place, a Cancel, a context that ends, the pool that closes. One of them claims it, runs or drops it, and
// resolves the Future. What submits it and waits for it is in future.go.

// futureTask is a Future as what runs it sees it.
type futureTask[T any] Future[T]

// body returns f as what runs it sees it.
func (f *Future[T]) body() *futureTask[T] { return (*futureTask[T])(f) }

func (t *futureTask[T]) future() *Future[T] { return (*Future[T])(t) }

func (t *futureTask[T]) seen() *seen { return t.ctx.seen() }

// task returns the context that f's function is called with.
func (t *futureTask[T]) task() *taskContext { return &t.ctx }

func (t *futureTask[T]) About() (string, any) {
	if m := t.ctx.extras.Load(); m != nil {
		return m.options.name, nil
	}
	return "", nil
}

func (t *futureTask[T]) Free() { t.ctx.state.Free() }

func (t *futureTask[T]) Admit(near *task.Worker) { t.ctx.held().queue(near) }

func (t *futureTask[T]) dropChild() { t.logical.Get().drop() }

func (t *futureTask[T]) Start(_ *task.Pool, s task.Seat, _ context.Context, exclusive bool) bool {
	f := t.future()
	if !f.claim(s) {
		return false
	}
	if l := f.logical.Get(); l != nil {
		l.sit(&f.ctx, s)
	} else {
		f.ctx.worker, f.ctx.round = s.Worker, s.Round
	}
	if f.ctx.Err() != nil {
		f.ctx.pool.dropped()
		f.cancel(f.ctx.cause())
		return false
	}
	if p := f.ctx.pool; p.isObserved() {
		var value T
		err := p.runObserved(&f.ctx, t, exclusive, func() (err error) { value, err = t.call(exclusive); return err })
		f.resolve(value, err)
	} else {
		f.resolve(t.call(exclusive))
	}
	runtime.KeepAlive(f)
	return true
}

// claim makes the caller the one that runs the task, in the given seat, or drops it.
func (f *Future[T]) claim(s task.Seat) bool {
	var runner uint32
	if s.Worker != nil {
		runner = s.Worker.Engine.Number
	}
	return f.ctx.state.Claim(runner, s.Slots&task.PoolSlot != 0)
}

// call is run, in the child of the task if it has one.
func (t *futureTask[T]) call(exclusive bool) (value T, err error) {
	f := t.future()
	if l := f.logical.Get(); l != nil {
		l.run(&f.ctx, catchingOf(t.Catches(nil), exclusive), func() { value, err = f.run(runMark{&f.ctx}) })
		return value, err
	}
	return f.run(runMark{&f.ctx})
}

// A runMark is what the stack of a task shows: its address. It is an array of two,
// because that is passed in memory; see cycle.go.
type runMark [2]*taskContext

// run calls the function.
//
//go:noinline
func (f *Future[T]) run(runMark) (T, error) {
	value, err := f.f(&f.ctx)
	if err != nil {
		f.ctx.pool.outcomes.failed.Add(1)
	}
	return value, err
}

func (t *futureTask[T]) Drop(_ *task.Pool, err error) {
	if f := t.future(); f.claimToDrop() {
		f.cancel(err)
	}
}

func (t *futureTask[T]) drop(err error) { t.future().drop(err) }

// dropFor drops the task because of err, and adds those that come after it to rest, which the caller
// tells of it.
func (t *futureTask[T]) dropFor(err error, rest **dependency) {
	f := t.future()
	leave, ok := f.claimFromOutside()
	if !ok {
		return
	}
	defer leave()
	defer f.cancel(err)
	for d := f.ctx.extras.Load().dependents.Swap(nil); d != nil; {
		next := d.next
		d.next, *rest = *rest, d
		d = next
	}
}

// drop is Drop for a caller that is not in the pool.
func (f *Future[T]) drop(err error) {
	if leave, ok := f.claimFromOutside(); ok {
		defer leave()
		f.cancel(err)
	}
}

// claimFromOutside is claimToDrop for a caller that is not in the pool. The pool does not end
// before the caller calls leave: what is claimed keeps it from that no longer, and Close returns after OnDrop.
func (f *Future[T]) claimFromOutside() (leave func(), ok bool) {
	if !f.ctx.state.Load().IsUnstarted() {
		return nil, false
	}
	e := &f.ctx.pool.tasks.Engine
	e.EnterBlocked()
	if !f.claimToDrop() {
		e.LeaveBlocked()
		return nil, false
	}
	return e.LeaveBlocked, true
}

// claimToDrop makes the caller the one that drops the task, and counts it as cancelled.
func (f *Future[T]) claimToDrop() bool {
	if !f.ctx.state.ClaimToDrop() {
		return false
	}
	if !f.ctx.isPromise() {
		f.ctx.pool.dropped()
	}
	if h := f.ctx.held(); h != nil {
		f.ctx.pool.tasks.Unhold(&h.Held) // after it is counted: then the pool may end
		h.forget()
	}
	return true
}

// cancel ends a task that never started.
func (f *Future[T]) cancel(err error) {
	defer f.resolve(f.value, err) // even if the observer does not return
	if m := f.ctx.extras.Load(); m != nil {
		m.dropped = true
		defer m.options.tellDropped(err) // likewise
	}
	if o := f.ctx.seen(); o != nil {
		o.tell(TaskCancelled, err)
	}
}

func (t *futureTask[T]) Catches(*task.Pool) bool {
	return !wasDropped(t) && (!t.future().detached() || t.ctx.pool.onPanic != nil)
}

func (t *futureTask[T]) Fail(_ *task.Pool, _ task.Seat, err error) {
	f := t.future()
	defer f.resolve(f.value, err)
	f.ctx.pool.crashed(t, err, f.detached())
}

func (f *Future[T]) detached() bool {
	m := f.ctx.extras.Load()
	return m != nil && m.options.detached
}

func (t *futureTask[T]) Crash(p *task.Pool, s task.Seat) { crash(p, t, s) }

// entry is for what runs or submits the task, which has its function.
func (t *futureTask[T]) entry() uintptr {
	if t.f == nil || t.future().detached() { // a promise; the function of Go, in another
		return 0
	}
	return engine.EntryOf(t.f)
}

// resolve sets the result and lets all go on that wait for it. Before that it gives
// back the slot of the task, which has one since it was accepted, and so was claimed.
func (f *Future[T]) resolve(value T, err error) {
	if f.ctx.state.Load().HoldsSlot() {
		f.ctx.pool.tasks.LeaveSlot(task.Seat{})
	}
	if h := f.ctx.held(); h != nil {
		if h.end(); h.sub != nil {
			h.sub.tasks.Leave(&h.Held, f.ctx.worker)
		}
	}
	f.logical.Get().end(&f.ctx)
	f.value, f.err = value, err
	f.f = nil
	watched := f.ctx.state.Finish()
	m := f.ctx.extras.Load()
	if m == nil {
		return
	}
	if watched {
		m.latch.Release()
		if all := m.dependents.Swap(nil); all != nil { // (R46)
			defer settle(f, all)
		}
	}
	if m.onDone != nil {
		m.onDone(err, !m.dropped)
	}
}

// isDone reports whether the Future has its result.
func (f *Future[T]) isDone() bool { return f.ctx.state.Load().IsDone() } // (R40)

// watchedLatch returns the latch that will be released when f is done.
func (f *Future[T]) watchedLatch() *task.Latch {
	l := &f.ctx.needExtras().latch
	if f.ctx.state.Watch() {
		l.Release()
	}
	return l
}

// dropAtEnd sees to it that f is dropped when its context ends, if it is still
// queued then, and not only when its turn comes. What runs already needs none of this: it
// would give a cancellation to each task that f comes from.
func (f *Future[T]) dropAtEnd() (stop func() bool) {
	if !f.ctx.state.Load().IsUnstarted() {
		return func() bool { return true }
	}
	ctx := f.ctx.Context
	if e := f.ctx.cancellation(); e != nil {
		ctx = e.ctx
	}
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { f.drop(context.Cause(ctx)) })
}
