package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/par"
)

func wait[T any](t testing.TB, f *cluster.Future[T], err error) (T, error) {
	t.Helper()
	if err != nil {
		t.Fatal("Submit:", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return f.Wait(ctx)
}

func TestAnIDRunsOnce(t *testing.T) {
	t.Parallel()
	n := open(t)
	ran := 0
	h := cluster.Handle(n, "count", func(context.Context, int) (int, error) { ran++; return ran, nil })
	for range 3 {
		f, err := h.Submit(t.Context(), 0, cluster.ID("once"))
		if got, err := wait(t, f, err); got != 1 || err != nil {
			t.Error(got, err)
		}
	}
}

func TestTheErrorOfAnotherTaskIsNotThisOnes(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "outer", func(context.Context, int) (int, error) {
		return 0, cluster.Permanent(fmt.Errorf("the inner task: %w", cluster.ErrCanceled))
	})
	f, err := h.Submit(t.Context(), 0)
	_, err = wait(t, f, err)
	if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Attempts != 1 {
		t.Error("wait:", err)
	}
}

func TestAResultOrAnArgumentThatIsTooLargeIsAnError(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "grow", func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil })
	f, err := h.Submit(t.Context(), 2<<20)
	_, err = wait(t, f, err)
	if e, ok := errors.AsType[*cluster.TaskError](err); !ok || !strings.Contains(e.Message, "the result has 2097154 bytes") {
		t.Error("wait:", err)
	}
	swallow := cluster.Handle(n, "swallow", func(_ context.Context, s string) (int, error) { return len(s), nil })
	if _, err := swallow.Submit(t.Context(), strings.Repeat("x", 2<<20)); !errors.Is(err, cluster.ErrTooLarge) {
		t.Error("swallow.Submit:", err)
	}
}

func TestATaskThatTakesTooLongEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "slow", func(ctx context.Context, _ int) (int, error) {
		filch.Blocking(ctx, func() { <-ctx.Done() })
		return 0, ctx.Err()
	})
	for name, opts := range map[string][]cluster.SubmitOption{"local": {cluster.LocalFirst()}, "stored": nil} {
		f, err := h.Submit(t.Context(), 0, append(opts, cluster.Within(50*time.Millisecond))...)
		_, err = wait(t, f, err)
		if !errors.Is(err, cluster.ErrDeadline) {
			t.Error(name, err)
		}
	}
}

// A task whose time was over before a node got it is not run.
func TestATaskThatIsTooLateIsNotRun(t *testing.T) {
	t.Parallel()
	n := open(t)
	var ran atomic.Int64
	h := cluster.Handle(n, "count", func(context.Context, int) (int64, error) { return ran.Add(1), nil })
	for name, opts := range map[string][]cluster.SubmitOption{"local": {cluster.LocalFirst()}, "stored": nil} {
		f, err := h.Submit(t.Context(), 0, append(opts, cluster.Within(time.Nanosecond))...)
		if _, err = wait(t, f, err); !errors.Is(err, cluster.ErrDeadline) {
			t.Error(name, err)
		}
	}
	eventually(t, "a node ends it", func() bool { return n.Stats().Late == 1 }) // its Future may have ended before
	if ran.Load() != 0 {
		t.Errorf("it ran: %d, %+v", ran.Load(), n.Stats())
	}
}

// A task that comes again after its outcome was stored is not run again: its outcome stays.
func TestATaskThatHasEndedIsNotRunAgain(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	kv, err := js.KeyValue(t.Context(), "filch_results")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	var ran atomic.Int64
	h := cluster.Handle(nodes[0], "count", func(ctx context.Context, _ int) (int64, error) {
		if ran.Add(1) == 1 { // as if another node had it as well, and was done before
			info, _ := cluster.TaskOf(ctx)
			_, err := kv.Create(ctx, info.ID, []byte("{\"status\":\"done\",\"codec\":\"json\"}\n7"))
			return 0, cluster.RetryAfter(errors.Join(errors.New("again"), err), time.Millisecond)
		}
		return ran.Load(), nil
	})
	f, err := h.Submit(t.Context(), 0)
	if got, err := wait(t, f, err); got != 7 || err != nil {
		t.Error(got, err)
	}
	empty(t, js)
	if s := nodes[0].Stats(); ran.Load() != 1 || s.Duplicates != 1 || s.Done != 0 {
		t.Errorf("it ran %d times: %+v", ran.Load(), s)
	}
}

