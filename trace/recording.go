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
	began  int64 // at, on the clock of events
	inTurn bool  // all events go to one ring in their order, because a testing/synctest bubble's clock does not show it

	global globalCount // of the global queue, as reported by workers
	all    shared
	rings  [mostRings]atomic.Pointer[ring] // by worker number; the first goroutine that needs one makes it
}

// mostRings is how many workers have rings of their own, which bounds the memory. Another worker replaces each blocked
// one, so there may be more workers than worker slots.
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

// ringOf returns a worker's ring, and makes it if needed.
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
		t.events[i].At = max(0, t.events[i].At-n.began) // what was under way at Start began earlier
	}
	t.ended = max(0, end-n.began)
	return t
}

// until returns the events no later than end. Rings are read one after the other, so an event recorded meanwhile may be
// there without an earlier one of the same worker.
func until(end int64, events []event.Event) []event.Event {
	n := len(events)
	for n > 0 && events[n-1].At > end {
		n--
	}
	return events[:n]
}

// inOrder sorts events stably by time. It sorts indices, a fifth of the size of events.
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
	next  atomic.Int64 // earliest time for the next call
	calls sync.Mutex   // held while f runs
}

func newAlarm(f func(t *Trace)) *alarm {
	a := &alarm{f: f}
	a.next.Store(math.MinInt64) // the clock of a bubble is below zero
	return a
}

// quiet is the minimum time between two calls of an alarm.
const quiet = 10 * time.Second

// raise calls the function with the events of n, on a goroutine of its own.
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

// OnStall makes the Recorder call f with its events when tasks are queued and none has started for the time of
// [filch.WithStallTimeout], because workers are blocked where the pool does not see it. f runs on a goroutine of its
// own, at most once every 10 s, and never twice at once. It may write t, or the part that [Trace.Last] returns, to a
// file. OnStall panics if f is nil.
func OnStall(f func(t *Trace)) Option {
	if f == nil {
		panic("trace: OnStall: f is nil")
	}
	return func(r *Recorder) { r.onStall = newAlarm(f) }
}

// OnPanic is [OnStall] for tasks that end by a panic or runtime.Goexit. A panic that ends the program comes too early
// for f: see [filch.WithPanicHandler]. OnPanic panics if f is nil.
func OnPanic(f func(t *Trace)) Option {
	if f == nil {
		panic("trace: OnPanic: f is nil")
	}
	return func(r *Recorder) { r.onPanic = newAlarm(f) }
}

// A globalCount holds when the length of the global queue was last recorded, and whether it was 0. Each worker reports
// the length once a millisecond; in a large pool all reports would fill the shared ring.
type globalCount struct{ word atomic.Int64 } // the time, shifted by one, plus 1 if the length was 0

// isDue reports whether to record the length, and notes it: once a millisecond, and when it becomes 0 or stops being 0.
// Of two concurrent callers, one gets true.
func (g *globalCount) isDue(at int64, zero bool) bool {
	last, now := g.word.Load(), at<<1
	if zero {
		now |= 1
	}
	return (last == 0 || at-last>>1 >= int64(time.Millisecond) || last&1 != now&1) && g.word.CompareAndSwap(last, now)
}
