package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// open opens a node with an embedded server of its own.
func open(t testing.TB, opts ...cluster.Option) *cluster.Node {
	t.Helper()
	opts = append([]cluster.Option{cluster.WithServer(embedded.Server{Dir: t.TempDir(), NoSync: true})}, opts...)
	n, err := cluster.Open(t.Context(), opts...)
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, n) })
	return n
}

func double(_ context.Context, n int) (int, error) { return 2 * n, nil }

func TestATaskRunsAndItsResultIsRead(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "double", double)
	for name, opts := range map[string][]cluster.SubmitOption{"local": {cluster.LocalFirst()}, "stored": nil, "named": {cluster.ID("a")}} {
		f, err := h.Submit(t.Context(), 21, opts...)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := f.Wait(t.Context()); got != 42 || err != nil {
			t.Fatal(name, got, err)
		}
	}
	s := n.Stats()
	if s.Local != 1 || s.Submitted != 2 || s.Done != 2 {
		t.Errorf("%+v", s)
	}
}

func TestEachOfManyTasksHasItsResult(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "double", double)
	var futures []*cluster.Future[int]
	for i := range 2000 {
		f, err := h.Submit(t.Context(), i)
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		futures = append(futures, f)
	}
	for i, f := range futures {
		if got, err := f.Wait(t.Context()); got != 2*i || err != nil {
			t.Fatal(i, got, err)
		}
	}
	if s := n.Stats(); s.Done != 2000 || s.Duplicates != 0 || s.Returned != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAFailureIsTriedAgainAndThenDead(t *testing.T) {
	t.Parallel()
	n := open(t)
	fast := cluster.WithRetry(cluster.Retry{Attempts: 3, First: time.Millisecond, Most: time.Millisecond})
	var attempts []int
	h := cluster.Handle(n, "flaky", func(ctx context.Context, ok int) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		attempts = append(attempts, info.Attempt)
		if info.Attempt < ok {
			return 0, fmt.Errorf("attempt %d", info.Attempt)
		}
		return info.Attempt, nil
	}, fast)
	f, err := h.Submit(t.Context(), 3)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	if got, err := f.Wait(t.Context()); got != 3 || err != nil {
		t.Fatal(got, err)
	}
	if f, err = h.Submit(t.Context(), 9); err != nil {
		t.Fatal("h.Submit:", err)
	}
	_, err = f.Wait(t.Context())
	if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Attempts != 3 || e.Message != "attempt 3" || e.Handler != "flaky" {
		t.Errorf("%v", err)
	}
	if fmt.Sprint(attempts) != "[1 2 3 1 2 3]" {
		t.Error(attempts)
	}
}

func TestCancelEndsATaskThatRuns(t *testing.T) {
	t.Parallel()
	n := open(t)
	begun := make(chan struct{})
	ended := make(chan error, 1)
	h := cluster.Handle(n, "wait", func(ctx context.Context, _ int) (int, error) {
		close(begun)
		filch.Blocking(ctx, func() { <-ctx.Done() })
		ended <- context.Cause(ctx)
		return 0, ctx.Err()
	})
	f, err := h.Submit(t.Context(), 1)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	<-begun
	f.Cancel()
	if _, err := f.Wait(t.Context()); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("f.Wait:", err)
	}
	if err := <-ended; !errors.Is(err, cluster.ErrCanceled) {
		t.Error("<-ended:", err)
	}
}

func TestATaskOfAnUnknownHandlerIsRefused(t *testing.T) {
	t.Parallel()
	n := open(t)
	if _, err := cluster.Submit[int, int](t.Context(), n, "nobody", 1); !errors.Is(err, cluster.ErrUnknownHandler) {
		t.Error("cluster.Submit:", err)
	}
}
