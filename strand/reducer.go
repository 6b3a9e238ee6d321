package strand

import (
	"sync"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/views"
)

// Reducer is a value that parallel parts of a program add to without a lock. Each part adds to a view
// of its own, by [Reducer.View], and where parts join, their views are combined. So a sum needs no
// atomic operations, and a list comes out in the order in which one worker would have made it.
//
//	lines := strand.NewAppend[string]()
//	pool.Do(func(w *filch.Worker) { walk(w, root, lines) }) // calls lines.View at any depth
//	for _, line := range lines.Value() {
//
// Make one with [NewReducer], or [NewSum], [NewMin], [NewMax], [NewAppend] or [NewText]. It may be used by any
// number of goroutines and pools at once, and must not be copied.
//
// # Order
//
// Views are combined in serial order: what comes first on one worker is on the left. So if combine is
// associative, the result is the same for any number of workers and any schedule. It need not be
// commutative. The serial order is
//
//   - of a [Strand]: a spawn is a call,
//   - of [filch.Func], [filch.Chain] and [filch.Join]: a fork runs at its join,
//   - of package par: that of the indices,
//   - of asyncs, and of the values in a par.Pipeline: none. Nothing is lost, but combine must be commutative.
//
// Addition of floating-point numbers is only nearly associative: the last digits of such a sum depend
// on what was stolen.
//
// A view is made only where another worker has taken something: on one worker there is one for each outermost
// call. So identity and combine are called hardly ever, and may take long.
//
// # Outermost calls
//
// The call from outside the pool's work is the outermost one: Do, Func.Call, par.ForScope or [Run] with a
// [filch.Pool] or the Scope of a task. Its views are added to the Reducer when it
// returns. Calls with a [filch.Worker] or a [Strand] belong to the call around them. Several outermost calls add what
// they have in the order in which they end. A Do on a Pool inside of another Do is outermost as well:
// pass on the Worker.
//
// If an outermost call panics or exits, it adds nothing. A panic that is recovered inside of the call
// leaves what one worker would have added by then: what came before it counts, and forks that it drops do not.
// After a stop, what ran counts; see [filch.Func.CallUntil]. Of a Finish that fails, part of what its asyncs have
// added may be lost.
type Reducer[T any] struct {
	key views.Key // first: see View

	identity func() T
	combine  func(a, b T) T

	mu    sync.Mutex
	added bool // an outermost call has ended that used it; under mu
	value T    // of those that have; under mu
}

// NewReducer returns a Reducer of no outermost call. identity returns a new view, which is to add
// nothing: combine(identity(), x) is x. combine returns what a and b come to, with a the earlier one. It must be
// associative: combine(combine(a, b), c) is combine(a, combine(b, c)). It may change a and b, and return
// either, for neither is used again.
//
// identity is called by a worker that needs a view, and combine at a join, for several views at the same time. A
// panic of combine is one of the code that joins; views of other Reducers that were to be combined there may be lost.
// At the end of an outermost call, combine is called by one goroutine at a time. Neither may use the Reducer itself.
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
// s is the Worker or the [Strand], as it was handed to the caller, or what package par hands to a body as a [filch.Scope].
// It must be the caller's own: the Worker of the code around a loop is not that of the loop's body.
//
// The pointer holds until the caller forks, joins, spawns or syncs, or calls something with s that may: after that, call View
// again. It must not be used when the call is over, nor by another goroutine.
//
// View costs a call and a few loads, about as much as a plain addition through a pointer, and never blocks. Eight
// Reducers can be used in turn at that price, if the hashes of their addresses differ; otherwise it takes a few times
// as long. The first View of r in an outermost call calls identity, and so does the first one in what a worker has
// stolen. Others allocate nothing.
//
// View panics if s is nil, or a *[filch.Pool] or the Scope of a task, which are not the caller's alone:
// call their Do, and pass on the Worker. It panics on a Worker in its own Blocking under the race detector, and where
// [filch.WithChecks] finds the Worker on a goroutine that is not its own. It panics on a Strand as Spawn does.
func (r *Reducer[T]) View(s filch.Scope) *T {
	// Not &r.key, which panics without words if r is nil.
	return (*T)(view(s, (*views.Key)(unsafe.Pointer(r))))
}

// Value returns what the outermost calls that have ended have added, or identity() if there is none. What a call
// adds is there when it has returned: Value inside the call does not see it. It may be called by any goroutine, and
// waits while another call adds what it has. The value may share memory with r, such as that of a slice or map: change
// it only when r is no longer used.
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

// reducer is a Reducer as its views have it.
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
