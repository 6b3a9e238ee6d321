package task

import (
	"context"
	"runtime/pprof"
	"runtime/trace"

	"github.com/filch-go/filch/internal/event"
)

// What observes a task from its submission to its end: checks, observers, hooks, labels and regions. A pool without them only
// checks a flag or two here.

// see returns b, or in a pool that sees tasks, a body that wraps it.
func (p *Pool) see(ctx context.Context, b Body, priority int) Body {
	if !p.Sees || seenOf(b) != nil {
		return b
	}
	o := p.newSeen(ctx, b, priority)
	o.Body = b
	return o
}

// seeFuture shows the task to the pool's observer and hook, if any.
func seeFuture(ctx context.Context, t FutureTask, o *Options) {
	if c := &t.Core().Ctx; c.Pool.Sees {
		c.needExtras().seen = c.Pool.newSeen(ctx, t, o.Priority)
	}
}

// seenOf returns the record of b, or nil if it is not seen.
func seenOf(b Body) *seen {
	switch b := b.(type) {
	case *seen:
		return b
	case FutureTask:
		return b.Core().Ctx.seen()
	}
	return nil
}

// bare returns the body that b wraps.
func bare(b Body) Body {
	if o, ok := b.(*seen); ok {
		return o.Body
	}
	return b
}

// announce reports that b is accepted or refused. If the observer does not return, b counts as cancelled, and announce calls
// undo.
func (p *Pool) announce(b Body, k event.Kind, err error, undo func()) {
	returned := false
	o := seenOf(b)
	defer func() {
		if !returned {
			p.Totals.Direct.Add(1)
			p.dropped()
			undo()
			o.tell(event.Cancelled, errNotSubmitted)
		}
	}()
	o.tell(k, err)
	returned = true
}

// isObserved reports whether the runs of tasks are seen.
func (p *Pool) isObserved() bool {
	return p.Sees || p.Labels != nil || p.Engine.IsHooked() || trace.IsEnabled()
}

// byWorker reports whether the goroutine of the worker that took a task runs it, if that is what Start was told, or what stands around
// the task was told.
func (c *Context) byWorker(exclusive bool) bool {
	o := c.seen()
	return exclusive || o != nil && o.exclusive
}

// runObserved calls f, which runs b with the context c, lets observers see the run, and returns its error. exclusive is that
// of Start.
func (p *Pool) runObserved(c *Context, b Body, exclusive bool, f func() error) error {
	name, _ := b.About()
	o := c.seen()
	if p.Checks.Strict() {
		defer p.Checks.Runs(c)()
	}
	if o != nil {
		o.tell(event.Submitted, nil)
		if o.last.Context = c; c.Worker != nil {
			o.last.Worker = c.Worker.Engine.ID
		}
		o.tellStart(c, exclusive)
	}
	var told Run
	if o == nil && p.Engine.IsHooked() {
		told = p.TellStarted(c.Worker, exclusive, name, entryOf(b), func() uint64 { return p.observed.Add(1) })
		defer told.TellEnded()
	}
	p.label(c)
	if trace.IsEnabled() {
		defer traced(c, name, b)()
	}
	err := f()
	told.Returned = true
	if o != nil {
		o.tell(event.Done, err)
	}
	return err
}

// label gives the goroutine the labels of the task that ctx belongs to, if the pool has labels.
func (p *Pool) label(ctx context.Context) {
	if p.Labels != nil {
		pprof.SetGoroutineLabels(labelled(ctx))
	}
}

// traced begins a task of the Go runtime's trace, with a region, and returns a function that ends both.
func traced(c *Context, name string, b Body) (end func()) {
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
