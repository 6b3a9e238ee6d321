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
	f, err := h.Submit(t.Context(), 1, cluster.Durable())
	if err != nil {
		t.Fatal(err)
	}
	_, js := connect(t, s.URL())
	other, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"other"}})
	if err != nil {
		t.Fatal(err)
	}
	for size := 100_000; size > 0; {
		if _, err := js.Publish(t.Context(), "other", make([]byte, size)); err != nil {
			size /= 10
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = h.Submit(ctx, 2, cluster.Durable())
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
		t.Error(err)
	}
	expect(t, f, 2)
	if got := n.Stats(); got.Done != 1 {
		t.Errorf("the task did not run once: %+v", got)
	}
	g, err := h.Submit(t.Context(), 3, cluster.Durable())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, g, 6)
	empty(t, js)
}
