//go:build !race

package filch

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/race"
)

// Without checks and the race detector nothing is looked at that is not free: a fork is named by its
// place, and no names are kept.
func TestForksAreNamedByTheirPlaces(t *testing.T) {
	if race.Enabled {
		t.Error("all is looked at")
	}
	t.Setenv("FILCH_CHECKS", "0")
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

// A program that was built without the race detector, and asks for logical races, says once that it has none.
func TestRacesWithoutTheDetectorAreToldOnce(t *testing.T) {
	var said bytes.Buffer
	log := WithLogger(slog.New(slog.NewTextHandler(&said, nil)))
	for _, c := range []struct {
		value string
		want  int
	}{{"0", 0}, {"1", 1}, {"all", 1}} {
		said.Reset()
		t.Setenv("FILCH_RACES", c.value)
		noRaceTold.Store(false)
		for range 3 {
			New(log).Close()
		}
		if n := strings.Count(said.String(), "FILCH_RACES does nothing"); n != c.want {
			t.Errorf("three pools with FILCH_RACES=%s said %d times that it does nothing; should be %d\n%s", c.value, n, c.want, &said)
		}
	}
}
