package filch

import (
	"context"
	"errors"
	"reflect"
	"runtime/pprof"
	"runtime/trace"
	"time"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
	"github.com/filch-go/filch/internal/tell"
)

// What the observer of a pool, its hook and traces are told of a task, and by whom. The events are in event.go.

// see returns b, or what stands for it in a pool that sees tasks.
func (p *Pool) see(ctx context.Context, b task.Body, priority int) task.Body {
	if !p.sees || seenOf(b) != nil {
		return b
	}
	o := p.newSeen(ctx, b, priority)
	o.Body = b
	return o
}

func (p *Pool) newSeen(ctx context.Context, b task.Body, priority int) *seen {
	name, _ := b.About()
	o := &seen{pool: p}
	if p.checks.Strict() {
		o.submitted = tell.Callers()
	}
	o.entry = entryOf(b)
	o.last = Event{Pool: p.name, Task: name, ID: p.observed.Add(1), Priority: priority, Worker: -1, Context: ctx}
	if c := taskOf(ctx); c != nil && c.pool == p {
		if by := c.seen(); by != nil {
			o.last.Parent = by.last.ID // which is not written any more
		}
	}
	return o
}

// seenOf returns what is kept of b, or nil if it is not seen.
func seenOf(b task.Body) *seen {
	switch b := b.(type) {
	case *seen:
		return b
	case interface{ seen() *seen }:
		return b.seen()
	}
	return nil
}

// bare returns the body that b stands for.
func bare(b task.Body) task.Body {
	if o, ok := b.(*seen); ok {
		return o.Body
	}
	return b
}

// seen returns what is kept of c's task, or nil.
func (c *taskContext) seen() *seen {
	if m := c.extras.Load(); m != nil {
		return m.seen
	}
	return nil
}

// tell tells what happens to the task, unless all was told. A task that did not lie in a queue
// was submitted just now.
func (o *seen) tell(k EventKind, err error) {
	e := &o.last
	if o.over {
		return
	}
	if k != TaskRejected && e.Submitted.IsZero() {
		e.Submitted = time.Now()
		o.call(TaskSubmitted, nil)
	}
	switch k {
	case TaskSubmitted:
		return
	case TaskStarted:
		e.Started = time.Now()
	default:
		o.over = true
		e.Ended = time.Now()
		if k == TaskDone && e.Started.IsZero() { // the observer did not return
			k = TaskCancelled
		}
	}
	o.call(k, err)
}

// call tells the hook, and then the observer, which may not return.
func (o *seen) call(k EventKind, err error) {
	p, e := o.pool, &o.last
	e.Kind, e.Err = k, err
	kind := taskEvents[k]
	if o.crashed && k == TaskDone {
		kind = event.Crashed
	}
	p.tasks.Engine.Tell(event.Event{Kind: kind, Worker: e.Worker, Other: -1, ID: e.ID, Name: e.Task, Func: o.entry})
	if p.observer != nil {
		p.observer.Observe(*e)
	}
}

// taskEvents are the kinds of events as the hook knows them.
var taskEvents = [...]event.Kind{
	TaskSubmitted: event.Submitted,
	TaskRejected:  event.Rejected,
	TaskStarted:   event.Started,
	TaskDone:      event.Done,
	TaskCancelled: event.Cancelled,
}

// announce tells that b is accepted or refused. If the observer does not return, b counts
// as cancelled, and undo is called.
func (p *Pool) announce(b task.Body, k EventKind, err error, undo func()) {
	returned := false
	o := seenOf(b)
	defer func() {
		if !returned {
			p.tasks.Totals.Direct.Add(1)
			p.dropped()
			undo()
			o.tell(TaskCancelled, errNotSubmitted)
		}
	}()
	o.tell(k, err)
	returned = true
}

