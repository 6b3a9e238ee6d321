package strand

import (
	"iter"
	"math"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/tag"
)

// event is why a carrier has parked.
type event int

const (
	spawned event = iota // its strand has spawned a child, which is to run; it waits as a continuation
	stalled              // its strand waits for children
	idle                 // it has nothing to do
	exited               // a strand on it has called runtime.Goexit; it is used no more
)

// carrier is a coroutine that runs strands: one that was really spawned, and on top of it those
// that are plain calls. Between them it drives other carriers.
type carrier struct {
	// These are what Spawn looks at.
	limit  int     // strands of at most that depth do not spawn by a plain call without a look
	open   int     // depth of the innermost strand, or none if that must not spawn: an integer, which needs no write barrier
	demand *uint32 // that of the worker
	l      *list   // of the worker that it runs on, or nil if it is parked; what resumes it writes

	first *Strand // at depth 0
	level int     // of first, in all
	call  any     // a *call for the next spawn with an argument, or nil; what drives the carrier exchanges it
	slab  any     // a *slab for the results of one type: that of the first of a run

	// Of runs before this one; what keeps the carrier between them writes.
	relabel bool // the goroutine may have their labels
	reslab  bool // slab may be for results of another type
	deep    bool // it has much memory, and is not kept

	next    func() (event, bool)
	stop    func()
	yieldTo func(event) bool

	// What it is resumed with, if it is idle.
	body   func(s *Strand)
	parent *Strand // nil: body is that of the run
	at     int     // order of it

	// What it parks with.
	child   func(s *Strand) // spawned
	childOf *Strand         // also while it waits
	heir    *Strand         // the child's; likewise
	order   int
	stalled *Strand
	then    *carrier // exited: what is to go on
}

const (
	always = math.MaxInt // a limit that no depth exceeds
	none   = -1          // no depth
)

// noDemand is the demand of a carrier that no worker has.
var noDemand uint32

func newCarrier(r *run) *carrier {
	c := &carrier{limit: always, open: none, demand: &noDemand}
	c.first = &Strand{c: c}
	c.next, c.stop = iter.Pull(func(yield func(event) bool) {
		c.yieldTo = yield
		r.pool.Tag(func(uint64, tag.Step) { c.main() })
	})
	return c
}

// main runs what the carrier is resumed with, and then what waits on the worker, until it is
// stopped.
func (c *carrier) main() {
	c.l.hold()
	for more := true; more; more = c.park(idle) {
		if c.relabel {
			c.relabel = false
			engine.Label(c.l.run.labels)
		}
		k := c.begin(c.parent, c.at).run(c.body)
		drive(c, c.l, k)
	}
}

// yield parks the carrier of a strand that is to go on.
func (c *carrier) yield(e event) {
	open := c.open
	if !c.park(e) {
		panic(stoppedBusy)
	}
	c.open = open
}

// stoppedBusy is what must not be.
const stoppedBusy = "strand: a carrier was stopped with a strand on it"

// park returns when the carrier is resumed, or false if it is stopped.
func (c *carrier) park(e event) bool {
	c.leave()
	if !c.yieldTo(e) {
		return false
	}
	c.l.hold()
	return true
}

// leave is called before the carrier parks. The next worker may have it as soon as it has parked.
func (c *carrier) leave() {
	c.l.release()
	c.l, c.limit, c.demand = nil, always, &noDemand
}

// enter is called before the carrier is resumed on the worker of l.
func (c *carrier) enter(l *list) {
	c.l, c.limit, c.demand = l, l.limit(c.level), &l.w.Demand
}

// begin makes the first strand of c a child of parent that was really spawned. The caller runs it, on c itself.
func (c *carrier) begin(parent *Strand, order int) (s *Strand) {
	s = c.first
	s.parent, s.order = parent, order
	if c.level = 0; parent != nil {
		c.level = parent.c.level + parent.depth + 1
	}
	c.limit = c.l.limit(c.level)
	c.open = 0
	return s
}

// run runs f in s, which has begun. It returns what is to go on then, or nil. A function may panic while it exits, and
// what it defers may: recover tells of the panic alone, and the goroutine goes on exiting. So the carrier is left
// if a call is, not if recover returns nil.
func (s *Strand) run(f func(s *Strand)) (then *carrier) {
	var failed *failure
	exits := true
	defer func() {
		if !exits {
			return
		}
		then = s.end(failed)
		if s.c.next != nil {
			s.c.then = then
			s.c.park(exited)
		}
	}()
	func() {
		defer func() {
			if s.returned {
				s.returned = false
				return
			}
			failed = &failure{nil, s.order} // if unwind exits as well
			failed.err = s.unwind(recover())
		}()
		f(s)
		s.Sync()
		s.returned = true
	}()
	exits = false
	return s.end(failed)
}

// end ends s, and returns what is to go on then: the carrier of its parent, which waits as the newest
// continuation if it was not stolen; or which waits for s alone. It returns nil if that is not so.
func (s *Strand) end(failed *failure) *carrier {
	c, p := s.c, s.parent
	c.open, s.parent = none, nil
	if p == nil {
		c.l.run.outcome = outcome{c.l.w.SetViewsAside(), failed}
		return nil
	}
	if c.l.run.isLogical() {
		s.endLogically(p, failed)
		return nil
	}
	if failed != nil {
		p.fail(failed.err, failed.order)
	}
	if k := c.l.pop(); k != nil {
		p.spawned-- // nobody else knows of the child
		return k
	}
	s.after.views, s.after = c.l.w.SetViewsAside(), nil
	if p.ends() {
		return p.c
	}
	return nil
}

// drive lets k go on, and what comes then, until nothing is left on the worker: each strand that ends
// there says what comes next. self is the carrier
// that does so, or nil if it is a pump.
func drive(self *carrier, l *list, k *carrier) {
	for k != nil {
		k.enter(l)
		l.release()
		e, _ := k.next() // called here: each frame on the way costs a return that the processor does not foresee
		l.hold()
		switch e {
		case spawned:
			f, parent, order, on := k.child, k.childOf, k.order, self
			if on == nil {
				on = l.spare()
			}
			k.child, k.heir = nil, on.first
			k.call, on.call = on.call, k.call
			l.push(k) // after which another worker may have it
			if self == nil {
				k = on
				k.body, k.parent, k.at = f, parent, order
				continue
			}
			k = self.begin(parent, order).run(f)
			l = self.l
		case stalled:
			if s := k.stalled; !s.parks() {
				k = nil
			}
		case idle:
			l.keep(k)
			k = nil // it has driven what was to come
		case exited:
			then := k.then
			bury(k)
			k = then
		}
	}
}

// bury ends a carrier that runtime.Goexit has left: to stop it is to exit as well.
func bury(k *carrier) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		k.stop()
	}()
	<-over
}
