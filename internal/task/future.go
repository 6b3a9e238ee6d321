package task

import (
	"context"
	"runtime"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/race"
)

// The task of a Future. Several may contend for it: the worker that takes it from a queue, a Wait that runs it in place, a
// Cancel, a context that ends, the pool that closes. One of them claims it, runs or drops it, and resolves the Future.

// Future is the common part of Futures of all types. Package filch adds the function and its result.
type Future struct {
	Ctx   Context         // the function's context; its state is the Future's
	child race.Ref[child] // for logical races; written before it is submitted
	Err   error           // written before the state is done
}

// FutureTask is the task of a Future, with a function of any type.
type FutureTask interface {
	HeldBody
	Core() *Future
	// Call calls the function with c, keeps its result, and returns its error.
	Call(c *Context) error
	// Release drops the function, and the result if result is set.
	Release(result bool)
	// Entry returns where the function begins, or 0 if there is none.
	Entry() uintptr
}

// Core returns f.
func (f *Future) Core() *Future { return f }

// InitPromise makes f a Future that Complete completes.
func (f *Future) InitPromise(p *Pool) {
	f.Ctx.Init(noEnd, p)
	f.Ctx.state.Hold(true)
}

// About is that of a Body: it returns the task's name.
func (f *Future) About() (string, any) { return f.Ctx.Name(), nil }

// Free is that of a HeldBody.
func (f *Future) Free() { f.Ctx.state.Free() }

// Admit is that of a HeldBody.
func (f *Future) Admit(near *Worker) { f.Ctx.held().queue(near) }

// Catches is that of a Body.
func (f *Future) Catches(*Pool) bool {
	return !f.wasDropped() && (!f.detached() || f.Ctx.Pool.OnPanic != nil)
}

// Crash is that of a Body.
func (f *Future) Crash(p *Pool, s Seat) { p.crash(f.Ctx.seen(), f.wasDropped(), s) }

// With sets the task's options. onDone is that of its group, or nil.
func (f *Future) With(o Options, onDone func(err error, ran bool)) {
	m := o.extras()
	m.options, m.onDone = o, onDone
	f.Ctx.extras.Store(m)
}

// StartTask implements Start for t, the task of f.
func (f *Future) StartTask(t FutureTask, s Seat, exclusive bool) bool {
	if !f.claim(s) {
		return false
	}
	c := &f.Ctx
	if l := f.child.Get(); l != nil {
		l.sit(c, s)
	} else {
		c.Worker, c.round = s.Worker, s.Round
	}
	p := c.Pool
	if c.Err() != nil {
		p.dropped()
		cancel(t, c.cause())
		return false
	}
	var err error
	if p.isObserved() {
		err = p.runObserved(c, t, exclusive, func() error { return f.call(t, exclusive) })
	} else {
		err = f.call(t, exclusive)
	}
	t.Release(false) // not in a child, which is not ordered after code that has read the function
	answers := f.resolve(err)
	runtime.KeepAlive(f)
	if answers && exclusive {
		s.Worker.answers = true
	}
	return true
}

// claim claims the task for the caller, to run it in the given seat or to drop it.
func (f *Future) claim(s Seat) bool {
	var runner uint32
	if s.Worker != nil {
		runner = s.Worker.Engine.Number
	}
	return f.Ctx.state.Claim(runner, s.Slots&PoolSlot != 0)
}

// call is runFuture, in the task's child if it has one.
func (f *Future) call(t FutureTask, exclusive bool) (err error) {
	if l := f.child.Get(); l != nil {
		l.run(&f.Ctx, catchingOf(f.Catches(nil), exclusive), func() { err = runFuture(runMark{&f.Ctx}, t) })
		return err
	}
	return runFuture(runMark{&f.Ctx}, t)
}

// A runMark makes the task's address visible on the stack. It is an array of two because that is passed in memory; see
// waits.go.
type runMark [2]*Context

// runFuture calls the function of t.
//
//go:noinline
func runFuture(mark runMark, t FutureTask) error {
	err := t.Call(mark[0])
	if err != nil {
		mark[0].Pool.Outcomes.Failed.Add(1)
	}
	return err
}

// DropFuture implements Drop for t.
func DropFuture(t FutureTask, err error) {
	if t.Core().claimToDrop() {
		cancel(t, err)
	}
}

// FailFuture implements Fail for t.
func FailFuture(t FutureTask, err error) {
	f := t.Core()
	t.Release(true)
	defer f.resolve(err)
	f.Ctx.Pool.crashed(f.Ctx.seen(), err, f.detached())
}

// drop is DropFuture for a caller outside of the pool.
func drop(t FutureTask, err error) {
	if leave, ok := t.Core().claimFromOutside(); ok {
		defer leave()
		cancel(t, err)
	}
}

