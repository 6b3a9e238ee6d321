package clustertest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// batchOf makes a batch.
func batchOf(t testing.TB, n *cluster.Node) *cluster.Batch {
	t.Helper()
	b, err := cluster.NewBatch(t.Context(), n)
	if err != nil {
		t.Fatal("cluster.NewBatch:", err)
	}
	return b
}

// counts waits for the end of a batch.
func counts(t testing.TB, b *cluster.Batch) cluster.BatchCounts {
	t.Helper()
	f, err := b.Close(t.Context())
	if err != nil {
		t.Fatal("b.Close:", err)
	}
	c, err := f.Wait(t.Context())
	if err != nil {
		t.Fatal("f.Wait:", err)
	}
	if now, err := b.Counts(t.Context()); now != c || err != nil {
		t.Error(now, err, "and the outcome says", c)
	}
	return c
}

func TestTheCompletionTaskOfABatchRunsWhenAllHaveEnded(t *testing.T) {
	t.Parallel()
	members := 700
	if os.Getenv("FILCH_LONG") != "" {
		members = 10_000
	}
	nodes, js := share(t, places(4), places(4), places(0))
	var ended atomic.Int64
	for _, n := range nodes[:2] {
		cluster.Handle(n, "member", func(_ context.Context, i int) (int, error) {
			defer ended.Add(1)
			if i%100 == 7 {
				return 0, cluster.Permanent(errors.New("as asked"))
			}
			return i, nil
		})
		cluster.Handle(n, "complete", func(context.Context, int) (int64, error) { return ended.Load(), nil })
	}
	until(t, js, "member_p1", known)
	until(t, js, "complete_p1", known)
	b := batchOf(t, nodes[2])
	last, err := cluster.Submit[int, int64](t.Context(), nodes[2], "complete", 0, cluster.After(b))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	var submitters sync.WaitGroup
	for s := range 4 {
		submitters.Go(func() {
			for i := s; i < members; i += 4 {
				if _, err := cluster.Submit[int, int](t.Context(), nodes[2], "member", i, cluster.InBatch(b), cluster.NoResult()); err != nil {
					t.Error("cluster.Submit:", err)
				}
			}
		})
	}
	submitters.Wait()
	if c := counts(t, b); c != (cluster.BatchCounts{Total: members, Ended: members, Failed: (members + 92) / 100, Closed: true}) {
		t.Errorf("%+v", c)
	}
	if n, err := last.Wait(t.Context()); n != int64(members) || err != nil {
		t.Error(n, err)
	}
	// No more writes than members, chunks and a few.
	s, err := js.Stream(t.Context(), "KV_filch_batches")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	if writes := s.CachedInfo().State.LastSeq; writes > uint64(members+members/128+8) {
		t.Error("writes:", writes)
	}
	t.Logf("%+v", s.CachedInfo().State)
}

func TestABatchCountsWhatIsSubmittedAndEveryKindOfEnd(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, append(places(1), cluster.WithQueueLimit(4, filch.Reject)))
	gate := make(chan struct{})
	h := cluster.Handle(nodes[0], "gate", func(ctx context.Context, i int) (int, error) {
		filch.Blocking(ctx, func() {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		})
		return i, ctx.Err()
	})
	if c := counts(t, batchOf(t, nodes[0])); c != (cluster.BatchCounts{Closed: true}) {
		t.Errorf("of an empty batch: %+v", c)
	}
	b := batchOf(t, nodes[0])
	submit := func(i int, opts ...cluster.SubmitOption) *cluster.Future[int] {
		f, err := h.Submit(t.Context(), i, append(opts, cluster.InBatch(b))...)
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		return f
	}
	first := submit(1, cluster.Unique("one", time.Hour))
	late := submit(2, cluster.Delay(time.Hour))
	after := submit(3, cluster.After(late))
	submit(4)
	soon := submit(5, cluster.Within(time.Nanosecond))
	submit(6, cluster.Delay(time.Millisecond))
	if _, err := h.Submit(t.Context(), 1, cluster.InBatch(b), cluster.Unique("one", time.Hour)); !errors.Is(err, cluster.ErrNotUnique) {
		t.Error("h.Submit:", err)
	}
	if c, err := b.Counts(t.Context()); c != (cluster.BatchCounts{}) || err != nil {
		t.Errorf("%+v %v", c, err)
	}
	first.Cancel()
	late.Cancel()
	if _, err := after.Wait(t.Context()); err == nil {
		t.Error("it has run after what was canceled")
	}
	if _, err := first.Wait(t.Context()); !errors.Is(err, cluster.ErrCanceled) { // else it may end with a result first
		t.Error("the first was canceled, and has ended with", err)
	}
	if _, err := soon.Wait(t.Context()); err == nil { // a node knows the servers' time to a moment, so it may have begun
		t.Error("it has ended in time")
	}
	close(gate)
	if c := counts(t, b); c != (cluster.BatchCounts{Total: 6, Ended: 6, Failed: 4, Closed: true}) {
		t.Errorf("%+v", c)
	}
	for range 2 { // what was refused does not keep its unique key
		if _, err := h.Submit(t.Context(), 1, cluster.InBatch(b), cluster.Unique("refused", time.Hour)); !errors.Is(err, cluster.ErrBatchClosed) {
			t.Error("h.Submit:", err)
		}
	}
	if _, err := h.Submit(t.Context(), 1, cluster.InBatch(nil)); err == nil {
		t.Error("taken")
	}
	if _, err := h.Submit(t.Context(), 1, cluster.InBatch(b), cluster.ID("a")); err == nil {
		t.Error("taken")
	}
	if _, err := nodes[0].BatchCounts(t.Context(), "none"); !errors.Is(err, cluster.ErrUnknownBatch) || !strings.HasSuffix(err.Error(), ": none") {
		t.Error("nodes:", err)
	}
}

