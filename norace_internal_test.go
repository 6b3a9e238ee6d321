//go:build !race

package filch

import (
	"testing"

	"github.com/filch-go/filch/internal/race"
)

// Without the race detector nothing is looked at that is not free: a fork is named by its
// place, and no names are kept.
func TestForksAreNamedByTheirPlaces(t *testing.T) {
	if race.Enabled {
		t.Error("all is looked at")
	}
	p := New(WithWorkers(1))
	NewFunc(func(f *Frame[int, int], n int) int {
		if n > 0 {
			return n
		}
		for want := Fork(bottom + 1); want < bottom+9; want++ {
			if h := f.Fork(1); h != want || len(f.handles) > 0 {
				t.Errorf("fork %d is named %d; %d names are kept", want, h, len(f.handles))
			}
		}
		for h := Fork(bottom + 8); h > bottom; h-- {
			f.Join(h)
		}
		return 0
	}).Call(p, 0)
}
