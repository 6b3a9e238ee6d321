package par

import "github.com/filch-go/filch"

// What returns an error returns filch.ErrClosed where the rest of the package panics: the
// Scope tells by TryDo and Closed, which a *filch.Pool has, and the Scope of a task. A
// *filch.Worker has neither, for it is inside of the pool already.

// closed reports whether s is known to refuse callers.
func closed(s filch.Scope) bool {
	c, ok := s.(interface{ Closed() bool })
	return ok && c.Closed()
}

// tryDo is s.Do(f), but returns filch.ErrClosed if s refuses callers.
func tryDo(s filch.Scope, f func(w *filch.Worker)) error {
	if t, ok := s.(interface {
		TryDo(f func(w *filch.Worker)) error
	}); ok {
		return t.TryDo(f)
	}
	s.Do(f)
	return nil
}

// tryLoop is each for what returns an error: filch.ErrClosed if the pool is closed, before
// anything is done, or when others are needed.
func tryLoop(s filch.Scope, n int, f any, c config, body func(lo, hi int)) error {
	if n > 0 && closed(s) {
		return filch.ErrClosed
	}
	from := runSerial(n, f, c, body)
	if from == n {
		return nil
	}
	if w, ok := s.(*filch.Worker); ok {
		runAdaptive(w, from, n, f, c, body)
		return nil
	}
	return tryDo(s, func(w *filch.Worker) { runAdaptive(w, from, n, f, c, body) })
}
