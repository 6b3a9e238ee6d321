package sched

import (
	"fmt"
	"runtime"
)

// pull is a function under way in Pull.
type pull[V any] struct {
	f       func(yield func(V) bool)
	on      *coroutine // nil before the first step, and after the last
	running bool
	done    bool
	v       V    // that it has yielded
	ok      bool // it has
	stopped bool
	exited  bool // by runtime.Goexit; what has resumed it is to do so as well
}

// Pull is that of package iter. What resumes f lends it its thread, up to its next yield, so that to go
// there and back are no steps. Both touch the coroutine as plain memory: threads that resume one must
// be ordered by something else.
func Pull[V any](f func(yield func(V) bool)) (next func() (V, bool), stop func()) {
	p := &pull[V]{f: f}
	run.pulls = append(run.pulls, p)
	return p.next, p.stop
}

func (p *pull[V]) next() (v V, ok bool) {
	p.v, p.ok = v, false
	if !p.done {
		p.resume()
	}
	return p.v, p.ok
}

func (p *pull[V]) stop() {
	if p.stopped = true; p.on == nil {
		p.done = true
	}
	if !p.done {
		p.resume()
	}
}

// resume lends the thread to p, until it yields or ends.
func (p *pull[V]) resume() {
	r := run
	if r.stopping {
		panic(stopped)
	}
	Writes(&p.running)
	if p.running {
		r.Fail("a coroutine that runs is resumed: %s", where())
		panic(stopped)
	}
	p.running = true
	if p.on == nil {
		p.on = getCoroutine()
		p.on.call = p.call
	}
	t := r.current
	driver := t.on
	p.on.below = driver
	t.on = p.on
	if driver.yield(struct{}{}); r.stopping {
		panic(stopped)
	}
	if p.exited {
		p.exited = false
		runtime.Goexit()
	}
}

// call calls the function of p.
func (p *pull[V]) call() {
	r, returned := run, false
	defer func() {
		v := recover()
		if v != nil && !r.stopping && r.failure == "" {
			r.failure = fmt.Sprintf("panic: %v, in a coroutine", v)
		}
		p.done, p.exited = true, v == nil && !returned
		p.back()
	}()
	p.f(p.yield)
	returned = true
}

// back gives the thread back to what has resumed p.
func (p *pull[V]) back() {
	p.running = false
	if t := run.current; t != nil && t.on == p.on {
		Writes(&p.running)
		t.on = p.on.below
	}
	p.on.below = nil
}

func (p *pull[V]) yield(v V) bool {
	r := run
	if p.stopped || r.stopping {
		return false
	}
	p.v, p.ok = v, true
	on := p.on
	p.back()
	if on.yield(struct{}{}); r.stopping {
		panic(stopped)
	}
	return !p.stopped
}

// abandon ends p with the execution, if it waits to be resumed.
func (p *pull[V]) abandon() {
	if p.on != nil && !p.done {
		p.on.resume()
	}
}

// isLeft reports whether p has begun, and neither ended nor was stopped.
func (p *pull[V]) isLeft() bool { return p.on != nil && !p.done }

// Coroutines returns how many coroutines of Pull have begun and not ended.
func (r *Run) Coroutines() (n int) {
	for _, p := range r.pulls {
		if p.isLeft() {
			n++
		}
	}
	return n
}
