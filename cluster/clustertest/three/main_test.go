package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m, nil) }

func TestThreeServersRunATask(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { err := run(ctx, t.TempDir(), w); w.CloseWithError(io.EOF); ended <- err }()
	lines := bufio.NewReader(r)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "url ")
	if err != nil || !ok {
		t.Fatalf("%q, %v, %v", line, err, <-ended)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	n, err := cluster.Open(ctx, cluster.WithURL(url), cluster.WithReplicas(3))
	if err != nil {
		t.Fatal(err)
	}
	f, err := cluster.Handle(n, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil }).Submit(ctx, 21, cluster.Durable())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Wait(ctx); got != 42 || err != nil {
		t.Error(got, err)
	}
	if err := n.Close(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
