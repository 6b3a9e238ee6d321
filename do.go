package filch

import (
	"context"

	"github.com/filch-go/filch/internal/engine"
)

// TryDo is [Pool.Do], but returns [ErrClosed] if the pool is closed, without calling f.
// It panics if f is nil, and as Do does if f panics.
func (p *Pool) TryDo(f func(w *Worker)) error {
	needs(f != nil, "TryDo", "f")
	w := p.tryEnter(false)
	if w == nil {
		return ErrClosed
	}
	defer p.exit(w)
	w.engine.Note(engine.AtDo, nil, engine.EntryOf(f))
	w.Do(f)
	return nil
}

// DoContext is [Pool.TryDo] for work on behalf of ctx. If ctx has ended, it returns
// the reason, as [context.Cause] gives it, without calling f. Once f has been called,
// DoContext does not look at ctx again and returns nil: stopping early is up to f.
//
// If ctx has profiler labels, f runs with them, and so does all that it forks, on any
// worker; see package runtime/pprof. Afterwards the calling goroutine has the labels of
// ctx, as after a call of pprof.Do with ctx. Do and TryDo leave the labels of the
// calling goroutine alone, and other workers run their forks without any.
//
// It panics if ctx or f is nil, and as Do does if f panics.
func (p *Pool) DoContext(ctx context.Context, f func(w *Worker)) error {
	needs(ctx != nil, "DoContext", "ctx")
	needs(f != nil, "DoContext", "f")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := p.tryEnter(false)
	if w == nil {
		return ErrClosed
	}
	defer p.exit(w)
	if labels := labelsOf(ctx); labels != nil {
		w.engine.Relabel(labels)
	}
	w.engine.Note(engine.AtDo, nil, engine.EntryOf(f))
	w.Do(f)
	return nil
}

// Closed reports whether [Pool.Close] or [Pool.Shutdown] has been called: whether Do
// panics and TryDo returns [ErrClosed]. It never becomes false again, and if it is
// false, the pool may be closed the moment after. It costs an atomic load.
func (p *Pool) Closed() bool { return p.engine.Places.Load().Closed() }
