package filch

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Best holds the best key that a search has found so far, and a value with that key. All workers offer what they
// find, and skip what cannot beat the bound. [NewLeast] and [NewGreatest] make one. Its methods may be called from
// any goroutine.
//
// Among values with equal keys the first one offered wins, so the result may differ from run to run. An order of
// values makes the result deterministic if all values with the best key are offered: the search must then skip only
// what is worse than the bound, not what equals it.
type Best[K ~int | ~int64 | ~float64, V any] struct {
	bound atomic.Uint64 // bits of key; written under mu, all load

	// Set once.
	made     bool // by newBest
	greatest bool
	before   func(a, b V) bool
	_        [lineSize]byte // searches write what follows

	mu    sync.Mutex
	key   K // the worst possible key until an offer is taken
	value V
	found bool
}

// NewLeast returns a Best for which lesser keys are better. If before is not nil, it decides among values with equal
// keys: the one that comes before the others is kept. before must be a strict order and must not use the Best.
func NewLeast[K ~int | ~int64 | ~float64, V any](before func(a, b V) bool) *Best[K, V] {
	return newBest(false, greatestOf[K](), before)
}

// NewGreatest is [NewLeast] for greater keys.
func NewGreatest[K ~int | ~int64 | ~float64, V any](before func(a, b V) bool) *Best[K, V] {
	return newBest(true, leastOf[K](), before)
}

func newBest[K ~int | ~int64 | ~float64, V any](greatest bool, worst K, before func(a, b V) bool) *Best[K, V] {
	b := &Best[K, V]{made: true, greatest: greatest, before: before, key: worst}
	b.bound.Store(bitsOf(worst))
	return b
}

// Bound returns the best key so far; at first the worst possible key: the greatest int64 or +Inf, for example, for
// NewLeast. It never gets worse. It costs an atomic load of memory that is written only when a better key is found.
func (b *Best[K, V]) Bound() K { return fromBits[K](b.bound.Load()) }

// Offer takes key and v if key is better than the best so far, or equal with v before its value, and reports whether
// it did. A worse offer costs what Bound does; others take a lock for a few stores. A NaN is never taken, nor is the
// initial value of Bound.
//
// Offer synchronizes before each call of Bound or Get that returns key.
func (b *Best[K, V]) Offer(key K, v V) bool {
	bound := b.Bound()
	return (b.better(key, bound) || key == bound && b.before != nil) && b.take(key, v)
}

// Get returns the best key so far with its value, or false if no offer was taken yet. It takes a lock.
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

// check panics for a zero Best where the check is free: not in Bound, and in Offer only if it seems better.
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
	b.bound.Store(bitsOf(key)) // last, so that Get is never worse than an earlier Bound
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
