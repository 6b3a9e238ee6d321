package clustertest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
)

// late checks that a task ends since its time is over.
func late(t *testing.T, what string, f *cluster.Future[int64], err error) {
	t.Helper()
	if _, err := wait(t, f, err); !errors.Is(err, cluster.ErrDeadline) {
		t.Error(what, err)
	}
}

// The Future of a task that waits ends when the time of the task is over, wherever it waits. The task is ended by the node that gets it.
func TestAFutureEndsInTimeThoughItsTaskWaits(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(0), places(2))
	var ran atomic.Int64
	cluster.Handle(nodes[1], "count", func(context.Context, int) (int64, error) { return ran.Add(1), nil })
	until(t, js, "count_p1", known)
	submit := func(opts ...cluster.SubmitOption) (*cluster.Future[int64], error) {
		return cluster.Submit[int, int64](t.Context(), nodes[0], "count", 0, opts...)
	}
	first, err := submit()
	if _, err := wait(t, first, err); err != nil {
		t.Fatal("wait:", err)
	}
	if err := nodes[0].Pause(t.Context(), "count"); err != nil {
		t.Fatal("nodes:", err)
	}
	within := cluster.Within(300 * time.Millisecond)
	queued, err := submit(within)
	late(t, "in its lane:", queued, err)
	delayed, err := submit(within, cluster.Delay(100*time.Millisecond))
	late(t, "delayed:", delayed, err)
	after, err := submit(within, cluster.After(first))
	late(t, "after another:", after, err)
	held, err := submit(cluster.Within(time.Hour))
	if err != nil {
		t.Fatal("submit:", err)
	}
	if err := nodes[0].Resume(t.Context(), "count"); err != nil {
		t.Fatal("nodes:", err)
	}
	expect(t, held, 2)
	eventually(t, "the node ends them", func() bool { return nodes[1].Stats().Late == 3 })
	if ran.Load() != 2 {
		t.Errorf("tasks whose time was over ran: %+v", nodes[1].Stats())
	}
}

// The time of a delayed task counts from when it is due, also if no node is there to move it.
func TestTheTimeOfADelayedTaskCountsFromWhenItIsDue(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(0), places(1))
	var ran atomic.Int64
	count := func(context.Context, int) (int64, error) { return ran.Add(1), nil }
	cluster.Handle(nodes[1], "count", count)
	until(t, js, "count_p1", known)
	closeNode(t, nodes[1])
	f, err := cluster.Submit[int, int64](t.Context(), nodes[0], "count", 0, cluster.Within(300*time.Millisecond), cluster.Delay(100*time.Millisecond))
	late(t, "no node is there:", f, err)
	second := reopen(t, nodes[1])
	cluster.Handle(second, "count", count)
	eventually(t, "it ends", func() bool { return second.Stats().Late == 1 })
	if ran.Load() != 0 {
		t.Error("it ran")
	}
}

// Of two nodes that submit a task by the same ID, the first says how long it may take.
func TestTheFirstSaysHowLongATaskMayTake(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(0), places(0), places(1))
	began, release := make(chan string, 2), make(chan struct{})
	cluster.Handle(nodes[2], "block", blocker(began, release))
	until(t, js, "block_p1", known)
	var futures []*cluster.Future[string]
	for i, d := range []time.Duration{time.Hour, time.Millisecond} {
		f, err := cluster.Submit[string, string](t.Context(), nodes[i], "block", "x", cluster.ID("a"), cluster.Within(d))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		futures = append(futures, f)
	}
	<-began
	third, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", "y", cluster.Within(300*time.Millisecond))
	if _, err := wait(t, third, err); !errors.Is(err, cluster.ErrDeadline) { // by then the time of the second is over
		t.Error("wait:", err)
	}
	close(release)
	for _, f := range futures {
		expect(t, f, "x")
	}
}
