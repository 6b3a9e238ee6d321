package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// numbers are those below n.
func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func join(a, b string) string { return a + " " + b }

func TestMapReduceIsThatOfALoop(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(4), places(4), places(0))
	for _, n := range nodes[:2] {
		cluster.Handle(n, "text", func(_ context.Context, i int) (string, error) { return fmt.Sprint(i), nil })
	}
	until(t, js, "text_p1", known)
	for _, size := range []int{0, 1, 2, 700} {
		var want []string
		for i := range size {
			want = append(want, fmt.Sprint(i))
		}
		got, err := cluster.MapReduce(t.Context(), nodes[2], "text", numbers(size), join)
		if got != strings.Join(want, " ") || err != nil {
			t.Error(size, got, err)
		}
	}
}

func TestMapReduceAsksForNoMoreThanIsAllowed(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), append(places(0), cluster.WithQueueLimit(1000, filch.Reject)))
	gate := make(chan struct{})
	cluster.Handle(nodes[0], "gate", func(ctx context.Context, i int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return i, nil
	})
	until(t, js, "gate_p1", known)
	var asked atomic.Int64
	inputs := func(yield func(int) bool) {
		for i := range numbers(1000) {
			if asked.Add(1); !yield(i) {
				return
			}
		}
	}
	sum := make(chan int, 1)
	go func() {
		got, err := cluster.MapReduce(t.Context(), nodes[1], "gate", inputs, func(a, b int) int { return a + b })
		if err != nil {
			t.Error("cluster.MapReduce:", err)
		}
		sum <- got
	}()
	untilStream(t, js, "filch_work", "filch.work.>", func(n int) bool { return n == 256 })
	if n := asked.Load(); n != 256 {
		t.Error("asked for", n)
	}
	close(gate)
	if got := <-sum; got != 499500 {
		t.Error(got)
	}
}

func TestMapReduceFitsIntoAFullStream(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, append(places(2), cluster.WithQueueLimit(3, filch.Reject)))
	h := cluster.Handle(nodes[0], "double", double)
	got, err := cluster.MapReduce(t.Context(), nodes[0], h.Name(), numbers(50), func(a, b int) int { return a + b })
	if got != 2450 || err != nil {
		t.Error(got, err)
	}
}

func TestAFailureOfMapReduceCancelsTheRest(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2))
	ended := make(chan error, 1)
	h := cluster.Handle(nodes[0], "some", func(ctx context.Context, i int) (int, error) {
		if i == 1 {
			return 0, cluster.Permanent(errors.New("as asked"))
		}
		filch.Blocking(ctx, func() { <-ctx.Done() })
		if i == 0 {
			ended <- context.Cause(ctx)
		}
		return 0, ctx.Err()
	})
	sum := func(a, b int) int { return a + b }
	_, err := cluster.MapReduce(t.Context(), nodes[0], h.Name(), numbers(20), sum)
	if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Message != "as asked" {
		t.Error("cluster.MapReduce:", err)
	}
	if err := <-ended; !errors.Is(err, cluster.ErrCanceled) {
		t.Error("<-ended:", err)
	}
	untilStream(t, js, "filch_work", "filch.>", none)

	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err = cluster.MapReduce(ctx, nodes[0], h.Name(), func(yield func(int) bool) {
		yield(0)
		cancel(enough)
		yield(2)
	}, sum)
	if !errors.Is(err, enough) {
		t.Error("cluster.MapReduce:", err)
	}
	untilStream(t, js, "filch_work", "filch.>", none)
}

func TestAHandlerCanCallMapReduce(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(1))
	n := nodes[0]
	cluster.Handle(n, "square", func(_ context.Context, i int) (int, error) { return i * i, nil })
	outer := cluster.Handle(n, "squares", func(ctx context.Context, to int) (int, error) {
		return cluster.MapReduce(ctx, n, "square", numbers(to), func(a, b int) int { return a + b })
	})
	got, err := cluster.MapReduce(t.Context(), n, outer.Name(), slices.Values([]int{10, 20}), func(a, b int) int { return a + b })
	if got != 285+2470 || err != nil {
		t.Error(got, err)
	}
}

func TestMapReduceChecksItsArguments(t *testing.T) {
	t.Parallel()
	n := open(t)
	cluster.Handle(n, "double", double)
	sum := func(a, b int) int { return a + b }
	for _, o := range []cluster.SubmitOption{cluster.ID("a"), cluster.NoResult(), cluster.Unique("a", 1<<40), nil} {
		if _, err := cluster.MapReduce(t.Context(), n, "double", numbers(1), sum, o); err == nil {
			t.Error("taken")
		}
	}
	if _, err := cluster.MapReduce(t.Context(), n, "nobody", numbers(1), sum); !errors.Is(err, cluster.ErrUnknownHandler) {
		t.Error("cluster.MapReduce:", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("nil was taken")
		}
	}()
	_, _ = cluster.MapReduce(t.Context(), n, "double", numbers(1), (func(a, b int) int)(nil))
}