// dropFor drops the task because of err, and adds the tasks that come after it to rest, which the caller settles.
func dropFor(t FutureTask, err error, rest **dependency) {
	f := t.Core()
	leave, ok := f.claimFromOutside()
	if !ok {
		return
	}
	defer leave()
	defer cancel(t, err)
	for d := f.Ctx.extras.Load().dependents.Swap(nil); d != nil; {
		next := d.next
		d.next, *rest = *rest, d
		d = next
	}
}

// claimFromOutside is claimToDrop for a caller outside of the pool. The pool does not end before the caller calls leave: a
// claimed task no longer keeps it from ending, and Close must return after OnDrop.
func (f *Future) claimFromOutside() (leave func(), ok bool) {
	if !f.Ctx.state.Load().IsUnstarted() {
		return nil, false
	}
	e := &f.Ctx.Pool.Engine
	e.EnterBlocked()
	if !f.claimToDrop() {
		e.LeaveBlocked()
		return nil, false
	}
	return e.LeaveBlocked, true
}

// claimToDrop claims the task for the caller to drop it, and counts it as cancelled.
func (f *Future) claimToDrop() bool {
	if !f.Ctx.state.ClaimToDrop() {
		return false
	}
	p := f.Ctx.Pool
	if !f.Ctx.isPromise() {
		p.dropped()
	}
	if h := f.Ctx.held(); h != nil {
		p.Unhold(h) // after it is counted: the pool may end now
		h.forget()
	}
	return true
}

// cancel ends a task that never started.
func cancel(t FutureTask, err error) {
	f := t.Core()
	t.Release(true)
	defer f.resolve(err) // even if the observer does not return
	if m := f.Ctx.extras.Load(); m != nil {
		m.dropped = true
		defer m.options.tellDropped(err) // likewise
	}
	if o := f.Ctx.seen(); o != nil {
		o.tell(event.Cancelled, err)
	}
}

// wasDropped reports whether the task was dropped when it was to start, and the observer or the OnDrop function did not
// return.
func (f *Future) wasDropped() bool {
	m := f.Ctx.extras.Load()
	return m != nil && (m.dropped || m.seen != nil && m.seen.last.Kind == event.Cancelled)
}

func (f *Future) detached() bool {
	m := f.Ctx.extras.Load()
	return m != nil && m.options.Detached
}

// Complete completes f, a promise, with what result sets and returns. It returns false if f is already complete.
func (f *Future) Complete(result func() error) bool {
	if !f.Ctx.state.ClaimToDrop() {
		return false
	}
	f.resolve(result())
	return true
}

// Resolve ends t, which was refused because of err.
func Resolve(t FutureTask, err error) {
	t.Release(true)
	t.Core().resolve(err)
}

// resolve sets the error, beside the result, and wakes all waiters. Before that it returns the task's slot, held since the
// task was accepted and then claimed. It reports what Release of a Latch does.
func (f *Future) resolve(err error) (answers bool) {
	if f.Ctx.state.Load().HoldsSlot() {
		f.Ctx.Pool.LeaveSlot(Seat{})
	}
	if h := f.Ctx.held(); h != nil {
		if h.end(); h.Slot.Of != nil {
			h.Slot.Of.Leave(h)
		}
	}
	f.child.Get().end(&f.Ctx)
	f.Err = err
	watched := f.Ctx.state.Finish()
	m := f.Ctx.extras.Load()
	if m == nil {
		return false
	}
	if watched {
		answers = m.latch.Release()
		if all := m.dependents.Swap(nil); all != nil { // (R46)
			defer settle(f, all)
		}
	}
	if m.onDone != nil {
		m.onDone(err, !m.dropped)
	}
	return answers
}

// IsDone reports whether the Future has its result.
func (f *Future) IsDone() bool { return f.Ctx.state.Load().IsDone() } // (R40)

// watchedLatch returns the latch that is released when f is done.
func (f *Future) watchedLatch() *Latch {
	l := &f.Ctx.needExtras().latch
	if f.Ctx.state.Watch() {
		l.Release()
	}
	return l
}

// dropAtEnd makes the end of its context drop t at once if it is still queued, instead of at its turn. A running task does
// not need this, which would give a cancellation to each task that t comes from.
func dropAtEnd(t FutureTask) (stop func() bool) {
	f := t.Core()
	if !f.Ctx.state.Load().IsUnstarted() {
		return func() bool { return true }
	}
	ctx := f.Ctx.Context
	if e := f.Ctx.cancellation(); e != nil {
		ctx = e.ctx
	}
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { drop(t, context.Cause(ctx)) })
}

// Done returns a channel that is closed when t is done.
func Done(t FutureTask) <-chan struct{} {
	return t.Core().watchedLatch().Channel(func() func() bool { return dropAtEnd(t) })
}

// watchEnd makes the end of its context drop t at once, not only at its turn.
func watchEnd(t FutureTask) {
	t.Core().watchedLatch().Begin(func() func() bool { return dropAtEnd(t) })
}

