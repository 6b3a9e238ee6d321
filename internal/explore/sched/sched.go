// Package sched runs a few threads through every interleaving of their steps. It
// also stands in for sync, sync/atomic and runtime in the code under test: each
// operation on one of its types is a step.
//
// Steps are explored depth first, by running the program again from the start for
// each branch. Two steps commute unless both are about the same variable and one
// writes it, and of interleavings that differ only in the order of steps that
// commute one is run, by sleep sets (Godefroid, "Partial-Order Methods for the
// Verification of Concurrent Systems", 1996). With a bound on preemptions
// (Musuvathi and Qadeer, PLDI 2007) there are no sleep sets, since the two do not
// go together.
//
// Atomics in Go are sequentially consistent, so that interleavings are all there
// is. Plain memory is watched for races by vector clocks, if the code says where
// it touches it; see [Plain].
package sched

import (
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// maxThreads is how many threads a program may have, main not counted.
const maxThreads = 8

type clock [maxThreads]int32

func (c *clock) join(d *clock) {
	for i, n := range d {
		c[i] = max(c[i], n)
	}
}

// object is what steps are about: a variable or a lock.
type object struct {
	clock  clock
	closed bool // a channel that is
}

// op is a step that a thread is about to take.
type op struct {
	name    string
	obj     *object // nil if it is about nothing
	write   bool
	yields  bool        // lets others go first
	aside   bool        // is beside the program, see Aside
	enabled func() bool // nil: always
}

// commutes reports whether it makes no difference which of a and b comes first.
func (a *op) commutes(b *op) bool {
	if a.yields || b.yields {
		return false
	}
	return a.obj != b.obj || a.obj == nil || !a.write && !b.write
}

type thread struct {
	id      int
	f       func()
	on      *coroutine // that of f, or what this has lent the thread to; nil before the first step, and after the last
	op      op
	done    bool
	clock   clock
	wrote   int // how often
	yielded int // writes of others there had been when it yielded
	spins   int // how often it has yielded since, in a row
	aside   int // calls of Aside that have not ended
}

// call calls the function of t.
func (t *thread) call() {
	r := run
	defer func() {
		t.done = true
		if v := recover(); v != nil && !r.stopping && r.failure == "" {
			r.failure = fmt.Sprintf("panic: %v, in thread %d", v, t.id)
		}
	}()
	t.f()
}

// resume lets t go on up to its next step, or to its end.
func (t *thread) resume() {
	if t.on == nil {
		t.on = getCoroutine()
		t.on.call = t.call
	}
	for on := (*coroutine)(nil); on != t.on; { // again if it has changed hands, see Pull
		on = t.on
		on.resume()
	}
	if t.done {
		t.on = nil
	}
}

// A coroutine runs threads and functions of Pull, one after the other. Those of the next execution find stacks that have
// grown already; to make new ones took a third of the time.
type coroutine struct {
	call   func()     // what it runs
	below  *coroutine // goes on with the thread when this gives it back; nil if it is that of the thread
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	ended  bool // what it ran has
	exited bool // by runtime.Goexit: it is used no more
}

// idle has the coroutines that run nothing.
var idle []*coroutine

func getCoroutine() *coroutine {
	if n := len(idle); n > 0 {
		c := idle[n-1]
		idle = idle[:n-1]
		return c
	}
	c := &coroutine{}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		defer func() { // of runtime.Goexit; next would exit as well, and end the explorer
			c.exited = true
			yield(struct{}{})
		}()
		for {
			c.call()
			c.ended = true
			yield(struct{}{})
		}
	})
	return c
}

// resume lets c go on, and keeps it for another function if its own has ended.
func (c *coroutine) resume() {
	switch c.next(); {
	case c.exited:
		over := make(chan struct{})
		go func() { // what stops c exits as well
			defer close(over)
			c.stop()
		}()
		<-over
	case c.ended:
		c.ended = false
		idle = append(idle, c)
	}
}

// Options say how far to go.
type Options struct {
	Preemptions int // at most so many; negative: no bound
	Max         int // executions, complete or not; 0: no limit
	Schedule    []int
}

func (o *Options) bounded() bool { return o.Preemptions >= 0 }

