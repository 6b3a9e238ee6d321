package strand

import (
	"context"
	"math/bits"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/span"
	"github.com/filch-go/filch/internal/tag"
	"github.com/filch-go/filch/internal/views"
)

// Run calls f in the scope s, a *filch.Pool, *filch.Worker or *Strand, and returns when f and everything that it
// spawned have returned. f and the strands run on goroutines of their own in one worker slot; the caller waits
// meanwhile.
//
// If f or a spawned function panics, Run panics with a [*filch.PanicError] once all have ended; runtime.Goexit ends the
// caller. See [Strand.Sync].
//
// A run costs one or two microseconds for the switch to its goroutines and back. The pool keeps these goroutines for
// the next run, and ends them when it has been idle for a while. They have the profiler labels of the task or DoContext
// that s belongs to, as forks have, or none. Run panics if s or f is nil, if an option is nil, and if the pool is
// closed.
func Run(s filch.Scope, f func(s *Strand), opts ...Option) {
	_ = start("Run", context.Background(), s, f, opts)
}

// RunContext is [Run] with a context: once ctx has ended, Spawn returns without calling its function. Running functions
// are not stopped; they can check [Strand.Context].
//
// RunContext returns when all functions have returned. It returns the cause of ctx's end if f or a spawned function was
// not called because of it, and otherwise nil. If the pool is closed, it returns [filch.ErrClosed] and calls nothing.
// It panics if ctx is nil, and otherwise as Run does. If ctx has profiler labels, the strands have them too.
//
// A Run inside a strand does not inherit ctx: there, pass [Strand.Context] to RunContext.
func RunContext(ctx context.Context, s filch.Scope, f func(s *Strand), opts ...Option) error {
	if ctx == nil {
		panic("strand: RunContext: ctx is nil")
	}
	return start("RunContext", ctx, s, f, opts)
}

func start(op string, ctx context.Context, s filch.Scope, f func(s *Strand), opts []Option) error {
	if s == nil {
		panic("strand: " + op + ": s is nil")
	}
	if f == nil {
		panic("strand: " + op + ": f is nil")
	}
	h := how{ctx: ctx, limited: ctx.Done() != nil, entry: reflect.ValueOf(f).Pointer()}
	for _, opt := range opts {
		if opt == nil {
			panic("strand: " + op + ": an option is nil")
		}
		opt(&h)
	}
	if h.limited && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	dropped := false
	work := func(w *filch.Worker) { dropped = begin(engineOf(w), h).do(engineOf(w), f) }
	// A Worker and a Strand have no TryDo: they are inside the pool already.
	if t, ok := s.(interface {
		TryDo(func(*filch.Worker)) error
	}); ok && op == "RunContext" {
		if err := t.TryDo(work); err != nil {
			return err
		}
	} else {
		s.Do(work)
	}
	if dropped {
		return context.Cause(ctx)
	}
	return nil
}

// how holds the arguments of Run.
type how struct {
	ctx     context.Context
	limited bool // ctx may end
	eager   bool
	entry   uintptr // of f
}

// run is shared by all workers that have strands of one call of Run.
type run struct {
	// Its methods stand with their subjects: the run itself, its goroutines, keeping it, measuring it, logical races.

	how
	pool    *engine.Pool
	finish  engine.Finish
	logical bool             // with logical races
	spans   *span.Recorder   // records spawns and syncs, or nil
	labels  *context.Context // of its goroutines, or nil
	dropped atomic.Bool      // because ctx ended; strands write, the caller of Run loads
	outcome outcome

	mu     sync.Mutex
	spares []*carrier // not on any worker's list
	pumps  []*pump    // idle

	home *home // keeps r for the next run, or nil; see home.go
}

// outcome is how the first strand of a run ended. Its carrier writes, the caller of Run reads.
type outcome struct {
	views   *views.Table
	failure *failure
}

// isOver reports whether spawns must be dropped because ctx has ended, and notes that one was.
func (r *run) isOver() bool {
	if !r.limited || r.ctx.Err() == nil {
		return false
	}
	r.dropped.Store(true)
	return true
}

// begin returns a run for w, with the goroutines of an earlier run if one was kept.
func begin(w *engine.Worker, h how) *run {
	r := reuse(w)
	if r == nil {
		r = &run{pool: w.Pool()}
	}
	r.how, r.labels = h, w.Labels()
	if h.ctx != context.Background() {
		if of := r.pool.LabelsOf(h.ctx); of != nil {
			r.labels = of
		}
	}
	return r
}