// Cancel ends the context of t, and drops t if it has not started.
func Cancel(t FutureTask) {
	f := t.Core()
	if drop(t, context.Canceled); f.IsDone() {
		return
	}
	f.Ctx.makeCancellation().cancel(context.Canceled)
	f.Ctx.Pool.dropEnded()
}

// Wait waits until t is done, for a caller with ctx, and returns nil, or the reason why it gives up.
func Wait(ctx context.Context, t FutureTask) error {
	f, c := t.Core(), Of(ctx)
	if c == &f.Ctx {
		return InOp("Wait", ErrInside, "")
	}
	// If the waiting task submitted f, then f has ended if ctx has.
	if parent, ok := f.Ctx.Context.(*Context); (!ok || ctx != context.Context(parent)) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c != nil && c.Pool == f.Ctx.Pool && runInPlace(ctx, t, c) {
		return nil
	}
	if c != nil && f.Ctx.state.Load().IsHeld() {
		if c.help(ctx, t); f.IsDone() {
			return nil
		}
	}
	for range 200 { // an imminent result is not worth a switch
		if f.IsDone() {
			return nil
		}
	}
	if p := f.Ctx.Pool; p.Logger != nil {
		p.noticeForeign(c, &f.Ctx)
	}
	l := f.watchedLatch()
	stop := dropAtEnd(t)
	defer stop()
	if c == nil {
		return f.unlessDone(l.Wait(ctx, Seat{}, f.IsDone))
	}
	mark := waitMark{&f.Ctx, c.lasts(ctx), c}
	return f.unlessDone(blocked(mark, wait{by: c, task: &f.Ctx}, l, ctx, f.IsDone))
}

// unlessDone returns err, unless the Future has a result.
func (f *Future) unlessDone(err error) error {
	if f.IsDone() {
		return nil
	}
	return err
}

// runInPlace runs t on top of the task of c, if it has not started.
func runInPlace(ctx context.Context, t FutureTask, c *Context) bool {
	f := t.Core()
	if !f.Ctx.state.Load().IsQueued() || !c.Seat().SitDown() {
		return false
	}
	// It leaves the queue if it is in the likely position. Otherwise it stays, and is later found to have started.
	found := c.Worker.Own.TakeNewest(t)
	if found {
		f.Ctx.Pool.LeaveQueue()
	}
	f.Ctx.Pool.runOnTop(c, ctx, Task{Body: t}, c.Seat(), found)
	return f.IsDone()
}

// helped is runInPlace, also for a task that waits for a slot of the Subpool that c's task has a slot of, and gets that one.
func helped(ctx context.Context, t FutureTask, c *Context) bool {
	f := t.Core()
	if c.Pool != f.Ctx.Pool {
		return false
	}
	if h := f.Ctx.held(); h != nil && f.Ctx.state.Load().IsHeld() {
		if lent, ok := h.takeSlotOf(c); ok {
			defer lent.Reclaim()
			f.Ctx.Pool.runCaught(ctx, Task{Body: t}, c.Seat(), false)
			return f.IsDone()
		}
	}
	return runInPlace(ctx, t, c)
}

// SubmitFuture queues t with the options o, for a caller with ctx. If it returns an error, the Future is not resolved. If try
// is set, it neither waits nor runs t.
func SubmitFuture(ctx context.Context, t FutureTask, o *Options, try bool) (err error) {
	f := t.Core()
	p := f.Ctx.Pool
	if o.OnDrop != nil {
		err = errNotSubmitted // unless the code below returns
		defer func() {
			if err != nil && f.Ctx.state.Load().IsQueued() { // else it has run and does not return
				o.tellDropped(err)
			}
		}()
	}
	seeFuture(ctx, t, o)
	if p.IsLogical() {
		f.child.Set(f.Ctx.openChild(o.hold))
		err = errNotSubmitted // likewise
		defer func() { dropChildUnless(err != errNotSubmitted, t) }()
	}
	if !o.Deadline.IsZero() {
		f.Ctx.makeCancellation()
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, o.Deadline) // a wait for room ends as well
		defer cancel()
	}
	if o.hold != nil {
		if holds, err := o.hold.holds(); holds {
			if p.IsLogical() && p.Plain && (o.hold.Slot.Of == nil || o.hold.Slot.Of.Room == nil) {
				return aside(func() error { return p.submitHeld(ctx, t, o, try) })
			}
			return p.submitHeld(ctx, t, o, try)
		} else if err != nil {
			return p.refuse(t, err)
		}
	}
	if o.LongRunning {
		return p.runLong(ctx, Task{Body: t}, try)
	}
	return p.submit(ctx, Task{Body: t}, o.Priority, o.Fair, try)
}

// RefuseFuture counts t, a task whose options cannot be met.
func RefuseFuture(ctx context.Context, t FutureTask, o *Options, err error) error {
	defer o.tellDropped(err) // even if the observer does not return
	seeFuture(ctx, t, o)
	return t.Core().Ctx.Pool.refuse(t, err)
}