// Of the outcomes of a task that two nodes have run, the first that is stored counts, also for the node of the second.
func TestTheFirstOutcomeCounts(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	kv, err := js.KeyValue(t.Context(), "filch_results")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	h := cluster.Handle(nodes[0], "late", func(ctx context.Context, _ int) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		_, err := kv.Create(ctx, info.ID, []byte("{\"status\":\"done\",\"codec\":\"json\"}\n7"))
		return 8, err
	})
	f, err := h.Submit(t.Context(), 0)
	if got, err := wait(t, f, err); got != 7 || err != nil {
		t.Error(got, err)
	}
	if s := nodes[0].Stats(); s.Duplicates != 1 {
		t.Errorf("%+v", s)
	}
}

// A handler that ends its goroutine has failed, as one that panics.
func TestAHandlerThatDoesNotReturnHasFailed(t *testing.T) {
	t.Parallel()
	n := open(t)
	once := cluster.WithRetry(cluster.Retry{Attempts: 1})
	exit := cluster.Handle(n, "exit", func(context.Context, int) (int, error) { runtime.Goexit(); return 0, nil }, once)
	crash := cluster.Handle(n, "crash", func(context.Context, int) (int, error) { panic("oh") }, once)
	for want, h := range map[string]*cluster.Handler[int, int]{"runtime.Goexit": exit, "panic: oh": crash} {
		f, err := h.Submit(t.Context(), 0)
		_, err = wait(t, f, err)
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || !strings.Contains(e.Message, want) {
			t.Error(want, err)
		}
	}
}

func TestASilentHandlerIsTriedAgain(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "hang", func(ctx context.Context, _ int) (int, error) {
		if info, _ := cluster.TaskOf(ctx); info.Attempt > 1 {
			return info.Attempt, nil
		}
		filch.Blocking(ctx, func() { <-ctx.Done() })
		if !errors.Is(context.Cause(ctx), cluster.ErrSilent) {
			t.Error(context.Cause(ctx))
		}
		return 0, ctx.Err()
	}, cluster.WithSilence(100*time.Millisecond), cluster.WithRetry(cluster.Retry{First: time.Millisecond}))
	f, err := h.Submit(t.Context(), 0)
	if got, err := wait(t, f, err); got != 2 || err != nil {
		t.Error(got, err)
	}
}

func TestALeavingNodeGivesItsTasksBack(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	began := make(chan struct{})
	cluster.Handle(nodes[0], "job", func(ctx context.Context, _ int) (string, error) {
		close(began)
		filch.Blocking(ctx, func() { <-ctx.Done() })
		return "", ctx.Err()
	})
	until(t, js, "job_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	f, err := cluster.Submit[int, string](t.Context(), nodes[1], "job", 0)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := nodes[0].Close(ctx); !errors.Is(err, context.Canceled) {
		t.Error("Close:", err)
	}
	second := reopen(t, nodes[0])
	cluster.Handle(second, "job", func(ctx context.Context, _ int) (string, error) {
		info, _ := cluster.TaskOf(ctx)
		return fmt.Sprint("attempt ", info.Attempt), nil
	})
	if got, err := wait(t, f, nil); got != "attempt 1" || err != nil {
		t.Error(got, err)
	}
}

// reopen opens a node in the place of one that was closed.
func reopen(t testing.TB, n *cluster.Node) *cluster.Node {
	t.Helper()
	again, err := cluster.Open(t.Context(), cluster.WithConn(conn(t)), cluster.WithNode(n.Name()+"-again"))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, again) })
	return again
}

func TestSubmitOnlyNodesKnowHandlersOfOthers(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	cluster.Handle(nodes[0], "keyed", double, cluster.WithKeys(3))
	cluster.Handle(nodes[0], "few", double, cluster.WithLimit(1))
	until(t, js, "keyed_p1", func(*jetstream.ConsumerInfo) bool { return true })
	until(t, js, "few_p1", func(*jetstream.ConsumerInfo) bool { return true })
	f, err := cluster.Submit[int, int](t.Context(), nodes[1], "keyed", 2, cluster.Key("a"))
	if got, err := wait(t, f, err); got != 4 || err != nil {
		t.Error(got, err)
	}
	for text, opts := range map[string][]cluster.SubmitOption{
		"takes no keys": {cluster.Key("a")},
		"has a limit":   {cluster.AtLevel(cluster.High)},
	} {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "few", 2, opts...); err == nil || !strings.Contains(err.Error(), text) {
			t.Error(text, err)
		}
	}
}

