package clustertest_test

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
)

// A task that was stored by a version without secrets ends, and its submitter sees so by itself.
func TestATaskWithoutASecretEnds(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(0), places(1))
	cluster.Handle(nodes[1], "double", double)
	until(t, js, "double_p1", known)
	f, err := cluster.Attach[int](t.Context(), nodes[0], "old")
	if err != nil {
		t.Fatal("cluster.Attach:", err)
	}
	m := &nats.Msg{Subject: "filch.work.double.p1", Data: []byte("21"), Header: nats.Header{
		"Filch-Version": {"1"}, "Filch-Id": {"old"}, "Filch-Codec": {"json"}, "Filch-From": {"n0"}, nats.MsgIdHdr: {"old"},
	}}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal("js.PublishMsg:", err)
	}
	expect(t, f, 42)
}
