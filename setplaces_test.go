package filch

import "github.com/filch-go/filch/internal/place"

// counted is what places are set to, and compared with.
type counted struct{ active, searching, blocked int }

// placesOf returns the counts of p.
func placesOf(p *Pool) counted {
	s := p.engine.Places.Load()
	return counted{s.Active(), s.Searching(), s.Blocked()}
}

// setPlaces makes the counts of p those, one step after the other.
func setPlaces(p *Pool, c counted) {
	w := &p.engine.Places
	for s := w.Load(); s.Searching() > 0; s = w.Load() {
		w.Found()
	}
	for w.Load().Active() > 0 {
		_ = w.Leave()
	}
	_ = w.LeaveBlocked(w.Load().Blocked())
	for range c.active {
		_ = w.Enter()
	}
	for range c.searching {
		w.TrySearch(w.Load())
	}
	_ = w.EnterBlocked(c.blocked)
}

// hasEnded reports whether all is over, and nobody is counted.
func hasEnded(s place.State) bool { return s.Closed() && s.Ended() && s.AtRest() }
