package strands

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// A plain call hides its caller while it blocks, as the package's comment says; with Eager all children block at
// the same time.
func TestEagerChildrenBlockAtTheSameTime(t *testing.T) {
	for way, want := range map[string]time.Duration{"lazy": 10 * time.Second, "eager": time.Second} {
		synctest.Test(t, func(t *testing.T) {
			pool := filch.New(filch.WithWorkers(1))
			defer pool.Close()
			begun := time.Now()
			strand.Run(pool, func(s *strand.Strand) {
				for range 10 {
					s.Spawn(func(s *strand.Strand) {
						s.Blocking(func() { time.Sleep(time.Second) })
					})
				}
			}, ways[way]...)
			if took := time.Since(begun); took != want {
				t.Errorf("%s: %v, not %v", way, took, want)
			}
		})
	}
}

// RunContext returns ErrClosed where Run panics, and calls nothing.
func TestRunContextOnAClosedPool(t *testing.T) {
	pool := filch.New()
	over := make(chan filch.Scope, 1)
	if err := pool.Go(t.Context(), func(ctx context.Context) { over <- filch.ScopeOf(ctx) }); err != nil {
		t.Fatal("pool.Go(t.Context(), …):", err)
	}
	task := <-over
	pool.Close()
	for name, s := range map[string]filch.Scope{"a pool": pool, "a task that is over": task} {
		err := strand.RunContext(t.Context(), s, func(*strand.Strand) { t.Errorf("%s: is called", name) })
		if err != filch.ErrClosed {
			t.Errorf("%s: %v, not ErrClosed", name, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := strand.RunContext(ended, pool, func(*strand.Strand) {}); err != context.Canceled {
		t.Errorf("with a context that has ended: %v", err)
	}
}
