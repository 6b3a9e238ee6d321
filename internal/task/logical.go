package task

import (
	"context"
	"runtime"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/tag"
)

// With logical races, each task is a goroutine of its own to the race detector: a race.Child, which is opened before the task
// is submitted, and runs its function when the task starts; see internal/engine/logical.go. The pool's work for the task
// stays on the goroutine that has taken it and waits meanwhile. That goroutine is ordered after its child, but the child
// after nothing that the goroutine did before. So what a child needs was written before it was opened, or is passed by value.

// runInChild calls f in child with a copy of c, for the goroutine that has taken the task. If f does not return, neither does
// this.
func (c *Context) runInChild(child race.Child, catches catching, f func(c *Context)) {
	out, own := new(childOutcome), c.forChild()
	sees := c.Pool.Sees // then the worker has written the record of the context
	if sees {
		race.Release(out)
	}
	child.Run(func() {
		if sees {
			race.Acquire(out)
		}
		c := own()
		race.Acquire(&c.Pool.Name) // Resume
		c.beChild(func() {
			defer func() {
				if out.returned {
					return
				}
				if v := recover(); v != nil && catches != byNobody {
					out.value, out.err = v, c.Pool.Users.HowEnded(v)
				} else if v != nil {
					panic(v)
				}
			}()
			c.inPlaceOf(f)
			out.returned = true
		})
	})
	child.Wait()
	if c.Worker != nil {
		engine.AcquireBase(&c.Worker.Engine)
	}
	switch {
	case out.err != nil && catches == byCaller:
		panic(out.value)
	case out.err != nil:
		panic(out.err)
	case !out.returned:
		runtime.Goexit()
	}
}

// beChild calls f on the goroutine of a child whose context is c.
func (c *Context) beChild(f func()) {
	p := c.Pool
	p.Engine.Tag(func(uint64, tag.Step) {
		if p.Checks.Strict() {
			defer p.Checks.Runs(c)()
		}
		engine.Unlabel()
		p.label(c)
		f()
		runtime.KeepAlive(c) // as a task keeps its context until it ends
	})
}

func init() { race.PartsKnown(runPart) }

// runPart calls f in a child opened now, with its own context; see race.RunPart.
func runPart(ctx context.Context, f func(ctx context.Context)) bool {
	c := Of(ctx)
	if c == nil || !c.Pool.IsLogical() {
		return false
	}
	own := c.forPart()
	run := func() {
		c := own()
		c.beChild(func() { c.inPlaceOf(func(c *Context) { f(c) }) })
	}
	child := c.Pool.openTask() // last: the child sees what was before
	if child.IsOpen() {
		child.Run(run)
	}
	return child.IsOpen()
}

// inPlaceOf calls f in the place of c's worker, if it has one.
func (c *Context) inPlaceOf(f func(c *Context)) {
	if c.Worker == nil {
		f(c)
		return
	}
	engine.StandIn(&c.Worker.Engine, func() { f(c) })
}

// childOutcome is how a child ended; the child writes, then its runner reads.
type childOutcome struct {
	returned bool
	err      error // of a panic; nil if it has returned, or for runtime.Goexit
	value    any   // of the panic
}

// catching says who handles a task's panic.
type catching int

const (
	byNobody catching = iota // it ends the program, where it comes from
	byPool                   // it is an error
	byCaller                 // it reaches what runs the task in place
)

// catchingOf returns that for a body's Catches and exclusive, the argument of Start.
func catchingOf(catches, exclusive bool) catching {
	switch {
	case catches:
		return byPool
	case exclusive:
		return byNobody
	}
	return byCaller
}

// forChild returns a function that returns c as its child has it. For a task without a Future, the worker has written c, and
// the child is not ordered after that, so it gets a copy. That of a Future was written by its submitter.
func (c *Context) forChild() func() *Context {
	if !c.isShared() {
		return func() *Context { return c }
	}
	return c.forPart()
}

// forPart is forChild for a part of c's task, with the part's own context.
func (c *Context) forPart() func() *Context {
	ctx, p, w, round, extras := c.Context, c.Pool, c.Worker, c.round, c.extras.Load()
	return func() *Context {
		own := &Context{Worker: w, round: round}
		own.extras.Store(extras)
		own.Init(ctx, p)
		own.state.Share()
		return own
	}
}

// childTask is a Plain with logical races.
type childTask struct {
	Plain
	child race.Child
}

func (p *Pool) newChildTask(f Plain) *childTask {
	t := &childTask{Plain: f}
	t.child = p.openTask() // last: the child sees what was before
	return t
}

