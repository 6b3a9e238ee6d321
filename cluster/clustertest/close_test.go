package clustertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// ended returns a context that has ended, and why.
func ended() (context.Context, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("on purpose")
	cancel(why)
	return ctx, why
}

// A second Close returns what the first does, and not before, or when its own context ends.
func TestASecondCloseWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(1))
	began, release := make(chan string, 1), make(chan struct{})
	h := cluster.Handle(nodes[0], "block", blocker(began, release))
	if _, err := h.Submit(t.Context(), "x"); err != nil {
		t.Fatal("h.Submit:", err)
	}
	<-began
	why := errors.New("on purpose")
	ctx, cancel := context.WithCancelCause(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- nodes[0].Close(ctx) }()
	eventually(t, "the node leaves", func() bool {
		_, err := h.Submit(t.Context(), "y")
		return errors.Is(err, cluster.ErrClosed)
	})
	go func() { second <- nodes[0].Close(t.Context()) }()
	over, cause := ended()
	if err := nodes[0].Close(over); err != cause {
		t.Error("a Close whose context has ended:", err)
	}
	select {
	case err := <-second:
		t.Error("the second returned before the first:", err)
	default:
	}
	cancel(why)
	if err := <-first; err != why {
		t.Error("the first:", err)
	}
	if err := <-second; err != why {
		t.Error("the second:", err)
	}
	if err := nodes[0].Close(over); err != why {
		t.Error("one after that:", err)
	}
	close(release)
}

// A node that has nothing to do may be closed with a context that has ended.
func TestAnIdleNodeNeedsNoTimeToClose(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), places(0))
	h := cluster.Handle(nodes[0], "double", double)
	until(t, js, "double_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	f, err := h.Submit(t.Context(), 1)
	if got, err := wait(t, f, err); got != 2 || err != nil {
		t.Fatal(got, err)
	}
	empty(t, js)
	eventually(t, "it is idle", func() bool { return nodes[0].Stats().Running == 0 })
	for _, n := range nodes {
		over, _ := ended()
		if err := n.Close(over); err != nil {
			t.Error(n.Name(), err)
		}
	}
}

// What is queued in the pool when Close may wait no longer is given back at once, and its handler does not begin any more.
func TestCloseGivesBackWhatIsQueued(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1))
	nodes, js := share(t, []cluster.Option{cluster.WithPool(p), cluster.WithPlaces(3)}, places(2))
	began, release := make(chan struct{}, 10), make(chan struct{})
	cluster.Handle(nodes[0], "block", func(context.Context, int) (int, error) {
		began <- struct{}{}
		<-release // though its context ends
		return 1, nil
	}, cluster.WithAckWait(time.Hour))
	until(t, js, "block_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	for range 3 {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "block", 0); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	<-began
	eventually(t, "two are queued", func() bool {
		q := p.Queued()
		return len(q) == 1 && q[0].Count == 2
	})
	over, why := ended()
	if err := nodes[0].Close(over); err != why {
		t.Error("nodes:", err)
	}
	close(release)
	p.Close()
	if len(began) != 0 {
		t.Error("a handler began after Close")
	}
	cluster.Handle(nodes[1], "block", func(context.Context, int) (int, error) { return 2, nil }, cluster.WithAckWait(time.Hour))
	eventually(t, "the two run", func() bool { return nodes[1].Stats().Done == 2 }) // the one that ran is left to its AckWait
}

// Local tasks go on when Close may wait no longer for them, also those that the pool has not begun.
func TestLocalTasksGoOnAfterClose(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	nodes, _ := share(t, []cluster.Option{cluster.WithPool(p), cluster.WithPlaces(1)})
	began, release := make(chan string, 2), make(chan struct{})
	h := cluster.Handle(nodes[0], "block", func(ctx context.Context, s string) (string, error) {
		began <- s
		<-release
		return s, ctx.Err()
	})
	var futures []*cluster.Future[string]
	for _, s := range []string{"running", "queued"} {
		f, err := h.Submit(t.Context(), s, cluster.LocalFirst())
		if err != nil || f.ID() != "" {
			t.Fatal("the task is not local:", err)
		}
		futures = append(futures, f)
	}
	<-began
	over, why := ended()
	if err := nodes[0].Close(over); err != why {
		t.Error("nodes:", err)
	}
	close(release)
	for i, s := range []string{"running", "queued"} {
		expect(t, futures[i], s)
	}
}
