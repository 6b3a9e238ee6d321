package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
	"github.com/filch-go/filch/cluster/embedded"
)

// A server whose file system has no more room confirms nothing, and says why in its log. It gives up a stream that it could
// not write. When there is room, it is started again, and all tasks that it has confirmed run.
func TestAFullFileSystemIsSaidAndBorne(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	s := clustertest.Server(t, clustertest.WithDir(dir), clustertest.WithMaxStore(1<<30))
	n := openAt(t, s.URL(), cluster.WithPlaces(2))
	gate := make(chan struct{})
	h := cluster.Handle(n, "length", func(ctx context.Context, text string) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return len(text), nil
	}, cluster.WithAckWait(time.Second))
	makeRoom := takeRoom(t, dir)
	futures, err := submitUntilFull(t, h, large, func() bool { return true })
	if !strings.Contains(err.Error(), "the servers have not confirmed") || errors.Is(err, cluster.ErrQueueFull) {
		t.Error("Submit on a full file system:", err)
	}
	close(gate)
	makeRoom()
	s.Kill(0)
	if err := s.Restart(t.Context(), 0); err != nil {
		t.Fatal("s.Restart:", err)
	}
	for _, f := range futures {
		expect(t, f, len(large))
	}
	_, js := connect(t, s.URL())
	until(t, js, "length_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumPending == 0 && i.NumAckPending == 0 })
	// What the stream was told to remove while it could not be written may lie there for good: acknowledged, and given to nobody.
	if n, err := countOf(t.Context(), js, "filch_work", ">"); n > 2 || err != nil {
		t.Error(n, "messages are left of the two places'", err)
	}
}

// The server in a node's process says why it stores nothing, and goes on by itself when there is room: with the same node, and all tasks
// that it has confirmed.
func TestAnEmbeddedServerBearsAFullFileSystem(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	n := open(t, cluster.WithServer(embedded.Server{Dir: dir}), cluster.WithPlaces(2))
	gates := []chan struct{}{make(chan struct{}), make(chan struct{})}
	h := cluster.Handle(n, "length", func(ctx context.Context, text string) (int, error) {
		filch.Blocking(ctx, func() { <-gates[text[0]-'0'] })
		return len(text), nil
	}, cluster.WithAckWait(time.Second))
	for round, gate := range gates { // what it has borne once, it bears again
		text := fmt.Sprint(round) + large
		makeRoom := takeRoom(t, dir)
		futures, err := submitUntilFull(t, h, text, func() bool { return n.Trouble() != nil })
		if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), dir) {
			t.Errorf("round %d: Submit on a full file system: %v; it does not name the cause and the folder", round, err)
		}
		if err := n.Trouble(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("round %d: Trouble on a full file system: %v", round, err)
		}
		makeRoom()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		f, err := h.Submit(ctx, text)
		if err != nil {
			t.Fatalf("round %d: Submit when there was room again: %v", round, err)
		}
		close(gate)
		for _, f := range append(futures, f) {
			expect(t, f, len(text))
		}
		if err := n.Trouble(); err != nil {
			t.Errorf("round %d: Trouble when there was room again: %v", round, err)
		}
	}
}

// smallDisk returns a folder that is a file system of 32 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32m"); err != nil {
		t.Skip("no file system can be mounted:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// takeRoom takes most of the room of a small disk, until makeRoom is called.
func takeRoom(t *testing.T, dir string) (makeRoom func()) {
	t.Helper()
	file := filepath.Join(dir, "full")
	if err := os.WriteFile(file, make([]byte, 24<<20), 0o600); err != nil {
		t.Fatal("os.WriteFile:", err)
	}
	return func() {
		if err := os.Remove(file); err != nil {
			t.Fatal("os.Remove:", err)
		}
	}
}

// large is an argument that soon fills a small disk.
var large = strings.Repeat("a", 300_000)

// submitUntilFull submits tasks until one is not confirmed though it was known before that the disk is full, and returns the error of that.
func submitUntilFull(t *testing.T, h *cluster.Handler[string, int], text string, full func() bool) (stored []*cluster.Future[int], err error) {
	t.Helper()
	for {
		known := full()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		f, err := h.Submit(ctx, text)
		cancel()
		switch {
		case err == nil:
			stored = append(stored, f)
		case known:
			return stored, err
		}
	}
}