// Result is what an exploration found.
type Result struct {
	Executions int // complete ones
	Pruned     int // that turned out to differ from others in nothing
	Steps      int
	Took       time.Duration
	Complete   bool     // all was explored
	Failure    *Failure // nil if there is none
}

// Failure is an execution that went wrong.
type Failure struct {
	Message  string
	Schedule []int    // which thread takes each step; see Options
	Trace    []string // the steps
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s\nschedule %v\n%s", f.Message, f.Schedule, strings.Join(f.Trace, "\n"))
}

// Program sets up the threads of an execution by [Run.Go], and returns what
// checks its end.
type Program func(r *Run) (check func() error)

// node is a state that was reached, and what was tried from there.
type node struct {
	choice      int
	enabled     uint32
	sleep       uint32
	tried       uint32
	previous    int // the thread that took the step before, if it would not rather let others go
	preemptions int // up to here
}

// Run is an execution.
type Run struct {
	Watch func() // is called after each step, if it is not nil; what it does is no step

	Meets bool // Meet lets others go first
	Notes bool // Steps returns what was done

	threads  []*thread
	current  *thread
	steps    int
	writes   int
	clock    int64 // see Clock
	failure  string
	trace    []string
	tracing  bool
	stopping bool
	plain    map[unsafe.Pointer]access
	objects  map[any]*object // of what cannot hold its own
	schedule []int
	noted    []Step
	pulls    []interface {
		abandon()
		isLeft() bool
	}

	// How it goes on: along stack, and then as node.choose says.
	options     Options
	check       func() error
	stack       []node
	depth       int     // steps taken
	chosen      *thread // takes the next step; nil at the end of the execution
	previous    int     // as in node
	preemptions int
	sleep       uint32
	pruned      bool
}

// object returns the object of what has no room for it: a word, or a channel.
func (r *Run) object(key any) *object {
	o := r.objects[key]
	if o == nil {
		o = &object{}
		r.objects[key] = o
	}
	return o
}

// access tells which thread touched a plain variable last, and when.
type access struct {
	thread int
	at     int32 // of the last write
	reads  clock // since then
}

// run is the execution under way.
var run *Run

// Now counts the steps of the execution.
func (r *Run) Now() int64 {
	r.steps++
	return int64(r.steps)
}

// Go adds a thread.
func (r *Run) Go(f func()) {
	t := &thread{id: len(r.threads), f: f, op: op{name: "start"}}
	if t.id == maxThreads {
		panic("sched: too many threads")
	}
	if c := r.current; c != nil {
		t.clock = c.clock
		c.clock[c.id]++
	}
	t.clock[t.id] = 1
	r.threads = append(r.threads, t)
}

// Go starts a thread from within another.
func Go(f func()) {
	point(op{name: "go"})
	run.Go(f)
}

// Fail ends the execution.
func (r *Run) Fail(format string, args ...any) {
	if r.failure == "" {
		r.failure = fmt.Sprintf(format, args...)
	}
}

var stopped any = new(int)

// point is where another thread may go first.
func point(o op) *thread {
	r := run
	if r == nil {
		return nil
	}
	if r.stopping { // once more, if somebody has recovered from it
		panic(stopped)
	}
	if r.current == nil {
		return nil
	}
	t := r.current
	o.aside = t.aside > 0
	t.op = o
	if o.yields {
		if n := r.writes - t.wrote; n != t.yielded {
			t.yielded, t.spins = n, 0
		}
		t.spins++
	}
	r.stepped(t)
	if r.pick(); r.chosen == t {
		r.current = t
	} else if t.on.yield(struct{}{}); r.stopping {
		panic(stopped)
	}
	if o.write && !o.aside {
		r.writes++
		t.wrote++
	}
	if r.tracing {
		r.trace = append(r.trace, fmt.Sprintf("thread %d: %-14s %s", t.id, o.name, where()))
	}
	return t
}

// where returns the line of the code under test.
func where() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "/explore/sched.") {
			return fmt.Sprintf("%s:%d", f.File[strings.LastIndex(f.File, "/")+1:], f.Line)
		}
		if !more {
			return "?"
		}
	}
}