func TestABatchEndsWhereverANodeDies(t *testing.T) {
	t.Parallel()
	eachDeath(t, func(t *testing.T, m mortal, k int) {
		var ran sync.Map
		began := make(chan struct{})
		var once sync.Once
		m.steps(m.open(m.conn), &ran, func() { once.Do(func() { m.conn.arm(k); close(began) }) })
		m.known(t)
		b := batchOf(t, m.submit)
		for _, name := range []string{"a", "b", "c"} {
			if _, err := cluster.Submit[string, string](t.Context(), m.submit, "step", name, cluster.InBatch(b)); err != nil {
				t.Error(k, err)
			}
		}
		last, err := cluster.Submit[string, string](t.Context(), m.submit, "step", "last", cluster.After(b))
		if err != nil {
			t.Error(k, err)
			return
		}
		<-began
		f, err := b.Close(t.Context())
		if err != nil {
			t.Error(k, err)
			return
		}
		m.steps(m.open(nil), &ran, func() {})
		if got, err := last.Wait(t.Context()); got != "last" || err != nil {
			t.Error(k, got, err)
		}
		if c, err := f.Wait(t.Context()); c != (cluster.BatchCounts{Total: 3, Ended: 3, Closed: true}) || err != nil {
			t.Errorf("%d %+v %v", k, c, err)
		}
	})
}

// A member that no node can read, since it is of another version, has failed: its batch ends, its unique key is free, and so
// do those that wait for it.
func TestABatchEndsWithAMemberThatCannotBeRead(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	cluster.Handle(nodes[0], "double", double)
	until(t, js, "double_p1", known)
	closeNode(t, nodes[0])
	b := batchOf(t, nodes[1])
	f, err := cluster.Submit[int, int](t.Context(), nodes[1], "double", 1, cluster.InBatch(b), cluster.Unique("one", time.Hour))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	s, err := js.Stream(t.Context(), "filch_work")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	m, err := s.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal("s.GetMsg:", err)
	}
	if err := s.DeleteMsg(t.Context(), 1); err != nil {
		t.Fatal("s.DeleteMsg:", err)
	}
	m.Header.Del(nats.MsgIdHdr)
	m.Header["Filch-Version"] = []string{"2"}
	if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}); err != nil {
		t.Fatal("js.PublishMsg:", err)
	}
	after, err := cluster.Submit[int, int](t.Context(), nodes[1], "double", 1, cluster.After(f))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	cluster.Handle(reopen(t, nodes[0]), "double", double)
	if c := counts(t, b); c != (cluster.BatchCounts{Total: 1, Ended: 1, Failed: 1, Closed: true}) {
		t.Errorf("%+v", c)
	}
	for _, f := range []*cluster.Future[int]{f, after} {
		if _, err := wait(t, f, nil); err == nil || !strings.Contains(err.Error(), "this node reads 1") {
			t.Error("wait:", err)
		}
	}
	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "double", 1, cluster.Unique("one", time.Hour)); err != nil {
		t.Error("the key is not free:", err)
	}
}
