package clustertest_test

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// refusedBy reports the task that has the unique key of a Submit that was refused.
func refusedBy(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*cluster.NotUniqueError](err)
	if !ok || !errors.Is(err, cluster.ErrNotUnique) {
		t.Fatal("not refused:", err)
	}
	return e.ID
}

// A Future can say that a task has ended before its node has given the key back. The key is free all the same.
func TestATaskThatHasEndedHasNoUniqueKey(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	cluster.Handle(nodes[0], "once", func(context.Context, int) (int, error) { return 1, nil })
	submit := func(opts ...cluster.SubmitOption) (*cluster.Future[int], error) {
		return cluster.Submit[int, int](t.Context(), nodes[0], "once", 0, opts...)
	}
	f, err := submit(cluster.ID("ended"))
	if err != nil {
		t.Fatal("submit:", err)
	}
	expect(t, f, 1)
	keys, err := js.KeyValue(t.Context(), "filch_unique")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	for holder, free := range map[string]bool{"ended": true, "never": false} {
		if _, err := keys.PutString(t.Context(), "key-"+holder, holder); err != nil {
			t.Fatal("keys.PutString:", err)
		}
		f, err := submit(cluster.Unique("key-"+holder, time.Hour))
		if !free {
			if id := refusedBy(t, err); id != holder {
				t.Error(id, "has the key")
			}
			continue
		}
		if err != nil {
			t.Fatal("submit:", err)
		}
		expect(t, f, 1)
	}
}

func TestThereIsOneTaskOfAUniqueKey(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(1))
	gate := make(chan struct{})
	for _, n := range nodes {
		cluster.Handle(n, "gate", func(ctx context.Context, fail bool) (string, error) {
			filch.Blocking(ctx, func() { <-gate })
			if fail {
				return "", cluster.Permanent(errors.New("as asked"))
			}
			return "done", nil
		})
	}
	until(t, js, "gate_p1", known)
	submit := func(node int, fail bool, opts ...cluster.SubmitOption) (*cluster.Future[string], error) {
		return cluster.Submit[bool, string](t.Context(), nodes[node], "gate", fail, append(opts, cluster.Unique("report", time.Hour))...)
	}
	for round, fail := range []bool{false, true, false} {
		first, err := submit(round%2, fail)
		if err != nil {
			t.Fatal(round, err)
		}
		for i := range nodes {
			_, err := submit(i, false)
			if id := refusedBy(t, err); id != first.ID() {
				t.Error(id, "has the key, not", first.ID())
			}
		}
		second, err := cluster.Attach[string](t.Context(), nodes[round%2], first.ID())
		if err != nil {
			t.Fatal("cluster.Attach:", err)
		}
		gate <- struct{}{}
		for _, f := range []*cluster.Future[string]{first, second} {
			if _, err := f.Wait(t.Context()); err != nil != fail {
				t.Error(round, err)
			}
		}
	}
	// With the same ID it is the same task.
	a, err := submit(0, false, cluster.ID("a"))
	if err != nil {
		t.Fatal("submit:", err)
	}
	if again, err := submit(1, false, cluster.ID("a")); err != nil || again.ID() != a.ID() {
		t.Error("submit:", err)
	}
	close(gate)
	if _, err := a.Wait(t.Context()); err != nil {
		t.Error("a.Wait:", err)
	}
	untilStream(t, js, "filch_work", "filch.>", none)
}

func TestAUniqueKeyIsFreeAfterItsTime(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	h := cluster.Handle(nodes[0], "double", double)
	first, err := h.Submit(t.Context(), 1, cluster.Unique("a", time.Second), cluster.Delay(time.Hour))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	kv, err := js.KeyValue(t.Context(), "filch_unique")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	eventually(t, "the key is free", func() bool {
		_, err := kv.Get(t.Context(), "a")
		return errors.Is(err, jetstream.ErrKeyNotFound)
	})
	second, err := h.Submit(t.Context(), 1, cluster.Unique("a", time.Hour), cluster.Delay(time.Hour))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	// The end of the first does not free the key of the second, and that of the second does.
	if err := nodes[0].Cancel(t.Context(), first.ID()); err != nil {
		t.Fatal("nodes:", err)
	}
	_, err = h.Submit(t.Context(), 1, cluster.Unique("a", time.Hour))
	if id := refusedBy(t, err); id != second.ID() {
		t.Error(id)
	}
	if err := nodes[0].Cancel(t.Context(), second.ID()); err != nil {
		t.Fatal("nodes:", err)
	}
	third, err := h.Submit(t.Context(), 1, cluster.Unique("a", time.Hour))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	if got, err := third.Wait(t.Context()); got != 2 || err != nil {
		t.Error(got, err)
	}
}

