// Package ordered holds a queue for values with priorities that many goroutines take
// from: a global queue without a limit, and a bounded local one for each goroutine. Lower
// numbers go first. Values with equal numbers go in the order in which they came.
//
// # Order
//
// Each queue is in order, but all of them together are not, so that every goroutine can
// work on a queue of its own. A goroutine that takes a value gets the best of one queue,
// not of all. README.md has measurements of how far that is from the order of a single
// queue. With [Strict], a goroutine alone gets its values in order.
//
// # Contract
//
//   - Every value is handed out exactly once.
//   - A Push synchronizes before the Pop that returns its value.
//   - Nothing stays behind: every goroutine can take what is in a local queue.
//   - Nothing is kept: memory is given back as the queues drain.
//
// The design is that of the ordered work-steal queue of open-coroutine, with its mistakes
// mended; see README.md.
package ordered

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/queue"
	"github.com/filch-go/filch/internal/race"
)

const (
	defaultCapacity = 256
	// globalEvery is how many values a Local gives that were in local queues until
	// the next one is the global queue's best, so that what is there is not left for
	// ever.
	globalEvery = 60
)

// Queue is the whole: a global queue and the local ones. Make one with [New]. Its
// methods may be called from any goroutine.
type Queue[T any] struct {
	locals   []Local[T]
	capacity int
	strict   bool
	batch    int

	_      [line]byte
	word   atomic.Uint64 // how often the global queue has changed, and how many values it has, as in a gate
	best   atomic.Int64  // priority of its best, or none; only if strict
	_      [line - 16]byte
	mu     sync.Mutex
	global queue.Levels[T]
}

// none is below the priorities of all values that may be local with Strict. One of this priority
// is not, for it is no more urgent than nothing.
const none = math.MaxInt64

// Option is an option of [New].
type Option func(*options)

type options struct {
	strict bool
	batch  int
}

// Strict makes Push and Pop compare with the best of the global queue. A Push that finds
// its local queue full keeps v local if it is more urgent than the values that move. A
// value that is no more urgent than the global best goes to the global queue, and Pop takes
// the global best if it is more urgent than the local one. So a Local that is used alone
// returns values in the order of their priorities, and of age within one. It costs a look
// at the global queue for each Push and Pop, and replaces the rule that every 61st value
// is global.
func Strict() Option { return func(o *options) { o.strict = true } }

// StealBatch lets a thief take up to n values at once, best first, even if the best
// priority of its victim has fewer, but not more than half of the victim's values. The
// default is 1. It is for priorities that are nearly all different, such as
// deadlines. It panics if n is less than 1.
func StealBatch(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("ordered: StealBatch(%d): there must be a value to steal", n))
	}
	return func(o *options) { o.batch = n }
}

// New returns a queue with the given number of local ones, usually one for each worker.
// Each has room for capacity values, or for 256 if capacity is 0. New panics if locals is
// less than 1, capacity is negative, or an option is nil.
func New[T any](locals, capacity int, opts ...Option) *Queue[T] {
	if locals < 1 {
		panic(fmt.Sprintf("ordered: New: locals is %d; there must be one", locals))
	}
	if capacity < 0 {
		panic(fmt.Sprintf("ordered: New: capacity is %d, which is negative", capacity))
	}
	o := options{batch: 1}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("ordered: New: option %d is nil", i))
		}
		opt(&o)
	}
	if capacity == 0 {
		capacity = defaultCapacity
	}
	q := &Queue[T]{locals: make([]Local[T], locals), capacity: capacity, strict: o.strict, batch: o.batch}
	q.best.Store(none)
	for i := range q.locals {
		l := &q.locals[i]
		l.q, l.index = q, i
		l.random.Seed(uint64(i), 0)
	}
	return q
}

// Push adds v to the global queue. It takes a lock, and time O(log n) if v is hundreds of
// levels more urgent than all other values there, or thousands less.
func (q *Queue[T]) Push(priority int, v T) {
	q.mu.Lock()
	q.global.Push(priority, v)
	q.changed()
	q.mu.Unlock()
}

