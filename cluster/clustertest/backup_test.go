package clustertest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// A copy of the folder of an embedded server, made while it is closed, has all tasks and outcomes.
func TestACopyOfTheFolderIsABackup(t *testing.T) {
	dir, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	at := func(dir string, f func(*cluster.Node)) {
		n, err := cluster.Open(t.Context(), cluster.WithServer(embedded.Server{Dir: dir}), cluster.WithPlaces(1))
		if err != nil {
			t.Fatal(err)
		}
		f(n)
		closeNode(t, n)
	}
	var ids []string
	at(dir, func(n *cluster.Node) {
		f, err := cluster.Handle(n, "double", double).Submit(t.Context(), 1, cluster.Durable())
		if err != nil {
			t.Fatal(err)
		}
		wait(t, f, 2)
		ids = append(ids, f.ID())
	})
	at(dir, func(n *cluster.Node) { // with no handler
		f, err := cluster.Submit[int, int](t.Context(), n, "double", 2)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, f.ID())
	})
	if err := os.CopyFS(backup, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	at(backup, func(n *cluster.Node) {
		cluster.Handle(n, "double", double)
		for i, id := range ids { // they are there, and so not submitted again
			f, err := cluster.Submit[int, int](t.Context(), n, "double", 100, cluster.ID(id))
			if err != nil {
				t.Fatal(err)
			}
			wait(t, f, 2*(i+1))
		}
	})
}