func (o *seen) Start(p *task.Pool, s task.Seat, ctx context.Context, exclusive bool) bool {
	o.exclusive = exclusive
	c := o.pool.newContext(ctx, s) // of its own, so that what it submits has the right parent
	c.extras.Store(&taskExtras{seen: o})
	if c.Err() != nil { // as Start finds as well, even if the observer does not return
		defer o.Body.Start(p, s, madeContext{c}, false)
		o.tell(TaskCancelled, c.cause())
		return false
	}
	if !o.Body.Start(p, s, madeContext{c}, false) { // since the context has ended just now
		o.tell(TaskCancelled, c.cause())
		return false
	}
	return true
}

func (o *seen) Drop(p *task.Pool, err error) {
	defer o.Body.Drop(p, err)
	o.tell(TaskCancelled, err)
}

func (o *seen) Catches(p *task.Pool) bool { return !wasDropped(o) && o.Body.Catches(p) }

func (o *seen) Fail(p *task.Pool, s task.Seat, err error) {
	defer o.Body.Fail(p, s, err)
	o.tell(TaskDone, err)
}

// wasDropped reports whether b was dropped when it was to start, and the observer, or the function
// of OnDrop, did not return from that.
func wasDropped(b task.Body) bool {
	if f, ok := b.(interface{ task() *taskContext }); ok {
		if m := f.task().extras.Load(); m != nil && m.dropped {
			return true
		}
	}
	o := seenOf(b)
	return o != nil && o.last.Kind == TaskCancelled
}

// isObserved reports whether the runs of tasks are seen.
func (p *Pool) isObserved() bool {
	return p.sees || p.labels != nil || p.tasks.Engine.IsHooked() || trace.IsEnabled()
}

// runObserved calls f, which runs b with the context c, so that it can be seen, and returns
// its error. exclusive is that of Start.
func (p *Pool) runObserved(c *taskContext, b task.Body, exclusive bool, f func() error) error {
	name, _ := b.About()
	o := c.seen()
	if p.checks.Strict() {
		defer p.checks.Runs(c)()
	}
	if o != nil {
		o.tell(TaskSubmitted, nil)
		if o.last.Context = c; c.worker != nil {
			o.last.Worker = c.worker.Engine.ID
		}
		o.tellStart(c, exclusive)
	}
	var told task.Run
	if o == nil && p.tasks.Engine.IsHooked() {
		told = p.tasks.TellStarted(c.worker, exclusive, name, entryOf(b), func() uint64 { return p.observed.Add(1) })
		defer told.TellEnded()
	}
	if p.labels != nil {
		pprof.SetGoroutineLabels(labelled(c))
	}
	if trace.IsEnabled() {
		defer traced(c, name, b)()
	}
	err := f()
	told.Returned = true
	if o != nil {
		o.tell(TaskDone, err)
	}
	return err
}

// tellStart tells that the task starts with the context c, in its turn if a worker took it from a queue.
func (o *seen) tellStart(c *taskContext, exclusive bool) {
	if !o.pool.tasks.InOrder || !exclusive && !o.exclusive {
		o.tell(TaskStarted, nil)
		return
	}
	c.worker.InTurn(func() { o.tell(TaskStarted, nil) })
}

// traced begins a task of the Go runtime's trace, with a region, and returns what ends both.
func traced(c *taskContext, name string, b task.Body) (end func()) {
	if name == "" {
		name = event.FuncName(entryOf(b))
	}
	ctx, t := trace.NewTask(c, "filch "+name)
	region := trace.StartRegion(ctx, "filch "+name)
	return func() {
		region.End()
		t.End()
	}
}

// entryOf returns where the function of b begins, or 0 if it is not known.
func entryOf(b task.Body) uintptr {
	if b, ok := b.(interface{ entry() uintptr }); ok {
		return b.entry()
	}
	if _, f := b.About(); f != nil {
		return reflect.ValueOf(f).Pointer()
	}
	return 0
}

// errNotSubmitted is the error of a task whose submission panicked, in a callback.
var errNotSubmitted = errors.New("filch: the task was not submitted: a callback panicked")

// dropped counts a task that was cancelled before it started.
func (p *Pool) dropped() { p.outcomes.cancelled.Add(1) }