func TestAUniqueKeyIsFreeAfterARefusal(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, append(places(1), cluster.WithQueueLimit(1, filch.Reject)))
	gate := make(chan struct{})
	h := cluster.Handle(nodes[0], "gate", func(ctx context.Context, _ int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return 0, nil
	})
	f, err := h.Submit(t.Context(), 1)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	for range 2 {
		if _, err := h.Submit(t.Context(), 1, cluster.Unique("a", time.Hour)); !errors.Is(err, cluster.ErrQueueFull) || errors.Is(err, cluster.ErrNotUnique) {
			t.Error("h.Submit:", err)
		}
	}
	close(gate)
	if _, err := f.Wait(t.Context()); err != nil {
		t.Error("f.Wait:", err)
	}
}

func TestATimeOfACronJobIsLeftOutWhileItsTaskRuns(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(4))
	var begun atomic.Int64
	gate := make(chan struct{})
	cluster.Handle(nodes[0], "gate", func(ctx context.Context, _ int) (int, error) {
		begun.Add(1)
		filch.Blocking(ctx, func() { <-gate })
		return 0, nil
	})
	if err := nodes[0].Cron(t.Context(), "job", "@every 1s", "gate", 0, cluster.Unique("job", time.Hour)); err != nil {
		t.Fatal("nodes:", err)
	}
	untilConsumer(t, js, "filch_later", "due", func(i *jetstream.ConsumerInfo) bool { return i.AckFloor.Consumer >= 2 }) // two times were due
	if err := nodes[0].RemoveCron(t.Context(), "job"); err != nil {
		t.Fatal("nodes:", err)
	}
	untilStream(t, js, "filch_later", "filch.>", none)
	close(gate)
	untilStream(t, js, "filch_work", "filch.>", none)
	if n := begun.Load(); n != 1 {
		t.Error("tasks at once:", n)
	}
}

func TestAUniqueKeyIsKeptForASecondToAHundredYears(t *testing.T) {
	t.Parallel()
	const most = 100 * 365 * 24 * time.Hour
	n := open(t)
	h := cluster.Handle(n, "double", double)
	for d, want := range map[time.Duration]string{time.Millisecond: "at least a second", most + 1: "more than 100 years", math.MaxInt64: "more than 100 years"} {
		if _, err := h.Submit(t.Context(), 1, cluster.Unique("a", d)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %v: %v", d, err)
		}
	}
	for _, d := range []time.Duration{time.Second + 1, most} {
		first, err := h.Submit(t.Context(), 1, cluster.Unique("a", d), cluster.Delay(time.Hour))
		if err != nil {
			t.Fatal(d, err)
		}
		_, err = h.Submit(t.Context(), 1, cluster.Unique("a", d))
		if id := refusedBy(t, err); id != first.ID() {
			t.Error(id, "has the key")
		}
		if err := n.Cancel(t.Context(), first.ID()); err != nil {
			t.Fatal("n.Cancel:", err)
		}
	}
}

// long leaves a test that waits for a node's rounds to the long form.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("FILCH_LONG") == "" {
		t.Skip("set FILCH_LONG=1")
	}
}

func TestAttachHearsOfAnOutcomeLater(t *testing.T) {
	t.Parallel()
	long(t)
	nodes, _ := share(t, places(1), places(0))
	gate := make(chan struct{})
	h := cluster.Handle(nodes[0], "gate", func(ctx context.Context, i int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return i, nil
	})
	f, err := h.Submit(t.Context(), 5)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	other, err := cluster.Attach[int](t.Context(), nodes[1], f.ID())
	if err != nil {
		t.Fatal("cluster.Attach:", err)
	}
	close(gate)
	if got, err := other.Wait(t.Context()); got != 5 || err != nil {
		t.Error(got, err)
	}
	if other, err = cluster.Attach[int](t.Context(), nodes[1], f.ID()); err != nil {
		t.Fatal("cluster.Attach:", err)
	}
	select {
	case <-other.Done():
	default:
		t.Error("the outcome is stored, and the Future is not done")
	}
}
