package clustertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
	"github.com/filch-go/filch/cluster/embedded"
)

// A copy of the folder of an embedded server, made while it is closed, has all tasks and outcomes.
func TestACopyOfTheFolderIsABackup(t *testing.T) {
	t.Parallel()
	dir, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	at := func(dir string, f func(*cluster.Node)) {
		n, err := cluster.Open(t.Context(), cluster.WithServer(embedded.Server{Dir: dir}), cluster.WithPlaces(1))
		if err != nil {
			t.Fatal("cluster.Open:", err)
		}
		f(n)
		closeNode(t, n)
	}
	var ids []string
	at(dir, func(n *cluster.Node) {
		f, err := cluster.Handle(n, "double", double).Submit(t.Context(), 1)
		if err != nil {
			t.Fatal("cluster.Handle(n, \"double\", double).Submit:", err)
		}
		expect(t, f, 2)
		ids = append(ids, f.ID())
	})
	at(dir, func(n *cluster.Node) { // with no handler
		f, err := cluster.Submit[int, int](t.Context(), n, "double", 2)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		ids = append(ids, f.ID())
	})
	if err := os.CopyFS(backup, os.DirFS(dir)); err != nil {
		t.Fatal("os.CopyFS:", err)
	}
	at(backup, func(n *cluster.Node) {
		cluster.Handle(n, "double", double)
		for i, id := range ids { // they are there, and so not submitted again
			f, err := cluster.Submit[int, int](t.Context(), n, "double", 100, cluster.ID(id))
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			expect(t, f, 2*(i+1))
		}
	})
}

// A stream that is restored from a backup, as by nats stream backup and nats stream restore, has its tasks. An operator may do that.
func TestARestoredStreamHasItsTasks(t *testing.T) {
	t.Parallel()
	from := clustertest.Server(t, clustertest.WithConfig(users(t)))
	n := openAs(t, from.URL(), "operator", cluster.WithPlaces(1))
	h := cluster.Handle(n, "done", double)
	f, err := h.Submit(t.Context(), 1, cluster.ID("done"))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	expect(t, f, 2)
	for i := range 20 { // it handles none of these
		_, js := connect(t, from.URL(), as("operator")...)
		m := &nats.Msg{Subject: "filch.work.waiting.p1", Data: fmt.Append(nil, i), Header: nats.Header{"Filch-Version": {"1"}, "Filch-Id": {fmt.Sprint("waiting-", i)}, "Filch-Codec": {"json"}, "Filch-From": {"operator"}}}
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal("js.PublishMsg:", err)
		}
	}
	to := clustertest.Server(t, clustertest.WithConfig(users(t)))
	for _, stream := range []string{"filch_work", "filch_later", "filch_dead", "KV_filch_results", "KV_filch_control", "KV_filch_after", "KV_filch_unique", "KV_filch_batches", "KV_filch_tries"} {
		a, _ := connect(t, from.URL(), as("operator")...)
		b, _ := connect(t, to.URL(), as("operator")...)
		takeSnapshot(t, a, stream).restore(t, b, stream)
	}
	m := openAs(t, to.URL(), "operator", cluster.WithPlaces(1))
	cluster.Handle(m, "waiting", double)
	for i := range 20 {
		f, err := cluster.Submit[int, int](t.Context(), m, "waiting", 100, cluster.ID(fmt.Sprint("waiting-", i)))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		expect(t, f, 2*i)
	}
	if f, err = cluster.Submit[int, int](t.Context(), m, "done", 100, cluster.ID("done")); err == nil {
		expect(t, f, 2)
	}
}

// snapshot is a stream as nats stream backup keeps it.
type snapshot struct {
	Config json.RawMessage `json:"config"`
	State  json.RawMessage `json:"state"`
	chunks [][]byte
}

// apiError is what the servers say of a request that has failed.
type apiError struct{ Error *struct{ Description string } }

// ask asks the servers, and reads the answer.
func ask(t *testing.T, nc *nats.Conn, subject string, request, answer any) {
	t.Helper()
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal("json.Marshal:", err)
	}
	m, err := nc.Request(subject, data, patience)
	if err != nil {
		t.Fatal(subject, err, nc.LastError())
	}
	var failed apiError
	if err := errors.Join(json.Unmarshal(m.Data, &failed), json.Unmarshal(m.Data, answer)); err != nil || failed.Error != nil {
		t.Fatalf("%s: %v: %s", subject, err, m.Data)
	}
}

// takeSnapshot reads a stream.
func takeSnapshot(t *testing.T, nc *nats.Conn, stream string) (s snapshot) {
	t.Helper()
	inbox := nc.NewInbox()
	chunks, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal("nc.SubscribeSync:", err)
	}
	defer chunks.Unsubscribe()
	ask(t, nc, "$JS.API.STREAM.SNAPSHOT."+stream, map[string]any{"deliver_subject": inbox}, &s)
	for {
		m, err := chunks.NextMsg(patience)
		if err != nil {
			t.Fatal("chunks.NextMsg:", err)
		}
		s.chunks = append(s.chunks, m.Data)
		if len(m.Data) == 0 {
			return s
		}
		if m.Reply != "" {
			if err := m.Respond(nil); err != nil {
				t.Fatal("m.Respond:", err)
			}
		}
	}
}

// restore makes a stream of a snapshot.
func (s snapshot) restore(t *testing.T, nc *nats.Conn, stream string) {
	t.Helper()
	var into struct {
		Subject string `json:"deliver_subject"`
	}
	ask(t, nc, "$JS.API.STREAM.RESTORE."+stream, s, &into)
	for _, chunk := range s.chunks {
		answer, err := nc.Request(into.Subject, chunk, patience)
		if err != nil {
			t.Fatal(into.Subject, err, nc.LastError())
		}
		if len(chunk) == 0 {
			var failed apiError
			if err := json.Unmarshal(answer.Data, &failed); err != nil || failed.Error != nil {
				t.Fatalf("%s: %s", stream, answer.Data)
			}
		}
	}
}
