package task

import (
	"context"
	"time"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/tell"
)

// What a pool's observer, hook and traces receive about a task, and from whom. Package filch has the names of the events.

// Event is what a pool's observer receives about a task.
type Event struct {
	Kind     event.Kind // Submitted, Rejected, Started, Done or Cancelled
	Pool     string
	Task     string
	Err      error
	ID       uint64
	Parent   uint64
	Priority int

	Submitted, Started, Ended time.Time

	Worker  int // -1 if there is none
	Context context.Context
}

// seen is the record of a task in a pool that sees tasks: it has an observer, or its engine a hook. All that either receives
// about tasks goes through call. In a queue it stands for the task's body, except for a Future, whose context has it. Only
// the goroutine that has the task touches it: the submitter, then the one that took it out of the queue or claimed it.
type seen struct {
	Body              // nil for a Future
	pool      *Pool   // has an observer or a hook
	last      Event   // and the base of the next
	over      bool    // no more events will come
	crashed   bool    // its function has not returned
	exclusive bool    // the goroutine of the worker that took it from a queue runs it; for tasks without a Future
	entry     uintptr // of its function, or 0

	submitted []uintptr // the stack of the submitter, if the pool has checks
}

func (p *Pool) newSeen(ctx context.Context, b Body, priority int) *seen {
	name, _ := b.About()
	o := &seen{pool: p}
	if p.Checks.Strict() {
		o.submitted = tell.Callers()
	}
	o.entry = entryOf(b)
	o.last = Event{Pool: p.Name, Task: name, ID: p.observed.Add(1), Priority: priority, Worker: -1, Context: ctx}
	if c := Of(ctx); c != nil && c.Pool == p {
		if by := c.seen(); by != nil {
			o.last.Parent = by.last.ID // which is no longer written
		}
	}
	return o
}

// seen returns the record of c's task, or nil.
func (c *Context) seen() *seen {
	if m := c.extras.Load(); m != nil {
		return m.seen
	}
	return nil
}

// tell reports an event of the task, unless the last was reported. A task that was not queued was submitted just now.
func (o *seen) tell(k event.Kind, err error) {
	e := &o.last
	if o.over {
		return
	}
	if k != event.Rejected && e.Submitted.IsZero() {
		e.Submitted = time.Now()
		o.call(event.Submitted, nil)
	}
	switch k {
	case event.Submitted:
		return
	case event.Started:
		e.Started = time.Now()
	default:
		o.over = true
		e.Ended = time.Now()
		if k == event.Done && e.Started.IsZero() { // the observer did not return
			k = event.Cancelled
		}
	}
	o.call(k, err)
}

// call calls the hook, and then the observer, which may not return.
func (o *seen) call(k event.Kind, err error) {
	p, e := o.pool, &o.last
	e.Kind, e.Err = k, err
	if o.crashed && k == event.Done {
		k = event.Crashed
	}
	p.Engine.Tell(event.Event{Kind: k, Worker: e.Worker, Other: -1, ID: e.ID, Name: e.Task, Func: o.entry})
	if p.Observe != nil {
		p.Observe(e)
	}
}

func (o *seen) Start(p *Pool, s Seat, ctx context.Context, exclusive bool) bool {
	o.exclusive = exclusive
	c := o.pool.newContext(ctx, s) // its own, so that what it submits has the right parent
	c.extras.Store(&extras{seen: o})
	if c.Err() != nil { // as Start finds as well, even if the observer does not return
		defer o.Body.Start(p, s, madeContext{c}, false)
		o.tell(event.Cancelled, c.cause())
		return false
	}
	if !o.Body.Start(p, s, madeContext{c}, false) { // the context has ended just now
		o.tell(event.Cancelled, c.cause())
		return false
	}
	return true
}

func (o *seen) Drop(p *Pool, err error) {
	defer o.Body.Drop(p, err)
	o.tell(event.Cancelled, err)
}

func (o *seen) Catches(p *Pool) bool { return !o.wasDropped() && o.Body.Catches(p) }

func (o *seen) Crash(p *Pool, s Seat) { p.crash(o, o.wasDropped(), s) }

// wasDropped reports whether the task was dropped when it was to start, and the observer did not return.
func (o *seen) wasDropped() bool { return o.last.Kind == event.Cancelled }

func (o *seen) Fail(p *Pool, s Seat, err error) {
	defer o.Body.Fail(p, s, err)
	o.tell(event.Done, err)
}

// tellStart reports that the task starts with the context c, in its turn if a worker took it from a queue.
func (o *seen) tellStart(c *Context, exclusive bool) {
	if !o.pool.InOrder || !exclusive && !o.exclusive {
		o.tell(event.Started, nil)
		return
	}
	c.Worker.InTurn(func() { o.tell(event.Started, nil) })
}
