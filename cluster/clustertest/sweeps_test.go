package clustertest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
	"github.com/filch-go/filch/internal/poll"
)

// rounds waits until a node has looked after what it waits for a number of times: each time it then reads the servers' clock.
func (p *tap) rounds(t *testing.T, n int) {
	t.Helper()
	const clock = "$JS.API.STREAM.INFO.filch_work"
	for range n {
		p.mu.Lock()
		delete(p.published, clock)
		p.mu.Unlock()
		poll.Until(t, time.Minute, "the node reads the clock", func() (bool, any) { return p.has(clock), nil })
	}
}

// A node that only submits leaves it to others to release tasks that wait for one that has ended: it may not.
func TestANodeThatOnlySubmitsReleasesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := clustertest.Server(t, clustertest.WithConfig(users(t)), clustertest.WithDir(dir)).URL()
	openAs(t, url, "operator", cluster.WithPlaces(0))
	worker := openAs(t, url, "worker", cluster.WithPlaces(1))
	_, js := connect(t, url, as("operator")...)
	cluster.Handle(worker, "double", double)
	until(t, js, "double_p1", known)
	closeNode(t, worker)
	p := newTap()
	submitter := openAs(t, url, "submitter", cluster.WithPlaces(0), cluster.WithURL(url, p.as("submitter")...))
	f, err := cluster.Submit[int, int](t.Context(), submitter, "double", 2, cluster.After(cluster.TaskID("first")))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	kv, err := js.KeyValue(t.Context(), "filch_results")
	if err == nil {
		_, err = kv.Put(t.Context(), "first", []byte(`{"status":"done"}`+"\n"))
	}
	if err != nil {
		t.Fatal("kv.Put:", err)
	}
	p.rounds(t, 4)
	again := openAs(t, url, "worker", cluster.WithPlaces(1))
	cluster.Handle(again, "double", double)
	expect(t, f, 4)
	for line := range strings.Lines(violations(t, dir)) {
		if strings.Contains(line, `user:submitter"`) {
			t.Error("it tries what it may not:", line)
		}
	}
}
