package clustertest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// ackWaits waits until the servers have given a message away again n times, a second each, since nobody has acknowledged it.
func ackWaits(t testing.TB, js jetstream.JetStream, n int) {
	t.Helper()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"other"}}); err != nil {
		t.Fatal("js.CreateStream:", err)
	}
	c, err := js.CreateConsumer(t.Context(), "other", jetstream.ConsumerConfig{AckWait: time.Second, AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal("js.CreateConsumer:", err)
	}
	if _, err := js.Publish(t.Context(), "other", nil); err != nil {
		t.Fatal("js.Publish:", err)
	}
	for range n + 1 {
		if _, err := c.Next(jetstream.FetchMaxWait(patience)); err != nil {
			t.Fatal("c.Next:", err)
		}
	}
}

// A task that takes several times AckWait stays on its node, which gives signs of life.
func TestALongTaskStaysOnItsNode(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(1))
	began, release := make(chan string, 2), make(chan struct{})
	h := cluster.Handle(nodes[0], "long", blocker(began, release), cluster.WithAckWait(time.Second))
	cluster.Handle(nodes[1], "long", blocker(began, release), cluster.WithAckWait(time.Second))
	f, err := h.Submit(t.Context(), "x")
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	<-began
	ackWaits(t, js, 3)
	until(t, js, "long_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumAckPending == 1 })
	c, err := js.Consumer(t.Context(), "filch_work", "long_p1")
	if err != nil {
		t.Fatal("js.Consumer:", err)
	}
	if i := c.CachedInfo(); i.NumRedelivered != 0 {
		t.Errorf("it was given away again: %+v", i)
	}
	close(release)
	expect(t, f, "x")
	if len(began) > 0 || nodes[0].Stats().Duplicates+nodes[1].Stats().Duplicates != 0 {
		t.Errorf("%+v %+v", nodes[0].Stats(), nodes[1].Stats())
	}
}

// A handler that tells of its progress may take longer than its silence.
func TestProgressIsNoSilence(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // of the node's clock
	nodes, js := share(t, append(places(1), cluster.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })))
	ask, told := make(chan bool), make(chan error)
	h := cluster.Handle(nodes[0], "steps", func(ctx context.Context, _ int) (int, error) {
		filch.Blocking(ctx, func() {
			for progress := range ask {
				if progress {
					cluster.Progress(ctx)
				}
				told <- context.Cause(ctx)
			}
		})
		return 1, ctx.Err()
	}, cluster.WithSilence(time.Hour))
	f, err := h.Submit(t.Context(), 0)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	for range 3 {
		ask <- true
		if err := <-told; err != nil {
			t.Error("<-told:", err)
		}
		ahead.Add(int64(40 * time.Minute))
	}
	ackWaits(t, js, 2) // so the node has looked several times
	ask <- false
	if err := <-told; err != nil {
		t.Error("the handler was ended:", err)
	}
	close(ask)
	expect(t, f, 1)
}

// A node whose handler hangs runs its task again itself, if no other node is there.
func TestTheTaskOfAHungHandlerRunsAgainOnItsNode(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(2))
	release := make(chan struct{})
	defer close(release)
	h := cluster.Handle(nodes[0], "hang", func(ctx context.Context, _ int) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		if info.Attempt == 1 {
			filch.Blocking(ctx, func() { <-release })
		}
		return info.Attempt, nil
	}, cluster.WithSilence(100*time.Millisecond), cluster.WithAckWait(time.Second))
	f, err := h.Submit(t.Context(), 0)
	if got, err := wait(t, f, err); got != 2 || err != nil {
		t.Error(got, err)
	}
}

// A node that leaves waits for its local tasks, as long as it may.
func TestALeavingNodeWaitsForItsLocalTasks(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(1))
	began, release := make(chan string, 1), make(chan struct{})
	h := cluster.Handle(nodes[0], "block", blocker(began, release))
	f, err := h.Submit(t.Context(), "x", cluster.LocalFirst())
	if err != nil || f.ID() != "" {
		t.Fatal("the task is not local:", err)
	}
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := nodes[0].Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("Close:", err)
	}
	close(release)
	expect(t, f, "x")
}
