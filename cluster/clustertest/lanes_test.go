package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// share opens nodes on one embedded server, with options each.
func share(t testing.TB, each ...[]cluster.Option) (nodes []*cluster.Node, js jetstream.JetStream) {
	t.Helper()
	nc, stop, err := embedded.Server{Dir: t.TempDir(), NoSync: true}.Start(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); stop() })
	conns.Store(t.Name(), nc)
	if js, err = jetstream.New(nc); err != nil {
		t.Fatal("jetstream.New:", err)
	}
	for i, opts := range each {
		n, err := cluster.Open(t.Context(), append([]cluster.Option{cluster.WithConn(nc), cluster.WithNode(fmt.Sprint("n", i))}, opts...)...)
		if err != nil {
			t.Fatal("cluster.Open:", err)
		}
		t.Cleanup(func() { closeNode(t, n) })
		nodes = append(nodes, n)
	}
	return nodes, js
}

// conns are the connections of share, by the names of tests.
var conns sync.Map

// conn returns the connection of share.
func conn(t testing.TB) *nats.Conn {
	nc, _ := conns.Load(t.Name())
	return nc.(*nats.Conn)
}

// closeNode closes a node, unless the test has done so.
func closeNode(t testing.TB, n *cluster.Node) {
	t.Helper()
	late := errors.New("the node has not closed within 25 s")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 25*time.Second, late)
	defer cancel()
	if err := n.Close(ctx); errors.Is(err, late) {
		t.Error("Close:", err)
	}
}

func places(n int) []cluster.Option { return []cluster.Option{cluster.WithPlaces(n)} }

func TestNearNodesAreServedFirst(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(1), cluster.WithTier(9)), append(places(1), cluster.WithTier(0)), places(0))
	var at [2]atomic.Int64
	for i, n := range nodes[:2] {
		cluster.Handle(n, "where", func(context.Context, int) (int, error) { at[i].Add(1); return i, nil })
	}
	for range 20 {
		until(t, js, "where_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
		f, err := cluster.Submit[int, int](t.Context(), nodes[2], "where", 0)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		if got, err := f.Wait(t.Context()); got != 1 || err != nil {
			t.Error("the task ran on the far node:", got, err)
		}
	}
}

func TestFarNodesTakeWhatExceedsAThreshold(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), append(places(4), cluster.WithTier(1)), places(0))
	release := make(chan struct{})
	var at [2]atomic.Int64
	for i, n := range nodes[:2] {
		cluster.Handle(n, "where", func(ctx context.Context, _ int) (int, error) {
			at[i].Add(1)
			filch.Blocking(ctx, func() { <-release })
			return i, nil
		}, cluster.WithStealAbove(3))
	}
	defer close(release)
	until(t, js, "where_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
	submit := func(n int) {
		for range n {
			if _, err := cluster.Submit[int, int](t.Context(), nodes[2], "where", 0); err != nil {
				t.Fatal("cluster.Submit:", err)
			}
		}
	}
	submit(1)
	until(t, js, "where_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumAckPending == 1 })
	submit(3)
	until(t, js, "where_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumPending == 3 && i.NumAckPending == 1 })
	submit(2)
	until(t, js, "where_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumPending == 3 && i.NumAckPending == 3 })
	eventually(t, "one runs on the near node, and two on the far one", func() bool { return at[0].Load() == 1 && at[1].Load() == 2 })
}

func TestTasksOfAKeyRunInOrder(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(4), places(4))
	var mu sync.Mutex
	ran := map[string][]int{}
	now := map[string]int{}
	type step struct {
		Key string
		I   int
	}
	for _, n := range nodes {
		cluster.Handle(n, "step", func(ctx context.Context, s step) (int, error) {
			mu.Lock()
			now[s.Key]++
			if now[s.Key] > 1 {
				t.Error("two tasks of one key at once")
			}
			mu.Unlock()
			info, _ := cluster.TaskOf(ctx)
			mu.Lock()
			defer mu.Unlock()
			now[s.Key]--
			if s.I%7 == 3 && info.Attempt == 1 {
				return 0, fmt.Errorf("the first attempt of %d fails", s.I)
			}
			ran[s.Key] = append(ran[s.Key], s.I)
			return 0, nil
		}, cluster.WithKeys(4), cluster.WithRetry(cluster.Retry{First: time.Millisecond, Most: time.Millisecond}))
	}
	var futures []*cluster.Future[int]
	for i := range 40 {
		for _, key := range []string{"a", "b", "c"} {
			f, err := cluster.Submit[step, int](t.Context(), nodes[0], "step", step{key, i}, cluster.Key(key))
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			futures = append(futures, f)
		}
	}
	for _, f := range futures {
		if _, err := f.Wait(t.Context()); err != nil {
			t.Fatal("f.Wait:", err)
		}
	}
	for key, is := range ran {
		if !slices.IsSorted(is) || len(is) != 40 {
			t.Error(key, is)
		}
	}
}

// atOnce is how many tasks of a handler run, and ran at most, at once.
type atOnce struct{ now, most atomic.Int64 }

func (a *atOnce) enter() {
	v := a.now.Add(1)
	for m := a.most.Load(); v > m && !a.most.CompareAndSwap(m, v); m = a.most.Load() {
	}
}

// As many tasks run at once as the limit says, on each node or in all: the first wait for one another, and no later one is more.
func TestAsManyRunAtOnceAsTheLimitSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit cluster.HandlerOption
		nodes [2]int // the count of each of two nodes
		want  []int64
	}{
		"cluster": {cluster.WithLimit(3), [2]int{0, 0}, []int64{3}},
		"node":    {cluster.WithNodeLimit(2), [2]int{0, 1}, []int64{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, _ := share(t, places(8), places(8))
			counts := make([]atOnce, len(c.want))
			gate := make(chan struct{})
			for i, n := range nodes {
				count := &counts[c.nodes[i]]
				cluster.Handle(n, "few", func(ctx context.Context, _ int) (int, error) {
					count.enter()
					defer count.now.Add(-1)
					filch.Blocking(ctx, func() { <-gate })
					return 0, nil
				}, c.limit)
			}
			var futures []*cluster.Future[int]
			for range 60 {
				f, err := cluster.Submit[int, int](t.Context(), nodes[0], "few", 0)
				if err != nil {
					t.Fatal("cluster.Submit:", err)
				}
				futures = append(futures, f)
			}
			for i, want := range c.want {
				eventually(t, "as many run as may", func() bool { return counts[i].now.Load() == want })
			}
			close(gate)
			for _, f := range futures {
				if _, err := wait(t, f, nil); err != nil {
					t.Fatal("wait:", err)
				}
			}
			for i, want := range c.want {
				if most := counts[i].most.Load(); most != want {
					t.Error("at once:", most, "and not", want)
				}
			}
		})
	}
}

