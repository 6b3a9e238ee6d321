package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// holder returns the task that has a unique key, or "".
func holder(t *testing.T, js jetstream.JetStream, key string) string {
	t.Helper()
	kv, err := js.KeyValue(t.Context(), "filch_unique")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	entry, err := kv.Get(t.Context(), key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal("kv.Get:", err)
	}
	return string(entry.Value())
}

// gated gives a node a handler whose tasks go on until the test has ended.
func gated(t *testing.T, n *cluster.Node, js jetstream.JetStream) {
	t.Helper()
	gate := make(chan struct{})
	t.Cleanup(func() { close(gate) })
	cluster.Handle(n, "gate", func(ctx context.Context, _ int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return 0, nil
	})
	until(t, js, "gate_p1", known)
}

// A node moves a time of a cron job to its queue, and cannot say so: it is moved again, after its task has ended. Then nobody
// else would give the key back.
func TestATimeThatIsMovedTwiceKeepsNoKey(t *testing.T) {
	t.Parallel()
	_, mid, worker, js := pair(t, places(1), places(1))
	cluster.Handle(worker, "double", double)
	until(t, js, "double_p1", known)
	moved := make(chan struct{})
	mid.before("$JS.ACK.filch_later.due.", func() {
		defer close(moved)
		if err := worker.RemoveCron(t.Context(), "job"); err != nil {
			t.Error("worker.RemoveCron:", err)
		}
		untilStream(t, js, "filch_work", "filch.>", none)
		eventually(t, "the key is free", func() bool { return holder(t, js, "a") == "" })
		if err := js.DeleteConsumer(t.Context(), "filch_later", "due"); err != nil { // which hears the acknowledgment
			t.Error("js.DeleteConsumer:", err)
		}
	})
	if err := worker.Cron(t.Context(), "job", "@every 1s", "double", 1, cluster.Unique("a", time.Hour)); err != nil {
		t.Fatal("worker.Cron:", err)
	}
	<-moved
	untilStream(t, js, "filch_later", "filch.>", none)
	empty(t, js)
	eventually(t, "the key is free", func() bool { return holder(t, js, "a") == "" })
}

// A task that need not be stored again, since it has ended, leaves no key. One that has not ended keeps it.
func TestATaskThatIsSubmittedAgainLeavesNoKey(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]cluster.SubmitOption{"at once": nil, "later": {cluster.Delay(time.Millisecond)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes, js := share(t, places(1))
			gate := make(chan struct{})
			h := cluster.Handle(nodes[0], "gate", func(ctx context.Context, _ int) (int, error) {
				filch.Blocking(ctx, func() { <-gate })
				return 0, nil
			})
			for i := range 3 {
				if i == 2 {
					close(gate)
					empty(t, js)
				}
				if _, err := h.Submit(t.Context(), 0, append(opts, cluster.ID("x"), cluster.NoResult(), cluster.Unique("a", time.Hour))...); err != nil {
					t.Fatal("h.Submit:", err)
				}
				if has, want := holder(t, js, "a"), []string{"x", "x", ""}[i]; has != want {
					t.Errorf("after Submit %d: %q has the key, not %q", i, has, want)
				}
				untilStream(t, js, "filch_later", "filch.>", none)
			}
			if done := nodes[0].Stats().Done; done != 1 {
				t.Error("it ran", done, "times")
			}
		})
	}
}

// Two submit the same task at the same time. The first to take the key is not the first to store the task, and leaves it the key.
func TestATaskOfTwoSubmittersKeepsItsKey(t *testing.T) {
	t.Parallel()
	a, mid, b, js := pair(t, places(0), places(1))
	gated(t, b, js)
	submit := func(n *cluster.Node) error {
		_, err := cluster.Submit[int, int](t.Context(), n, "gate", 0, cluster.ID("x"), cluster.Unique("a", time.Hour))
		return err
	}
	mid.before("filch.work.", func() {
		if err := submit(b); err != nil {
			t.Error("submit:", err)
		}
	})
	if err := submit(a); err != nil {
		t.Fatal("submit:", err)
	}
	mid.once(t)
	if has := holder(t, js, "a"); has != "x" {
		t.Errorf("%q has the key", has)
	}
}

// The answer to Submit is lost, and it asks again: the task that is there already is its own, and keeps the key.
func TestATaskWhoseAnswerIsLostKeepsItsKey(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]cluster.SubmitOption{"at once": nil, "later": {cluster.Delay(time.Hour)}} {
		for id, opt := range map[string]cluster.SubmitOption{"": cluster.Durable(), "x": cluster.ID("x")} {
			t.Run(name+id, func(t *testing.T) {
				t.Parallel()
				a, mid, b, js := pair(t, places(0), places(1))
				gated(t, b, js)
				subject := "filch.work."
				if opts != nil {
					subject = "filch.later."
				}
				mid.unanswered(subject)
				f, err := cluster.Submit[int, int](t.Context(), a, "gate", 0, append(opts, opt, cluster.Unique("a", time.Hour))...)
				if err != nil {
					t.Fatal("cluster.Submit:", err)
				}
				mid.once(t)
				if has := holder(t, js, "a"); has != f.ID() {
					t.Errorf("%q has the key", has)
				}
			})
		}
	}
}

