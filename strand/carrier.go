package strand

import (
	"iter"
	"math"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/tag"
)

// event is why a carrier parked.
type event int

const (
	spawned event = iota // its strand spawned a child, which is to run; the strand waits as a continuation
	stalled              // its strand waits for children
	idle                 // it has nothing to do
	exited               // a strand on it called runtime.Goexit; the carrier is not used again
)

// carrier is a coroutine that runs strands: one really spawned strand, and on top of it those that are plain calls.
// Between strands it drives other carriers.
type carrier struct {
	// Spawn reads these.
	limit  int     // strands up to that depth check before a plain call
	open   int     // depth of the innermost strand, or none if that must not spawn; an integer needs no write barrier
	demand *uint32 // of the worker
	l      *list   // of the worker that runs it, or nil while it is parked; its driver writes

	first *Strand // at depth 0
	level int     // spawns between first and the root
	call  any     // a *call for the next spawn with an argument, or nil; the driver exchanges it
	slab  any     // a *slab for results of one type: that of the first result in a run

	// Left from earlier runs; written while the carrier is kept between runs.
	relabel bool // the goroutine may have their labels
	reslab  bool // slab may be for results of another type
	deep    bool // its stack grew deep, so it is not kept

	next    func() (event, bool)
	stop    func()
	yieldTo func(event) bool

	// Input when it is resumed from idle.
	body   func(s *Strand)
	parent *Strand // nil if body is that of the run
	at     int     // order among the children of parent

	// Output when it parks.
	child   func(s *Strand) // spawned
	childOf *Strand         // the spawning strand; also while it waits
	heir    *Strand         // the child's strand; also while it waits
	order   int
	stalled *Strand
	then    *carrier // exited: what runs next
}

const (
	always = math.MaxInt // a limit that no depth exceeds
	none   = -1          // no depth
)

// noDemand is the demand of a carrier without a worker.
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

// main runs the body that the carrier is resumed with, and then the worker's continuations, until the carrier is
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

// yield parks the carrier of a strand that will continue.
func (c *carrier) yield(e event) {
	open := c.open
	if !c.park(e) {
		panic(stoppedBusy)
	}
	c.open = open
}

// stoppedBusy is the panic of a stop that must not happen.
const stoppedBusy = "strand: a carrier was stopped with a strand on it"

// park returns true when the carrier is resumed, or false when it is stopped.
func (c *carrier) park(e event) bool {
	c.leave()
	if !c.yieldTo(e) {
		return false
	}
	c.l.hold()
	return true
}

// leave is called before the carrier parks. Another worker may have it as soon as it has parked.
func (c *carrier) leave() {
	c.l.release()
	c.l, c.limit, c.demand = nil, always, &noDemand
}

// enter is called before the carrier is resumed on the worker of l.
func (c *carrier) enter(l *list) {
	c.l, c.limit, c.demand = l, l.limit(c.level), &l.w.Demand
}

// begin makes the first strand of c a really spawned child of parent. The caller runs it, on c itself.
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

// run runs f in s, which has begun, and returns the carrier that runs next, or nil. If f exits by runtime.Goexit and a
// deferred function panics, recover returns that panic and the goroutine goes on exiting. run therefore detects an exit
// by a call that does not return, not by a nil recover.
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
			failed = &failure{nil, s.order} // in case unwind exits as well
			failed.err = s.unwind(recover())
		}()
		f(s)
		s.Sync()
		s.returned = true
	}()
	exits = false
	return s.end(failed)
}

// end ends s, and returns the carrier that runs next: its parent's, if that waits as the newest continuation because it
// was not stolen, or if it waits for s alone; otherwise nil.
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

// drive runs k and whatever follows it until nothing is left on the worker: each strand that ends there names the next
// carrier. self is the driving carrier, or nil for a pump.
func drive(self *carrier, l *list, k *carrier) {
	for k != nil {
		k.enter(l)
		l.release()
		e, _ := k.next() // called here, because each frame on the way costs a mispredicted return
		l.hold()
		switch e {
		case spawned:
			f, parent, order, on := k.child, k.childOf, k.order, self
			if on == nil {
				on = l.spare()
			}
			k.child, k.heir = nil, on.first
			k.call, on.call = on.call, k.call
			l.push(k) // from here another worker may have it
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
			k = nil // it has driven everything that followed
		case exited:
			then := k.then
			bury(k)
			k = then
		}
	}
}

// bury ends a carrier that runtime.Goexit has left: stopping it makes the stopping goroutine exit as well.
func bury(k *carrier) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		k.stop()
	}()
	<-over
}
