package strand

import (
	"sync"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/views"
)

// Holder is scratch memory, such as a buffer, a table or a decoder, that parallel parts of a program do not share. Each
// part that a worker runs without a break has its own, as with the views of a [Reducer], but nothing is combined: where
// parts join, one of the two is freed for reuse.
//
//	buffers := strand.NewHolder(func() []byte { return make([]byte, 0, 4096) })
//	par.ForScope(pool, n, func(s filch.Scope, i int) {
//		b := buffers.View(s)
//		*b = appendRow((*b)[:0], i)
//		…
//
// There are as many as parts that use the Holder at the same time; on one worker, one. They are kept as long as the
// Holder. Any number of goroutines and pools may use it at once. It must not be copied.
//
// The next code on the same worker sees what a fork left: after a join, a Spawn, a Sync, or anything that may fork,
// expect any contents.
type Holder[T any] struct {
	key views.Key // first: see Reducer.View

	make func() T

	mu   sync.Mutex
	free []*T // under mu
}

// NewHolder returns a Holder. The worker that needs a new one calls make, which may use other Holders. NewHolder panics
// if make is nil.
func NewHolder[T any](make func() T) *Holder[T] {
	needs(make != nil, "NewHolder", "make")
	h := &Holder[T]{make: make}
	h.key.Init((*holder[T])(h))
	return h
}

// View returns the memory that the caller may use until it forks, joins, spawns or syncs, or calls something with s
// that may. It holds what its last user left, or what make returned. For s, cost and panics see [Reducer.View]. Memory
// that was in use when a call panics or exits may not be reused.
func (h *Holder[T]) View(s filch.Scope) *T {
	return (*T)(view(s, (*views.Key)(unsafe.Pointer(h))))
}

// holder is a Holder as its views see it.
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
