package clustertest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// Outcomes that a node is not told of it looks for by some requests for all, also if one answer has no room for all.
func TestMissedOutcomesAreLookedForTogether(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t).URL()
	p := newTap()
	n := openAt(t, url, cluster.WithPlaces(0), cluster.WithURL(url, nats.SetCustomDialer(p)))
	_, js := connect(t, url)
	const tasks = 1200
	futures := make([]*cluster.Future[string], tasks)
	for i := range futures {
		var err error
		if futures[i], err = cluster.Attach[string](t.Context(), n, fmt.Sprint("task/", i)); err != nil {
			t.Fatal("cluster.Attach:", err)
		}
	}
	const one = "$JS.API.DIRECT.GET.KV_filch_results.>"
	single := func(n int) bool { // whether the node has looked for single ones in some rounds
		p.mu.Lock()
		for s := range p.published {
			if matches(one, s) {
				delete(p.published, s)
			}
		}
		p.mu.Unlock()
		p.rounds(t, n)
		return p.has(one)
	}
	for tries := 0; single(1); tries++ { // soon after Attach it does so
		if tries == 20 {
			t.Fatal("it goes on to look for single ones")
		}
	}
	kv, err := js.KeyValue(t.Context(), "filch_results")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	result := strings.Repeat("x", 10_000) // 12 MB in all
	for i := range futures {
		if _, err := kv.Put(t.Context(), fmt.Sprintf("task=2F%d", i), fmt.Appendf(nil, "{\"status\":\"done\",\"codec\":\"json\"}\n%q", result)); err != nil {
			t.Fatal("kv.Put:", err)
		}
	}
	if err := kv.Delete(t.Context(), "task=2F0"); err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Fatal("kv.Delete:", err)
	}
	if single(2) {
		t.Error("it looks for single ones")
	}
	for i, f := range futures {
		if i > 0 {
			expect(t, f, result)
		}
	}
	if p.has(one) {
		t.Error("it has looked for single ones")
	}
}
