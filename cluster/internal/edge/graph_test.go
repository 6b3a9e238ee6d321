package edge

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestATaskWaitsUntilItIsForgotten(t *testing.T) {
	g := New[string]()
	g.Add("sum", "a", Edge{Index: 0})
	g.Add("sum", "b", Edge{Index: 1})
	g.Add("sum", "b", Edge{Index: 1}) // heard twice
	if got := g.Waiting("b"); len(got) != 1 || got["sum"].Index != 1 {
		t.Error(got)
	}
	g.Met("sum", "a")
	if g.Awaited("a") || !g.Awaited("b") {
		t.Error("a is met, and b is not")
	}
	g.Forget("sum")
	if g.Awaited("b") || len(g.edges)+len(g.deps) != 0 {
		t.Error("something is left:", g.edges, g.deps)
	}
}

func TestWhatWasClearedIsHeardAnew(t *testing.T) {
	g := New[string]()
	g.Add("sum", "a", Edge{})
	g.Heard(7)
	g.Clear()
	if g.Awaited("a") {
		t.Error("something is left:", g.edges)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Until(ctx, 1); err != context.Canceled {
		t.Error("a revision of before counts:", err)
	}
}

func TestUntilWaitsForARevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New[string]()
		var err error
		done := false
		go func() { err = g.Until(t.Context(), 3); done = true }()
		for _, revision := range []uint64{1, 2, 1, 3} {
			synctest.Wait()
			if done {
				t.Fatal("it has ended before revision", revision)
			}
			g.Heard(revision)
		}
		synctest.Wait()
		if !done || err != nil {
			t.Error(done, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Until(ctx, 4); err != context.Canceled {
			t.Error("g.Until:", err)
		}
	})
}

func TestOlderReturnsSomeOfBefore(t *testing.T) {
	g := New[string]()
	at := time.Unix(100, 0)
	for i := range 5 {
		g.Add("old", fmt.Sprint("before", i), Edge{Made: at.Add(-1)})
		g.Add("new", fmt.Sprint("after", i), Edge{Made: at})
	}
	if all := g.Older(at, 10); len(all) != 5 || slices.ContainsFunc(all, func(s string) bool { return s[0] != 'b' }) {
		t.Error(all)
	}
	if some := g.Older(at, 2); len(some) != 2 {
		t.Error(some)
	}
}