// do calls f on w, and reports whether a function was not called because the context had ended.
func (r *run) do(w *engine.Worker, f func(s *Strand)) (dropped bool) {
	if r.spans = w.Spans; r.spans != nil {
		return r.measure(w, f)
	}
	if r.logical = w.IsLogical(); r.logical {
		return r.doLogically(w, f)
	}
	shallow := bits.Len(uint(r.pool.Size() - 1))
	if r.pool.Size() == 1 { // nobody could steal from a real spawn
		shallow = -1
	}
	l := enter(w, r)
	l.pay.start(shallow)
	r.finish.Open(w)
	r.pump(l, nil, f)
	l.leave()
	last, dropped := r.wait(w)
	last.over(w)
	return dropped
}

// wait returns when all pieces of the run are done, and ends it. Meanwhile w may help with a fork of a strand, which
// may call runtime.Goexit; w then waits for the rest before it exits.
func (r *run) wait(w *engine.Worker) (last outcome, dropped bool) {
	returned := false
	defer func() {
		if !returned {
			w.Unwind(func() { r.finish.Wait(w) })
		}
		last, dropped = r.outcome, r.dropped.Load()
		r.end()
	}()
	r.finish.Wait(w)
	returned = true
	return last, dropped
}

// over ends a run whose strands have all ended.
func (o *outcome) over(w *engine.Worker) {
	w.JoinViews(o.views)
	if o.failure != nil {
		o.failure.rethrow()
	}
}

// inPlace reports whether spawned functions run in place, so no continuation is stolen.
func (r *run) inPlace() bool { return r.spans != nil || r.isLogical() }

// isLogical reports whether strands are separate goroutines to the race detector.
func (r *run) isLogical() bool { return race.Enabled && r.logical }

// carrierInPlace returns a carrier that never parks.
func carrierInPlace(l *list) *carrier {
	c := &carrier{limit: always, open: none, l: l, demand: &noDemand}
	c.first = &Strand{c: c}
	return c
}

// spare returns an idle carrier, or nil.
func (r *run) spare() *carrier {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.spares)
	if n == 0 {
		return nil
	}
	c := r.spares[n-1]
	r.spares = r.spares[:n-1]
	return c
}

// take keeps idle carriers for any worker.
func (r *run) take(all []*carrier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spares = append(r.spares, all...)
}

// A pump is a goroutine that drives carriers while the worker's own goroutine waits. The user may have locked the
// worker's goroutine to its thread, so it must not switch to a coroutine, and whether it is locked cannot be detected.
type pump struct {
	jobs  chan func()
	done  chan struct{}
	drive func() // the drives method as a job

	// The worker writes these before a job, whose goroutine reads them.
	l       *list
	first   *carrier
	f       func(s *Strand)
	relabel bool // the goroutine may have labels other than the run's
}

// pump drives first on the worker of l until nothing is left there. If first is nil, it drives a carrier that runs f.
func (r *run) pump(l *list, first *carrier, f func(s *Strand)) {
	p := r.takePump()
	p.l, p.first, p.f = l, first, f
	l.w.LendSeat() // the goroutines of the run are not pinned
	p.do(p.drive)
	l.w.ReturnSeat()
	p.l, p.first, p.f = nil, nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pumps = append(r.pumps, p)
}

func (p *pump) do(job func()) {
	p.jobs <- job
	<-p.done
}

func (p *pump) drives() {
	l, c := p.l, p.first
	if p.relabel {
		p.relabel = false
		engine.Label(l.run.labels)
	}
	l.hold()
	if c == nil {
		c = l.spare()
		c.body = p.f
	}
	drive(nil, l, c)
	l.release()
}

func (r *run) takePump() *pump {
	r.mu.Lock()
	if n := len(r.pumps); n > 0 {
		p := r.pumps[n-1]
		r.pumps = r.pumps[:n-1]
		r.mu.Unlock()
		return p
	}
	r.mu.Unlock()
	p := &pump{jobs: make(chan func()), done: make(chan struct{}), relabel: true}
	p.drive = p.drives
	go r.pool.Tag(func(uint64, tag.Step) {
		for job := range p.jobs {
			job()
			p.done <- struct{}{}
		}
	})
	return p
}

// end gives back the goroutines of the run, none of which is in use any more.
func (r *run) end() {
	if r.home == nil {
		r.stop(r.spares)
		r.stopPumps(r.pumps)
		return
	}
	r.home.keep(r)
}

// stop ends carriers.
func (r *run) stop(all []*carrier) {
	if len(all) == 0 {
		return
	}
	r.pumps[0].do(func() {
		for _, c := range all {
			c.stop()
		}
	})
}

// stopPumps ends pumps.
func (r *run) stopPumps(all []*pump) {
	for _, p := range all {
		close(p.jobs)
	}
}
