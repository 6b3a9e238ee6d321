package clustertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

func TestServersKeepTasksWhenAllAreKilled(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, ...clustertest.ServerOption) *clustertest.Servers{"one": clustertest.Server, "three": clustertest.Three} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			n := openAt(t, s.URL(), cluster.WithReplicas(s.Len()))
			h := cluster.Handle(n, "double", double)
			submit := func() {
				f, err := h.Submit(t.Context(), 21)
				if err != nil {
					t.Fatal("h.Submit:", err)
				}
				expect(t, f, 42)
			}
			submit()
			for i := range s.Len() {
				s.Kill(i)
			}
			for i := range s.Len() {
				if err := s.Restart(t.Context(), i); err != nil {
					t.Fatal("s.Restart:", err)
				}
			}
			submit()
		})
	}
}

// openAt opens a node at servers, which is closed when the test ends.
func openAt(t testing.TB, url string, opts ...cluster.Option) *cluster.Node {
	t.Helper()
	n, err := cluster.Open(t.Context(), append([]cluster.Option{cluster.WithURL(url)}, opts...)...)
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, n) })
	return n
}

// Nodes that note attempts of the same task at the same time do not overwrite each other, also on three servers.
func TestAttemptsAreNotedOnThreeServers(t *testing.T) {
	t.Parallel()
	s := clustertest.Three(t)
	said := newLines()
	for range 4 { // a node runs a task once at a time
		n := openAt(t, s.URL(), cluster.WithReplicas(3), cluster.WithPlaces(1), cluster.WithLogger(said.logger()))
		cluster.Handle(n, "fail", func(context.Context, int) (int, error) { return 0, errors.New("it fails") },
			cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{Attempts: 3, First: time.Millisecond, Most: time.Millisecond}))
	}
	_, js := connect(t, s.URL())
	until(t, js, "fail_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 4 })
	for range 8 { // the same task, which Submit would store once
		m := &nats.Msg{Subject: "filch.work.fail.p1", Data: []byte("1"), Header: nats.Header{"Filch-Version": {"1"}, "Filch-Id": {"same"}, "Filch-Codec": {"json"}}}
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal("js.PublishMsg:", err)
		}
	}
	empty(t, js)
	if strings.Contains(said.String(), "is not noted") {
		t.Error(said.String())
	}
}
