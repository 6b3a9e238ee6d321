package strand

import (
	"sync"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/views"
)

// Reducer is a value that parallel parts of a program add to without a lock: each adds to a view of its own, by
// [Reducer.View], and joins combine the views. A sum needs no atomic operations, and a list comes out in the order in
// which one worker would have made it.
//
//	lines := strand.NewAppend[string]()
//	pool.Do(func(w *filch.Worker) { walk(w, root, lines) }) // calls lines.View at any depth
//	for _, line := range lines.Value() {
//
// Make one with [NewReducer], or [NewSum], [NewMin], [NewMax], [NewAppend] or [NewText]. Any number of goroutines and
// pools may use it at once. It must not be copied.
//
// Views are combined in serial order: what comes first on one worker is on the left. If combine is associative, the
// result is the same for any number of workers and any schedule; combine need not be commutative. "Reducers" in the
// package comment says what the serial order is, and which views count after a panic or a stop.
//
// There is one view for each outermost call, and at most one more for each steal. identity and combine are therefore
// rarely called, and may take long.
type Reducer[T any] struct {
	key views.Key // first: see View

	identity func() T
	combine  func(a, b T) T

	mu    sync.Mutex
	added bool // an outermost call that used it has ended; under mu
	value T    // of the outermost calls that have ended; under mu
}

// NewReducer returns an empty Reducer. identity returns a new view that adds nothing: combine(identity(), x) is x.
// combine returns the combination of a and b, where a comes first. It must be associative: combine(combine(a, b), c)
// equals combine(a, combine(b, c)). It may change a and b and return either, because neither is used again.
//
// A worker calls identity when it needs a view, and combine at a join, for several views at the same time. At the end
// of an outermost call, one goroutine at a time calls combine. Neither function may use the Reducer itself. A panic of
// combine counts as one of the joining code; views of other Reducers that were to be combined there may be lost.
// NewReducer panics if identity or combine is nil.
func NewReducer[T any](identity func() T, combine func(a, b T) T) *Reducer[T] {
	needs(identity != nil, "NewReducer", "identity")
	needs(combine != nil, "NewReducer", "combine")
	r := &Reducer[T]{identity: identity, combine: combine}
	r.key.Init((*reducer[T])(r))
	return r
}

// View returns the view of r that the caller may change:
//
//	*sum.View(w) += x
//
// s is the caller's own Worker or [Strand], or the [filch.Scope] that package par passes to a body. The Worker of the
// code around a loop is not that of the loop's body.
//
// The pointer is valid until the caller forks, joins, spawns or syncs, or calls something with s that may; after that,
// call View again. It must not be used after the call is over, nor by another goroutine.
//
// View never blocks. It costs a call and a few loads, about as much as a plain addition through a pointer. Up to eight
// Reducers can be used alternately at that price, if the hashes of their addresses differ; otherwise it takes a few
// times as long. The first View of r in an outermost call, or in work that a worker has stolen, calls identity. Others
// allocate nothing.
//
// View panics if s is nil, or a *[filch.Pool] or the Scope of a task, which other goroutines may use: call their Do,
// and pass on the Worker. It panics on a Worker in its own Blocking under the race detector, and where
// [filch.WithChecks] finds the Worker on another goroutine. On a Strand it panics as Spawn does.
func (r *Reducer[T]) View(s filch.Scope) *T {
	// Not &r.key, which would panic without a message if r is nil.
	return (*T)(view(s, (*views.Key)(unsafe.Pointer(r))))
}

// Value returns what the outermost calls that have ended have added, or identity() if there is none. A call adds its
// views when it returns; Value inside the call does not include them. Any goroutine may call Value. It waits while a
// call adds its views. The value may share memory with r, such as that of a slice or map: change it only when r is no
// longer used.
func (r *Reducer[T]) Value() T {
	if r == nil || !r.key.Made() {
		panic(notMade("Value"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.added {
		return r.identity()
	}
	return r.value
}

// reducer is a Reducer as its views see it.
type reducer[T any] Reducer[T]

func (r *reducer[T]) Fresh() unsafe.Pointer {
	v := r.identity()
	return unsafe.Pointer(&v)
}

func (r *reducer[T]) Fold(into, from unsafe.Pointer) {
	a := (*T)(into)
	*a = r.combine(*a, *(*T)(from))
}

func (r *reducer[T]) End(view unsafe.Pointer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := *(*T)(view); r.added {
		r.value = r.combine(r.value, v)
	} else {
		r.value, r.added = v, true
	}
}
