package strands

import (
	"context"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/strand"
)

// Strands run on a pool that pins its workers, from tasks and from outside, and are stolen there. Their
// goroutines are not pinned, since Go binds a coroutine that a locked goroutine makes to its thread.
func TestStrandsRunOnPinnedWorkers(t *testing.T) {
	all, err := affinity.Allowed(affinity.System)
	if err != nil {
		t.Fatal("affinity.Allowed(affinity.System):", err)
	}
	for _, opts := range [][]strand.Option{nil, {strand.Eager()}} {
		p := filch.New(filch.WithWorkers(4), filch.WithAffinity(filch.Spread))
		for range 20 {
			n := spawnedFib(p, 15, opts, t, len(all))
			f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				return spawnedFib(filch.ScopeOf(ctx), 15, opts, t, len(all)), nil
			})
			m, err := f.Wait(context.Background())
			if n != 610 || m != 610 || err != nil {
				t.Fatal("f.Wait(context.Background()):", n, m, err)
			}
		}
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
	}
}

// spawnedFib computes fib(n) in a run of strands, and checks at each leaf that so many processors are allowed.
func spawnedFib(s filch.Scope, n int, opts []strand.Option, t *testing.T, allowed int) (sum int) {
	var fib func(s *strand.Strand, n int) int
	fib = func(s *strand.Strand, n int) int {
		if n < 2 {
			if m, err := affinity.System.Mask(0); err != nil || len(m.Processors()) != allowed {
				t.Errorf("a strand may run on %v (%v)", m.Processors(), err)
			}
			return n
		}
		a := 0
		s.Spawn(func(s *strand.Strand) { a = fib(s, n-1) })
		b := fib(s, n-2)
		s.Sync()
		return a + b
	}
	strand.Run(s, func(s *strand.Strand) { sum = fib(s, n) }, opts...)
	return sum
}
