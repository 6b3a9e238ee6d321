package par

import "github.com/filch-go/filch"

// Functions that return an error return filch.ErrClosed where the rest of the package panics. A Scope reports that by
// TryDo and Closed, which a *filch.Pool and the Scope of a task have. A *filch.Worker has neither, because it is
// already inside the pool.

// closed reports whether s is known to refuse callers.
func closed(s filch.Scope) bool {
	if _, ok := s.(*filch.Worker); ok {
		return false
	}
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

// tryAdaptive is runAdaptive for functions that return an error: filch.ErrClosed if s refuses callers.
func tryAdaptive(s filch.Scope, from, n int, f any, c config, body func(lo, hi int)) error {
	if w, ok := s.(*filch.Worker); ok {
		runAdaptive(w, from, n, f, c, body)
		return nil
	}
	return tryDo(s, func(w *filch.Worker) { runAdaptive(w, from, n, f, c, body) })
}
