package filch

import "github.com/filch-go/filch/internal/engine"

// CallUntil is [Func.Call] for a search that may end early: when a body calls [Frame.Stop], or any goroutine calls stop.Stop.
// It reports whether that has happened.
//
// From then on, every worker drops forks that have not begun: [Frame.Join], [Mark.JoinAll] and [Frame.Call] return the zero
// value for them. Forks that run elsewhere are awaited, and their results returned. So a body joins its forks as always, and
// takes the zero value for nothing found; what it has found reaches the caller as the result of the outermost body. A body
// with a long loop, or one that calls itself by name, checks [Frame.Stopped] now and then.
//
// Calls that a body makes on its worker by Call, of this or another Func, or by package par, do not stop. Use CallUntil with
// the same Stop, which several calls may share. Forks of [Func.On] stop with the body that calls On.
//
// If stop has stopped before, the body is not called. CallUntil panics if stop is nil, and as Call does if a body panics,
// even after a stop. It costs a small allocation, and each join and call in it checks stop. Call pays nothing for that.
func (fn *Func[A, R]) CallUntil(s Scope, stop *Stop, arg A) (r R, stopped bool) {
	if fn == nil || fn.body == nil {
		isNotMade("Func.CallUntil", "Func", "NewFunc")
	}
	needs(stop != nil, "CallUntil", "stop")
	r = call(s, fn.until(stop), arg)
	return r, stop.Stopped()
}

// Stop stops the call of [Func.CallUntil] that the body belongs to, and all others with the same [Stop]. It panics if the
// body was not called by CallUntil.
func (f *Frame[A, R]) Stop() {
	if f.stop == nil {
		panic("filch: Frame.Stop: the function was not called by CallUntil")
	}
	f.stop.Stop()
}

// Stopped reports whether the call of [Func.CallUntil] that the body belongs to has stopped. Outside of one it returns false.
func (f *Frame[A, R]) Stopped() bool { return f.stop != nil && f.stop.Stopped() }

// untilCallee is a Func within CallUntil, as the engine sees it.
type untilCallee[A, R any] struct {
	fn   *Func[A, R]
	stop *Stop
}

func (fn *Func[A, R]) until(stop *Stop) *untilCallee[A, R] {
	return &untilCallee[A, R]{fn, stop}
}

func (c *untilCallee[A, R]) Entry() uintptr { return c.fn.entry }

// Run is funcCallee's Run, with a Frame that heeds the Stop.
func (c *untilCallee[A, R]) Run(w *engine.Worker, arg A) (r R) {
	if c.stop.Stopped() {
		return r
	}
	f := c.fn.enter(w)
	f.heed(c)
	r = c.fn.body(f, arg)
	f.leave()
	return r
}

// heed makes calls, joins and thieves check the Stop of c, until the Frame is closed.
func (f *Frame[A, R]) heed(c *untilCallee[A, R]) { f.callOnly(c.fn.heed, c, c.stop) }
