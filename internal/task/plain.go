package task

import (
	"context"
	"reflect"
	"runtime"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

// Tasks of Go, and tasks of any kind that panic or do not return.

// Plain is a task of Go without options.
type Plain func(ctx context.Context)

func (f Plain) Start(p *Pool, s Seat, ctx context.Context, exclusive bool) bool {
	c := p.contextFor(ctx, s, exclusive)
	switch {
	case c.Err() != nil:
		p.dropped()
		p.LeaveSlot(s)
		return false
	case p.isObserved():
		p.runObserved(c, f, exclusive, func() error { f(c); return nil })
	default:
		f(c)
	}
	p.LeaveSlot(s)
	runtime.KeepAlive(c)
	return true
}

func (f Plain) Drop(p *Pool, _ error) {
	p.LeaveSlot(Seat{})
	p.dropped()
}

func (f Plain) Catches(p *Pool) bool { return p.OnPanic != nil }

func (f Plain) Fail(p *Pool, s Seat, err error) {
	p.LeaveSlot(s)
	p.crashed(nil, err, true)
}

func (f Plain) Crash(p *Pool, s Seat) { p.crash(nil, false, s) }

func (f Plain) About() (string, any) { return "", f }

// crashed counts a task whose function did not return; err is that of its panic, or ErrGoexit. o is its record, or nil. If
// handle is set, a panic goes to the handler.
func (p *Pool) crashed(o *seen, err error, handle bool) {
	panicked := err != ErrGoexit
	if panicked {
		p.Outcomes.Panicked.Add(1)
	} else {
		p.Outcomes.Failed.Add(1)
	}
	if panicked && handle && p.OnPanic != nil {
		defer p.OnPanic(err) // even if the observer does not return
	}
	if o != nil {
		o.crashed = true
		o.tell(event.Done, err)
	}
}

// crash implements Crash for a Body with the record o, which may be nil. Unless the task was dropped when it was to start,
// and the observer did not return, its function has ended as by runtime.Goexit, or its panic goes on.
func (p *Pool) crash(o *seen, dropped bool, s Seat) {
	if dropped {
		p.Outcomes.Cancelled.Add(-1) // counted as dropped and as run
		return
	}
	p.LeaveSlot(s)
	p.crashed(o, ErrGoexit, false)
}

// errTask is a task with options of Go or of a Group.
type errTask struct {
	Future
	f func(ctx context.Context) error
}

func (t *errTask) Start(_ *Pool, s Seat, _ context.Context, exclusive bool) bool {
	return t.StartTask(t, s, exclusive)
}
func (t *errTask) Drop(_ *Pool, err error)         { DropFuture(t, err) }
func (t *errTask) Fail(_ *Pool, _ Seat, err error) { FailFuture(t, err) }

func (t *errTask) Call(c *Context) error { return t.f(c) }
func (t *errTask) Release(bool)          { t.f = nil }

func (t *errTask) Entry() uintptr {
	if t.f == nil || t.detached() { // the function of Go is wrapped by another
		return 0
	}
	return engine.EntryOf(t.f)
}

// Go queues f with options, as [Pool.Go] of package filch does, or refuses it because of err.
func (p *Pool) Go(ctx context.Context, f func(ctx context.Context), o *Options, err error, try bool) error {
	if o.Plain() && err == nil {
		if p.IsLogical() {
			own := p.Inherited(ctx) // before the child is opened, which reads it
			t, submitted := p.newChildTask(f), false
			defer func() { dropChildUnless(submitted, t) }()
			err = p.submit(ctx, Task{Ctx: own, Body: t}, o.Priority, o.Fair, try)
			submitted = true
			return err
		}
		return p.submit(ctx, Task{Ctx: p.Inherited(ctx), Body: Plain(f)}, o.Priority, o.Fair, try)
	}
	o.Detached = true
	t := &errTask{f: func(ctx context.Context) error { f(ctx); return nil }}
	t.Ctx.Init(p.Inherited(ctx), p)
	t.With(*o, nil)
	if err != nil {
		return RefuseFuture(ctx, t, o, err)
	}
	return SubmitFuture(ctx, t, o, try)
}

// dropped counts a task that was cancelled before it started.
func (p *Pool) dropped() { p.Outcomes.Cancelled.Add(1) }

// entryOf returns where the function of b begins, or 0 if it is not known.
func entryOf(b Body) uintptr {
	if t, ok := b.(FutureTask); ok {
		return t.Entry()
	}
	if _, f := b.About(); f != nil {
		return reflect.ValueOf(f).Pointer()
	}
	return 0
}
