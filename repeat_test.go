package filch_test

import (
	"flag"
	"os"
	"testing"
	"time"
)

// fewer returns how often a test repeats what chance may bring out: n times, or a quarter of that
// with -short.
func fewer(n int) int {
	if testing.Short() {
		return max(1, n/4)
	}
	return n
}

var stress = flag.Duration("stress", 0, "how long each stress test runs; 0: as short as the form of the tests asks for")

// stressTime returns how long a stress test runs.
func stressTime() time.Duration {
	switch {
	case *stress > 0:
		return *stress
	case testing.Short():
		return 250 * time.Millisecond
	case longForm():
		return time.Second
	}
	return 500 * time.Millisecond
}

// longForm reports whether this is the long form of .ci/run.
func longForm() bool { return os.Getenv("FILCH_LONG") != "" }

// judgesSource skips a test that judges what is written, with -short: no setting of the runtime,
// no platform and no race detector changes that.
func judgesSource(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it judges the source, and runs without -short")
	}
}
