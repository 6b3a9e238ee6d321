package strand

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
)

// Strand is a running function that may spawn others. Use it only in the function that receives it, and in that
// function's calls on the same goroutine; each spawned function receives a Strand of its own. Use anywhere else panics
// where it can be detected; with [filch.WithChecks] that includes use on another goroutine.
//
// A Strand is a [filch.Scope]: loops of package par, Join and calls of a Func may be made in it.
type Strand struct {
	// Its methods stand with their subjects: what users call, joins, segments.

	c       *carrier
	next    *Strand // of a plain call from here; made on first use
	parent  *Strand // that spawned it, or nil
	depth   int     // plain calls below it on the carrier
	spawned int     // real children since the last Sync, less those that ended before s went on; or measured
	count   int     // real children in all
	block   int     // in the recorder; see measure.go
	order   int     // among the children of parent; see failure

	returned  bool                    // the function has returned; for the deferred ended
	joined    atomic.Int64            // see join.go
	after     *boundary               // where s ends, if the continuation of parent was stolen; its publisher writes
	bounds    *boundary               // the first of its own since the last Sync
	lastBound *boundary               // and the last
	children  []race.Child            // since the last Sync; only with logical races
	values    []*mark                 // of the spawns since the last Sync, which sets them; only under the race detector
	failure   atomic.Pointer[failure] // of the first child that failed; children write, Spawn and Sync load
}

// Spawn runs f, and the rest of the caller up to its [Strand.Sync] afterwards or at the same time. In the serial
// program a spawn is a call of f.
//
// By default a spawn is that call, on the same stack, unless another worker asks for work or has not been offered any
// for some time. In that case f still runs here, and other workers may take the rest of the caller: its continuation.
// See [Eager].
//
// A function that is called plainly with s, as in f(s, n-2), spawns children of s: a Sync in it waits for its caller's
// children, too, and its return waits for none.
//
// Spawn does not call f if the context of [RunContext] has ended, or if an earlier child of the caller has failed. It
// panics if f is nil, inside Do and Blocking, and if the caller is not the function that s was passed to.
//
// The call of Spawn synchronizes before the start of f.
func (s *Strand) Spawn(f func(s *Strand)) {
	if f == nil {
		panic("strand: Spawn: f is nil")
	}
	next := s.plain()
	if next == nil {
		var how kind
		if next, how = s.choose("Spawn"); how != plain {
			if how == real {
				if c := s.spawn(f); c != nil {
					s.goesOn(c.yieldTo(spawned))
				}
			}
			return
		}
	}
	s.c.open = next.depth
	next.call(f)
}

// kind is what becomes of a spawn.
type kind int

const (
	plain   kind = iota // a plain call
	real                // handed to spawn
	dropped             // no call
)

// plain returns the strand for a spawn that can be a plain call without further checks, or nil.
func (s *Strand) plain() *Strand {
	if s == nil || s.c == nil {
		return nil
	}
	if c := s.c; s.depth > c.limit && c.open == s.depth && atomic.LoadUint32(c.demand) < engine.Hunger && s.failure.Load() == nil { // R12 of the engine
		return s.next
	}
	return nil
}

// choose decides on any spawn. It returns the strand for a plain call.
//
//go:noinline
func (s *Strand) choose(op string) (next *Strand, how kind) {
	s.check(op)
	c := s.c
	switch {
	case s.failure.Load() != nil || c.l.run.isOver(): // (R51)
		return nil, dropped
	case c.l.run.inPlace() || c.l.pays(c.level+s.depth):
		return nil, real
	}
	c.limit = c.l.limit(c.level)
	return s.child(), plain
}

// child returns the strand for a plain call.
func (s *Strand) child() *Strand {
	if s.next == nil {
		s.c.deep = s.c.deep || s.depth > deepest
		s.next = &Strand{c: s.c, depth: s.depth + 1, parent: s}
	}
	return s.next
}

// spawn runs f in place and returns nil, or leaves f to the driver and returns the carrier, which the caller has to
// park and pass to goesOn. Callers do that themselves because each frame between a function and where it parks costs a
// mispredicted return.
//
//go:noinline
func (s *Strand) spawn(f func(s *Strand)) *carrier {
	c := s.c
	switch r := c.l.run; {
	case r.spans != nil:
		s.spawnMeasured(f)
		return nil
	case r.inPlace():
		s.spawnLogically(f)
		return nil
	}
	s.spawned++
	s.count++
	c.child, c.childOf, c.order = f, s, 2*s.count
	c.leave()
	return c
}

// goesOn is called when s continues after parking for a spawn. ok is false if the carrier was stopped.
func (s *Strand) goesOn(ok bool) {
	if c := s.c; ok && !c.l.checked {
		c.open = s.depth
		return
	}
	s.goesOnSlow(ok)
}

//go:noinline
func (s *Strand) goesOnSlow(ok bool) {
	if !ok {
		panic(stoppedBusy)
	}
	s.c.l.hold()
	s.c.open = s.depth
}

// call runs f as a plain call, in the child s.
func (s *Strand) call(f func(s *Strand)) {
	defer s.ended()
	f(s)
	s.Sync()
	s.returned = true
}

// ended is deferred by call.
func (s *Strand) ended() {
	if s.returned {
		s.returned = false
	} else {
		err := s.unwind(recover())
		s.parent.fail(err, 2*s.parent.count+1)
	}
	s.c.open = s.depth - 1
}

// Do calls f with the worker that the strand is on. It makes s a [filch.Scope]. Do not use s inside f.
func (s *Strand) Do(f func(w *filch.Worker)) {
	if f == nil {
		panic("strand: Do: f is nil")
	}
	s.check("Do")
	defer s.leave()()
	s.worker().Do(f)
}

// Blocking calls f, which may block for long, and frees the worker's slot meanwhile; see [filch.Worker.Blocking].
// Continuations that wait on this worker are first offered to others. What a plain call of Spawn has hidden stays
// hidden until f returns: where children block, use [Eager]. Do not use s inside f. Blocking panics if f is nil.
func (s *Strand) Blocking(f func()) {
	if f == nil {
		panic("strand: Blocking: f is nil")
	}
	s.check("Blocking")
	defer s.leave()()
	s.worker().Blocking(f)
}

// Poll offers continuations to other workers if they ask for work, as each Spawn does. Call it in a long computation
// that spawns nothing. What a plain call of Spawn has hidden stays hidden.
func (s *Strand) Poll() {
	s.check("Poll")
	s.c.l.w.Poll()
}

// Context returns the context of [RunContext], or context.Background.
func (s *Strand) Context() context.Context {
	s.check("Context")
	return s.c.l.run.ctx
}

// leave forbids the use of s until the function that it returns is called.
func (s *Strand) leave() (back func()) {
	c := s.c
	limit := c.limit
	c.open, c.limit = none, always
	return func() { c.open, c.limit = s.depth, limit }
}

func (s *Strand) worker() *filch.Worker { return (*filch.Worker)(unsafe.Pointer(s.c.l.w)) }

// check panics if s is not the innermost strand on a running carrier or, on a pool with checks or under the race
// detector, if it is used on another goroutine.
func (s *Strand) check(op string) {
	if s == nil || s.c == nil {
		panic("strand: " + op + ": the Strand is nil or zero: it is for the function that Run or Spawn passes it to")
	}
	if s.c.open != s.depth || s.c.l == nil {
		panic("strand: " + op + ": the Strand is that of another function, or in use by its Do or Blocking: use the one that the function was called with")
	}
	if l := s.c.l; l.checked {
		l.w.CheckUse()
	}
}
