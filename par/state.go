package par

import (
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
)

// ReduceInto calls body for each i of 0 to n-1, with a state that no other worker uses at that time, and
// returns what all states come to: merge adds from to into. It is for maps, buffers, tables and random
// sources, of which each element would be too small to have its own:
//
//	counts := *par.ReduceInto(s, len(words),
//		func() *map[string]int { return &map[string]int{} },
//		func(m *map[string]int, i int) { (*m)[words[i]]++ },
//		func(into, from *map[string]int) { for w, n := range *from { (*into)[w] += n } })
//
// fresh makes a state. It is called once by the caller, before the first body, even if n is 0. It is called
// once more when a worker joins the loop and no state is free. A worker keeps its state until it has
// nothing more to do in the loop, and leaves it to the next one that joins. So there are no more states than
// goroutines that have been in the loop at the same time. That is one a worker, and one more for each body
// that waits: its worker, or another in its place, may go on with the same loop, and then gets another state.
// Now and then it is one more, when a worker goes on after a wait and its place is taken. [WithMaxWorkers]
// holds even then.
// States are never shared, so body needs no lock, if each call of fresh returns a new one.
//
// Which elements meet in a state, and in which order, depends on time and chance. So does the number of
// states. The result depends on neither if it does not matter in which order elements are added, as with
// counts. Sums of floating-point numbers may be rounded differently each time; those of [Reduce] and
// [ReduceRange] are not.
//
// States are merged when no body runs any more: neighbours in pairs, in the order in which they were made,
// then these pairs, and so on, with into the earlier one. So the caller's is the result. Pairs may be merged
// at the same time, but none of their states is in two. from is not used again, and into may keep parts of it.
// With a single state, merge is not called.
//
// If fresh, body or merge panics, the panic arrives at the caller and the states are lost; see "Contract".
// States of other workers are not merged then.
//
// If body does next to nothing, its call is most of the time, and [ReduceIntoRange] is faster.
func ReduceInto[S any](s filch.Scope, n int, fresh func() *S, body func(st *S, i int), merge func(into, from *S), opts ...Option) *S {
	checkStates("ReduceInto", s, n, fresh == nil || body == nil || merge == nil)
	c := configOf("ReduceInto", opts, ofLoops)
	c.single = true
	return merged(s, withStates(s, n, body, c, fresh, byIndex[*S](body)), merge, c)
}

// ReduceIntoRange is [ReduceInto] with a body that is called for ranges of indices, as by [ForRange].
func ReduceIntoRange[S any](s filch.Scope, n int, fresh func() *S, body func(st *S, lo, hi int), merge func(into, from *S), opts ...Option) *S {
	checkStates("ReduceIntoRange", s, n, fresh == nil || body == nil || merge == nil)
	c := configOf("ReduceIntoRange", opts, ofLoops)
	return merged(s, withStates(s, n, body, c, fresh, byRange[*S](body)), merge, c)
}

// ForInit is [For] with something to work in that is made by fresh and used again and again: a buffer, a
// table, a decoder. Made in the body, it would be made for each element, and in a range of [ForRange] for
// some microseconds of work. There are as many as in [ReduceInto], and the same holds for them; they are
// dropped in the end. body finds in its state what earlier calls have left there. If n is 0, fresh is not
// called.
//
// If body does next to nothing, its call is most of the time, and [ForRangeInit] is faster.
func ForInit[S any](s filch.Scope, n int, fresh func() *S, body func(st *S, i int), opts ...Option) {
	checkStates("ForInit", s, n, fresh == nil || body == nil)
	c := configOf("ForInit", opts, ofLoops)
	c.single = true
	if n > 0 {
		withStates(s, n, body, c, fresh, byIndex[*S](body))
	}
}

// ForRangeInit is [ForInit] with a body that is called for ranges of indices, as by [ForRange].
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

// bodyWith goes through [lo, hi) with a state.
type bodyWith[S any] interface{ run(st S, lo, hi int) }

type byIndex[S any] func(st S, i int)

func (f byIndex[S]) run(st S, lo, hi int) {
	for i := lo; i < hi; i++ {
		f(st, i)
	}
}

type byRange[S any] func(st S, lo, hi int)

func (f byRange[S]) run(st S, lo, hi int) { f(st, lo, hi) }

// states are those of a loop: the first, and the others in the order in which they were made.
type states[S any] struct {
	first S
	more  []S
}

// withStates calls body for ranges that make up [0, n), with a state that no other range has meanwhile, and
// returns all states. What body costs is known by f. It allocates nothing if the loop needs no other worker.
func withStates[S any, B bodyWith[S]](s filch.Scope, n int, f any, c config, fresh func() S, body B) (all states[S]) {
	var first S
	boundary(func() { first = fresh() }) // not in the time of an element
	all.first = first
	if from := runSerial(s, n, f, &c, func(lo, hi int) { body.run(first, lo, hi) }); from < n {
		all.more = moreStates(s, from, n, f, c, first, fresh, body)
	}
	return all
}

// moreStates goes on from an index with the other workers, and returns the states that it has made.
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

// shelf has what is used by one after the other: as many as are used at the same time.
type shelf[S any] struct {
	fresh func() S
	mu    sync.Mutex
	made  []S // by fresh, in order: read without mu when none is used any more
	free  []S
}

// take calls fresh without mu, for that may be long, and take something itself.
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
		return // what is used by one after the other orders them
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, st)
}
