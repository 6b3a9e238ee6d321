package filch

import "github.com/filch-go/filch/internal/engine"

// On calls body with a [Frame] of fn on w, the worker that the caller runs on, so that the body of one Func can fork calls of
// another: of min in max, and of max in min. body joins its forks in LIFO order. It must not fork or join on the enclosing
// Frame.
//
// On costs about half as much as [Worker.Join], for any number of forks, and allocates nothing, except a small object in a
// call of [Func.CallUntil]. Its forks cost the usual. If that is too much for small calls, use one Func whose argument says
// which kind of call it is; see the example "kinds" of [Frame]. Make two Funcs that refer to each other in a function, such
// as init: Go refuses package variables whose values refer to each other.
//
// If body panics or calls runtime.Goexit, On drops the forks that no worker has taken and waits for the others; a panic
// arrives as a [*PanicError]. On panics if w or body is nil, or if body leaves forks open.
func (fn *Func[A, R]) On(w *Worker, body func(f *Frame[A, R])) {
	if fn == nil || fn.body == nil {
		isNotMade("Func.On", "Func", "NewFunc")
	}
	needs(w != nil, "On", "w")
	needs(body != nil, "On", "body")
	e := &w.tasks.Engine
	stop := stopOf(e)
	if err := e.Try(func() {
		f := fn.enter(e)
		if stop != nil {
			f.heed(fn.until(stop))
		}
		body(f)
		f.leave()
	}); err != nil {
		panic(err)
	}
}

// stopOf returns the Stop of the Frame in use on w, or nil.
func stopOf(w *engine.Worker) *Stop {
	if f, ok := w.Newest().(interface{ heeds() *Stop }); ok {
		return f.heeds()
	}
	return nil
}

func (f *frameForks[A, R]) heeds() *Stop { return f.stop }