func (o *object) load(name string) {
	if t := point(op{name: name, obj: o}); t != nil {
		t.clock.join(&o.clock)
	}
}

func (o *object) store(name string) {
	if t := point(op{name: name, obj: o, write: true}); t != nil {
		t.release(o)
	}
}

// release lets a thread that comes upon o see what t has done so far.
func (t *thread) release(o *object) {
	o.clock = t.clock
	t.clock[t.id]++ // what follows is not part of it
}

func (o *object) update(name string) {
	if t := point(op{name: name, obj: o, write: true}); t != nil {
		t.clock.join(&o.clock)
		t.release(o)
	}
}

// compare is update if the comparison holds, and load if not.
func (o *object) compare(name string, holds func() bool) bool {
	t := point(op{name: name, obj: o, write: true})
	ok := holds()
	if t != nil {
		t.clock.join(&o.clock)
		if ok {
			t.release(o)
		} else {
			t.wroteNothing()
		}
	}
	return ok
}

// wroteNothing takes back that the last step counts as a write: it was an attempt.
func (t *thread) wroteNothing() {
	if t != nil && !t.op.aside {
		t.wrote--
		run.writes--
	}
}

// Plain says that the thread writes, or else reads, what p points to, which nobody
// else may touch at the same time, but to read it as well: then it fails. It is
// no step.
func Plain(p unsafe.Pointer, write bool) {
	r := run
	if r == nil || r.current == nil || r.stopping {
		return
	}
	t := r.current
	a, ok := r.plain[p]
	if ok && t.clock[a.thread] < a.at {
		r.Fail("data race: %s, threads %d and %d", where(), a.thread, t.id)
	}
	if !write {
		a.reads[t.id] = t.clock[t.id]
		r.plain[p] = a
		return
	}
	for i, at := range a.reads {
		if t.clock[i] < at {
			r.Fail("data race: %s, threads %d and %d", where(), i, t.id)
		}
	}
	r.plain[p] = access{thread: t.id, at: t.clock[t.id]}
}

// Reads and Writes are Plain.
func Reads[T any](p *T)  { Plain(unsafe.Pointer(p), false) }
func Writes[T any](p *T) { Plain(unsafe.Pointer(p), true) }

func (r *Run) isEnabled(t *thread) bool {
	return !t.done && (t.op.enabled == nil || t.op.enabled())
}

// maxSpins is how often a thread may yield in a row though nobody else has written
// anything: so often that waits that give up in time do.
const maxSpins = 4

// enabledSet returns the threads that can go on. One that has yielded too often
// can when somebody else has written something, or nobody else can.
func (r *Run) enabledSet() (set uint32) {
	var yielding uint32
	for i, t := range r.threads {
		switch {
		case !r.isEnabled(t):
		case t.op.yields && r.writes-t.wrote == t.yielded && t.spins >= maxSpins:
			yielding |= 1 << i
		default:
			set |= 1 << i
		}
	}
	if set == 0 {
		return yielding
	}
	return set
}

// limit of the steps of an execution: nothing that is explored takes so many.
const maxSteps = 10_000

// Explore runs the program through its interleavings until one fails.
func Explore(p Program, o Options) (res Result) {
	begin := time.Now()
	defer func() { res.Took = time.Since(begin) }()
	var stack []node
	var schedule []int
	for {
		r := &Run{plain: map[unsafe.Pointer]access{}, objects: map[any]*object{}, tracing: o.Schedule != nil,
			options: o, stack: stack, schedule: schedule[:0], previous: -1}
		r.execute(p)
		stack, schedule = r.stack, r.schedule
		res.Steps += len(stack)
		if r.pruned {
			res.Pruned++
		} else {
			res.Executions++
		}
		if r.failure != "" {
			res.Failure = &Failure{r.failure, r.schedule, r.trace}
			if !r.tracing { // once more, to tell
				again := Explore(p, Options{Preemptions: -1, Schedule: r.schedule})
				if again.Failure != nil {
					res.Failure.Trace = again.Failure.Trace
				}
			}
			return res
		}
		if o.Schedule != nil {
			return res
		}
		// Back to the last state with something left to try.
		for len(stack) > 0 {
			n := &stack[len(stack)-1]
			n.tried |= 1 << n.choice
			if n.choose(o.bounded(), o.Preemptions) {
				break
			}
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			res.Complete = true
			return res
		}
		if o.Max > 0 && res.Executions+res.Pruned >= o.Max {
			return res
		}
	}
}

