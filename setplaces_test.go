package filch

import (
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/place/placetest"
)

// counted is what places are set to.
type counted struct{ Active, Searching, Blocked int }

// setPlaces makes the counts of p those.
func setPlaces(p *Pool, c counted) { placetest.Set(&p.tasks.Engine.Places, placetest.Counts(c)) }

// hasEnded reports whether all is over, and nobody is counted.
func hasEnded(s place.State) bool { return s.Closed() && s.Ended() && s.AtRest() }