// A handler that goes on after its task was canceled keeps the key until it returns.
func TestACanceledTaskHasItsKeyUntilItsHandlerReturns(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	began, gate := make(chan struct{}, 1), make(chan struct{})
	cluster.Handle(nodes[0], "stubborn", func(ctx context.Context, _ int) (int, error) {
		began <- struct{}{}
		filch.Blocking(ctx, func() { <-gate })
		return 0, ctx.Err()
	})
	until(t, js, "stubborn_p1", known)
	submit := func() (*cluster.Future[int], error) {
		return cluster.Submit[int, int](t.Context(), nodes[1], "stubborn", 0, cluster.Unique("a", time.Hour))
	}
	first, err := submit()
	if err != nil {
		t.Fatal("submit:", err)
	}
	<-began
	if err := nodes[1].Cancel(t.Context(), first.ID()); err != nil {
		t.Fatal("nodes:", err)
	}
	if _, err := first.Wait(t.Context()); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("first.Wait:", err)
	}
	_, err = submit()
	if id := refusedBy(t, err); id != first.ID() {
		t.Error(id, "has the key")
	}
	close(gate)
	empty(t, js)
	second, err := submit()
	if err != nil {
		t.Fatal("submit:", err)
	}
	expect(t, second, 0)
	// One that no node has fetched gives the key back when a node finds that it was canceled.
	if err := nodes[0].Pause(t.Context(), "stubborn"); err != nil {
		t.Fatal("nodes:", err)
	}
	third, err := submit()
	if err != nil {
		t.Fatal("submit:", err)
	}
	third.Cancel()
	if _, err := third.Wait(t.Context()); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("third.Wait:", err)
	}
	if err := nodes[0].Resume(t.Context(), "stubborn"); err != nil {
		t.Fatal("nodes:", err)
	}
	eventually(t, "the key is free", func() bool { return holder(t, js, "a") == "" })
}

// A dead letter takes its unique key again when it is put back, and stays as long as another task has it.
func TestADeadLetterIsPutBackWithItsKey(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	n := nodes[0]
	gate := make(chan struct{})
	h := cluster.Handle(n, "gate", func(ctx context.Context, fail bool) (int, error) {
		if info, _ := cluster.TaskOf(ctx); fail && info.ID == "x" {
			return 0, cluster.Permanent(errors.New("no"))
		}
		filch.Blocking(ctx, func() { <-gate })
		return 1, nil
	})
	unique := cluster.Unique("a", time.Hour)
	f, err := h.Submit(t.Context(), true, cluster.ID("x"), unique)
	if _, err := wait(t, f, err); err == nil {
		t.Error("no error")
	}
	other, err := h.Submit(t.Context(), false, cluster.ID("other"), unique)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	if id := refusedBy(t, n.Requeue(t.Context(), "x")); id != "other" {
		t.Error(id, "has the key")
	}
	if info := show(t, n, "x"); info.State != cluster.StateFailed || len(letters(t, n, "")) != 1 {
		t.Errorf("%+v", info)
	}
	gate <- struct{}{}
	expect(t, other, 1)
	if err := n.Pause(t.Context(), "gate"); err != nil {
		t.Fatal("n.Pause:", err)
	}
	if err := n.Requeue(t.Context(), "x"); err != nil {
		t.Fatal("n.Requeue:", err)
	}
	_, err = h.Submit(t.Context(), false, unique)
	if id := refusedBy(t, err); id != "x" {
		t.Error(id, "has the key")
	}
	if err := n.Resume(t.Context(), "gate"); err != nil {
		t.Fatal("n.Resume:", err)
	}
	eventually(t, "it has failed again", func() bool { return len(letters(t, n, "")) == 1 && holder(t, js, "a") == "" })
}

// A letter that is put back a second time, since it was not removed the first time, leaves no key.
func TestADeadLetterThatIsPutBackTwiceLeavesNoKey(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]cluster.SubmitOption{"result": nil, "no result": {cluster.NoResult()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, mid, b, js := pair(t, places(0), places(1))
			var mended atomic.Bool
			cluster.Handle(b, "mend", func(context.Context, int) (int, error) {
				if !mended.Load() {
					return 0, cluster.Permanent(errors.New("no"))
				}
				return 1, nil
			})
			until(t, js, "mend_p1", known)
			if _, err := cluster.Submit[int, int](t.Context(), a, "mend", 0, append(opts, cluster.ID("x"), cluster.Unique("a", time.Hour))...); err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			eventually(t, "it is a dead letter", func() bool { return len(letters(t, b, "")) == 1 })
			empty(t, js)
			mended.Store(true)
			mid.before("$JS.API.STREAM.MSG.DELETE.filch_dead", func() {
				empty(t, js)
				if err := b.Requeue(t.Context(), "x"); err != nil {
					t.Error("b.Requeue:", err)
				}
			})
			if err := a.Requeue(within(t), "x"); err != nil || len(letters(t, b, "")) != 0 {
				t.Error("a.Requeue:", err)
			}
			mid.once(t)
			if done := b.Stats().Done; done != 1 {
				t.Error("it ran", done, "times")
			}
			if has := holder(t, js, "a"); has != "" {
				t.Errorf("%q has the key", has)
			}
		})
	}
}