// changed tells others what is in the global queue. The caller holds the lock.
func (q *Queue[T]) changed() {
	n := q.global.Len()
	q.word.Store((q.word.Load()/oneVisit+1)*oneVisit + uint64(n)*oneValue)
	if q.strict {
		best := int64(none)
		if n > 0 {
			best = int64(q.global.Best())
		}
		q.best.Store(best)
	}
}

// Local returns the local queue i, counted from 0. It panics if there is none.
func (q *Queue[T]) Local(i int) *Local[T] {
	if i < 0 || i >= len(q.locals) {
		panic(fmt.Sprintf("ordered: Local(%d): there are %d", i, len(q.locals)))
	}
	return &q.locals[i]
}

// Len returns about how many values there are. It returns 0 only if there was a moment
// without any.
func (q *Queue[T]) Len() int {
	for {
		n, version := q.look()
		if n > 0 {
			return n
		}
		if _, again := q.look(); version == again {
			return 0
		}
	}
}

// look returns how many values each queue had when it came by, and a number that will
// be another if any has been changed.
func (q *Queue[T]) look() (n int, version uint64) {
	count := func(word uint64) {
		n += length(word)
		version += word / oneVisit
	}
	for i := range q.locals {
		l := &q.locals[i]
		count(l.moving.Load()) // (R54)
		count(l.word.Load())
	}
	count(q.word.Load())
	return n, version
}

// pop takes the best of the global queue.
func (q *Queue[T]) pop() (priority int, v T, ok bool) {
	if length(q.word.Load()) == 0 {
		return 0, v, false
	}
	q.mu.Lock()
	if ok = q.global.Len() > 0; ok {
		priority, v = q.global.Pop()
		q.changed()
	}
	q.mu.Unlock()
	return priority, v, ok
}

// Local is one of the local queues of a [Queue]. It must be used by one goroutine at a
// time; the race detector reports a second one. When another Local is empty, its Pop
// steals from this one.
type Local[T any] struct {
	gate
	values queue.Levels[T] // of the goroutine that is in
	q      *Queue[T]
	index  int
	tick   int // values that were local since the last global one
	turns  int // see touch
	random rand.PCG
	batch  []prioritized[T]
	_      [line]byte
	moving atomic.Uint64 // how often it has stolen, and how many values are on the way here, as in a gate
	_      [line]byte
}

type prioritized[T any] struct {
	priority int
	v        T
}

// touch shows the race detector every use, also one that finds nothing.
func (l *Local[T]) touch() {
	race.Touch(&l.turns)
}

// Push adds v. If the queue is full, its worse half moves to the global queue, and v as
// well, however urgent; but see [Strict]. Push takes no lock unless a thief is there or
// the queue is full. It takes time O(log n) if v is hundreds of levels more urgent than
// all other values here, or thousands less.
func (l *Local[T]) Push(priority int, v T) {
	l.touch()
	q := l.q
	if q.strict && int64(priority) >= q.best.Load() {
		q.Push(priority, v)
		return
	}
	l.enter()
	if l.values.Len() < q.capacity {
		l.values.Push(priority, v)
		l.leave(l.values.Len())
		return
	}
	l.spill(priority, v)
	l.leave(l.values.Len())
}

// spill makes room, in which v stays only if that is said to be strict, and v more
// urgent than what has gone.
func (l *Local[T]) spill(priority int, v T) {
	q := l.q
	q.mu.Lock()
	if q.strict { // what has gone there before is newer
		l.values.Spill(l.values.Len()/2, func(priority int, v T) { l.batch = append(l.batch, prioritized[T]{priority, v}) })
		for _, it := range slices.Backward(l.batch) {
			q.global.PushOldest(it.priority, it.v)
		}
		clear(l.batch)
		l.batch = l.batch[:0]
	} else {
		l.values.Spill(l.values.Len()/2, q.global.Push)
	}
	if q.strict && l.values.Len() < q.capacity && priority < q.global.Best() { // something has gone
		l.values.Push(priority, v)
	} else {
		q.global.Push(priority, v)
	}
	q.changed()
	q.mu.Unlock()
}

