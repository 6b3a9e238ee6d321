package cluster

import (
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// A Future whose time is over as its task ends is ended once: what was begun for it does not end the Future of a later task of the ID.
func TestALateTimerEndsNoLaterFuture(t *testing.T) {
	n := &Node{config: config{now: time.Now, pool: filch.Default()}, ctx: t.Context()}
	w := &n.waiting
	w.futures = map[token]*remote{}
	first := w.add(n, "a")
	w.resolve("a", outcome{Status: statusDone}, nil) // while endLate or lookLater asks the servers for first
	later := w.add(n, "a")
	w.complete(first, outcome{}, ErrDeadline)
	if o, err := first.promise.Future().Wait(t.Context()); o.Status != statusDone || err != nil {
		t.Errorf("the first Future ended with %+v and %v; want the outcome of its task", o, err)
	}
	select {
	case <-later.promise.Future().Done():
		_, err := later.promise.Future().Wait(t.Context())
		t.Errorf("the timer of the first Future ended a later one of the ID: %v", err)
	default:
	}
	w.resolve("a", outcome{Status: statusDone}, nil)
}
