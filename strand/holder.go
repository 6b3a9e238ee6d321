package strand

import (
	"sync"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/views"
)

// Holder is memory to work in that parallel parts of a program do not share: a buffer, a table, a
// decoder. Each part that a worker runs without a break has one of its own, as with the views of a
// [Reducer], but nothing is combined: where parts join, one of the two is free, and used again.
//
//	buffers := strand.NewHolder(func() []byte { return make([]byte, 0, 4096) })
//	par.ForScope(pool, n, func(s filch.Scope, i int) {
//		b := buffers.View(s)
//		*b = appendRow((*b)[:0], i)
//		…
//
// There are as many as parts that use it at the same time, and on one worker one. They are kept as long as the
// Holder is. It may be used by any number of goroutines and pools at once, and must not be copied.
//
// What a fork leaves in it is found by what comes next on that worker: after a join, a Spawn, a Sync, or whatever may
// fork, expect anything in it.
type Holder[T any] struct {
	key views.Key // first: see Reducer.View

	make func() T

	mu   sync.Mutex
	free []*T // under mu
}

// NewHolder returns a Holder. make makes what it holds, on the worker that needs one; it may use other
// Holders. It panics if make is nil.
func NewHolder[T any](make func() T) *Holder[T] {
	needs(make != nil, "NewHolder", "make")
	h := &Holder[T]{make: make}
	h.key.Init((*holder[T])(h))
	return h
}

// View returns what the caller may use until it forks, joins, spawns or syncs, or calls something with s that may. Its
// contents are what was left in it, or what make returned. What s is, what it costs, and when it panics is as
// in [Reducer.View]. What was in use when a call panics or exits may not be used again.
func (h *Holder[T]) View(s filch.Scope) *T {
	return (*T)(view(s, (*views.Key)(unsafe.Pointer(h))))
}

// holder is a Holder as its views have it.
type holder[T any] Holder[T]

func (h *holder[T]) Fresh() unsafe.Pointer {
	if v := h.take(); v != nil {
		return unsafe.Pointer(v)
	}
	v := h.make()
	return unsafe.Pointer(&v)
}

func (h *holder[T]) take() *T {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := len(h.free) - 1
	if last < 0 {
		return nil
	}
	v := h.free[last]
	h.free[last] = nil
	h.free = h.free[:last]
	return v
}

func (h *holder[T]) Fold(_, from unsafe.Pointer) { h.End(from) }

func (h *holder[T]) End(view unsafe.Pointer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = append(h.free, (*T)(view))
}
