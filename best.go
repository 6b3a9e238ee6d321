package filch

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Best is what a search has found so far that is best: a key, and a value that has it. All
// workers offer what they find, and leave out what cannot be better than the bound. A Best is made
// by [NewLeast] or [NewGreatest]. Its methods may be called from any goroutine.
//
// Which of several values with the same key is kept, depends on which is offered first, and so
// on the run. With an order of values it does not, if all that have the best key are offered: a
// search then leaves out only what is worse than the bound, and not what equals it.
type Best[K ~int | ~int64 | ~float64, V any] struct {
	bound atomic.Uint64 // bits of key; written under mu, all load

	// Never written again.
	made     bool // by newBest
	greatest bool
	before   func(a, b V) bool
	_        [lineSize]byte // what follows is written by those that find something

	mu    sync.Mutex
	key   K // the worst there is, if none was taken
	value V
	found bool
}

// NewLeast returns a Best for which lesser keys are better. If before is not nil, of values
// with equal keys the one is kept that comes before the others. before must be a strict order, and
// must not use the Best.
func NewLeast[K ~int | ~int64 | ~float64, V any](before func(a, b V) bool) *Best[K, V] {
	return newBest(false, greatestOf[K](), before)
}

// NewGreatest is [NewLeast], but for greater keys.
func NewGreatest[K ~int | ~int64 | ~float64, V any](before func(a, b V) bool) *Best[K, V] {
	return newBest(true, leastOf[K](), before)
}

func newBest[K ~int | ~int64 | ~float64, V any](greatest bool, worst K, before func(a, b V) bool) *Best[K, V] {
	b := &Best[K, V]{made: true, greatest: greatest, before: before, key: worst}
	b.bound.Store(bitsOf(worst))
	return b
}

// Bound returns the best key so far. Before the first, it is the worst that there is, such as the
// greatest int64 or +Inf for NewLeast. It never gets worse. It costs an atomic load, which touches
// nothing that is written unless a better key is found.
func (b *Best[K, V]) Bound() K { return fromBits[K](b.bound.Load()) }

// Offer takes key and v if key is better than the best so far, or equal to it and v comes
// before its value. It reports whether it has. An offer that is worse costs what Bound does.
// Others take a lock, for the time of a few stores. A NaN is never taken, nor is what Bound is
// at first.
//
// Offer synchronizes before each call of Bound or Get that returns key.
func (b *Best[K, V]) Offer(key K, v V) bool {
	bound := b.Bound()
	return (b.better(key, bound) || key == bound && b.before != nil) && b.take(key, v)
}

// Get returns the best key so far and its value, and false if none was taken yet. The
// two belong together. It takes a lock.
func (b *Best[K, V]) Get() (key K, v V, ok bool) {
	b.check("Best.Get")
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.key, b.value, b.found
}

func (b *Best[K, V]) better(x, y K) bool {
	if b.greatest {
		return x > y
	}
	return x < y
}

// check panics for a zero Best, where that costs nothing: not in Bound, and in Offer if it seems better.
func (b *Best[K, V]) check(op string) {
	if b == nil || !b.made {
		isNotMade(op, "Best", "NewLeast or NewGreatest")
	}
}

func (b *Best[K, V]) take(key K, v V) bool {
	b.check("Best.Offer")
	b.mu.Lock()
	defer b.mu.Unlock() // also if before panics
	tie := b.found && key == b.key && b.before != nil && b.before(v, b.value)
	if !tie && !b.better(key, b.key) {
		return false
	}
	b.key, b.value, b.found = key, v, true
	b.bound.Store(bitsOf(key)) // last, so that Get is never worse than Bound was
	return true
}

func isFloat[K ~int | ~int64 | ~float64]() bool { return K(1)/2 != 0 }

func bitsOf[K ~int | ~int64 | ~float64](key K) uint64 {
	if isFloat[K]() {
		return math.Float64bits(float64(key))
	}
	return uint64(int64(key))
}

func fromBits[K ~int | ~int64 | ~float64](bits uint64) K {
	if isFloat[K]() {
		return K(math.Float64frombits(bits))
	}
	return K(int64(bits))
}

func greatestOf[K ~int | ~int64 | ~float64]() K {
	if isFloat[K]() {
		return K(math.Inf(1))
	}
	return K(int64(math.MaxInt64) >> (64 - 8*unsafe.Sizeof(K(0))))
}

func leastOf[K ~int | ~int64 | ~float64]() K {
	if isFloat[K]() {
		return K(math.Inf(-1))
	}
	return -greatestOf[K]() - 1
}
