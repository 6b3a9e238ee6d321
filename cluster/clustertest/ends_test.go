package clustertest_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// nilError has a method that panics, as many errors do that are nil pointers.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// However a handler ends, its task ends, and its place is free for the next.
func TestAHandlerMayEndInAnyWay(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	n := open(t, cluster.WithPool(p), cluster.WithPlaces(1))
	h := cluster.Handle(n, "end", func(_ context.Context, how string) (int, error) {
		switch how {
		case "Goexit":
			runtime.Goexit()
		case "panic":
			panic("on purpose")
		case "nil pointer":
			var err *nilError
			return 0, err
		}
		return 1, nil
	}, cluster.WithRetry(cluster.Retry{Attempts: 2, First: time.Millisecond}))
	for how, want := range map[string]string{"Goexit": "runtime.Goexit", "panic": "panic: on purpose", "nil pointer": "panic: runtime error"} {
		f, err := h.Submit(t.Context(), how)
		_, err = wait(t, f, err)
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Attempts != 2 || !strings.Contains(e.Message, want) {
			t.Error(how, err)
		}
		f, err = h.Submit(t.Context(), "well")
		if got, err := wait(t, f, err); got != 1 || err != nil {
			t.Error("after", how, got, err)
		}
	}
}

// What a pool has queued when it is closed goes to another node, and the node whose pool it is fetches no more.
func TestANodeWithoutItsPoolKeepsNoTask(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1))
	nodes, js := share(t, []cluster.Option{cluster.WithPool(p), cluster.WithPlaces(2)}, places(2))
	gate, began := make(chan struct{}), make(chan struct{}, 2)
	cluster.Handle(nodes[0], "wait", func(context.Context, int) (int, error) {
		began <- struct{}{}
		<-gate
		return 1, nil
	})
	until(t, js, "wait_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	var futures []*cluster.Future[int]
	submit := func() {
		f, err := cluster.Submit[int, int](t.Context(), nodes[1], "wait", 0)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		futures = append(futures, f)
	}
	submit()
	<-began
	submit()
	eventually(t, "the second one is queued", func() bool { return nodes[0].Stats().Running == 2 && len(p.Queued()) == 1 })
	closed := make(chan struct{})
	go func() { defer close(closed); p.Close() }()
	eventually(t, "the pool drops it", func() bool { return len(p.Queued()) == 0 })
	close(gate)
	<-closed
	eventually(t, "it is given back", func() bool { return nodes[0].Stats().Running == 0 })
	for range 20 {
		submit()
	}
	cluster.Handle(nodes[1], "wait", func(context.Context, int) (int, error) { return 1, nil })
	for _, f := range futures {
		if got, err := wait(t, f, nil); got != 1 || err != nil {
			t.Error(got, err)
		}
	}
	if s := nodes[0].Stats(); s.Done != 1 || s.Returned > 5 { // what was queued, and what its lanes had asked for
		t.Errorf("%+v", s)
	}
}

// stuck is with how many tasks unsettled a node of few places fetches no more: less than a quarter of its 64 slots is free.
const stuck = 49

// Close returns though nothing can be stored, and as much is unsettled as may be.
func TestANodeCanLeaveWithOutcomesThatCannotBeStored(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(0))
	n, err := cluster.Open(t.Context(), cluster.WithConn(conn(t)), cluster.WithPlaces(4), cluster.WithLogger(newLines().logger()))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	cluster.Handle(n, "double", double)
	until(t, js, "double_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	if err := js.DeleteStream(t.Context(), "KV_filch_results"); err != nil {
		t.Fatal("js.DeleteStream:", err)
	}
	for i := range 200 {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[0], "double", i); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	until(t, js, "double_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumAckPending >= stuck })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Error("n.Close:", err)
	}
}

// A task about which the servers cannot be asked is put off, and not given from node to node as fast as they can.
func TestATaskIsPutOffWhileItsNotesAreLost(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, []cluster.Option{cluster.WithPlaces(1), cluster.WithLogger(newLines().logger())})
	n := nodes[0]
	failed := make(chan struct{}, 1)
	h := cluster.Handle(n, "fail", func(context.Context, int) (int, error) {
		failed <- struct{}{}
		return 0, errors.New("on purpose")
	}, cluster.WithRetry(cluster.Retry{First: time.Millisecond}))
	if err := js.DeleteStream(t.Context(), "KV_filch_tries"); err != nil {
		t.Fatal("js.DeleteStream:", err)
	}
	if _, err := h.Submit(t.Context(), 0); err != nil {
		t.Fatal("h.Submit:", err)
	}
	<-failed
	eventually(t, "it is put off", func() bool { return n.Stats().Returned > 0 })
	// While it is put off, another that is submitted runs before it comes again, however slow this machine is.
	again := cluster.Handle(n, "double", double)
	for i := range 100 {
		f, err := again.Submit(t.Context(), i)
		if got, err := wait(t, f, err); got != 2*i || err != nil {
			t.Fatal(got, err)
		}
	}
	if s := n.Stats(); s.Returned > 20 {
		t.Errorf("%+v", s)
	}
}