// choose picks a thread that was not tried; first the one that ran before.
func (n *node) choose(bounded bool, limit int) bool {
	left := n.enabled &^ n.tried &^ n.sleep
	if left == 0 {
		return false
	}
	if n.previous >= 0 && left&(1<<n.previous) != 0 {
		n.choice = n.previous
		return true
	}
	if bounded && n.previous >= 0 && n.enabled&(1<<n.previous) != 0 && n.preemptions >= limit {
		return false
	}
	for i := range maxThreads {
		if left&(1<<i) != 0 {
			n.choice = i
			return true
		}
	}
	return false
}

// execute runs the program once: along the stack, and then on.
func (r *Run) execute(p Program) {
	run = r
	r.check = p(r)
	defer func() {
		r.stopping = true
		for _, t := range r.threads {
			if t.on != nil {
				r.current = t
				t.resume()
			}
		}
		for _, p := range r.pulls {
			p.abandon()
		}
		run = nil
	}()
	for r.pick(); r.chosen != nil; {
		t := r.chosen
		r.current = t
		if t.resume(); t.done {
			r.stepped(t)
			r.pick()
		}
	}
}

// stepped ends a step of t.
func (r *Run) stepped(t *thread) {
	r.current = nil
	if r.Watch != nil {
		r.Watch()
	}
	if r.previous = t.id; t.op.yields {
		r.previous = -1
	}
	r.steps++
	if r.failure == "" && r.depth > maxSteps {
		r.Fail("no end: %d steps", r.depth)
	}
}

// pick decides which thread takes the next step. The thread that has taken the last step calls it:
// most threads go on, and then no coroutine has to be left and entered again.
func (r *Run) pick() {
	r.chosen = nil
	if r.failure != "" {
		return
	}
	enabled := r.enabledSet()
	if enabled == 0 {
		r.end()
		return
	}
	if r.depth == len(r.stack) {
		n := node{enabled: enabled, sleep: r.sleep, previous: r.previous, preemptions: r.preemptions}
		if r.options.Schedule != nil {
			n.choice = r.scheduled(enabled)
		} else if !n.choose(false, 0) {
			r.pruned = true
			return
		}
		r.stack = append(r.stack, n)
	}
	n := &r.stack[r.depth]
	r.depth++
	if r.previous >= 0 && r.previous != n.choice && enabled&(1<<r.previous) != 0 {
		r.preemptions++
	}
	t := r.threads[n.choice]
	r.schedule = append(r.schedule, n.choice)
	if r.Notes {
		r.noted = append(r.noted, Step{n.choice, t.op.name, t.op.aside})
	}
	r.chosen = t
	r.sleep = 0
	if r.options.bounded() {
		return
	}
	for i, q := range r.threads {
		if (n.sleep|n.tried)&(1<<i) != 0 && i != n.choice && q.op.commutes(&t.op) {
			r.sleep |= 1 << i
		}
	}
}

// scheduled returns which thread takes the next step by the schedule that was asked for.
func (r *Run) scheduled(enabled uint32) int {
	choice := 0
	if r.depth < len(r.options.Schedule) {
		choice = r.options.Schedule[r.depth]
	}
	if enabled&(1<<choice) == 0 {
		choice = bits.TrailingZeros32(enabled)
	}
	return choice
}

// end ends an execution in which nobody can go on.
func (r *Run) end() {
	if slices.ContainsFunc(r.threads, func(t *thread) bool { return !t.done }) {
		r.Fail("deadlock: %s", r.waiting())
	} else if err := r.check(); err != nil {
		r.Fail("%v", err)
	}
}

// waiting tells what the threads wait for.
func (r *Run) waiting() string {
	var b strings.Builder
	for _, t := range r.threads {
		if !t.done {
			fmt.Fprintf(&b, "thread %d at %s; ", t.id, t.op.name)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}