// Pop removes and returns the best value of this queue, or if there is none, of
// another local one that it steals from, or of the global one. After 60 values that were
// local, the next is the global queue's best, if there is one. It reports false if each
// queue was empty when Pop looked at it; [Queue.Len] tells whether all were at once.
//
// Stealing takes half of the values of the best priority that the victim has; the
// victims are tried in a circle from a random start. Pop takes a lock only if a thief is
// there, or for the global queue.
func (l *Local[T]) Pop() (v T, ok bool) {
	_, v, ok = l.Next()
	return v, ok
}

// Next is [Local.Pop], and also returns the priority.
func (l *Local[T]) Next() (priority int, v T, ok bool) {
	l.touch()
	q := l.q
	if l.tick == globalEvery && !q.strict {
		l.tick = 0
		if priority, v, ok = q.pop(); ok {
			return priority, v, true
		}
	}
	for {
		if length(l.known) > 0 {
			l.enter()
			n := l.values.Len()
			if n > 0 && (!q.strict || int64(l.values.Best()) <= q.best.Load()) {
				priority, v = l.values.Pop()
				l.leave(n - 1)
				l.tick++
				return priority, v, true
			}
			l.leave(n)
			if n > 0 {
				if priority, v, ok = q.pop(); ok {
					return priority, v, true
				}
				continue // another goroutine has taken it
			}
		}
		priority, v, ok, busy := l.steal()
		if !ok {
			priority, v, ok = q.pop()
		}
		if ok || !busy {
			return priority, v, ok
		}
		runtime.Gosched()
	}
}

// steal takes from another local queue. It reports busy if one could not be looked at.
func (l *Local[T]) steal() (priority int, v T, ok, busy bool) {
	all := l.q.locals
	at := l.index
	if n := len(all); n > 2 {
		at += int(l.random.Uint64() % uint64(n-1))
	}
	for range len(all) - 1 {
		if at++; at >= len(all) {
			at -= len(all)
		}
		if at == l.index { // only once, and not the last
			at = (at + 1) % len(all)
		}
		victim := &all[at]
		word := victim.word.Load()
		if length(word) == 0 {
			continue
		}
		if word&ownerIn != 0 || !victim.enterThief() {
			busy = true
			continue
		}
		if l.take(victim); len(l.batch) > 0 {
			l.tick++
			priority, v = l.taken()
			return priority, v, true, false
		}
	}
	return 0, v, false, busy
}

// take moves half of the victim's best values to l.batch, and lets go of the victim.
func (l *Local[T]) take(victim *Local[T]) {
	begun := l.moving.Load() + oneVisit
	k := 0
	if n := victim.values.Len(); n > 0 {
		k = max((victim.values.Bests(n)+1)/2, min(l.q.batch, n/2))
	}
	l.moving.Store(begun + uint64(k)*oneValue) // (W54) before the victim has less; pairs with (R54)
	for range k {
		priority, v := victim.values.Pop()
		l.batch = append(l.batch, prioritized[T]{priority, v})
	}
	victim.leaveThief(victim.values.Len())
	if k > 1 {
		l.enter()
		for _, it := range l.batch[1:] {
			l.values.Push(it.priority, it.v)
		}
		l.leave(l.values.Len())
	}
	l.moving.Store(begun)
}

// taken empties l.batch and returns the first of it, which Pop is for.
func (l *Local[T]) taken() (priority int, v T) {
	priority, v = l.batch[0].priority, l.batch[0].v
	clear(l.batch)
	l.batch = l.batch[:0]
	return priority, v
}

// Len returns about how many values this queue has: no fewer than there are.
func (l *Local[T]) Len() int { return length(l.word.Load()) }