func TestHigherLevelsComeFirst(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	gate, began := make(chan struct{}), make(chan struct{}, 1)
	var order []string
	cluster.Handle(nodes[0], "level", func(ctx context.Context, name string) (int, error) {
		if name == "first" {
			began <- struct{}{}
			filch.Blocking(ctx, func() { <-gate })
		}
		for range 20 { // a task takes longer than a lane needs until it waits for the next place
			if err := conn(t).Flush(); err != nil {
				return 0, err
			}
		}
		order = append(order, name)
		return 0, nil
	})
	submit := func(name string, level int) *cluster.Future[int] {
		f, err := cluster.Submit[string, int](t.Context(), nodes[1], "level", name, cluster.AtLevel(level))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		return f
	}
	for p := range 3 {
		until(t, js, fmt.Sprint("level_p", p), func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	}
	all := []*cluster.Future[int]{submit("first", cluster.Normal)}
	<-began
	const each = 300
	for range each {
		all = append(all, submit("low", cluster.Low))
	}
	for range each {
		all = append(all, submit("high", cluster.High))
	}
	close(gate)
	for _, f := range all {
		if _, err := f.Wait(t.Context()); err != nil {
			t.Fatal("f.Wait:", err)
		}
	}
	// A lane that the system keeps from running is late to ask for its next task, and lets low ones pass meanwhile.
	slices.Reverse(order)
	if after := slices.Index(order, "high"); after < each/2 || after == each {
		t.Error("low tasks after the last high one:", after, "of", each)
	}
}

// A key goes to the same node as long as that one waits, and not all keys go to one node. Nodes with the same weight for
// a partition take turns; of the eight partitions here, these nodes have one such.
func TestAKeyStaysOnItsNode(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), places(2), places(0))
	const partitions = 8
	for i, n := range nodes[:2] {
		cluster.Handle(n, "where", func(context.Context, int) (int, error) { return i, nil }, cluster.WithKeys(partitions))
	}
	at := map[string]int{}
	per := [2]int{}
	moved := map[string]bool{}
	for round := range 4 {
		for p := range partitions {
			until(t, js, fmt.Sprint("where_k", p), func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
		}
		for k := range 12 {
			key := fmt.Sprint("key", k)
			f, err := cluster.Submit[int, int](t.Context(), nodes[2], "where", 0, cluster.Key(key))
			got, err := wait(t, f, err)
			if err != nil {
				t.Fatal("wait:", err)
			}
			if round == 0 {
				at[key] = got
				per[got]++
			} else if at[key] != got {
				moved[key] = true
			}
			for p := range partitions {
				until(t, js, fmt.Sprint("where_k", p), func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
			}
		}
	}
	if per[0] == 0 || per[1] == 0 {
		t.Error("keys on each node:", per)
	}
	if len(moved) > 2 {
		t.Error("keys that moved:", moved)
	}
}

// More lanes than the servers' own limit of consumers, which begin at once, all get their tasks. It takes a minute: in the usual form the
// limit is only looked at.
func TestAClusterMayHaveManyLanes(t *testing.T) {
	t.Parallel()
	logged := newLines()
	nodes, js := share(t, []cluster.Option{cluster.WithPlaces(4), cluster.WithLogger(logged.logger())})
	if s, err := js.Stream(t.Context(), "filch_work"); err != nil || s.CachedInfo().Config.MaxConsumers < 100_000 {
		t.Error(s.CachedInfo().Config, err)
	}
	if os.Getenv("FILCH_LONG") == "" {
		return
	}
	var last *cluster.Handler[int, int]
	for i := range 12 { // so many that a node which made all consumers at once would get no answers in time
		last = cluster.Handle(nodes[0], fmt.Sprint("keyed", i), double, cluster.WithKeys(256))
	}
	for i := range 256 {
		if _, err := last.Submit(t.Context(), i, cluster.Key(fmt.Sprint("key", i)), cluster.NoResult()); err != nil {
			t.Fatal("last.Submit:", err)
		}
	}
	emptyWithin(t, js, time.Minute)
	if text := logged.String(); text != "" {
		t.Error(text[:min(len(text), 2000)])
	}
}
