package filch

import "github.com/filch-go/filch/internal/engine"

// CallUntil is [Func.Call] for a search that may end early: when a body calls [Frame.Stop],
// or any goroutine the method Stop of stop. It reports whether that has happened.
//
// From then on, forks that have not begun are dropped, on every worker. [Frame.Join],
// [Mark.JoinAll] and [Frame.Call] return the zero value in their place. Those that run
// elsewhere are awaited, and their results are returned. So a body joins its forks as always, and
// takes the zero value for nothing found. What it has found itself reaches the caller as the
// result of the body that is called first. A body with a long loop, or one that calls itself by
// name, looks at [Frame.Stopped] now and then.
//
// What a body calls on its worker by Call, of this Func or another, or by package par, does
// not stop, since it could not say so. Call it by CallUntil with the same Stop, which several calls
// may share. What is forked by [Func.On] stops with the body that calls On.
//
// If stop has stopped before, the body is not called. CallUntil panics if stop is nil, and as
// Call does if a body panics, also after a stop. It costs a small allocation, and each join and
// call in it a look at stop. What is called by Call pays nothing for that.
func (fn *Func[A, R]) CallUntil(s Scope, stop *Stop, arg A) (r R, stopped bool) {
	if fn == nil || fn.body == nil {
		isNotMade("Func.CallUntil", "Func", "NewFunc")
	}
	needs(stop != nil, "CallUntil", "stop")
	r = call(s, fn.until(stop), arg)
	return r, stop.Stopped()
}

// Stop stops the call of [Func.CallUntil] that the body belongs to, and all others that have
// its [Stop]. It panics if the body was not called by CallUntil.
func (f *Frame[A, R]) Stop() {
	if f.stop == nil {
		panic("filch: Frame.Stop: the function was not called by CallUntil")
	}
	f.stop.Stop()
}

// Stopped reports whether the call of [Func.CallUntil] that the body belongs to has stopped.
// It is false if there is none.
func (f *Frame[A, R]) Stopped() bool { return f.stop != nil && f.stop.Stopped() }

// untilCallee is a Func in a call of CallUntil, as the engine sees it.
type untilCallee[A, R any] struct {
	fn   *Func[A, R]
	stop *Stop
}

func (fn *Func[A, R]) until(stop *Stop) *untilCallee[A, R] {
	return &untilCallee[A, R]{fn, stop}
}

func (c *untilCallee[A, R]) Entry() uintptr { return c.fn.entry }

// Run is that of funcCallee, with a Frame that heeds the Stop.
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

// heed has calls, joins and thieves look at the Stop of c, until the Frame is closed.
func (f *Frame[A, R]) heed(c *untilCallee[A, R]) { f.callOnly(c.fn.heed, c, c.stop) }
