package filch_test

import (
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

// stressTime returns how long a stress test runs: as the flag says, or a quarter of that with -short.
func stressTime() time.Duration { return time.Duration(fewer(int(*stress))) }

// judgesSource skips a test that judges what is written, with -short: no setting of the runtime,
// no platform and no race detector changes that.
func judgesSource(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it judges the source, and runs without -short")
	}
}
