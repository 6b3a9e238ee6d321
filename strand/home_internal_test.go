package strand

import (
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/engine"
)

// A run that is shrunk ends the pumps that it lets go, and holds none of them: it may be kept for long. One that has no pump
// is not kept.
func TestAShrunkRunHoldsNoPumpThatItLetGo(t *testing.T) {
	var pumps []*pump
	for range 3 {
		pumps = append(pumps, &pump{jobs: make(chan func())})
	}
	r := &run{pumps: slices.Clone(pumps)}
	all := r.pumps
	r.shrink(1)
	if len(r.pumps) != 1 || r.pumps[0] != pumps[0] {
		t.Errorf("with room for one goroutine, %d of 3 pumps are kept", len(r.pumps))
	}
	for i, p := range pumps[1:] {
		select {
		case <-p.jobs:
		default:
			t.Errorf("pump %d was let go, and its goroutine waits on", i+1)
		}
		if all[i+1] != nil {
			t.Errorf("pump %d was let go, and the run still holds it", i+1)
		}
	}
	h := &home{pool: new(engine.Pool)}
	h.keep(&run{})
	if len(h.runs) != 0 || h.timer != nil {
		t.Errorf("a run without a pump is kept: %d runs, and a timer %v", len(h.runs), h.timer)
	}
}
