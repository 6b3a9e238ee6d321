package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// nothingWaits waits until no task waits for others.
func nothingWaits(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	for _, key := range []string{"edge.>", "met.*"} {
		untilStream(t, js, "KV_filch_after", "$KV.filch_after."+key, none)
	}
	kv, err := js.KeyValue(t.Context(), "filch_after")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	keys, err := kv.Keys(t.Context())
	if len(keys) > 0 || err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		t.Error("still waiting:", keys, err)
	}
}

func TestATaskRunsAfterItsDependencies(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(4))
	var mu sync.Mutex
	var order []string
	gate := make(chan struct{})
	h := cluster.Handle(nodes[0], "step", func(ctx context.Context, name string) (string, error) {
		if name == "a" || name == "b" {
			filch.Blocking(ctx, func() { <-gate })
		}
		mu.Lock()
		defer mu.Unlock()
		order = append(order, name)
		return name, nil
	})
	submit := func(name string, opts ...cluster.SubmitOption) *cluster.Future[string] {
		f, err := h.Submit(t.Context(), name, opts...)
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		return f
	}
	a, b := submit("a"), submit("b")
	c := submit("c", cluster.After(a, b, a))
	d := submit("d", cluster.ID("d"), cluster.After(c))
	again := submit("d", cluster.ID("d"), cluster.After(c))
	if _, err := h.Submit(t.Context(), "d", cluster.ID("d"), cluster.After(a)); err == nil {
		t.Error("a task that waits was taken with other dependencies")
	}
	gate <- struct{}{}
	gate <- struct{}{}
	for _, f := range []*cluster.Future[string]{a, b, c, d, again, submit("e", cluster.After(a, d))} {
		if _, err := f.Wait(t.Context()); err != nil {
			t.Error("f.Wait:", err)
		}
	}
	if got := strings.Join(order, ""); got != "abcde" && got != "bacde" {
		t.Error(got)
	}
	nothingWaits(t, js)
}

func TestATaskIsRefusedIfADependencyDoesNotEndWell(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), places(0))
	gate, began := make(chan struct{}), make(chan struct{}, 10)
	var ran atomic.Int64
	h := cluster.Handle(nodes[0], "step", func(ctx context.Context, name string) (int, error) {
		ran.Add(1)
		began <- struct{}{}
		filch.Blocking(ctx, func() {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		})
		if name == "fail" {
			return 0, cluster.Permanent(errors.New("as asked"))
		}
		return 0, ctx.Err()
	})
	until(t, js, "step_p1", known)
	for name, want := range map[string]string{"fail": "failed: as asked", "cancel": "ended as canceled"} {
		first, err := h.Submit(t.Context(), name)
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		<-began
		other, err := cluster.Submit[string, int](t.Context(), nodes[1], "step", "other", cluster.After(first, cluster.TaskID("never")))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		last, err := h.Submit(t.Context(), "last", cluster.After(other))
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		if name == "cancel" {
			first.Cancel()
		} else {
			gate <- struct{}{}
		}
		_, err = other.Wait(t.Context())
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Message != fmt.Sprintf("its dependency %s %s", first.ID(), want) || e.Attempts != 0 || e.Handler != "step" {
			t.Error(name, err)
		}
		_, err = last.Wait(t.Context())
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || !strings.HasPrefix(e.Message, "its dependency "+other.ID()+" failed: its dependency "+first.ID()) {
			t.Error(name, err)
		}
		late, err := h.Submit(t.Context(), "late", cluster.After(first))
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		if _, err = late.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(name, err)
		}
	}
	if n := ran.Load(); n != 2 {
		t.Error("handlers called:", n)
	}
	nothingWaits(t, js)
	untilStream(t, js, "filch_dead", "filch.dead.step.*", func(n int) bool { return n == 7 })
}

func TestATaskThatWaitsIsCanceled(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	h := cluster.Handle(nodes[0], "double", double)
	a, err := h.Submit(t.Context(), 1, cluster.After(cluster.TaskID("never")), cluster.Unique("a", time.Hour))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	b, err := h.Submit(t.Context(), 1, cluster.After(a))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	if err := nodes[0].Cancel(t.Context(), a.ID()); err != nil {
		t.Fatal("nodes:", err)
	}
	if _, err := a.Wait(t.Context()); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("a.Wait:", err)
	}
	if _, err := b.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "ended as canceled") {
		t.Error("b.Wait:", err)
	}
	if _, err := h.Submit(t.Context(), 1, cluster.Unique("a", time.Hour)); err != nil {
		t.Error("the key is not free:", err)
	}
	nothingWaits(t, js)
}

