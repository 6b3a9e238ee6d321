package par

import (
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
)

// ReduceInto calls body for each i from 0 to n-1 with a state that no other worker uses meanwhile, and returns the
// states merged into one: merge adds from to into. It is for maps, buffers, tables and random sources, which cost too
// much to make for each element:
//
//	counts := *par.ReduceInto(s, len(words),
//		func() *map[string]int { return &map[string]int{} },
//		func(m *map[string]int, i int) { (*m)[words[i]]++ },
//		func(into, from *map[string]int) { for w, n := range *from { (*into)[w] += n } })
//
// fresh must return a new state, so body needs no lock. The caller calls it once before the first body, even if n is 0;
// a worker that joins the loop calls it if no state is free. A worker keeps its state while it has work in the loop,
// and then leaves it to the next that joins. There are thus at most as many states as goroutines in the loop at the
// same time: one per worker, and one more for each body that waits, since its worker or a replacement may meanwhile
// continue the same loop. Occasionally there is one more, when a worker resumes after a wait and its slot is taken.
// [WithMaxWorkers] holds even then.
//
// Which elements share a state, in which order, and the number of states depend on timing and chance. The result does
// not if the order of additions does not matter, as with counts. Floating-point sums may be rounded differently each
// time; those of [Reduce] and [ReduceRange] are not.
//
// When no body runs any more, states are merged in pairs of neighbours in the order of their creation, then pairs of
// pairs, and so on, always into the earlier one; the result is the caller's state. Disjoint pairs may be merged at the
// same time. from is not used again, and into may keep parts of it. A single state is not merged. If fresh, body or
// merge panics, the panic reaches the caller, and the states are lost; see "Contract". With a tiny body,
// [ReduceIntoRange] is faster.
func ReduceInto[S any](s filch.Scope, n int, fresh func() *S, body func(st *S, i int), merge func(into, from *S), opts ...Option) *S {
	checkStates("ReduceInto", s, n, fresh == nil || body == nil || merge == nil)
	c := configOf("ReduceInto", opts, ofLoops)
	c.single = true
	return merged(s, withStates(s, n, body, c, fresh, byIndex[*S](body)), merge, c)
}

// ReduceIntoRange is [ReduceInto] with a body that is called for ranges of indices, as in [ForRange].
func ReduceIntoRange[S any](s filch.Scope, n int, fresh func() *S, body func(st *S, lo, hi int), merge func(into, from *S), opts ...Option) *S {
	checkStates("ReduceIntoRange", s, n, fresh == nil || body == nil || merge == nil)
	c := configOf("ReduceIntoRange", opts, ofLoops)
	return merged(s, withStates(s, n, body, c, fresh, byRange[*S](body)), merge, c)
}

// ForInit is [For] with a reusable state made by fresh: a buffer, a table, a decoder. A body that made its own would do
// so for each element, and in a range of [ForRange] for some microseconds of work. The number of states is that of
// [ReduceInto], and the same rules hold. body finds its state as earlier calls left it. States are dropped at the end.
// If n is 0, fresh is not called.
//
// With a tiny body, [ForRangeInit] is faster.
func ForInit[S any](s filch.Scope, n int, fresh func() *S, body func(st *S, i int), opts ...Option) {
	checkStates("ForInit", s, n, fresh == nil || body == nil)
	c := configOf("ForInit", opts, ofLoops)
	c.single = true
	if n > 0 {
		withStates(s, n, body, c, fresh, byIndex[*S](body))
	}
}

// ForRangeInit is [ForInit] with a body that is called for ranges of indices, as in [ForRange].
func ForRangeInit[S any](s filch.Scope, n int, fresh func() *S, body func(st *S, lo, hi int), opts ...Option) {
	checkStates("ForRangeInit", s, n, fresh == nil || body == nil)
	c := configOf("ForRangeInit", opts, ofLoops)
	if n > 0 {
		withStates(s, n, body, c, fresh, byRange[*S](body))
	}
}

func checkStates(op string, s filch.Scope, n int, isNil bool) {
	check(op, s)
	checkNumber(op, "n", n)
	checkFunc(op, isNil)
}

// bodyWith processes [lo, hi) with a state.
type bodyWith[S any] interface{ run(st S, lo, hi int) }

type byIndex[S any] func(st S, i int)

func (f byIndex[S]) run(st S, lo, hi int) {
	for i := lo; i < hi; i++ {
		f(st, i)
	}
}

type byRange[S any] func(st S, lo, hi int)

func (f byRange[S]) run(st S, lo, hi int) { f(st, lo, hi) }

// states are the states of a loop: the first, and the others in the order of their creation.
type states[S any] struct {
	first S
	more  []S
}

// withStates calls body for ranges that make up [0, n), each with a state that no other range uses meanwhile, and
// returns all states. The cost of body is remembered by f. It allocates nothing if the loop needs no other worker.
func withStates[S any, B bodyWith[S]](s filch.Scope, n int, f any, c config, fresh func() S, body B) (all states[S]) {
	var first S
	boundary(func() { first = fresh() }) // not timed as part of an element
	all.first = first
	if from := runSerial(s, n, f, &c, func(lo, hi int) { body.run(first, lo, hi) }); from < n {
		all.more = moreStates(s, from, n, f, c, first, fresh, body)
	}
	return all
}

// moreStates continues from an index with the other workers, and returns the states that it has made.
func moreStates[S any, B bodyWith[S]](s filch.Scope, from, n int, f any, c config, first S, fresh func() S, body B) []S {
	idle := shelf[S]{fresh: fresh, free: []S{first}}
	l := &loop{config: c, of: costOf(f, c.kind)}
	l.lend = func() (func(lo, hi int), func()) {
		st := idle.take()
		return func(lo, hi int) { body.run(st, lo, hi) }, func() { idle.put(st) }
	}
	l.call(s, from, n, f)
	return idle.made
}

// merged merges states in pairs, as a tree.
func merged[S any](s filch.Scope, all states[*S], merge func(into, from *S), c config) *S {
	if len(all.more) == 0 {
		return all.first
	}
	t := tree[*S]{append([]*S{all.first}, all.more...), func(into, from *S) *S { merge(into, from); return into }}
	for level := 1; level < len(t.parts); level *= 2 {
		runLoop(s, t.pairs(level), merge, config{most: c.most}, func(lo, hi int) { t.combine(level, lo, hi) })
	}
	return t.parts[0]
}

// shelf holds things that one user after the other takes: as many as are in use at the same time.
type shelf[S any] struct {
	fresh func() S
	mu    sync.Mutex
	made  []S // by fresh, in order; read without mu once none is in use
	free  []S
}

// take calls fresh without mu, because fresh may take long, and may itself call take.
func (s *shelf[S]) take() S {
	if st, ok := s.idle(); ok {
		return st
	}
	st := s.fresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(s.made, st)
	return st
}

func (s *shelf[S]) idle() (st S, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return st, false
	}
	st = s.free[last]
	s.free = s.free[:last]
	return st, true
}

func (s *shelf[S]) put(st S) {
	if race.Logical() {
		return // reuse would order the users
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, st)
}