func (t *childTask) Start(p *Pool, s Seat, ctx context.Context, exclusive bool) bool {
	defer t.child.Drop()
	return Plain(func(c context.Context) {
		if !t.child.IsOpen() {
			t.Plain(c)
			return
		}
		c.(*Context).runInChild(t.child, catchingOf(t.Catches(p), exclusive), func(c *Context) { t.Plain(c) })
	}).Start(p, s, ctx, exclusive)
}

func (t *childTask) Drop(p *Pool, err error) {
	t.child.Drop()
	t.Plain.Drop(p, err)
}

func (t *childTask) Crash(p *Pool, s Seat) { p.crash(nil, false, s) }

func (t *childTask) dropChild() { t.child.Drop() }

// dropChildOf ends the child of a refused task.
func dropChildOf(b Body) {
	if !race.Enabled {
		return
	}
	switch b := bare(b).(type) {
	case FutureTask:
		b.Core().child.Get().drop()
	case interface{ dropChild() }:
		b.dropChild()
	}
}

// dropChildUnless is deferred around a submission of b: the observer or a method of a context may panic.
func dropChildUnless(submitted bool, b Body) {
	if !submitted {
		dropChildOf(b)
	}
}

// aside calls submit on another goroutine, so that the pool's work there is not ordered with what the caller does.
func aside(submit func() error) (err error) {
	result := make(chan error, 1)
	race.Aside(func() {
		err := submit()
		race.Disable()
		result <- err
		race.Enable()
	})
	race.Disable()
	err = <-result
	race.Enable()
	return err
}

// OrdersNone calls f so that, with logical races, it orders nothing that the caller does.
func (p *Pool) OrdersNone(f func()) {
	if p.IsLogical() {
		_ = aside(func() error { f(); return nil })
	} else {
		f()
	}
}

// child is a Future's part for logical races.
type child struct {
	child race.Child
	after []*Context // tasks that it comes after
	alone *Subpool   // its Subpool, if that has one slot; or nil
}

// openChild opens a child for the task of c, which is about to be submitted and comes after h's dependencies, if h is not
// nil. It returns nil if there is none.
func (c *Context) openChild(h *Held) *child {
	l := &child{}
	if h != nil {
		deps := h.after()
		for i := range deps {
			l.after = append(l.after, &deps[i].on.Core().Ctx)
		}
		if s := h.Slot.Of; s != nil && s.Limit == 1 {
			l.alone = s
		}
	}
	if l.child = c.Pool.openTask(); !l.child.IsOpen() {
		return nil
	}
	return l
}

// sit notes where the task of c runs. The child calls it, because others that have c are ordered after the child.
func (l *child) sit(c *Context, s Seat) {
	l.child.Prepare(func() { c.Worker, c.round = s.Worker, s.Round })
}

// run calls f, the work of c's task, in the child.
func (l *child) run(c *Context, catches catching, f func()) {
	after, alone := l.after, l.alone
	l.after = nil // so that the Future does not retain it
	c.runInChild(l.child, catches, func(c *Context) {
		for _, t := range after {
			race.Acquire(t)
		}
		if alone != nil {
			race.Acquire(alone)
			defer race.Release(alone)
		}
		defer race.Release(c)
		f()
	})
}

// drop ends the child of a refused task. Its context or the pool may end it at the same time.
func (l *child) drop() {
	if l != nil {
		l.child.Drop()
	}
}

// end is called when c's task is done or refused.
func (l *child) end(c *Context) {
	if l != nil {
		l.child.Drop()
		l.after = nil
	} else if c.Pool.IsLogical() {
		race.Release(c) // for tasks that come after it
	}
}

// IsLogical reports whether p has logical races.
func (p *Pool) IsLogical() bool { return race.Enabled && p.Engine.Logical.On }

// openTask opens a child for a task about to be submitted, or returns none.
func (p *Pool) openTask() race.Child {
	if !p.IsLogical() {
		return race.Child{}
	}
	c := race.Open()
	if !c.IsOpen() {
		p.MissedRaces()
	}
	return c
}

// MissedRaces logs, once, that there are too many children at a time.
func (p *Pool) MissedRaces() {
	if p.Logger != nil && !p.missTold.Swap(true) {
		p.Logger.Warn("filch: logical races: too many forks and tasks are open at a time, so some are seen as the race detector alone sees them", "pool", p.Name, "most", race.MaxOpen)
	}
}
