package filch

import (
	"context"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/task"
)

// Scope is where fork-join work can be started: a *Pool, from any goroutine; a *Worker, inside such work; the Scope of a
// task, see [ScopeOf]; or a Strand of package strand. Functions that take a Scope compose: nested calls share the same
// workers.
type Scope interface {
	// Do calls f and returns when f has returned.
	Do(f func(w *Worker))
}

// ScopeOf returns the Scope for fork-join work inside a task: the worker that runs it. If ctx does not come from a task,
// ScopeOf returns the default pool. Several goroutines may use the Scope, one at a time on the task's worker; the others are
// guests of its pool, as by [Pool.Do], and so are those that come when the task is over. Tasks of [Pool.Go] that one worker
// runs in a row may share a context, so a context kept from one task may be that of the next.
//
// A guest does not yield to more urgent tasks, but its forks on other workers do; see [ByPriority]. The Scope of a task works
// until the pool has ended, even while the pool is being closed. Like a Pool, it has the methods TryDo and Closed, found by
// interface assertion. ScopeOf panics if ctx is nil.
//
// Other workers run its forks with the profiler labels of ctx and those of [WithLabels]. The calling goroutine keeps its
// labels.
func ScopeOf(ctx context.Context) Scope {
	needs(ctx != nil, "ScopeOf", "ctx")
	c := task.Of(ctx)
	if c == nil {
		return Default()
	}
	return taskScope{c.Seat(), poolOf(c.Pool), ctx}
}

// taskScope is the seat of a task, for callers that have the task's context.
type taskScope struct {
	seat task.Seat
	p    *Pool
	ctx  context.Context // the argument of ScopeOf, for its labels
}

// Do uses the task's worker unless it is in use: by another goroutine that has the task's context, or by an enclosing call of
// Do. A pool that is being closed lets its tasks go on.
func (s taskScope) Do(f func(w *Worker)) {
	needs(f != nil, "Do", "f")
	if s.TryDo(f) != nil {
		panic("filch: Do on a closed Pool")
	}
}

// TryDo is Do, but returns ErrClosed once the pool has ended, with the task long over.
func (s taskScope) TryDo(f func(w *Worker)) error {
	needs(f != nil, "TryDo", "f")
	var w *Worker
	if p := s.p; s.seat.Worker == nil || !s.enter() {
		if w = p.tryEnter("Do", true); w == nil {
			return ErrClosed
		}
		defer p.exit(w)
		if p.tasks.Order == task.ByPriority && s.seat.Taken() {
			asWorker(w.tasks.Engine.Base()).tasks.SetLevel(s.seat.Worker.Engine.Level.Load()) // its forks are the task's
		}
	} else {
		w = asWorker(&s.seat.Worker.Engine)
		if p.tasks.IsLogical() {
			w = w.aliasInTask()
			defer w.leaveScopeAsAlias()
		} else {
			w.handOut()
			_ = w.tasks.Engine.Occupy()
			defer w.leaveScope()
			w.tasks.Engine.Start()
		}
	}
	w.tasks.Engine.WorksFor(s.ctx)
	w.tasks.Engine.Note(engine.AtDo, nil, engine.EntryOf(f))
	w.doAll(f)
	return nil
}

// enter gives the task's worker to the caller. It returns false if the worker is in use.
func (s taskScope) enter() bool {
	if s.p.tasks.IsLogical() {
		race.Disable() // this order of users does not order tasks
		defer race.Enable()
	}
	return s.seat.Worker.Engine.Hold.EnterScope(s.seat.Round)
}

// Closed reports whether TryDo would return ErrClosed.
func (s taskScope) Closed() bool { return s.p.tasks.Engine.Places.Load().Ended() }

func (w *Worker) leaveScope() {
	w.takeIn()
	w.tasks.Engine.User.Leave()
	w.tasks.Engine.Note(engine.AtTasks, nil, 0)
	w.tasks.Engine.WorksForNobody()
	if w.tasks.Engine.Hold.LeaveScope() {
		w.leaveAlone()
	}
}

// leaveAlone is the rest of leaveScope when the task is over and its goroutine has gone on with another worker.
func (w *Worker) leaveAlone() {
	w.tasks.Engine.Tell(event.Left, nil)
	if w.tasks.Engine.Hold.YieldPlace() {
		w.pool.tasks.Engine.Fire(&w.tasks.Engine)
		w.pool.tasks.Engine.Leave()
	} else {
		w.pool.tasks.Engine.Fire(&w.tasks.Engine)
	}
}

// leaveScopeAsAlias is leaveScope for w, an alias.
func (w *Worker) leaveScopeAsAlias() {
	w.takeIn()
	engine.LeaveScope(&w.tasks.Engine, func(base *engine.Worker) { asWorker(base).leaveAlone() })
}

// The calling goroutine as a worker: from its entry by Do or Call, with a slot, to its exit.

// mustEnter makes the caller a worker with a slot. It panics if the pool is closed.
func (p *Pool) mustEnter(op string) *Worker {
	w := p.tryEnter(op, false)
	if w == nil {
		panic("filch: " + op + " on a closed Pool")
	}
	return w
}

// tryEnter is mustEnter, but returns nil if the pool is closed, or on behalf of a task, if the pool has ended.
func (p *Pool) tryEnter(op string, forTask bool) *Worker {
	if p == nil {
		isNotMade(op, "Pool", "New")
	}
	if p.tasks.Checks != nil && !forTask {
		p.tasks.NoticeNested()
	}
	if s := p.tasks.Engine.Enter(); s.Closed() && (!forTask || s.Ended()) {
		p.tasks.Engine.Leave()
		return nil
	}
	if n := p.tasks.Engine.Size(); n <= 1 {
		if n == 0 {
			isNotMade(op, "Pool", "New")
		}
		p.tasks.Engine.Follow()
	}
	w := asWorker(p.tasks.Engine.Hire())
	w.enterAsGuest()
	return w.alias()
}

// enterAsGuest begins a call of Do on w.
func (w *Worker) enterAsGuest() {
	w.tasks.Guest = true
	w.handOut()
	_ = w.tasks.Engine.Occupy()
	w.tasks.Engine.Tell(event.Entered, nil)
	if p := w.pool; p.tasks.Order == task.ByPriority {
		w.tasks.SetLevel(int64(p.tasks.LevelOf(0)))
	}
	w.tasks.Engine.Start()
}

// exit reverses tryEnter.
func (p *Pool) exit(w *Worker) {
	w = w.base()
	if !w.tasks.Engine.Hold.Load().HasPlace() {
		panic("filch: internal error: a worker left without its place")
	}
	w.tasks.Guest = false
	w.takeIn()
	w.tasks.Engine.User.Leave()
	w.tasks.Engine.Tell(event.Left, nil)
	p.tasks.Engine.Fire(&w.tasks.Engine)
	p.tasks.Engine.Leave()
}
