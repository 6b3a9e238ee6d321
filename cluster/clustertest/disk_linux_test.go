package clustertest_test

import (
	"context"
	"errors"
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
)

// A server whose file system has no more room confirms nothing, and says why in its log. It gives up a stream that it could
// not write. When there is room, it is started again, and all tasks that it has confirmed run.
func TestAFullFileSystemIsSaidAndBorne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32m"); err != nil {
		t.Skip("no file system can be mounted:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := clustertest.Server(t, clustertest.WithDir(dir), clustertest.WithMaxStore(1<<30))
	n := openAt(t, s.URL(), cluster.WithPlaces(2))
	gate := make(chan struct{})
	h := cluster.Handle(n, "length", func(ctx context.Context, text string) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return len(text), nil
	}, cluster.WithAckWait(time.Second))
	file := filepath.Join(dir, "full")
	if err := os.WriteFile(file, make([]byte, 24<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a", 300_000)
	var futures []*cluster.Future[int]
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		f, err := h.Submit(ctx, text, cluster.Durable())
		cancel()
		if err != nil {
			if !strings.Contains(err.Error(), "the servers have not confirmed") || errors.Is(err, cluster.ErrQueueFull) {
				t.Error("Submit on a full file system:", err)
			}
			break
		}
		futures = append(futures, f)
	}
	close(gate)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.Kill(0)
	if err := s.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for _, f := range futures {
		expect(t, f, len(text))
	}
	_, js := connect(t, s.URL())
	until(t, js, "length_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumPending == 0 && i.NumAckPending == 0 })
	// What the stream was told to remove while it could not be written may lie there for good: acknowledged, and given to nobody.
	if n, err := countOf(t.Context(), js, "filch_work", ">"); n > 2 || err != nil {
		t.Error(n, "messages are left of the two places'", err)
	}
}
