package filch

import (
	"context"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// Do calls f on the calling goroutine, which works for the pool until f returns. It takes a worker slot, or an extra
// one if all are taken, so a small job starts at once. Other workers may run the forks made in f. Pools may be
// nested, also within themselves, without deadlock; but a Do inside a Do on the same pool takes a second slot, so
// pass on the Worker instead.
//
// Do waits for the asyncs made in f, as [Worker.Finish] does. If f panics or calls runtime.Goexit, Do drops the forks
// that no worker has taken and waits for the others. Then it panics with a [*PanicError], or the Goexit ends the
// caller. A Do without forks costs about as much as two uncontended mutexes. Do panics if f is nil or the pool is
// closed; [Pool.TryDo] returns an error instead.
func (p *Pool) Do(f func(w *Worker)) {
	needs(f != nil, "Do", "f")
	w := p.mustEnter("Do")
	w.tasks.Engine.Call(engine.AtDo, engine.EntryOf(f))
	defer p.exit(w)
	w.doAll(f)
}

// TryDo is [Pool.Do], but returns [ErrClosed] without calling f if the pool is closed. It panics if f is nil, and as
// Do does if f panics.
func (p *Pool) TryDo(f func(w *Worker)) error {
	needs(f != nil, "TryDo", "f")
	w := p.tryEnter("TryDo", false)
	if w == nil {
		return ErrClosed
	}
	defer p.exit(w)
	w.tasks.Engine.Call(engine.AtDo, engine.EntryOf(f))
	w.doAll(f)
	return nil
}

// DoContext is [Pool.TryDo] for work on behalf of ctx. If ctx has ended, it returns [context.Cause] of ctx without
// calling f. Once it has called f, it ignores ctx and returns nil: stopping early is up to f.
//
// If ctx has profiler labels, f and all that it forks run with them, on any worker; see package runtime/pprof.
// Afterwards the calling goroutine has the labels of ctx, as after pprof.Do with ctx. Do and TryDo keep the labels of
// the calling goroutine, and other workers run their forks without any.
//
// It panics if ctx or f is nil, and as Do does if f panics.
func (p *Pool) DoContext(ctx context.Context, f func(w *Worker)) error {
	needs(ctx != nil, "DoContext", "ctx")
	needs(f != nil, "DoContext", "f")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := p.tryEnter("DoContext", false)
	if w == nil {
		return ErrClosed
	}
	defer p.exit(w)
	if labels := task.LabelsOf(ctx); labels != nil {
		w.tasks.Engine.Relabel(labels)
	}
	w.tasks.Engine.Call(engine.AtDo, engine.EntryOf(f))
	w.doAll(f)
	return nil
}

// Do calls f on this worker, as [Pool.Do] does, so that functions with a [Scope] work inside fork-join work. It does
// not wait for asyncs, which belong to the enclosing [Worker.Finish]; see [Worker.Async].
func (w *Worker) Do(f func(w *Worker)) {
	needs(f != nil, "Do", "f")
	if w == nil {
		isNotMade("Do", "Worker", "Do of a Pool")
	}
	if w.tasks.Engine.Checked() {
		w.tasks.Engine.CheckUse() // before anything is changed
	}
	if w.joins && w.tasks.Engine.Newest() == nil {
		openFinish(&w.tasks.Engine) // asyncs of f outlive it and its panics
	}
	if err := w.tasks.Engine.Try(func() { f(w) }); err != nil {
		panic(err)
	}
}

// call runs fn with arg in the scope s.
func call[A, R any](s Scope, fn engine.Callee[A, R], arg A) (r R) {
	var w *engine.Worker
	outermost := false
	switch s := s.(type) {
	case *Worker:
		if s == nil {
			isNotMade("Call", "Worker", "Do of a Pool")
		}
		w = &s.tasks.Engine
	case *Pool:
		guest := s.mustEnter("Call")
		w = &guest.tasks.Engine
		defer s.exit(guest)
		outermost = true
		w.Call(engine.AtCall, fn.Entry())
	case nil:
		panic("filch: Call: s is nil")
	default:
		return callIn(s, fn, arg)
	}
	if err := w.Try(func() {
		r = fn.Run(w, arg)
		if outermost {
			w.EndViews()
		}
	}); err != nil {
		panic(err)
	}
	return r
}

func callIn[A, R any](s Scope, fn engine.Callee[A, R], arg A) (r R) {
	s.Do(func(w *Worker) {
		if _, ok := s.(taskScope); ok {
			w.tasks.Engine.Note(engine.AtCall, nil, fn.Entry())
		}
		r = fn.Run(&w.tasks.Engine, arg)
	})
	return r
}
