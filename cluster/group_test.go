package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A group grows from zero while it is waited for: each wait ends when there was none, or with its context.
func TestAGroupMayGrowWhileItIsWaitedFor(t *testing.T) {
	var g group
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				g.Go(func() {})
				if err := g.wait(t.Context()); err != nil {
					t.Error("g.wait:", err)
				}
			}
		})
	}
	all.Wait()
	if err := g.wait(t.Context()); err != nil || g.n != 0 {
		t.Error(err, g.n)
	}
}

func TestAWaitForAGroupEndsWithItsContext(t *testing.T) {
	over, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("on purpose")
	cancel(cause)
	var g group
	if err := g.wait(over); err != nil {
		t.Error("there is nothing to wait for, and yet:", err)
	}
	g.Add(1)
	if err := g.wait(over); err != cause {
		t.Error("g.wait:", err)
	}
	g.Done()
	if err := g.wait(over); err != nil {
		t.Error("g.wait:", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause, own := errors.New("the cause"), errors.New("its own")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		if err := orEnd(ctx, func() error { return own }); err != own {
			t.Error("orEnd:", err)
		}
		begin := time.Now()
		err := orEnd(ctx, func() error { time.Sleep(time.Minute); return nil })
		if took := time.Since(begin); err != cause || took != time.Second {
			t.Error(err, "after", took)
		}
		if err := causeOf(ctx, context.DeadlineExceeded); !errors.Is(err, cause) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error("causeOf:", err)
		}
		time.Sleep(time.Minute)
	})
}
