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

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
	"github.com/filch-go/filch/internal/poll"
)

// jobs handles "job" as the program does, at once.
func jobs(n *cluster.Node) *cluster.Handler[job, int] {
	return cluster.Handle(n, "job", func(_ context.Context, j job) (int, error) { return 2 * j.N, nil }, cluster.WithAckWait(stormAckWait))
}

// expect waits for a result, and fails the test if it is another one.
func expect[T comparable](t testing.TB, f *cluster.Future[T], want T) {
	t.Helper()
	if got, err := f.Wait(t.Context()); got != want || err != nil {
		t.Fatal("the result is", got, err)
	}
}

// submitJob submits a job for a worker that is a process.
func submitJob(t testing.TB, n *cluster.Node, j job, opts ...cluster.SubmitOption) *cluster.Future[int] {
	t.Helper()
	f, err := cluster.Submit[job, int](t.Context(), n, "job", j, opts...)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	return f
}

// takenOver waits for the result of a task whose node was lost, or hangs, for longer than that takes on a busy machine, and
// checks that another node has run it.
func takenOver[T comparable](t testing.TB, f *cluster.Future[T], want T, by *cluster.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := f.Wait(ctx); got != want || err != nil {
		t.Fatal("the result is", got, err)
	}
	if info := show(t, by, f.ID()); info.State != cluster.StateDone || info.Node != by.Name() || info.Attempts < 2 {
		t.Errorf("%+v", info)
	}
	if done := by.Stats().Done; done != 1 {
		t.Errorf("%s has run %d tasks", by.Name(), done)
	}
}

// ranOnce fails the test if a process has not run a task once.
func ranOnce(t testing.TB, p *clustertest.Process, id string) {
	t.Helper()
	if n := strings.Count(p.Output(), "ran "+id+" "); n != 1 {
		t.Errorf("the process has run the task %d times", n)
	}
}

// Tasks of a node that is killed go to another after AckWait.
func TestAKilledNodeKeepsNoTask(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t)
	killed := clustertest.Start(t, "worker", s.URL(), "killed", "2")
	if _, err := killed.Line(t.Context(), "ready"); err != nil {
		t.Fatal("killed.Line:", err)
	}
	n := openAt(t, s.URL(), cluster.WithNode("alive"))
	_, js := connect(t, s.URL())
	until(t, js, "job_p1", known) // a node that is ready may not have told the servers of its handler yet
	f := submitJob(t, n, job{Micros: 100_000_000, N: 4})
	if _, err := killed.Line(t.Context(), "ran "+f.ID()); err != nil {
		t.Fatal("killed.Line:", err)
	}
	jobs(n)
	killed.Kill()
	takenOver(t, f, 8, n)
	ranOnce(t, killed, f.ID())
}

// Tasks of a node that hangs go to another after AckWait. When it goes on, its results are not used.
func TestANodeThatHangsKeepsNoTask(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t)
	hung := clustertest.Start(t, "worker", s.URL(), "hung", "2")
	if _, err := hung.Line(t.Context(), "ready"); err != nil {
		t.Fatal("hung.Line:", err)
	}
	n := openAt(t, s.URL(), cluster.WithNode("alive"))
	_, js := connect(t, s.URL())
	until(t, js, "job_p1", known)
	f := submitJob(t, n, job{Micros: 5_000_000, N: 4})
	if _, err := hung.Line(t.Context(), "ran "+f.ID()); err != nil {
		t.Fatal("hung.Line:", err)
	}
	if err := hung.Stop(); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal("hung.Stop:", err)
	}
	jobs(n)
	takenOver(t, f, 8, n)
	if err := hung.Resume(); err != nil {
		t.Fatal("hung.Resume:", err)
	}
	g := submitJob(t, n, job{N: 5})
	expect(t, g, 10)
	empty(t, js)
	// It ends there for nothing, and counts so, as does the message of the task if that came while the node hung.
	poll.Until(t, time.Minute, "it has ended on the node that went on, for nothing", func() (bool, any) {
		all, err := n.Nodes(t.Context())
		i := slices.IndexFunc(all, func(i cluster.NodeInfo) bool { return i.Name == "hung" })
		return i >= 0 && all[i].Stats.Duplicates > 0 && all[i].Stats.Done+n.Stats().Done == 2, fmt.Sprintf("%+v %v", all, err)
	})
	ranOnce(t, hung, f.ID())
	if info := show(t, n, f.ID()); info.Node != "alive" {
		t.Errorf("the result is that of %+v", info)
	}
}

