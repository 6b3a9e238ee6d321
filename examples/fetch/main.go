// Fetch gets many pages with a limit on how many are under way and how many
// wait: a task that finds them faster than they are fetched is held back, and the
// first failure ends all.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func run() error {
	const pages, atOnce, queued = 200, 8, 16
	var now, most atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		fmt.Fprintf(w, "page %s", r.URL.Path)
	}))
	defer server.Close()

	// A task that waits for the network keeps its slot here: that is the limit.
	p := filch.New(filch.WithWorkers(atOnce), filch.WithQueueLimit(queued, filch.Block), filch.WithStallTimeout(0))
	defer p.Close()
	g := p.Group(context.Background())
	var bytes atomic.Int64
	start := time.Now()
	for i := range pages { // waits while too many are queued
		g.Go(func(ctx context.Context) error {
			n, err := get(ctx, fmt.Sprintf("%s/%d", server.URL, i))
			bytes.Add(n)
			return err
		}, filch.Within(10*time.Second))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d pages, %d bytes in %v, at most %d at once\n", pages, bytes.Load(), time.Since(start).Round(time.Millisecond), most.Load())
	return nil
}

func get(ctx context.Context, url string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return io.Copy(io.Discard, resp.Body)
}
