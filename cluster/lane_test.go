package cluster

import (
	"testing"
	"time"
)

// The turns of all lanes together cost a node no more with more lanes, and each comes within a second.
func TestTurnsCostANodeLittle(t *testing.T) {
	for _, c := range []struct {
		lanes int64
		want  time.Duration
	}{{1, 10 * time.Millisecond}, {3, 30 * time.Millisecond}, {99, 990 * time.Millisecond}, {100, time.Second}, {3000, time.Second}} {
		if got := turnOf(c.lanes); got != c.want {
			t.Errorf("with %d lanes after %v, want %v", c.lanes, got, c.want)
		}
	}
}
