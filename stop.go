package filch

import (
	"sync/atomic"
	"unsafe"
)

// Stop ends searches early: calls of [Func.CallUntil] that were given it. The zero Stop is
// ready for use. It is used once, since what it has stopped stays so, and must not be copied.
// Its methods may be called from any goroutine, and cost an atomic load or store; [Stop.Under] makes
// it stop with another one.
//
// A search that is to end with a context takes a Stop that the context stops:
//
//	var stop filch.Stop
//	defer context.AfterFunc(ctx, stop.Stop)()
//	r, stopped := search.CallUntil(pool, &stop, root)
type Stop struct {
	stopped atomic.Bool // anybody stores, each join of the search loads
	parent  *Stop       // of Under, which writes it, or nil
	_       [lineSize - 2*unsafe.Sizeof(uintptr(0))]byte
}

// Under makes s stop also when parent does, and returns s: a search inside of another ends with it. Call it once, before s is
// used. A look at s then loads a word for each Stop above it, until one has stopped.
//
// A game tree is such a search. Each node that is divided has a Stop under that of the node above it: a cutoff stops all that
// is searched below, and nothing beside it.
//
// Under panics if s or parent is nil, if s is under another Stop already, or parent is s or under it.
func (s *Stop) Under(parent *Stop) *Stop {
	needs(s != nil, "Stop.Under", "the Stop")
	needs(parent != nil, "Stop.Under", "parent")
	if s.parent != nil {
		panic("filch: Stop.Under: the Stop is under another one")
	}
	for p := parent; p != nil; p = p.parent {
		if p == s {
			panic("filch: Stop.Under: the Stop would be under itself")
		}
	}
	s.parent = parent
	return s
}

// lineSize is that of a cache line, or more.
const lineSize = 64

// Stop stops the calls that have s, and those to come. Forks of theirs that have not begun are
// dropped: Join returns the zero value for them. Calls that have begun run to their end, unless
// they look at [Frame.Stopped]. Stopping twice is stopping once.
//
// Stop synchronizes before each call of Stopped that returns true.
func (s *Stop) Stop() { s.stopped.Store(true) }

// Stopped reports whether [Stop.Stop] was called, of s or of one that it is under.
func (s *Stop) Stopped() bool { return s.stopped.Load() || s.parent != nil && s.parent.isStopped() }

// isStopped is Stopped, of any number of them, for the inliner.
func (s *Stop) isStopped() bool {
	for ; s != nil; s = s.parent {
		if s.stopped.Load() {
			return true
		}
	}
	return false
}
