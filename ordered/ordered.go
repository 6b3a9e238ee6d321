// Package ordered holds a priority queue for many goroutines: an unlimited global queue, and a bounded local one for
// each goroutine. Lower numbers go first, and equal numbers in the order in which they came.
//
// # Order
//
// Each queue is in order, but all of them together are not, so that every goroutine can work on a queue of its own: a
// goroutine pops the best value of one queue, not of all. README.md has measurements of how far that is from the order
// of a single queue. With [Strict], a goroutine alone gets its values in order.
//
// # Contract
//
//   - Every value is handed out exactly once.
//   - A Push synchronizes before the Pop that returns its value.
//   - Nothing is stranded: every goroutine can take what is in a local queue.
//   - Nothing is retained: memory is freed as the queues drain.
//
// The design is that of open-coroutine's ordered work-steal queue, with its mistakes corrected; see README.md.
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
	// globalEvery is how many values from local queues a Local returns before the next is the global queue's best, so
	// that values there do not starve.
	globalEvery = 60
)

// Queue is a global queue and its local ones. Make one with [New]. Any goroutine may call its methods.
type Queue[T any] struct {
	locals   []Local[T]
	capacity int
	strict   bool
	batch    int

	_      [line]byte
	word   atomic.Uint64 // changes of the global queue, and its number of values, as in a gate
	best   atomic.Int64  // priority of its best, or none; only if strict
	_      [line - 16]byte
	mu     sync.Mutex
	global queue.Levels[T]
}

// none exceeds the priorities of all values that may be local with Strict. A value of this priority may not: it is no
// more urgent than nothing.
const none = math.MaxInt64

// Option is an option of [New].
type Option func(*options)

type options struct {
	strict bool
	batch  int
}

// Strict makes Push and Pop compare with the global queue's best, so a Local that is used alone returns values in the
// order of priority, and of age within one. A Push that finds its local queue full keeps v local if it is more urgent
// than the values that move. A value no more urgent than the global best goes to the global queue, and Pop takes the
// global best if it is more urgent than the local one. This replaces the rule that every 61st value is global. Each
// Push and Pop checks the global queue.
func Strict() Option { return func(o *options) { o.strict = true } }

// StealBatch lets a thief take up to n values at once, best first, even if fewer have its victim's best priority, but
// not more than half of the victim's values. The default is 1. Use it for priorities that are nearly all different,
// such as deadlines. It panics if n is less than 1.
func StealBatch(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("ordered: StealBatch(%d): there must be a value to steal", n))
	}
	return func(o *options) { o.batch = n }
}

// New returns a queue with the given number of local ones, usually one for each worker. Each has room for capacity
// values, or for 256 if capacity is 0. New panics if locals is less than 1, capacity is negative, or an option is nil.
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

// Push adds v to the global queue. It takes a lock, and time O(log n) if v is hundreds of levels more urgent than all
// other values there, or thousands less.
func (q *Queue[T]) Push(priority int, v T) {
	q.mu.Lock()
	q.global.Push(priority, v)
	q.changed()
	q.mu.Unlock()
}

// changed publishes the state of the global queue. The caller holds the lock.
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

// Local returns local queue i, counted from 0. It panics if there is none.
func (q *Queue[T]) Local(i int) *Local[T] {
	if i < 0 || i >= len(q.locals) {
		panic(fmt.Sprintf("ordered: Local(%d): there are %d", i, len(q.locals)))
	}
	return &q.locals[i]
}

// Len returns about how many values there are. It returns 0 only if at some moment there was none.
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

// look returns how many values each queue had when visited, and a number that differs if any queue has changed.
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

// pop removes and returns the best of the global queue.
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

// Local is one of the local queues of a [Queue]. One goroutine at a time may use it; the race detector reports
// concurrent use. When another Local is empty, its Pop steals from this one.
type Local[T any] struct {
	gate
	values queue.Levels[T] // of the goroutine inside the gate
	q      *Queue[T]
	index  int
	tick   int // local values since the last global one
	turns  int // see touch
	random rand.PCG
	batch  []prioritized[T]
	_      [line]byte
	moving atomic.Uint64 // steals begun, and values on their way here, as in a gate
	_      [line]byte
}

type prioritized[T any] struct {
	priority int
	v        T
}

// touch shows every use to the race detector, also one that finds nothing.
func (l *Local[T]) touch() {
	race.Touch(&l.turns)
}

// Push adds v. If the queue is full, its worse half moves to the global queue, and so does v, however urgent; but see
// [Strict]. Push takes a lock only if a thief is there or the queue is full. It takes time O(log n) if v is hundreds of
// levels more urgent than all other values here, or thousands less.
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

// spill makes room. v stays only with Strict, and only if it is more urgent than the values that move.
func (l *Local[T]) spill(priority int, v T) {
	q := l.q
	q.mu.Lock()
	if q.strict { // values moved there earlier are newer
		l.values.Spill(l.values.Len()/2, func(priority int, v T) { l.batch = append(l.batch, prioritized[T]{priority, v}) })
		for _, it := range slices.Backward(l.batch) {
			q.global.PushOldest(it.priority, it.v)
		}
		clear(l.batch)
		l.batch = l.batch[:0]
	} else {
		l.values.Spill(l.values.Len()/2, q.global.Push)
	}
	if q.strict && l.values.Len() < q.capacity && priority < q.global.Best() { // something has moved
		l.values.Push(priority, v)
	} else {
		q.global.Push(priority, v)
	}
	q.changed()
	q.mu.Unlock()
}

// Pop removes and returns the best value of this queue. If there is none, it steals from another local queue, or takes
// the global queue's best. It reports false if each queue was empty when visited; [Queue.Len] tells whether all were
// empty at once. After 60 local values, the next is the global queue's best, if there is one.
//
// A steal takes half of the values with the victim's best priority; victims are tried in a circle from a random start.
// Pop takes a lock only if a thief is there, or for the global queue.
func (l *Local[T]) Pop() (v T, ok bool) {
	_, v, ok = l.Next()
	return v, ok
}

// Next is [Local.Pop] and also returns the priority.
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

// steal takes from another local queue. It reports busy if one could not be entered.
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
		if at == l.index { // only once, and not the last victim
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

// take moves half of the victim's best values to l.batch, and leaves the victim.
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

// taken empties l.batch and returns its first value, for Pop.
func (l *Local[T]) taken() (priority int, v T) {
	priority, v = l.batch[0].priority, l.batch[0].v
	clear(l.batch)
	l.batch = l.batch[:0]
	return priority, v
}

// Len returns about how many values this queue has: no fewer than there are.
func (l *Local[T]) Len() int { return length(l.word.Load()) }
