package clustertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// Tasks that have the bytes that they may have are refused, or wait, and leave room for all outcomes. Delayed tasks are kept.
func TestTasksLeaveRoomForTheirOutcomes(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t, clustertest.WithMaxStore(4<<20))
	n := openAt(t, s.URL(), cluster.WithPlaces(2), cluster.WithQueueBytes(1<<20, filch.Reject))
	patient := openAt(t, s.URL(), cluster.WithPlaces(0), cluster.WithQueueBytes(1<<20, filch.Block), cluster.WithQueueLimit(100, filch.Block))
	gate := make(chan struct{})
	h := cluster.Handle(n, "length", func(ctx context.Context, text string) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return len(text), nil
	})
	text := strings.Repeat("a", 200_000)
	var futures []*cluster.Future[int]
	submit := func(opts ...cluster.SubmitOption) error {
		f, err := h.Submit(t.Context(), text, opts...)
		if err == nil {
			futures = append(futures, f)
		}
		return err
	}
	var err error
	for err == nil && len(futures) < 10 {
		err = submit()
	}
	if !errors.Is(err, cluster.ErrQueueFull) || len(futures) != 5 {
		t.Errorf("%d tasks of %d bytes were stored: %v", len(futures), len(text), err)
	}
	if err := submit(cluster.Delay(time.Millisecond)); err != nil {
		t.Error("Delay:", err)
	}
	_, js := connect(t, s.URL())
	untilStream(t, js, "filch_later", "filch.due.>", func(n int) bool { return n == 1 })
	waited := make(chan error)
	go func() {
		f, err := cluster.Submit[string, int](t.Context(), patient, "length", text)
		if err == nil {
			_, err = f.Wait(t.Context())
		}
		waited <- err
	}()
	close(gate)
	for _, f := range futures {
		expect(t, f, len(text))
	}
	if err := <-waited; err != nil {
		t.Error("Submit that waits for room:", err)
	}
	empty(t, js)
}

func TestLimitsOfTheStreamAreChecked(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t, clustertest.WithMaxStore(4<<20))
	for want, opts := range map[string][]cluster.Option{
		"WithQueueBytes(0)":             {cluster.WithQueueBytes(0, filch.Block)},
		"WithQueueBytes takes Block or": {cluster.WithQueueBytes(1<<20, filch.CallerRuns)},
		"differ in what Submit does":    {cluster.WithQueueLimit(9, filch.Block), cluster.WithQueueBytes(1<<20, filch.Reject)},
		"WithQueueBytes(1000): a message of the servers may have 1048576 bytes": {cluster.WithQueueBytes(1000, filch.Block)},
		"insufficient storage resources":                                        {cluster.WithQueueBytes(1<<30, filch.Block)},
	} {
		n, err := cluster.Open(t.Context(), append(opts, cluster.WithURL(s.URL()))...)
		if err == nil {
			closeNode(t, n)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// When a server may store no more, Submit says so, tasks that have run keep their outcomes until there is room, and all
// goes on when there is.
func TestAFullDiskIsSaidAndBorne(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t, clustertest.WithMaxStore(2<<20))
	n := openAt(t, s.URL(), cluster.WithPlaces(1))
	gate := make(chan struct{})
	h := cluster.Handle(n, "gated", func(ctx context.Context, i int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return 2 * i, nil
	}, cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{Attempts: 2}))
	f, err := h.Submit(t.Context(), 1)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	_, js := connect(t, s.URL())
	other := fill(t, js)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = h.Submit(ctx, 2)
	if err == nil || !strings.Contains(err.Error(), "insufficient resources") || !errors.Is(err, context.DeadlineExceeded) {
		t.Error("Submit on a full disk:", err)
	}
	close(gate)
	select {
	case <-f.Done():
		t.Error("a result was stored on a full disk")
	case <-time.After(3 * time.Second): // several times AckWait
	}
	if err := other.Purge(t.Context()); err != nil {
		t.Error("other.Purge:", err)
	}
	expect(t, f, 2)
	if got := n.Stats(); got.Done != 1 {
		t.Errorf("the task did not run once: %+v", got)
	}
	g, err := h.Submit(t.Context(), 3)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	expect(t, g, 6)
	empty(t, js)
}

// fill fills the disk of the servers with a stream.
func fill(t *testing.T, js jetstream.JetStream) jetstream.Stream {
	t.Helper()
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"other"}})
	if err != nil {
		t.Fatal("js.CreateStream:", err)
	}
	for size := 100_000; size > 0; {
		if _, err := js.Publish(t.Context(), "other", make([]byte, size)); err != nil {
			size /= 10
		}
	}
	return s
}

// A node that cannot get rid of what it has done leaves when its time to leave is over. What it had runs again.
func TestANodeLeavesAFullDisk(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t, clustertest.WithMaxStore(2<<20))
	n := openAt(t, s.URL(), cluster.WithPlaces(1))
	const tasks = 80 // more than a node has that are not settled
	gate := make(chan struct{})
	h := cluster.Handle(n, "gated", func(ctx context.Context, i int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return 2 * i, nil
	}, cluster.WithAckWait(time.Second))
	var ids []string
	for i := range tasks {
		f, err := h.Submit(t.Context(), i)
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		ids = append(ids, f.ID())
	}
	_, js := connect(t, s.URL())
	other := fill(t, js)
	close(gate)
	until(t, js, "gated_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumAckPending >= stuck })
	left := make(chan error)
	go func() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		left <- n.Close(ctx)
	}()
	select {
	case err := <-left:
		if !errors.Is(err, context.Canceled) {
			t.Error("Close:", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the node does not leave")
	}
	if err := other.Purge(t.Context()); err != nil {
		t.Error("other.Purge:", err)
	}
	again := openAt(t, s.URL(), cluster.WithPlaces(4))
	cluster.Handle(again, "gated", double, cluster.WithAckWait(time.Second))
	for i, id := range ids {
		f, err := cluster.Attach[int](t.Context(), again, id)
		if err != nil {
			t.Fatal("cluster.Attach:", err)
		}
		expect(t, f, 2*i)
	}
	empty(t, js)
}
