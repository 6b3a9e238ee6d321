// Package racetest is for tests that are also run with logical races in all pools: see docs/races.md.
package racetest

import (
	"os"
	"testing"

	"github.com/filch-go/filch/internal/race"
)

// Logical says that all pools of the tests have logical races.
var Logical = race.Enabled && os.Getenv("FILCH_RACES") == "all"

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
