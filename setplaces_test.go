package filch

import (
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/place/placetest"
)

// counted is what places are set to, and compared with.
type counted struct{ Active, Searching, Blocked int }

// placesOf returns the counts of p.
func placesOf(p *Pool) counted { return counted(placetest.Of(&p.engine.Places)) }

// setPlaces makes the counts of p those.
func setPlaces(p *Pool, c counted) { placetest.Set(&p.engine.Places, placetest.Counts(c)) }

// hasEnded reports whether all is over, and nobody is counted.
func hasEnded(s place.State) bool { return s.Closed() && s.Ended() && s.AtRest() }
