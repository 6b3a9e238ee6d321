package clustertest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// A node runs as many of its tasks of LocalFirst as its threshold says. What is more is stored, and so goes to others.
func TestWhatExceedsTheThresholdGoesToTheStream(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(1), cluster.WithThreshold(2)), places(3))
	began, release := make(chan string, 6), make(chan struct{})
	h := cluster.Handle(nodes[0], "block", blocker(began, release))
	cluster.Handle(nodes[1], "block", blocker(began, release))
	until(t, js, "block_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
	submit := func() *cluster.Future[string] {
		f, err := h.Submit(t.Context(), "x", cluster.LocalFirst())
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
	if n, err := cluster.Submit[int, string](t.Context(), nodes[0], "block", 1, cluster.LocalFirst()); err != nil || n.ID() == "" {
		t.Error("an argument of another type than the handler's:", err)
	}
	empty(t, js)
}

// Tasks are stored: without options, and with each option that needs the servers, also of a handler that is to run them here
// first. What such an option and LocalFirst say both is refused.
func TestWhatIsStored(t *testing.T) {
	t.Parallel()
	n := open(t, cluster.WithPlaces(2))
	plain := cluster.Handle(n, "plain", double)
	local := cluster.Handle(n, "local", double, cluster.WithLocalFirst())
	keyed := cluster.Handle(n, "keyed", double, cluster.WithKeys(2), cluster.WithLocalFirst())
	handlers := map[string]*cluster.Handler[int, int]{
		"a limit":             cluster.Handle(n, "limited", double, cluster.WithLimit(1)),
		"a limit on the node": cluster.Handle(n, "few", double, cluster.WithNodeLimit(1)),
	}
	b := batchOf(t, n)
	first, err := plain.Submit(t.Context(), 1)
	if err != nil {
		t.Fatal("plain.Submit:", err)
	}
	options := map[string]cluster.SubmitOption{
		"Durable": cluster.Durable(), "ID": cluster.ID("a"), "Key": cluster.Key("k"), "AtLevel": cluster.AtLevel(cluster.Normal), "NoResult": cluster.NoResult(),
		"Delay": cluster.Delay(time.Millisecond), "At": cluster.At(time.Now()), "After": cluster.After(first), "Unique": cluster.Unique("u", time.Hour), "InBatch": cluster.InBatch(b),
	}
	for name, o := range options {
		h := local
		if name == "Key" {
			h = keyed
		}
		if _, err := h.Submit(t.Context(), 1, o, cluster.LocalFirst()); err == nil || !strings.Contains(err.Error(), "both LocalFirst and "+name) {
			t.Error(name, "with LocalFirst:", err)
		}
		f, err := h.Submit(t.Context(), 1, o)
		if err != nil || f.ID() == "" {
			t.Error(name, "is not stored:", err)
		} else if got, err := wait(t, f, nil); name != "NoResult" && (got != 2 || err != nil) {
			t.Error(name, got, err)
		}
	}
	for name, h := range handlers {
		f, err := h.Submit(t.Context(), 1, cluster.LocalFirst())
		if err != nil || f.ID() == "" {
			t.Error(name, "is not held by a local task:", err)
		}
	}
	for _, c := range []struct {
		h     *cluster.Handler[int, int]
		opts  []cluster.SubmitOption
		local bool
	}{
		{plain, nil, false},
		{plain, []cluster.SubmitOption{cluster.Within(time.Hour)}, false},
		{plain, []cluster.SubmitOption{cluster.LocalFirst()}, true},
		{plain, []cluster.SubmitOption{cluster.LocalFirst(), cluster.Within(time.Hour)}, true},
		{local, nil, true},
		{local, []cluster.SubmitOption{cluster.LocalFirst()}, true},
		{keyed, []cluster.SubmitOption{cluster.Within(time.Hour)}, true},
	} {
		f, err := c.h.Submit(t.Context(), 1, c.opts...)
		if err != nil || (f.ID() == "") != c.local {
			t.Errorf("%s with %d options: stored: %t; %v", c.h.Name(), len(c.opts), c.local, err)
		} else if got, err := wait(t, f, nil); got != 2 || err != nil {
			t.Error(got, err)
		}
	}
}

// Submit without options keeps what the handler says of retries: tasks that fail once succeed, and those that fail always are in the
// dead letters. LocalFirst is refused for a handler that asks for retries.
func TestSubmitRetries(t *testing.T) {
	t.Parallel()
	n := open(t, cluster.WithPlaces(2))
	var seen sync.Map
	once := cluster.Handle(n, "once", func(_ context.Context, i int) (int, error) {
		if _, again := seen.LoadOrStore(i, true); !again {
			return 0, errors.New("the first attempt fails")
		}
		return i, nil
	}, cluster.WithRetry(cluster.Retry{Attempts: 5, First: time.Millisecond}))
	var futures []*cluster.Future[int]
	for i := range 100 {
		f, err := once.Submit(t.Context(), i)
		if err != nil {
			t.Fatal("once.Submit:", err)
		}
		futures = append(futures, f)
	}
	for i, f := range futures {
		expect(t, f, i)
	}
	never := cluster.Handle(n, "never", func(context.Context, int) (int, error) { return 0, errors.New("always") },
		cluster.WithRetry(cluster.Retry{Attempts: 2, First: time.Millisecond}))
	f, err := never.Submit(t.Context(), 1)
	if _, err := wait(t, f, err); err == nil {
		t.Error("a task that fails always has a result")
	}
	if all := letters(t, n, "never"); len(all) != 1 {
		t.Errorf("dead letters: %+v", all)
	}
	if _, err := once.Submit(t.Context(), 1, cluster.LocalFirst()); err == nil || !strings.Contains(err.Error(), "WithRetry") {
		t.Error("LocalFirst for a handler with retries:", err)
	}
}

// Cron and MapReduce store their tasks, and refuse LocalFirst. A node that runs no tasks stores those of LocalFirst. A handler that
// waits for one lends its place, as for a stored one: what it waits for may need it; and the one that runs here is not the
// stored one that has submitted it.
func TestLocalFirstBesideOthers(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(1), places(0))
	n := nodes[0]
	cluster.Handle(n, "double", double, cluster.WithLocalFirst())
	if err := n.Cron(t.Context(), "job", "@every 1h", "double", 1, cluster.LocalFirst()); err == nil || !strings.Contains(err.Error(), "a cron job takes") {
		t.Error("Cron:", err)
	}
	add := func(a, b int) int { return a + b }
	if _, err := cluster.MapReduce(t.Context(), n, "double", slices.Values([]int{1, 2}), add, cluster.LocalFirst()); err == nil || !strings.Contains(err.Error(), "LocalFirst") {
		t.Error("MapReduce:", err)
	}
	if got, err := cluster.MapReduce(t.Context(), n, "double", slices.Values([]int{1, 2}), add); got != 6 || err != nil || n.Stats().Local != 0 {
		t.Error("MapReduce:", got, err, n.Stats().Local)
	}
	f, err := cluster.Submit[int, int](t.Context(), nodes[1], "double", 1, cluster.LocalFirst())
	if err != nil || f.ID() == "" {
		t.Error("a node without places runs a task:", err)
	}
	inner := cluster.Handle(n, "inner", func(ctx context.Context, i int) (int, error) {
		if _, ok := cluster.TaskOf(ctx); ok {
			return 0, errors.New("it is taken for the task that has submitted it")
		}
		f, err := cluster.Submit[int, int](ctx, n, "double", i, cluster.Durable())
		if err != nil {
			return 0, err
		}
		return f.Wait(ctx)
	})
	outer := cluster.Handle(n, "outer", func(ctx context.Context, i int) (int, error) {
		for _, submit := range []context.Context{ctx, context.WithoutCancel(t.Context())} {
			f, err := inner.Submit(submit, i, cluster.LocalFirst())
			if err != nil {
				return 0, err
			}
			if i, err = f.Wait(ctx); err != nil {
				return 0, err
			}
		}
		return i, nil
	})
	o, err := outer.Submit(t.Context(), 3)
	if got, err := wait(t, o, err); got != 12 || err != nil {
		t.Error("outer:", got, err)
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
		f, err := h.Submit(t.Context(), fail)
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
		if _, err := h.Submit(t.Context(), 0, cluster.LocalFirst()); err != nil {
			t.Fatal("h.Submit:", err)
		}
	}
	for range 2 {
		<-began
	}
	for i := range 3 {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "hold", i+1); err != nil {
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
