package clustertest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// A pool that rejects tasks does not have its node fetch them over and over. Another node gets them.
func TestANodeRestsWhileItsPoolRejects(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Reject), filch.WithStallTimeout(0))
	t.Cleanup(func() { _ = p.Close() })
	const most = 8 // places of the node
	nodes, js := share(t, append(places(most), cluster.WithPool(p)), places(1))
	began, release := make(chan struct{}, 2*most), make(chan struct{})
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	h := cluster.Handle(nodes[0], "block", func(_ context.Context, in string) (string, error) {
		began <- struct{}{}
		<-release // and keeps its worker
		return in, nil
	})
	begin := time.Now()
	var futures []*cluster.Future[string]
	for range 2 * most {
		f, err := h.Submit(t.Context(), "x")
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		futures = append(futures, f)
	}
	<-began
	eventually(t, "the pool has rejected one", func() bool { return nodes[0].Stats().Returned > 0 })
	ackWaits(t, js, 2)
	returned, seconds := nodes[0].Stats().Returned, int64(time.Since(begin)/time.Second)
	if lanes := int64(3); returned > (seconds+1)*(most+lanes) {
		t.Error(returned, "tasks were given back in", seconds, "s")
	}
	cluster.Handle(nodes[1], "block", func(_ context.Context, in string) (string, error) { return in, nil })
	eventually(t, "the other node has run all but those that run or are queued", func() bool { return nodes[1].Stats().Done == 2*most-2 })
	end()
	for _, f := range futures {
		if got, err := wait(t, f, nil); got != "x" || err != nil {
			t.Error(got, err)
		}
	}
}

// A pool that hangs keeps no task that it has not begun, and its node fetches again when the pool goes on.
func TestANodeWhosePoolHangsGivesBackWhatIsQueued(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	t.Cleanup(func() { _ = p.Close() })
	nodes, _ := share(t, append(places(2), cluster.WithPool(p)))
	began, release := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	silence, ackWait := cluster.WithSilence(time.Second), cluster.WithAckWait(time.Second)
	hang := cluster.Handle(nodes[0], "hang", func(context.Context, int) (int, error) {
		close(began)
		<-release // as endless code does, it leaves its worker to no other task
		return 0, nil
	}, ackWait)
	work := func(at int) func(context.Context, int) (int, error) {
		return func(context.Context, int) (int, error) { return at, nil }
	}
	h := cluster.Handle(nodes[0], "work", work(0), silence, ackWait)
	hung, err := hang.Submit(t.Context(), 0)
	if err != nil {
		t.Fatal("hang.Submit:", err)
	}
	<-began
	f, err := h.Submit(t.Context(), 0)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	eventually(t, "it is queued", func() bool { return nodes[0].Stats().Running == 2 })
	other, err := cluster.Open(t.Context(), cluster.WithConn(conn(t)), cluster.WithPlaces(1), cluster.WithNode("other"))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, other) })
	cluster.Handle(other, "work", work(1), silence, ackWait)
	if got, err := wait(t, f, nil); got != 1 || err != nil {
		t.Error(got, err)
	}
	closeNode(t, other)
	if f, err = h.Submit(t.Context(), 0); err != nil {
		t.Fatal("h.Submit:", err)
	}
	end()
	expect(t, hung, 0)
	if got, err := wait(t, f, nil); got != 0 || err != nil {
		t.Error(got, err)
	}
}
