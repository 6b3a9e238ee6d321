package filch

import (
	"sync/atomic"
	"unsafe"
)

// Stop ends searches early: calls of [Func.CallUntil] that were given it. The zero Stop is
// ready for use. It is used once, since what it has stopped stays so, and must not be copied.
// Its methods may be called from any goroutine, at any time, and cost an atomic load or store.
//
// A search that is to end with a context takes a Stop that the context stops:
//
//	var stop filch.Stop
//	defer context.AfterFunc(ctx, stop.Stop)()
//	r, stopped := search.CallUntil(pool, &stop, root)
type Stop struct {
	stopped atomic.Bool // anybody stores, each join of the search loads
	_       [lineSize - unsafe.Sizeof(atomic.Bool{})]byte
}

// lineSize is that of a cache line, or more.
const lineSize = 64

// Stop stops the calls that have s, and those to come. Forks of theirs that have not begun are
// dropped: Join returns the zero value for them. Calls that have begun run to their end, unless
// they look at [Frame.Stopped]. Stopping twice is stopping once.
//
// Stop synchronizes before each call of Stopped that returns true.
func (s *Stop) Stop() { s.stopped.Store(true) }

// Stopped reports whether [Stop.Stop] was called.
func (s *Stop) Stopped() bool { return s.stopped.Load() }
