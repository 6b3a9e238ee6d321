package filch

import (
	"sync/atomic"
	"unsafe"
)

// Stop ends searches early: calls of [Func.CallUntil] with this Stop. The zero Stop is ready for use. It must not be copied,
// and is used only once, because a stop is final. Its methods may be called from any goroutine and cost an atomic load or
// store; [Stop.Under] makes it stop together with another one.
//
// A context can stop a search:
//
//	var stop filch.Stop
//	defer context.AfterFunc(ctx, stop.Stop)()
//	r, stopped := search.CallUntil(pool, &stop, root)
type Stop struct {
	stopped atomic.Bool // anyone stores, each join of the search loads
	parent  *Stop       // the argument of Under, which writes it, or nil
	_       [lineSize - 2*unsafe.Sizeof(uintptr(0))]byte
}

// Under makes s stop also when parent does, and returns s: an inner search ends with the outer one. Call it once, before s is
// used. Each check of s then loads a word for each Stop above it, until one has stopped.
//
// In the search of a game tree, each divided node has a Stop under that of its parent: a cutoff stops all of the search below
// it, and nothing beside it.
//
// Under panics if s or parent is nil, if s is under another Stop already, or if parent is s or under it.
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

// lineSize is the size of a cache line, or more.
const lineSize = 64

// Stop stops the calls that use s, and later ones. Their forks that have not begun are dropped: Join returns the zero value
// for them. Calls that have begun run to their end, unless they check [Frame.Stopped]. Stopping twice has no further effect.
//
// Stop synchronizes before each call of Stopped that returns true.
func (s *Stop) Stop() { s.stopped.Store(true) }

// Stopped reports whether [Stop.Stop] was called, on s or on a Stop that it is under.
func (s *Stop) Stopped() bool { return s.stopped.Load() || s.parent != nil && s.parent.isStopped() }

// isStopped is the loop of Stopped, apart so that Stopped is inlined.
func (s *Stop) isStopped() bool {
	for ; s != nil; s = s.parent {
		if s.stopped.Load() {
			return true
		}
	}
	return false
}