// A handler that makes no progress loses its task, though its node lives.
func TestAHandlerThatHangsKeepsNoTask(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(2), places(2))
	release := make(chan struct{})
	defer close(release)
	var runs atomic.Int64
	causes := make(chan error, 1)
	for _, n := range nodes {
		cluster.Handle(n, "hang", func(ctx context.Context, _ int) (int64, error) {
			r := runs.Add(1)
			if r == 1 {
				filch.Blocking(ctx, func() { <-ctx.Done(); causes <- context.Cause(ctx); <-release })
			}
			return r, nil
		}, cluster.WithSilence(time.Second), cluster.WithAckWait(time.Second))
	}
	f, err := cluster.Submit[int, int64](t.Context(), nodes[0], "hang", 0)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := f.Wait(ctx); got != 2 || err != nil {
		t.Fatal("the result is", got, err)
	}
	if err := <-causes; !errors.Is(err, cluster.ErrSilent) {
		t.Error("<-causes:", err)
	}
	if info := show(t, nodes[0], f.ID()); runs.Load() != 2 || info.State != cluster.StateDone || info.Attempts < 2 {
		t.Errorf("%d runs, %+v", runs.Load(), info)
	}
}

// A task that ends its process ends as many as it has attempts, and is then a dead letter. Others run meanwhile.
func TestAPoisonTaskEndsInDeadLetters(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var deaths atomic.Int64
	p := clustertest.Start(t, "poison", s.URL(), "poison")
	go func() { // what watches over the processes of a service
		defer close(ended)
		for {
			select {
			case <-p.Ended():
				if deaths.Add(1); ctx.Err() == nil {
					p = clustertest.Start(t, "poison", s.URL(), "poison")
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() { cancel(); <-ended }()
	n := openAt(t, s.URL(), cluster.WithPlaces(0))
	_, js := connect(t, s.URL())
	for _, lane := range []string{"poison_p1", "double_p1"} {
		until(t, js, lane, func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting > 0 })
	}
	poison, err := cluster.Submit[int, int](t.Context(), n, "poison", 0)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	for i := range 50 {
		f, err := cluster.Submit[int, int](t.Context(), n, "double", i)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		expect(t, f, 2*i)
	}
	_, err = poison.Wait(t.Context())
	if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Attempts != 2 || !strings.Contains(e.Message, "no node that had it has answered") {
		t.Error("poison.Wait:", err)
	}
	if d := deaths.Load(); d != 2 {
		t.Error("processes that it ended:", d)
	}
	if dead := deadLetters(t, js); dead != 1 {
		t.Error("dead letters:", dead)
	}
	empty(t, js)
}

// deadLetters returns how many there are.
func deadLetters(t testing.TB, js jetstream.JetStream) uint64 {
	t.Helper()
	s, err := js.Stream(t.Context(), "filch_dead")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	return s.CachedInfo().State.Msgs
}

func TestAFullStreamIsSaidAndEmptied(t *testing.T) {
	t.Parallel()
	opts := append(places(0), cluster.WithQueueLimit(5, filch.Reject))
	nodes, js := share(t, opts, append(places(0), cluster.WithQueueLimit(5, filch.Block)), places(2))
	gate := make(chan struct{})
	cluster.Handle(nodes[2], "double", func(ctx context.Context, n int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return 2 * n, nil
	})
	until(t, js, "double_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	var futures []*cluster.Future[int]
	for i := range 5 {
		f, err := cluster.Submit[int, int](t.Context(), nodes[0], "double", i)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		futures = append(futures, f)
	}
	if _, err := cluster.Submit[int, int](t.Context(), nodes[0], "double", 5); !errors.Is(err, cluster.ErrQueueFull) {
		t.Error("Reject:", err)
	}
	for full := false; !full; { // the time may be over while the servers are asked: then it is not known whether they are full
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := cluster.Submit[int, int](ctx, nodes[1], "double", 5)
		cancel()
		if full = errors.Is(err, cluster.ErrQueueFull); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal("Block:", err)
		}
	}
	blocked := make(chan *cluster.Future[int])
	go func() {
		f, err := cluster.Submit[int, int](t.Context(), nodes[1], "double", 5)
		if err != nil {
			t.Error("cluster.Submit:", err)
		}
		blocked <- f
	}()
	close(gate)
	for i, f := range append(futures, <-blocked) {
		expect(t, f, 2*i)
	}
}

// A node whose connection is slow does its part, and holds up nobody.
func TestASlowNodeDoesItsPart(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t)
	proxy := clustertest.NewProxy(t, strings.TrimPrefix(s.URL(), "nats://"))
	slow := openAt(t, "nats://"+proxy.Addr(), cluster.WithNode("slow"), cluster.WithPlaces(4))
	fast := openAt(t, s.URL(), cluster.WithNode("fast"), cluster.WithPlaces(4))
	jobs(slow)
	h := jobs(fast)
	_, js := connect(t, s.URL())
	until(t, js, "job_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
	proxy.Delay(100 * time.Millisecond)
	var futures []*cluster.Future[int]
	for i := range 200 {
		f, err := h.Submit(t.Context(), job{N: i})
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		futures = append(futures, f)
	}
	for i, f := range futures {
		expect(t, f, 2*i)
	}
	f, err := cluster.Submit[job, int](t.Context(), slow, "job", job{N: 1})
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	expect(t, f, 2)
	proxy.Delay(0)
	empty(t, js)
	if s := slow.Stats(); s.Done == 0 {
		t.Errorf("it did nothing: %+v", s)
	}
}

// A server that is cut off from the others says so to its clients, the others go on, and it comes back.
func TestAPartitionIsSaidAndHealed(t *testing.T) {
	t.Parallel()
	s := clustertest.Three(t)
	apart := openAt(t, s.ServerURL(0), cluster.WithNode("apart"), cluster.WithReplicas(3), cluster.WithPlaces(1))
	rest := openAt(t, s.ServerURL(1)+","+s.ServerURL(2), cluster.WithNode("rest"), cluster.WithReplicas(3), cluster.WithPlaces(1))
	jobs(apart)
	jobs(rest)
	expect(t, submitJob(t, apart, job{N: 1}), 2)
	expect(t, submitJob(t, rest, job{N: 1}), 2)
	s.Isolate(0)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := cluster.Submit[job, int](ctx, apart, "job", job{N: 2})
	if err == nil || !strings.Contains(err.Error(), "the servers have not confirmed") || !errors.Is(err, context.DeadlineExceeded) {
		t.Error("Submit at the server that is cut off:", err)
	}
	begin := time.Now()
	expect(t, submitJob(t, rest, job{N: 3}), 6)
	t.Log("the others went on after", time.Since(begin))
	s.Rejoin(0)
	begin = time.Now()
	expect(t, submitJob(t, apart, job{N: 4}), 8)
	t.Log("the server was back after", time.Since(begin))
	_, js := connect(t, s.URL())
	empty(t, js)
}

// Delays and times to live follow the servers' clocks: a minute more or less on a node changes nothing.
func TestClocksMayBeOffByAMinute(t *testing.T) {
	t.Parallel()
	off := func(d time.Duration) []cluster.Option {
		return []cluster.Option{cluster.WithPlaces(2), cluster.WithClock(func() time.Time { return time.Now().Add(d) })}
	}
	nodes, js := share(t, off(time.Minute), off(-time.Minute))
	for i, n := range nodes {
		other := nodes[1-i]
		name := []string{"early", "late"}[i]
		cluster.Handle(n, name, func(ctx context.Context, end bool) (int, error) {
			if !end {
				filch.Blocking(ctx, func() { <-ctx.Done() })
				return 0, ctx.Err()
			}
			return 1, ctx.Err()
		}, cluster.WithAckWait(time.Second))
		until(t, js, name+"_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
		for _, within := range []time.Duration{20 * time.Second, 59 * time.Second, time.Hour} {
			f, err := cluster.Submit[bool, int](t.Context(), other, name, true, cluster.Within(within))
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			expect(t, f, 1)
		}
		f, err := cluster.Submit[bool, int](t.Context(), other, name, false, cluster.Within(300*time.Millisecond))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := f.Wait(ctx); !errors.Is(err, cluster.ErrDeadline) {
			t.Error(name, err)
		}
	}
}
