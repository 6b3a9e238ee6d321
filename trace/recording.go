package trace

import (
	"cmp"
	"math"
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

	global globalCount // of workers that tell it
	all    shared
	rings  [mostRings]atomic.Pointer[ring] // by the worker's number; the first goroutine that needs one makes it
}

// mostRings is how many workers have rings of their own, so that the memory is fixed. Each worker that is
// blocked has another in its stead, so there may be more than there are places.
const mostRings = 256

func (r *Recorder) newRecording() *recording {
	n := &recording{of: r, at: time.Now(), began: clock.Now(), inTurn: clock.InBubble()}
	n.all.events = make([]packed, r.capacity)
	return n
}

// Event is called by the pool.
func (n *recording) Event(e event.Event) {
	if e.Kind == event.Queued && e.Worker < 0 && !n.inTurn && !n.global.isDue(e.At, e.ID == 0) {
		return
	}
	if e.Worker < 0 || e.Worker >= mostRings || n.inTurn || !n.ringOf(e.Worker).put(&e) {
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
	of := &n.rings[worker]
	if r := of.Load(); r != nil {
		return r
	}
	of.CompareAndSwap(nil, newRing(n.of.capacity))
	return of.Load()
}

func (n *recording) snapshot() *Trace {
	t := &Trace{Pool: n.of.pool.String(), Begun: n.at}
	end := clock.Now()
	t.take(n.all.read(t.events, 0))
	for i := range n.rings {
		if ring := n.rings[i].Load(); ring != nil {
			t.take(ring.read(t.events, 0))
		}
	}
	if !n.inTurn {
		t.events = until(end, inOrder(t.events))
	}
	for i := range t.events {
		t.events[i].At = max(0, t.events[i].At-n.began) // what was under way at Start has begun before
	}
	t.ended = max(0, end-n.began)
	return t
}

// until returns the events that are no later than end. Rings are read one after the other: what was told meanwhile may be there
// without what the same worker was told of before.
func until(end int64, events []event.Event) []event.Event {
	n := len(events)
	for n > 0 && events[n-1].At > end {
		n--
	}
	return events[:n]
}

// inOrder returns events by their times. Those of one time stay as they are. It sorts numbers, which are a fifth
// as large as events.
func inOrder(events []event.Event) []event.Event {
	type key struct {
		at int64
		i  int
	}
	keys := make([]key, len(events))
	for i := range events {
		keys[i] = key{events[i].At, i}
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.at, b.at), a.i-b.i) })
	sorted := make([]event.Event, len(events))
	for i, k := range keys {
		sorted[i] = events[k.i]
	}
	return sorted
}

// An alarm calls a function when the pool is in trouble.
type alarm struct {
	f     func(t *Trace)
	next  atomic.Int64 // when it is raised again, at the earliest
	calls sync.Mutex   // held while f runs
}

func newAlarm(f func(t *Trace)) *alarm {
	a := &alarm{f: f}
	a.next.Store(math.MinInt64) // the clock of a bubble is below zero
	return a
}

// quiet is how long an alarm is not raised again.
const quiet = 10 * time.Second

// raise calls the function with what n has, on a goroutine of its own.
func (a *alarm) raise(n *recording) {
	next, now := a.next.Load(), clock.Now()
	if now < next || !a.next.CompareAndSwap(next, now+int64(quiet)) {
		return
	}
	go func() {
		if a.calls.TryLock() {
			defer a.calls.Unlock()
			a.f(n.snapshot())
		}
	}()
}

// OnStall makes the Recorder call f with what it has when tasks are queued and none starts for the time of
// [filch.WithStallTimeout], because workers are blocked where the pool does not see it. f is called on a
// goroutine of its own, again after 10 s at the earliest, and not while it runs. It may write t, or the part of it that [Trace.Last] returns, to a
// file. OnStall panics if f is nil.
func OnStall(f func(t *Trace)) Option {
	if f == nil {
		panic("trace: OnStall: f is nil")
	}
	return func(r *Recorder) { r.onStall = newAlarm(f) }
}

// OnPanic is [OnStall] for tasks that end by a panic or runtime.Goexit. A panic that ends the program
// comes too early for that: see [filch.WithPanicHandler]. OnPanic panics if f is nil.
func OnPanic(f func(t *Trace)) Option {
	if f == nil {
		panic("trace: OnPanic: f is nil")
	}
	return func(r *Recorder) { r.onPanic = newAlarm(f) }
}

// A globalCount is when the length of the global queue was recorded last, and whether it was 0. Each worker tells the
// length once a millisecond: those of a large pool would fill the shared ring with it.
type globalCount struct{ word atomic.Int64 } // the time, shifted by one, and 1 if it was 0

// isDue reports whether the length is to be recorded, and notes it: once a millisecond, and when it becomes 0 or is no
// longer. Where two want to, one does.
func (g *globalCount) isDue(at int64, zero bool) bool {
	last, now := g.word.Load(), at<<1
	if zero {
		now |= 1
	}
	return (last == 0 || at-last>>1 >= int64(time.Millisecond) || last&1 != now&1) && g.word.CompareAndSwap(last, now)
}
