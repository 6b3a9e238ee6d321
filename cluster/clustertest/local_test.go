package clustertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// A node runs as many of its own tasks as its threshold says. What is more goes to the stream, and so to others.
func TestWhatExceedsTheThresholdGoesToTheStream(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(1), cluster.WithThreshold(2)), places(3))
	began, release := make(chan string, 6), make(chan struct{})
	h := cluster.Handle(nodes[0], "block", blocker(began, release))
	cluster.Handle(nodes[1], "block", blocker(began, release))
	until(t, js, "block_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
	submit := func() *cluster.Future[string] {
		f, err := h.Submit(t.Context(), "x")
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		return f
	}
	var futures []*cluster.Future[string]
	for i := range 5 {
		futures = append(futures, submit())
		if local := futures[i].ID() == ""; local != (i < 2) {
			t.Error("task", i, "is local:", local)
		}
	}
	if s := nodes[0].Stats(); s.Local != 2 || s.Submitted != 3 {
		t.Errorf("%+v", s)
	}
	close(release)
	for _, f := range futures {
		expect(t, f, "x")
	}
	eventually(t, "a further one is local", func() bool { return submit().ID() == "" })
	if n, err := cluster.Submit[int, string](t.Context(), nodes[0], "block", 1); err != nil || n.ID() == "" {
		t.Error("an argument of another type than the handler's:", err)
	}
	empty(t, js)
}

// Each option that needs the servers sends a task through the stream.
func TestWhatIsDurable(t *testing.T) {
	t.Parallel()
	n := open(t, cluster.WithPlaces(2))
	plain := cluster.Handle(n, "plain", double)
	keyed := cluster.Handle(n, "keyed", double, cluster.WithKeys(2))
	handlers := map[string]*cluster.Handler[int, int]{
		"a limit":             cluster.Handle(n, "limited", double, cluster.WithLimit(1)),
		"a limit on the node": cluster.Handle(n, "few", double, cluster.WithNodeLimit(1)),
	}
	b := batchOf(t, n)
	first, err := plain.Submit(t.Context(), 1, cluster.Durable())
	if err != nil {
		t.Fatal("plain.Submit:", err)
	}
	options := map[string]cluster.SubmitOption{
		"Durable": cluster.Durable(), "ID": cluster.ID("a"), "Key": cluster.Key("k"), "AtLevel": cluster.AtLevel(cluster.Normal), "NoResult": cluster.NoResult(),
		"Delay": cluster.Delay(time.Millisecond), "At": cluster.At(time.Now()), "After": cluster.After(first), "Unique": cluster.Unique("u", time.Hour), "InBatch": cluster.InBatch(b),
	}
	for name, o := range options {
		h := plain
		if name == "Key" {
			h = keyed
		}
		f, err := h.Submit(t.Context(), 1, o)
		if err != nil || f.ID() == "" {
			t.Error(name, "is not durable:", err)
		} else if got, err := wait(t, f, nil); name != "NoResult" && (got != 2 || err != nil) {
			t.Error(name, got, err)
		}
	}
	for name, h := range handlers {
		f, err := h.Submit(t.Context(), 1)
		if err != nil || f.ID() == "" {
			t.Error(name, "is not durable:", err)
		}
	}
	for _, h := range []*cluster.Handler[int, int]{plain, keyed} {
		f, err := h.Submit(t.Context(), 1, cluster.Within(time.Hour))
		if err != nil || f.ID() != "" {
			t.Error("a task of which nothing needs the servers is durable:", err)
		}
	}
}

// Outcomes and dead letters are kept as long as the first node says.
func TestOutcomesAndDeadLettersAreKeptForATime(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(1), cluster.WithResultsFor(time.Second), cluster.WithDeadFor(time.Second)), append(places(0), cluster.WithResultsFor(time.Hour)))
	h := cluster.Handle(nodes[0], "fail", func(_ context.Context, fail bool) (int, error) {
		if fail {
			return 0, cluster.Permanent(errors.New("as asked"))
		}
		return 1, nil
	})
	for _, fail := range []bool{true, false} {
		f, err := h.Submit(t.Context(), fail, cluster.Durable())
		if _, err := wait(t, f, err); err != nil != fail {
			t.Error("wait:", err)
		}
		eventually(t, "the outcome is gone", func() bool {
			_, err := nodes[1].Show(t.Context(), f.ID())
			return errors.Is(err, cluster.ErrUnknownTask)
		})
	}
	if all := letters(t, nodes[0], ""); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	empty(t, js)
}

// A unique key is kept for as many seconds as its time needs, and not fewer.
func TestTheTimeOfAUniqueKeyIsRoundedUp(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	h := cluster.Handle(nodes[0], "double", double)
	f, err := h.Submit(t.Context(), 1, cluster.Unique("a", 3600*time.Second+time.Millisecond), cluster.Delay(time.Hour))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	s, err := js.Stream(t.Context(), "KV_filch_unique")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	m, err := s.GetLastMsgForSubject(t.Context(), "$KV.filch_unique.a")
	if err != nil {
		t.Fatal("s.GetLastMsgForSubject:", err)
	}
	if d, err := time.ParseDuration(m.Header.Get("Nats-TTL")); d != 3601*time.Second || err != nil {
		t.Error(m.Header, err)
	}
	f.Cancel()
}

// A node that is busy with its own tasks fetches one task at a time, and leaves the others to idle nodes.
func TestLocalTasksTakePlaces(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(3), places(0))
	hold, began := make(chan struct{}), make(chan int, 10)
	h := cluster.Handle(nodes[0], "hold", func(_ context.Context, n int) (int, error) {
		began <- n
		<-hold
		return n, nil
	})
	until(t, js, "hold_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	for range 2 {
		if _, err := h.Submit(t.Context(), 0); err != nil { // local
			t.Fatal("h.Submit:", err)
		}
	}
	for range 2 {
		<-began
	}
	for i := range 3 {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "hold", i+1, cluster.Durable()); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	<-began
	until(t, js, "hold_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumPending == 2 && i.NumAckPending == 1 })
	if len(began) > 0 {
		t.Error("two tasks were fetched for one place")
	}
	close(hold)
	for range 2 {
		<-began
	}
}
