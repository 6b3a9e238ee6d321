package filch

import (
	"context"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

// Scope is where fork-join work can be started: a *Pool, from any goroutine,
// or a *Worker, from inside such work. Functions that take a Scope compose:
// nested calls share the same workers.
type Scope interface {
	// Do calls f and returns when f has returned.
	Do(f func(w *Worker))
}

// ScopeOf returns the Scope for fork-join work inside a task: the worker that runs the
// task. If ctx does not come from a task, that is the default pool. Several goroutines may
// use the Scope. One at a time works on the task's worker. The others are guests of its
// pool, as by [Pool.Do], and so are those that come when the task is over. Tasks of [Pool.Go]
// that one worker runs in a row may share a context: one that was kept from the first is
// then that of the next. A guest does not give way to more urgent tasks, but its forks on
// other workers do; see [ByPriority]. The Scope of a task works until the pool has ended,
// even while the pool is being closed. Like a Pool, it has the methods TryDo and Closed, which
// an interface assertion finds. ScopeOf panics if ctx is nil.
//
// Other workers run the forks that are made there with the profiler labels of ctx, and
// those of [WithLabels]. The labels of the calling goroutine stay as they are.
func ScopeOf(ctx context.Context) Scope {
	needs(ctx != nil, "ScopeOf", "ctx")
	c := taskOf(ctx)
	if c == nil {
		return Default()
	}
	return taskScope{c.seat(), c.pool, ctx}
}

// taskScope is the seat of a task, for whatever has the task's context.
type taskScope struct {
	seat
	p   *Pool
	ctx context.Context // that ScopeOf was called with, for its labels
}

// Do uses the worker unless it is in use: by another goroutine that has the
// task's context, or by a call of Do around this one. A pool that is being closed
// lets its tasks go on.
func (s taskScope) Do(f func(w *Worker)) {
	needs(f != nil, "Do", "f")
	if s.TryDo(f) != nil {
		panic("filch: Do on a closed Pool")
	}
}

// TryDo is Do, but returns ErrClosed when the pool has ended, with the task long over.
func (s taskScope) TryDo(f func(w *Worker)) error {
	needs(f != nil, "TryDo", "f")
	w, p := s.worker, s.p
	if w == nil || !w.engine.Hold.EnterScope(s.round) {
		if w = p.tryEnter(true); w == nil {
			return ErrClosed
		}
		defer p.exit(w)
		if p.order == ByPriority && s.worker != nil && s.worker.engine.Hold.Load().In(s.round) {
			w.setLevel(s.worker.engine.Level.Load()) // for its forks, which are those of the task
		}
	} else {
		defer w.leaveScope()
		w.engine.Start()
	}
	w.engine.WorksFor(s.ctx)
	w.engine.Note(engine.AtDo, nil, engine.EntryOf(f))
	w.Do(f)
	return nil
}

// Closed reports whether TryDo would return ErrClosed.
func (s taskScope) Closed() bool { return s.p.engine.Places.Load().Ended() }

func (w *Worker) leaveScope() {
	w.engine.Note(engine.AtTasks, nil, 0)
	w.engine.WorksForNobody()
	if !w.engine.Hold.LeaveScope() {
		return
	}
	// The task is over; its goroutine has gone on with another worker.
	w.engine.Tell(event.Left, nil)
	if w.engine.Hold.YieldPlace() {
		w.pool.engine.Fire(&w.engine)
		w.pool.engine.Leave()
	} else {
		w.pool.engine.Fire(&w.engine)
	}
}
