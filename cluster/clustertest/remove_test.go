package clustertest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// The queues of a version that no node has any more can be removed, and come back with a node that has it.
func TestAHandlerIsRemoved(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	old := reopen(t, nodes[0])
	cluster.Handle(old, "job", double, cluster.WithVersion("1"))
	cluster.Handle(nodes[0], "job", double, cluster.WithVersion("2"), cluster.WithKeys(2))
	until(t, js, "job@1_p2", known)
	refused := func(want error, text string) {
		t.Helper()
		if err := nodes[1].RemoveHandler(t.Context(), "job@1"); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Error(err, "and not", text)
		}
	}
	eventually(t, "the list of nodes has the one with the handler", func() bool {
		nodes, err := nodes[1].Nodes(t.Context())
		return err == nil && slices.ContainsFunc(nodes, func(i cluster.NodeInfo) bool { return i.Name == old.Name() })
	})
	refused(cluster.ErrHandlerInUse, "node "+old.Name())
	closeNode(t, old)
	f, err := cluster.Submit[int, int](t.Context(), nodes[1], "job", 1, cluster.OfVersion("1"))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	refused(cluster.ErrHandlerInUse, "1 tasks of job@1")
	again := reopen(t, nodes[0])
	cluster.Handle(again, "job", double, cluster.WithVersion("1"))
	if got, err := wait(t, f, nil); got != 2 || err != nil {
		t.Error(got, err)
	}
	closeNode(t, again)
	until(t, js, "job@1_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumAckPending == 0 })
	if err := nodes[1].RemoveHandler(t.Context(), "job@1"); err != nil {
		t.Fatal("nodes:", err)
	}
	refused(cluster.ErrUnknownHandler, "job@1")
	queues, err := nodes[1].Queues(t.Context())
	if err != nil || len(queues) != 5 {
		t.Error("the queues of the other version:", queues, err)
	}
	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "job", 1, cluster.OfVersion("1")); !errors.Is(err, cluster.ErrUnknownHandler) {
		t.Error("cluster.Submit:", err)
	}
	last := reopen(t, nodes[0])
	cluster.Handle(last, "job", double, cluster.WithVersion("1"))
	until(t, js, "job@1_p1", known)
	f, err = cluster.Submit[int, int](t.Context(), nodes[1], "job", 4, cluster.OfVersion("1"))
	if got, err := wait(t, f, err); got != 8 || err != nil {
		t.Error(got, err)
	}
	if err := nodes[1].RemoveHandler(t.Context(), "job 1"); err == nil || !strings.Contains(err.Error(), "name of the handler") {
		t.Error("nodes:", err)
	}
}
