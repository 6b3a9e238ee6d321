package clustertest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// A handler whose queue is never empty does not keep a node from the tasks of others, nor from those of other levels.
func TestABusyNodeLooksIntoAllLanes(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	began, release := make(chan struct{}), make(chan struct{})
	busy := func() {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "busy", 0, cluster.NoResult()); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	cluster.Handle(nodes[0], "busy", func(ctx context.Context, _ int) (int, error) {
		filch.Blocking(ctx, func() {
			began <- struct{}{}
			<-release
		})
		return 0, nil
	})
	until(t, js, "busy_p1", known)
	for range 3 {
		busy()
	}
	<-began
	var ran [3]atomic.Bool
	cluster.Handle(nodes[0], "other", func(_ context.Context, level int) (int, error) { ran[level].Store(true); return 0, nil })
	until(t, js, "other_p1", known)
	for level := range ran {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "other", level, cluster.AtLevel(level), cluster.NoResult()); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	eventually(t, "each lane has had its turn", func() bool {
		busy()
		until(t, js, "busy_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumPending > 1 })
		release <- struct{}{}
		<-began
		return ran[cluster.High].Load() && ran[cluster.Normal].Load() && ran[cluster.Low].Load()
	})
	close(release)
	go func() {
		for range began {
		}
	}()
	empty(t, js)
	close(began)
}

// A task that a node was given, and for which it has no place, goes to a node that has one.
func TestATaskWithoutAPlaceGoesToAnotherNode(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0), places(1))
	began, release := make(chan string, 1), make(chan struct{})
	defer close(release)
	cluster.Handle(nodes[0], "block", blocker(began, release))
	for level := range 3 {
		until(t, js, fmt.Sprint("block_p", level), func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	}
	if _, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", "first"); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	<-began
	f, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", "second", cluster.AtLevel(cluster.High))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	until(t, js, "block_p0", func(i *jetstream.ConsumerInfo) bool { return i.NumAckPending == 1 }) // the first node holds it
	cluster.Handle(nodes[2], "block", func(_ context.Context, s string) (string, error) { return s, nil })
	if got, err := wait(t, f, nil); got != "second" || err != nil {
		t.Error(got, err)
	}
	if s := nodes[0].Stats(); s.Returned == 0 {
		t.Errorf("%+v", s)
	}
}

// A handler with a limit on its node that gets fewer places than it may have has all of them later.
func TestPlacesOfANodeLimitAreNotLost(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(4), places(0))
	began, release := make(chan string, 3), make(chan struct{})
	cluster.Handle(nodes[0], "block", blocker(began, release))
	var count atOnce
	gate := make(chan struct{})
	cluster.Handle(nodes[0], "few", func(ctx context.Context, wait bool) (int, error) {
		count.enter()
		defer count.now.Add(-1)
		if wait {
			filch.Blocking(ctx, func() { <-gate })
		}
		return 0, nil
	}, cluster.WithNodeLimit(4))
	until(t, js, "few_p1", known)
	until(t, js, "block_p1", known)
	for range 3 { // one place is left
		if _, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", "x"); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		<-began
	}
	few := func(block bool) *cluster.Future[int] {
		f, err := cluster.Submit[bool, int](t.Context(), nodes[1], "few", block)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		return f
	}
	for range 20 {
		expect(t, few(false), 0)
	}
	close(release)
	var last []*cluster.Future[int]
	for range 4 {
		last = append(last, few(true))
	}
	eventually(t, "four run at once", func() bool { return count.now.Load() == 4 })
	close(gate)
	for _, f := range last {
		expect(t, f, 0)
	}
}