// Whatever Submit is refused for, it leaves no key, and takes none from the task of that ID which is there.
func TestARefusedTaskLeavesNoKey(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	n := nodes[0]
	h := cluster.Handle(n, "double", double)
	after := func(id, key, dep string) error {
		_, err := h.Submit(t.Context(), 1, cluster.ID(id), cluster.Unique(key, time.Hour), cluster.After(cluster.TaskID(dep)))
		return err
	}
	if err := after("x", "a", "y"); err != nil {
		t.Fatal("after:", err)
	}
	for _, key := range []string{"a", "b"} {
		if err := after("x", key, "z"); err == nil || !strings.Contains(err.Error(), "the task x waits already") {
			t.Error("after:", err)
		}
	}
	if err := after("y", "b", "x"); !errors.Is(err, cluster.ErrCycle) {
		t.Error("after:", err)
	}
	for key, want := range map[string]string{"a": "x", "b": ""} {
		if has := holder(t, js, key); has != want {
			t.Errorf("%q has the key %s, not %q", has, key, want)
		}
	}
	batch := batchOf(t, n)
	if err := js.DeleteStream(t.Context(), "KV_filch_batches"); err != nil {
		t.Fatal("js.DeleteStream:", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := h.Submit(ctx, 1, cluster.Unique("b", time.Hour), cluster.InBatch(batch)); err == nil {
		t.Error("a member of a batch that is not there")
	}
	eventually(t, "the key is free", func() bool { return holder(t, js, "b") == "" }) // Submit does not wait for that when its context has ended
}

// A task that the user of the servers may not submit leaves no key.
func TestATaskThatIsNotPermittedLeavesNoKey(t *testing.T) {
	t.Parallel()
	p, err := cluster.PermissionsOf(cluster.Submitter, "filch", "submitter", "_INBOX_submitter")
	if err != nil {
		t.Fatal("cluster.PermissionsOf:", err)
	}
	p.Publish = slices.DeleteFunc(p.Publish, func(subject string) bool { return subject == "filch.work.>" })
	s := clustertest.Server(t, clustertest.WithConfig(fmt.Sprintf(`authorization { users: [
		{ user: operator, password: secret }
		{ user: submitter, password: secret, permissions: %s }
	] }`, p)))
	worker := openAs(t, s.URL(), "operator", cluster.WithPlaces(1))
	cluster.Handle(worker, "double", double)
	_, js := connect(t, s.URL(), as("operator")...)
	until(t, js, "double_p1", known)
	submitter := openAs(t, s.URL(), "submitter", cluster.WithPlaces(0))
	if _, err := cluster.Submit[int, int](within(t), submitter, "double", 1, cluster.Unique("a", time.Hour)); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Error("cluster.Submit:", err)
	}
	if has := holder(t, js, "a"); has != "" {
		t.Errorf("%q has the key", has)
	}
}

// A request for a unique key that reaches a node late, since the node was stopped or the servers were cut off, takes no key: the task may
// have ended since, and nobody would give the key back.
func TestALateRequestTakesNoUniqueKey(t *testing.T) {
	t.Parallel()
	a, _, b, js := pair(t, places(0), places(1))
	cluster.Handle(b, "double", double)
	until(t, js, "double_p1", known)
	f, err := cluster.Submit[int, int](within(t), a, "double", 21, cluster.ID("ended"))
	if v, err := wait(t, f, err); v != 42 || err != nil {
		t.Fatalf("the task ended with %d and %v, want 42", v, err)
	}
	request := func(key, id string, until time.Time) []byte {
		return fmt.Appendf(nil, `{"key":%q,"id":%q,"for":3600000000000,"proof":"mine","until":%q}`, key, id, until.Format(time.RFC3339))
	}
	if err := js.Conn().Publish("filch.claim", request("late", "x", time.Now().Add(-time.Minute))); err != nil {
		t.Fatal("Publish:", err)
	}
	if _, err := js.Conn().RequestWithContext(within(t), "filch.claim", request("again", "ended", time.Now().Add(time.Minute))); err != nil {
		t.Fatal("a request for a task that has ended:", err)
	}
	if has := holder(t, js, "again"); has != "" {
		t.Errorf("%q has the key that was asked for after its end", has)
	}
	if has := holder(t, js, "late"); has != "" {
		t.Errorf("%q has the key for which nobody waits any more", has)
	}
}
