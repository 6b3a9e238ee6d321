package trace

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
)

// A recording is what a Recorder records between Start and Stop. It is the hook of the pool.
type recording struct {
	of     *Recorder
	at     time.Time
	began  int64 // the same, as events have it
	inTurn bool  // all events go to one ring, in their order: the clock of a bubble of testing/synctest does not tell it

	all     shared
	rings   atomic.Pointer[[]atomic.Pointer[ring]] // by the worker's number; replaced under growing, when there are more
	growing sync.Mutex
}

func (r *Recorder) newRecording() *recording {
	n := &recording{of: r, at: time.Now(), began: clock.Now(), inTurn: clock.InBubble()}
	n.all.events = make([]packed, r.capacity)
	n.rings.Store(new([]atomic.Pointer[ring]))
	return n
}

// Event is called by the pool.
func (n *recording) Event(e event.Event) {
	if e.Worker < 0 || n.inTurn || !n.ringOf(e.Worker).put(&e) {
		n.all.put(&e)
	}
	switch {
	case e.Kind == event.Crashed && n.of.onPanic != nil:
		n.of.onPanic.raise(n)
	case e.Kind == event.Extra && e.ID > 0 && n.of.onStall != nil:
		n.of.onStall.raise(n)
	}
}

// ringOf returns the ring of a worker.
func (n *recording) ringOf(worker int) *ring {
	if rings := *n.rings.Load(); worker < len(rings) {
		if ring := rings[worker].Load(); ring != nil {
			return ring
		}
	}
	return n.makeRing(worker)
}

func (n *recording) makeRing(worker int) *ring {
	n.growing.Lock()
	defer n.growing.Unlock()
	rings := *n.rings.Load()
	if worker >= len(rings) {
		more := make([]atomic.Pointer[ring], max(worker+1, 2*len(rings)))
		for i := range rings {
			more[i].Store(rings[i].Load())
		}
		rings = more
		n.rings.Store(&more)
	}
	if rings[worker].Load() == nil {
		rings[worker].Store(newRing(n.of.capacity))
	}
	return rings[worker].Load()
}

func (n *recording) snapshot() *Trace {
	t := &Trace{Pool: n.of.pool.String(), Begun: n.at, began: n.began, ended: clock.Now()}
	t.take(n.all.read(nil, 0))
	rings := *n.rings.Load()
	for i := range rings {
		if ring := rings[i].Load(); ring != nil {
			t.take(ring.read(nil, 0))
		}
	}
	if !n.inTurn {
		slices.SortStableFunc(t.events, func(a, b event.Event) int { return int(a.At - b.At) })
	}
	return t
}

// An alarm calls a function when the pool is in trouble.
type alarm struct {
	f      func(t *Trace)
	raised atomic.Int64 // when it was, last; 0 if never
	calls  sync.Mutex
}

// quiet is how long an alarm is not raised again.
const quiet = 10 * time.Second

// raise calls the function with what n has, on a goroutine of its own.
func (a *alarm) raise(n *recording) {
	last, now := a.raised.Load(), clock.Now()
	if last != 0 && now-last < int64(quiet) || !a.raised.CompareAndSwap(last, max(1, now)) {
		return
	}
	go func() {
		a.calls.Lock()
		defer a.calls.Unlock()
		a.f(n.snapshot())
	}()
}

// OnStall makes the Recorder call f with what it has when tasks are queued and none starts for the time of
// [filch.WithStallTimeout], because workers are blocked where the pool does not see it. f is called on a
// goroutine of its own, and again after 10 s at the earliest. It may write t, or the part of it that [Trace.Last] returns, to a
// file. OnStall panics if f is nil.
func OnStall(f func(t *Trace)) Option {
	if f == nil {
		panic("trace: OnStall: f is nil")
	}
	return func(r *Recorder) { r.onStall = &alarm{f: f} }
}

// OnPanic is [OnStall] for tasks that end by a panic or runtime.Goexit. A panic that ends the program
// comes too early for that: see [filch.WithPanicHandler]. OnPanic panics if f is nil.
func OnPanic(f func(t *Trace)) Option {
	if f == nil {
		panic("trace: OnPanic: f is nil")
	}
	return func(r *Recorder) { r.onPanic = &alarm{f: f} }
}
