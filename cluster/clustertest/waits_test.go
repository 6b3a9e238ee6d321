package clustertest_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// Handlers that wait for others may be more than a node may have that are not acknowledged.
func TestManyHandlersMayWaitForOneAnother(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	n := open(t, cluster.WithPool(p), cluster.WithPlaces(1))
	var depth *cluster.Handler[int, int]
	depth = cluster.Handle(n, "depth", func(ctx context.Context, n int) (int, error) {
		if n == 0 {
			return 0, nil
		}
		f, err := depth.Submit(ctx, n-1)
		if err != nil {
			return 0, err
		}
		below, err := f.Wait(ctx)
		return below + 1, err
	})
	f, err := depth.Submit(t.Context(), 200)
	if got, err := wait(t, f, err); got != 200 || err != nil {
		t.Error(got, err)
	}
}

// Two calls of Submit of one ID share a Future. That the first fails does not take it from the second.
func TestAFutureIsKeptForTheOthersThatWantIt(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(0), cluster.WithQueueLimit(1, filch.Block)), places(1))
	gate := make(chan struct{})
	cluster.Handle(nodes[1], "wait", func(ctx context.Context, n int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return n, nil
	})
	until(t, js, "wait_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	if _, err := cluster.Submit[int, int](t.Context(), nodes[0], "wait", 0); err != nil { // the stream is full
		t.Fatal("cluster.Submit:", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan *cluster.Future[int])
	go func() {
		_, err := cluster.Submit[int, int](ctx, nodes[0], "wait", 1, cluster.ID("shared"))
		first <- err
	}()
	eventually(t, "the first one waits for room", func() bool { return nodes[0].Stats().Waiting == 2 })
	shared, err := cluster.Attach[int](t.Context(), nodes[0], "shared")
	if err != nil {
		t.Fatal("cluster.Attach:", err)
	}
	cancel()
	if err := <-first; err == nil {
		t.Fatal("the first one was stored")
	}
	go func() {
		f, err := cluster.Submit[int, int](t.Context(), nodes[0], "wait", 1, cluster.ID("shared"))
		if err != nil {
			t.Error("cluster.Submit:", err)
		}
		second <- f
	}()
	close(gate)
	if got, err := wait(t, <-second, nil); got != 1 || err != nil {
		t.Error(got, err)
	}
	if got, err := wait(t, shared, nil); got != 1 || err != nil {
		t.Error("the Future of before:", got, err)
	}
}

// A handler that waits for room in the stream lends its slot to what makes room.
func TestAHandlerMayWaitForRoom(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	nodes, js := share(t, append(places(1), cluster.WithPool(p), cluster.WithQueueLimit(2, filch.Block)))
	began, gate := make(chan struct{}), make(chan struct{})
	var h *cluster.Handler[bool, int]
	h = cluster.Handle(nodes[0], "room", func(ctx context.Context, outer bool) (int, error) {
		if !outer {
			return 1, nil
		}
		close(began)
		filch.Blocking(ctx, func() { <-gate })
		f, err := h.Submit(ctx, false)
		if err != nil {
			return 0, cluster.Permanent(err)
		}
		return f.Wait(ctx)
	})
	until(t, js, "room_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	outer, err := h.Submit(t.Context(), true)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	<-began
	other, err := h.Submit(t.Context(), false) // now the stream is full
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	close(gate)
	for _, f := range []*cluster.Future[int]{outer, other} {
		if got, err := wait(t, f, nil); got != 1 || err != nil {
			t.Error(got, err)
		}
	}
}
