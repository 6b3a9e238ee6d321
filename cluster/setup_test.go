package cluster

import (
	"testing"
	"time"
)

// Whenever the servers' clock was read between a question and its answer, no task is due too early by it.
func TestATaskIsNeverDueTooEarly(t *testing.T) {
	const ahead, took = time.Hour, 100 * time.Millisecond // of the servers' clock; from the question to the answer
	before := time.Unix(1000, 0)
	after := before.Add(took)
	n := &Node{config: config{now: func() time.Time { return after }}}
	theirs := after.Add(ahead)
	for read := time.Duration(0); read <= took; read += took / 4 {
		n.clock.set(before, after, before.Add(ahead+read))
		if at, later := n.due(submission{delay: time.Second}); !later || at.Before(theirs.Add(time.Second)) || at.After(theirs.Add(time.Second+took)) {
			t.Error("a delay of 1s, read after", read, "is over after", at.Sub(theirs))
		}
		soon := theirs.Add(time.Millisecond)
		if at, later := n.due(submission{at: soon}); !later || !at.Equal(soon) {
			t.Error("a task is due too early, read after", read)
		}
		if _, later := n.due(submission{at: theirs.Add(-took)}); later {
			t.Error("a time that is over is later, read after", read)
		}
	}
	if _, later := n.due(submission{}); later {
		t.Error("a task without a time is due later")
	}
}
