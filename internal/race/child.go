//go:build race

package race

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// MaxOpen is how many children may be open at a time. The detector ends the program at 8,128
// goroutines, and a child takes some 20 KB, most of it the detector's.
const MaxOpen = 4000

var (
	open   atomic.Int64 // children; those that open and end them write
	Missed atomic.Int64 // children that were not opened; likewise
)

// A Child is a goroutine of its own to the detector, from the moment of Open on: what it runs
// later is ordered after that, and after nothing that its runner has done since. The zero Child
// is none.
type Child struct{ *child }

type child struct {
	start chan func() // what to run; nil to end without
	done  chan struct{}

	// In a Queue, under its lock.
	prev, next *child
	in         bool
	value      any
}

// AtRun is what stacks show of a goroutine that waits for a Child that it runs.
var AtRun = runtime.FuncForPC(reflect.ValueOf(Child.Run).Pointer()).Name()

// Open returns a Child, or none if too many are open.
func Open() Child {
	if !enter() {
		return Child{}
	}
	c := &child{start: make(chan func(), 1), done: make(chan struct{})}
	go c.live()
	return Child{c}
}

func enter() bool {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	if open.Add(1) > MaxOpen {
		open.Add(-1)
		Missed.Add(1)
		return false
	}
	return true
}

func (c *child) live() {
	defer c.end()
	f := c.nextToRun()
	if f != nil {
		f()
	}
}

// nextToRun waits for what to run.
func (c *child) nextToRun() func() {
	runtime.RaceDisable() // what wakes it is no order that the program has made
	defer runtime.RaceEnable()
	return <-c.start
}

// Prepare has c run f before Run, and orders the caller after f.
//
//go:norace
func (c Child) Prepare(f func()) {
	ready := make(chan struct{}, 1)
	at := c.child
	runtime.RaceDisable()
	c.start <- func() {
		f()
		runtime.RaceReleaseMerge(unsafe.Pointer(at))
		runtime.RaceDisable()
		ready <- struct{}{}
		runtime.RaceEnable()
		if next := at.nextToRun(); next != nil {
			next()
		}
	}
	<-ready
	runtime.RaceEnable()
	runtime.RaceAcquire(unsafe.Pointer(at))
}

// end is deferred. A panic that nobody has caught ends the program, and nothing goes on before.
func (c *child) end() {
	if v := recover(); v != nil {
		panic(v)
	}
	runtime.RaceReleaseMerge(unsafe.Pointer(c))
	runtime.RaceDisable()
	open.Add(-1)
	close(c.done)
	runtime.RaceEnable()
}

// IsOpen reports whether there is a Child.
func (c Child) IsOpen() bool { return c.child != nil }

// Run has c run f, and returns when that has ended, however it did. Neither is ordered after
// the other by that; f must have its variables by value.
//
//go:norace
func (c Child) Run(f func()) {
	runtime.RaceDisable()
	c.start <- f
	<-c.done
	runtime.RaceEnable()
}

// Wait waits until c has ended, and orders the caller after it.
func (c Child) Wait() {
	c.Pause()
	runtime.RaceAcquire(unsafe.Pointer(c.child))
}

// Ended reports whether c has ended, and orders nothing.
func (c Child) Ended() bool {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Pause waits until c has ended, and orders nothing.
func (c Child) Pause() {
	runtime.RaceDisable()
	<-c.done
	runtime.RaceEnable()
}

// Drop ends c if it was not run.
func (c Child) Drop() {
	if c.child == nil {
		return
	}
	runtime.RaceDisable()
	select {
	case c.start <- nil:
	default:
	}
	runtime.RaceEnable()
}

// Aside calls f on a goroutine of its own and waits for it, so that the caller is ordered after
// nothing that f is.
// What f panics with arrives here.
func Aside(f func()) {
	type outcome struct {
		returned bool
		panicked any
	}
	c, ended := &child{start: make(chan func(), 1), done: make(chan struct{})}, make(chan outcome, 1)
	Disable()
	open.Add(1)
	c.start <- func() {
		var o outcome
		defer func() {
			if !o.returned {
				o.panicked = recover()
			}
			Disable()
			ended <- o
			Enable()
		}()
		f()
		o.returned = true
	}
	Enable()
	go c.live()
	Disable()
	<-c.done
	o := <-ended
	Enable()
	if o.returned {
		return
	}
	Acquire(c)
	if o.panicked != nil {
		panic(o.panicked)
	}
	runtime.Goexit()
}

var logical int64 // pools that have logical races, and have not ended

// AddLogical notes that one pool more has logical races, or one less.
func AddLogical(by int64) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	atomic.AddInt64(&logical, by)
}

// Logical reports whether some pool has logical races, so that loops are cut into small pieces. It is a plain
// load, which orders nothing.
//
//go:norace
func Logical() bool { return logical > 0 }

// Disable has the detector see no order in what the caller synchronises with, until Enable.
func Disable() { runtime.RaceDisable() }

// Enable ends what Disable began.
func Enable() { runtime.RaceEnable() }

// Release orders what follows an Acquire of at after what the caller has done.
func Release[T any](at *T) { runtime.RaceReleaseMerge(unsafe.Pointer(at)) }

// Acquire orders what the caller does next after each Release of at.
func Acquire[T any](at *T) { runtime.RaceAcquire(unsafe.Pointer(at)) }

// A Queue has children that wait to be run, with what is known of them. What one does to it
// orders nothing else, but that Take is ordered after the Add.
type Queue struct {
	mu          sync.Mutex
	first, last *child
	n           atomic.Int64
}

// Len returns how many there are.
func (q *Queue) Len() int64 {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	return q.n.Load()
}

// Add adds c, with value.
//
//go:norace
func (q *Queue) Add(c Child, value any) {
	c.value = value
	runtime.RaceReleaseMerge(unsafe.Pointer(&c.child.start))
	runtime.RaceDisable()
	q.mu.Lock()
	c.in, c.prev = true, q.last
	if q.last == nil {
		q.first = c.child
	} else {
		q.last.next = c.child
	}
	q.last = c.child
	q.n.Add(1)
	q.mu.Unlock()
	runtime.RaceEnable()
}

// Remove removes c, and reports false if it was taken.
//
//go:norace
func (q *Queue) Remove(c Child) (removed bool) {
	runtime.RaceDisable()
	q.mu.Lock()
	removed = c.in
	if removed {
		q.unlink(c.child)
	}
	q.mu.Unlock()
	runtime.RaceEnable()
	return removed
}

// Take removes the oldest, and returns its value, or nil.
//
//go:norace
func (q *Queue) Take() (value any) {
	runtime.RaceDisable()
	q.mu.Lock()
	c := q.first
	if c != nil {
		q.unlink(c)
		value = c.value
	}
	q.mu.Unlock()
	runtime.RaceEnable()
	if c != nil {
		runtime.RaceAcquire(unsafe.Pointer(&c.start))
	}
	return value
}

//go:norace
func (q *Queue) unlink(c *child) {
	if c.prev == nil {
		q.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		q.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next, c.in = nil, nil, false
	q.n.Add(-1)
}

// A Ref refers to a T in builds with the detector, and takes no memory in others.
type Ref[T any] struct{ p *T }

func (r *Ref[T]) Set(p *T) { r.p = p }
func (r *Ref[T]) Get() *T  { return r.p }
