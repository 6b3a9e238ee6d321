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

// Run calls f in the scope s, a *filch.Pool, a *filch.Worker or a *Strand, and returns when f and
// all that it has spawned have returned. f and the strands run on goroutines of their own, while
// the caller waits; one of its worker's places is theirs.
//
// If f panics, or something that it has spawned does, Run panics with a [*filch.PanicError] in the
// end. A runtime.Goexit ends the caller. See [Strand.Sync].
//
// A run costs some microseconds, for its goroutines. They end with the run. Run panics if s or f is nil, if an
// option is nil, and if the pool is closed.
func Run(s filch.Scope, f func(s *Strand), opts ...Option) {
	_ = start("Run", context.Background(), s, f, opts)
}

// RunContext is [Run] on behalf of ctx. When ctx has ended, no more functions are spawned: Spawn returns
// without a call. Those that run are not stopped; they may look at [Strand.Context]. RunContext returns
// when all have returned, with the cause of the end of ctx if a function was not called for it, f or a
// child, and else nil. It panics as Run does, and if ctx is nil.
//
// A Run inside of a strand is none on behalf of ctx: there, pass [Strand.Context] on to RunContext.
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
	r := &run{ctx: ctx, limited: ctx.Done() != nil, entry: reflect.ValueOf(f).Pointer()}
	for _, opt := range opts {
		if opt == nil {
			panic("strand: " + op + ": an option is nil")
		}
		opt(r)
	}
	if r.isOver() {
		return context.Cause(ctx)
	}
	s.Do(func(w *filch.Worker) { r.do(engineOf(w), f) })
	if r.dropped.Load() {
		return context.Cause(ctx)
	}
	return nil
}

// run is what all workers share that have strands of one call of Run.
type run struct {
	ctx     context.Context
	limited bool // ctx may end
	eager   bool
	entry   uintptr // of the function
	pool    *engine.Pool
	finish  engine.Finish
	logical bool           // with logical races
	spans   *span.Recorder // that is told of spawns and syncs, or nil
	dropped atomic.Bool    // for the end of ctx; strands write, the caller of Run loads
	views   *views.Table   // that the first strand ends with; likewise
	failure *failure       // of the first strand; its carrier writes, the caller of Run reads

	mu     sync.Mutex
	spares []*carrier // that no worker has
	pumps  []*pump    // likewise
}

// isOver reports whether no more strands are to begin, and notes it.
func (r *run) isOver() bool {
	if !r.limited || r.ctx.Err() == nil {
		return false
	}
	r.dropped.Store(true)
	return true
}

func (r *run) do(w *engine.Worker, f func(s *Strand)) {
	r.pool = w.Pool()
	if r.spans = w.Spans; r.spans != nil {
		r.measure(w, f)
		return
	}
	if r.logical = race.Enabled && w.IsLogical(); r.logical {
		r.doLogically(w, f)
		return
	}
	shallow := bits.Len(uint(r.pool.Size() - 1))
	if r.pool.Size() == 1 { // nobody would take what is real
		shallow = -1
	}
	l := enter(w, r)
	l.pay.start(shallow)
	r.finish.Open(w)
	r.pump(l, func() *carrier {
		c := l.spare()
		c.body = f
		return c
	})
	l.leave()
	r.finish.Wait(w)
	r.end()
	r.over(w)
}

// over ends do: all strands have ended.
func (r *run) over(w *engine.Worker) {
	w.JoinViews(r.views)
	if r.failure != nil {
		r.failure.rethrow()
	}
}

// inPlace reports whether functions that are spawned run in place, and no continuation is stolen.
func (r *run) inPlace() bool { return r.spans != nil || race.Enabled && r.logical }

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

// A pump is a goroutine that drives carriers while the worker's own waits. That might be locked to
// its thread, by its user: then it could not switch to a coroutine, and nothing would tell.
type pump struct {
	jobs chan func()
	done chan struct{}
}

// pump drives what first returns on the worker of l, until nothing is left there.
func (r *run) pump(l *list, first func() *carrier) {
	p := r.takePump()
	p.do(func() {
		l.hold()
		drive(nil, l, first())
		l.release()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pumps = append(r.pumps, p)
}

func (p *pump) do(job func()) {
	p.jobs <- job
	<-p.done
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
	p := &pump{make(chan func()), make(chan struct{})}
	go r.pool.Tag(func(uint64, tag.Step) {
		for job := range p.jobs {
			job()
			p.done <- struct{}{}
		}
	})
	return p
}

// end ends all goroutines of the run. None is in use any more.
func (r *run) end() {
	r.pumps[0].do(func() {
		for _, c := range r.spares {
			c.stop()
		}
	})
	for _, p := range r.pumps {
		close(p.jobs)
	}
}
