// Package racetest is for tests that are also run with logical races in all pools: see docs/races.md.
package racetest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/environ"
	"github.com/filch-go/filch/internal/race"
)

// Logical says that all pools of the tests have logical races.
var Logical = race.Enabled && environ.On("FILCH_RACES")

// Skip skips, with logical races, a test of what they change by design, and why says what that is:
// which goroutine runs a fork, in which order, how many steals there are, or what it costs.
func Skip(t testing.TB, why string) {
	t.Helper()
	if Logical {
		t.Skip("with logical races: " + why)
	}
}

// Fewer returns few with logical races, where each fork takes some microseconds, and else many.
func Fewer[T any](few, many T) T {
	if Logical {
		return few
	}
	return many
}

// A Program is one whose parts race in some schedule, or in none. Run runs it once.
type Program struct {
	Races bool
	Run   func()
}

// Report checks that the race detector reports, with logical races, those of the programs that race, in each run,
// and no others. Each runs in a process of its own, which calls only the test t again, once or 20 times with
// FILCH_LONG=1.
func Report(t *testing.T, programs map[string]Program) {
	t.Helper()
	if name := os.Getenv("FILCH_RACING"); name != "" {
		programs[name].Run()
		return
	}
	if !race.Enabled {
		t.Skip("needs the race detector")
	}
	rounds := 1
	if os.Getenv("FILCH_LONG") != "" {
		rounds = 20
	}
	for name, p := range programs {
		for range rounds {
			cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), "FILCH_RACES=all", "FILCH_RACING="+name, "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if reported := strings.Contains(string(out), "DATA RACE"); reported != p.Races || err != nil && !p.Races {
				t.Errorf("%s: reported %t, %v\n%s", name, reported, err, out)
			}
		}
	}
}
