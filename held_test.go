package filch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// value is a task that returns v.
func value(v int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return v, nil }
}

// gate is a task that begins to run, and ends when it is told to.
func gate(began chan<- struct{}, end <-chan struct{}) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if began != nil {
			close(began)
		}
		filch.Blocking(ctx, func() { <-end })
		return 0, nil
	}
}

func TestAfterStartsWhenAllAreDone(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers), filch.WithStallTimeout(0))
		ctx := context.Background()
		end := make(chan struct{})
		a := filch.Submit(ctx, p, gate(nil, end))
		b := filch.Submit(ctx, p, value(1))
		var began atomic.Bool
		c := filch.Submit(ctx, p, func(context.Context) (string, error) { began.Store(true); return "c", nil }, filch.After(a, b))
		b.Wait(ctx)
		if s := p.Stats().Tasks; s.Held != 1 || s.Submitted != 3 || began.Load() {
			t.Fatalf("%d workers: %+v, begun: %v", workers, s, began.Load())
		}
		close(end)
		if v, err := c.Wait(ctx); v != "c" || err != nil {
			t.Fatal(v, err)
		}
		if err := p.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		if s := p.Stats().Tasks; s.Held != 0 || s.Submitted != 3 || s.Done != 3 || s.Queued != 0 {
			t.Fatalf("%d workers: %+v", workers, s)
		}
	}
}

var _ = []any{errors.New, fmt.Sprint, rand.N[int], runtime.GC, (*sync.Mutex)(nil), time.Now}
