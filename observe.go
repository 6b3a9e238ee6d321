package filch

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

// Observer is told what happens to the tasks of a pool; see [WithObserver].
//
// Observe is called by the goroutines that submit and run tasks, several at once, and
// they wait for it. So it must be quick and safe for concurrent use. No lock is held
// during the call, so Observe may call any method of the pool. Tasks that it submits
// are observed too.
//
// Each task has an ID and goes one of three ways, in this order of time and of calls:
//
//   - TaskRejected
//   - TaskSubmitted, TaskCancelled
//   - TaskSubmitted, TaskStarted, TaskDone
//
// Each call returns before the next begins, and the last before [Future.Wait] or
// [Group.Wait] returns. There is one exception: a task of a group that is stopped is
// cancelled for the group at once, and for the observer at its turn in the queue.
//
// Observe should not panic or call runtime.Goexit. If it does, no count, place or
// room in a queue is lost. At TaskSubmitted and TaskRejected the panic arrives at the
// caller of Go or Submit, and the task counts as cancelled. At TaskStarted and TaskDone
// it is a panic of the task. At TaskCancelled it arrives at the caller of Cancel or
// Close if that call drops the task, and at the caller of Wait, Help, Go or Submit if that
// call was about to run it in place. If the end of a context drops the task elsewhere, the
// panic ends the program.
type Observer interface {
	Observe(e Event)
}

// Event is something that happened to a task. The event of TaskDone has all that the
// earlier ones had: Started less Submitted is how long the task waited, and Ended
// less Started how long it ran.
type Event struct {
	Kind EventKind
	Pool string // its name
	Task string // its name, if it has one; see Named
	Err  error  // of TaskDone, TaskCancelled and TaskRejected, if any

	ID       uint64 // no other task of the pool has it; it is not 0
	Parent   uint64 // ID of the task whose context it was submitted with, 0 if that was none of the pool; of a Group, the task that made the group
	Priority int    // see AtPriority

	Submitted time.Time // when it was accepted; zero in TaskRejected
	Started   time.Time // when it began to run; zero if it has not
	Ended     time.Time // when it was done, cancelled or rejected; zero if it was not yet

	// Worker is the number of the worker that the task runs on, as in Dump, also if it
	// runs in place there. It is -1 before the task starts, and if it has none: for a
	// task of LongRunning, and one that runs in place elsewhere.
	Worker int

	// Context is the context that the task is called with, from TaskStarted on. Before
	// that, and for a task that never starts, it is the one that it was submitted with.
	Context context.Context
}

// EventKind is a kind of [Event].
type EventKind int

const (
	TaskSubmitted EventKind = iota // accepted
	TaskRejected                   // not accepted, with the error
	TaskStarted                    // begins to run
	TaskDone                       // has ended, with its error, a *PanicError or ErrGoexit
	TaskCancelled                  // will never run, with the reason
)

// String returns the name of the kind.
func (k EventKind) String() string {
	return nameOf("EventKind", int(k), "TaskSubmitted", "TaskRejected", "TaskStarted", "TaskDone", "TaskCancelled")
}

// seen is what is kept of a task of a pool with an observer. In a queue it stands for
// the task's body, except for a Future, whose context has it. Only the goroutine that
// has the task touches it: the submitter, then the one that took it out of the queue or
// claimed it.
type seen struct {
	body       // nil for a Future
	pool *Pool // has an observer
	last Event // and what the next will have
	over bool  // there is none to come
}

// see returns b, or what stands for it in a pool with an observer.
func (p *Pool) see(ctx context.Context, b body, priority int) body {
	if p.observer == nil || seenOf(b) != nil {
		return b
	}
	o := p.newSeen(ctx, b, priority)
	o.body = b
	return o
}

func (p *Pool) newSeen(ctx context.Context, b body, priority int) *seen {
	name, _ := b.about()
	o := &seen{pool: p}
	o.last = Event{Pool: p.name, Task: name, ID: p.observed.Add(1), Priority: priority, Worker: -1, Context: ctx}
	if c := taskOf(ctx); c != nil && c.pool == p {
		if by := c.seen(); by != nil {
			o.last.Parent = by.last.ID // which nobody writes any more
		}
	}
	return o
}

// seenOf returns what is kept of b, or nil if there is no observer.
func seenOf(b body) *seen {
	switch b := b.(type) {
	case *seen:
		return b
	case interface{ seen() *seen }:
		return b.seen()
	}
	return nil
}

// bare returns the body that b stands for.
func bare(b body) body {
	if o, ok := b.(*seen); ok {
		return o.body
	}
	return b
}

// seen returns what is kept of c's task, or nil.
func (c *taskContext) seen() *seen {
	if m := c.more.Load(); m != nil {
		return m.seen
	}
	return nil
}

// tell tells the observer, unless all was told. A task that did not lie in a queue
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

func (o *seen) call(k EventKind, err error) {
	o.last.Kind, o.last.Err = k, err
	o.pool.observer.Observe(o.last)
}

// announce tells that b is accepted or refused. If the observer does not return, b counts
// as cancelled, and undo is called.
func (p *Pool) announce(b body, k EventKind, err error, undo func()) {
	returned := false
	o := seenOf(b)
	defer func() {
		if !returned {
			p.ended.direct.Add(1)
			p.dropped()
			undo()
			o.tell(TaskCancelled, errNotSubmitted)
		}
	}()
	o.tell(k, err)
	returned = true
}

func (o *seen) start(p *Pool, s seat, ctx context.Context, _ bool) bool {
	c := p.newContext(ctx, s) // of its own, so that what it submits has the right parent
	c.more.Store(&more{seen: o})
	if c.Err() != nil { // as start finds as well, even if the observer does not return
		defer o.body.start(p, s, madeContext{c}, false)
		o.tell(TaskCancelled, c.cause())
		return false
	}
	if !o.body.start(p, s, madeContext{c}, false) { // since the context has ended just now
		o.tell(TaskCancelled, c.cause())
		return false
	}
	return true
}

func (o *seen) drop(p *Pool, err error) {
	defer o.body.drop(p, err)
	o.tell(TaskCancelled, err)
}

func (o *seen) catches(p *Pool) bool { return o.body.catches(p) }

func (o *seen) fail(p *Pool, s seat, err error) {
	defer o.body.fail(p, s, err)
	o.tell(TaskDone, err)
}

// undropped reports whether b was dropped when it was to start, and the observer did
// not return when it was told. Then it counts as done, as all do that were started
// and have failed, but a panic is the observer's, and goes on.
func (p *Pool) undropped(b body) bool {
	o := seenOf(b)
	if o == nil || o.last.Kind != TaskCancelled {
		return false
	}
	p.ended.cancelled.Add(-1)
	return true
}

// watched reports whether somebody wants to see tasks run.
func (p *Pool) watched() bool { return p.observer != nil || p.labels || trace.IsEnabled() }

// watch calls f, which runs b with the context c, so that it can be seen, and returns
// its error.
func (p *Pool) watch(c *taskContext, b body, f func() error) error {
	name, _ := b.about()
	o := c.seen()
	if o != nil {
		o.tell(TaskSubmitted, nil)
		if o.last.Context = c; c.worker != nil {
			o.last.Worker = c.worker.engine.ID
		}
		o.tell(TaskStarted, nil)
	}
	if p.labels {
		pprof.SetGoroutineLabels(labelled(c))
	}
	if trace.IsEnabled() {
		defer trace.StartRegion(c, "filch "+name).End()
	}
	err := f()
	if o != nil {
		o.tell(TaskDone, err)
	}
	return err
}
