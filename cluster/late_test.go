package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
)

// slowResults is a bucket without values, whose answers come when they may.
type slowResults struct {
	jetstream.KeyValue
	asked, answer chan struct{}
}

func (r slowResults) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	close(r.asked)
	<-r.answer
	return nil, jetstream.ErrKeyNotFound
}

// A Future whose time is over as its task ends is ended once: what was begun for it does not end the Future of a later task of the ID.
func TestALateTimerEndsNoLaterFuture(t *testing.T) {
	results := slowResults{asked: make(chan struct{}), answer: make(chan struct{})}
	n := &Node{config: config{now: time.Now, pool: filch.Default()}, results: results, ctx: t.Context()}
	w := &n.waiting
	w.futures = map[token]*remote{}
	first := w.add(n, "a")
	timer := make(chan struct{})
	go func() { defer close(timer); n.endLate(first) }()
	<-results.asked
	w.resolve("a", outcome{Status: statusDone}, nil)
	later := w.add(n, "a")
	close(results.answer)
	<-timer
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