func TestACycleIsRefused(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(1))
	for _, n := range nodes {
		cluster.Handle(n, "double", double)
	}
	until(t, js, "double_p1", known)
	submit := func(node int, id string, after ...cluster.Dependency) (*cluster.Future[int], error) {
		return cluster.Submit[int, int](t.Context(), nodes[node], "double", 1, cluster.ID(id), cluster.After(after...))
	}
	if _, err := submit(0, "self", cluster.TaskID("self")); !errors.Is(err, cluster.ErrCycle) {
		t.Error("submit:", err)
	}
	b, err := cluster.NewBatch(t.Context(), nodes[0])
	if err != nil {
		t.Fatal("cluster.NewBatch:", err)
	}
	if _, err := cluster.Submit[int, int](t.Context(), nodes[0], "double", 1, cluster.InBatch(b), cluster.After(b)); !errors.Is(err, cluster.ErrCycle) {
		t.Error("a member after its batch:", err)
	}
	for i := range 3 {
		if _, err := submit(i%2, fmt.Sprint("t", i), cluster.TaskID(fmt.Sprint("t", i+1))); err != nil {
			t.Fatal("submit:", err)
		}
	}
	if _, err := submit(1, "t3", cluster.TaskID("t0")); !errors.Is(err, cluster.ErrCycle) {
		t.Error("submit:", err)
	}
	f, err := submit(1, "t3", cluster.TaskID("t4"))
	if err != nil {
		t.Fatal("the same without a cycle:", err)
	}
	// Of those that close a cycle at the same time, one at least is refused, and the others do not wait for ever.
	var all [2]error
	var both sync.WaitGroup
	for i := range all {
		both.Go(func() { _, all[i] = submit(i, fmt.Sprint("u", i), cluster.TaskID(fmt.Sprint("u", 1-i))) })
	}
	both.Wait()
	if all[0] == nil && all[1] == nil {
		t.Error("a cycle was taken")
	}
	for i := range all {
		if err := nodes[0].Cancel(t.Context(), fmt.Sprint("u", i)); err != nil && (all[i] == nil || !errors.Is(err, cluster.ErrUnknownTask)) {
			t.Error("nodes:", err)
		}
	}
	if _, err := cluster.Submit[int, int](t.Context(), nodes[0], "double", 1, cluster.ID("t4")); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	if _, err := f.Wait(t.Context()); err != nil {
		t.Error("f.Wait:", err)
	}
	untilStream(t, js, "filch_work", "filch.>", none)
	nothingWaits(t, js)
}

func TestAGraphOfTasksRunsInOrderOverNodes(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(4), places(4), places(0))
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if t.Failed() {
			t.Log("seed", seed)
		}
	}()
	const tasks = 100
	var deps [tasks][]int
	for i := range deps {
		for range min(i, rng.IntN(4)) {
			deps[i] = append(deps[i], rng.IntN(i))
		}
	}
	var ended [tasks]atomic.Int64
	for _, n := range nodes[:2] {
		cluster.Handle(n, "node", func(_ context.Context, i int) (int, error) {
			for _, d := range deps[i] {
				if ended[d].Load() == 0 {
					return 0, cluster.Permanent(fmt.Errorf("%d runs before %d", i, d))
				}
			}
			ended[i].Add(1)
			return i, nil
		})
	}
	until(t, js, "node_p1", known)
	futures := make([]*cluster.Future[int], tasks)
	for _, i := range rng.Perm(tasks) { // so many wait for tasks that are submitted only later
		after := []cluster.Dependency{}
		for _, d := range deps[i] {
			after = append(after, cluster.TaskID(fmt.Sprint("g", d)))
		}
		var err error
		if futures[i], err = cluster.Submit[int, int](t.Context(), nodes[rng.IntN(3)], "node", i, cluster.ID(fmt.Sprint("g", i)), cluster.After(after...)); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	for i, f := range futures {
		if got, err := f.Wait(t.Context()); got != i || err != nil {
			t.Error(i, got, err)
		}
		if n := ended[i].Load(); n != 1 {
			t.Error(i, "ran", n, "times")
		}
	}
	nothingWaits(t, js)
}

func TestDependenciesDoNotBlockAFullStream(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(1), cluster.WithQueueLimit(1, filch.Reject)))
	h := cluster.Handle(nodes[0], "double", double)
	a, err := h.Submit(t.Context(), 1, cluster.ID("a"), cluster.Delay(500*time.Millisecond))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	var last *cluster.Future[int]
	for range 3 {
		if last, err = h.Submit(t.Context(), 2, cluster.After(a)); err != nil {
			t.Fatal("h.Submit:", err)
		}
	}
	if got, err := last.Wait(t.Context()); got != 4 || err != nil {
		t.Error(got, err)
	}
	untilStream(t, js, "filch_later", "filch.>", none)
	untilStream(t, js, "filch_work", "filch.>", none)
	nothingWaits(t, js)
}

func TestAfterChecksItsDependencies(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "double", double)
	local, err := h.Submit(t.Context(), 1, cluster.LocalFirst())
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	quiet, err := h.Submit(t.Context(), 1, cluster.NoResult())
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	many := slices.Repeat([]cluster.Dependency{nil}, 1001)
	for i := range many {
		many[i] = cluster.TaskID(fmt.Sprint(i))
	}
	for want, opts := range map[string][]cluster.SubmitOption{
		"nil dependency, number 1": {cluster.After(cluster.TaskID("a"), nil)},
		"it runs on this node":     {cluster.After(local)},
		"has NoResult":             {cluster.After(quiet)},
		"ID of a dependency":       {cluster.After(cluster.TaskID("a\nb"))},
		"both After and a delay":   {cluster.After(cluster.TaskID("a")), cluster.Delay(time.Second)},
		"1000 are allowed":         {cluster.After(many...)},
	} {
		if _, err := h.Submit(t.Context(), 1, opts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
