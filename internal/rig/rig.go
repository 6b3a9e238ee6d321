// Package rig is what the tests in test share: programs that fork, tasks and pools to try things with, ways to catch what
// fails, how long to repeat what chance may bring out, and a look into a pool where its own figures do not tell enough.
package rig

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/race"
)

// Fewer returns how often a test repeats what chance may bring out: n times, or a quarter of that
// with -short, and less still if the race detector slows it down.
func Fewer(n int) int {
	switch {
	case testing.Short() && race.Enabled:
		return max(1, n/16)
	case testing.Short():
		return max(1, n/4)
	}
	return n
}

var stress = flag.Duration("stress", 0, "how long each stress test runs; 0: as short as the form of the tests asks for")

// StressTime returns how long a stress test runs.
func StressTime() time.Duration {
	switch {
	case *stress > 0:
		return *stress
	case testing.Short():
		return 250 * time.Millisecond
	case LongForm():
		return time.Second
	}
	return 500 * time.Millisecond
}

// LongForm reports whether this is the long form of .ci/run.
func LongForm() bool { return os.Getenv("FILCH_LONG") != "" }