func TestOtherOptionsThanOtherNodesAreRefused(t *testing.T) {
	t.Parallel()
	log := newLines()
	nodes, js := share(t, places(1), append(places(1), cluster.WithLogger(log.logger())))
	cluster.Handle(nodes[0], "keyed", double, cluster.WithKeys(3))
	until(t, js, "keyed_p1", func(*jetstream.ConsumerInfo) bool { return true })
	cluster.Handle(nodes[1], "keyed", double, cluster.WithKeys(4))
	log.until(t, "has other options")
}

func TestAFullStream(t *testing.T) {
	t.Parallel()
	n := open(t, cluster.WithQueueLimit(3, filch.Reject), cluster.WithPlaces(0))
	cluster.Handle(n, "double", double)
	for i := range 4 {
		_, err := cluster.Submit[int, int](t.Context(), n, "double", i)
		if full := errors.Is(err, cluster.ErrQueueFull); full != (i == 3) {
			t.Error(i, err)
		}
	}
}

func TestUnreadableMessagesGoToTheDeadLetters(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2))
	h := cluster.Handle(nodes[0], "double", double)
	for _, header := range []nats.Header{
		nil,
		{"Filch-Version": {"99"}, "Filch-Id": {"a"}},
		{"Filch-Version": {"1"}, "Filch-Id": {"not a name"}},
		{"Filch-Version": {"1"}, "Filch-Id": {"b"}, "Filch-Codec": {"json"}, "Filch-Time": {"-1"}},
		{"Filch-Version": {"1"}, "Filch-Id": {"c"}, "Filch-Codec": {"json"}, "Filch-From": {"a.b>"}},
	} {
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "filch.work.double.p1", Header: header, Data: []byte("\x00\xff")}); err != nil {
			t.Fatal("js.PublishMsg:", err)
		}
	}
	f, err := h.Submit(t.Context(), 4)
	if got, err := wait(t, f, err); got != 8 || err != nil {
		t.Error(got, err)
	}
	eventually(t, "five messages are dead letters", func() bool { return nodes[0].Stats().Refused == 5 })
	untilStream(t, js, "filch_dead", ">", func(n int) bool { return n == 5 })
}

func TestHandlersAreTasksOfThePool(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	n := open(t, cluster.WithPool(p))
	h := cluster.Handle(n, "sum", func(ctx context.Context, n int) (int, error) {
		var forked atomic.Int64
		par.For(filch.ScopeOf(ctx), n, func(i int) { forked.Add(int64(i)) })
		submitted, err := filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }).Wait(ctx)
		return int(forked.Load()) + submitted, err
	})
	for _, opts := range [][]cluster.SubmitOption{{cluster.LocalFirst()}, nil} {
		f, err := h.Submit(t.Context(), 1000, opts...)
		if got, err := wait(t, f, err); got != 499501 || err != nil {
			t.Error(got, err)
		}
	}
}

func TestHandlersMayWaitForTasksOfTheCluster(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	n := open(t, cluster.WithPool(p), cluster.WithPlaces(1))
	var fib *cluster.Handler[int, int]
	fib = cluster.Handle(n, "fib", func(ctx context.Context, n int) (int, error) {
		if n < 2 {
			return n, nil
		}
		a, err := fib.Submit(ctx, n-1)
		if err != nil {
			return 0, err
		}
		b, err := fib.Submit(ctx, n-2, cluster.LocalFirst())
		if err != nil {
			return 0, err
		}
		x, err := a.Wait(ctx)
		if err != nil {
			return 0, err
		}
		y, err := b.Wait(ctx)
		return x + y, err
	})
	f, err := fib.Submit(t.Context(), 6)
	if got, err := wait(t, f, err); got != 8 || err != nil {
		t.Error(got, err)
	}
}
