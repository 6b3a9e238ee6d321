package filch

import (
	"context"
	"runtime"
	"runtime/pprof"

	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/tag"
	"github.com/filch-go/filch/internal/task"
)

// With logical races, each task is a goroutine of its own to the race detector: a race.Child, which
// is opened before the task is submitted, and runs its function when the task starts; see
// internal/engine/logical.go. What the pool does with the task stays on the goroutine that has taken
// it, which waits meanwhile. That is ordered after its child, but the child after nothing that the
// goroutine has done before: so what a child needs was written before it was opened, or is passed
// by value.

// runInChild calls f in child with a copy of c, for the goroutine that has taken the task. What f
// does not return from does not return here. catches is that of the task's body.
func (c *taskContext) runInChild(child race.Child, catches bool, f func(c *taskContext)) {
	out, own := new(childOutcome), c.forChild()
	sees := c.pool.sees // then the worker has written what belongs to the context
	if sees {
		race.Release(out)
	}
	child.Run(func() {
		if sees {
			race.Acquire(out)
		}
		c := own()
		p := c.pool
		race.Acquire(&p.name) // Resume
		p.tasks.Engine.Tag(func(uint64, tag.Step) {
			if p.checks != nil {
				defer p.checks.begin(c)()
			}
			if pprof.SetGoroutineLabels(context.Background()); p.labels {
				pprof.SetGoroutineLabels(labelled(c))
			}
			defer func() {
				if out.returned {
					return
				}
				if v := recover(); v != nil && catches {
					out.err = panicError(v)
				} else if v != nil {
					panic(v)
				}
			}()
			f(c)
			out.returned = true
		})
	})
	child.Wait()
	switch {
	case out.err != nil:
		panic(out.err)
	case !out.returned:
		runtime.Goexit()
	}
}

// childOutcome is how a child has ended; it writes, then its runner reads.
type childOutcome struct {
	returned bool
	err      error // of a panic; nil if it has returned, or for runtime.Goexit
}

// forChild returns a function that returns c as its child has it. c of a task without a Future was
// written by the worker, which the child is not ordered after: it gets a copy. That of a Future was
// written by what has submitted it.
func (c *taskContext) forChild() func() *taskContext {
	if !c.isShared() {
		return func() *taskContext { return c }
	}
	ctx, p, w, round, extras := c.Context, c.pool, c.worker, c.round, c.extras.Load()
	return func() *taskContext {
		if w != nil {
			w.Engine.AcquireBorn()
		}
		own := &taskContext{worker: w, round: round}
		own.extras.Store(extras)
		own.init(ctx, p)
		own.state.share()
		return own
	}
}

// childTask is a plainTask with logical races.
type childTask struct {
	plainTask
	child race.Child
}

func (p *Pool) newChildTask(f plainTask) *childTask {
	t := &childTask{plainTask: f}
	t.child = p.openTask() // at last: the child sees what was before
	return t
}

func (t *childTask) Start(tp *task.Pool, s task.Seat, ctx context.Context, exclusive bool) bool {
	defer t.child.Drop()
	return plainTask(func(c context.Context) {
		if !t.child.IsOpen() {
			t.plainTask(c)
			return
		}
		c.(*taskContext).runInChild(t.child, t.Catches(tp), func(c *taskContext) { t.plainTask(c) })
	}).Start(tp, s, ctx, exclusive)
}

func (t *childTask) Drop(p *task.Pool, err error) {
	t.child.Drop()
	t.plainTask.Drop(p, err)
}

func (t *childTask) Crash(p *task.Pool, s task.Seat) { crash(p, t, s) }

func (t *childTask) dropChild() { t.child.Drop() }

// dropChildOf ends the child of a task that is not accepted.
func dropChildOf(b task.Body) {
	if o, ok := b.(*seen); ok {
		b = o.Body
	}
	if t, ok := b.(interface{ dropChild() }); ok {
		t.dropChild()
	}
}

// aside calls submit on a goroutine of its own: what the pool does there orders nothing that the
// caller does.
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

// openChild opens a child for the task of c, which is about to be submitted, and comes after what h
// says, if it is not nil. It returns nil if there is none.
func (c *taskContext) openChild(h *hold) *futureChild {
	l := &futureChild{}
	if h != nil {
		deps := h.after()
		for i := range deps {
			l.after = append(l.after, deps[i].on.task())
		}
	}
	if l.child = c.pool.openTask(); !l.child.IsOpen() {
		return nil
	}
	return l
}

// sit notes where the task of c runs. Its child does, after which others are ordered that have c.
func (l *futureChild) sit(c *taskContext, s task.Seat) {
	l.child.Prepare(func() {
		if s.Worker != nil {
			s.Worker.Engine.AcquireBorn()
		}
		c.worker, c.round = s.Worker, s.Round
	})
}

// run calls f, which is what the task of c does, in the child.
func (l *futureChild) run(c *taskContext, catches bool, f func()) {
	after := l.after
	c.runInChild(l.child, catches, func(c *taskContext) {
		for _, t := range after {
			race.Acquire(t)
		}
		defer race.Release(c)
		f()
	})
}

// end is called when the task of c is done, or refused.
func (l *futureChild) end(c *taskContext) {
	if l != nil {
		l.child.Drop()
	} else if c.pool.isLogical() {
		race.Release(c) // for what comes after it
	}
}
