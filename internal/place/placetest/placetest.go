// Package placetest sets the word of places for tests.
package placetest

import "github.com/filch-go/filch/internal/place"

// Counts are those of a place.Word.
type Counts struct{ Active, Searching, Blocked int }

// Of returns the counts of w.
func Of(w *place.Word) Counts {
	s := w.Load()
	return Counts{s.Active(), s.Searching(), s.Blocked()}
}

// Set makes the counts of w those, one step after the other. No other goroutine may use w.
func Set(w *place.Word, c Counts) {
	for s := w.Load(); s.Searching() > 0; s = w.Load() {
		w.Found()
	}
	for w.Load().Active() > 0 {
		_ = w.Leave()
	}
	_ = w.LeaveBlocked(w.Load().Blocked())
	for range c.Active {
		_ = w.Enter()
	}
	for range c.Searching {
		w.TrySearch(w.Load())
	}
	_ = w.EnterBlocked(c.Blocked)
}
