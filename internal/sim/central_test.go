package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// Graham: a scheduler that lets no worker be idle while a thread is ready takes T1/P + Tinf*(P-1)/P at most.
func TestCentralIsGreedy(t *testing.T) {
	for _, p := range programs {
		for _, workers := range []int{1, 2, 3, 10, 100} {
			r := run(t, Config{Program: p, Scheduler: "central", Workers: workers})
			if n := int64(workers); r.Time*n > r.T1+r.Tinf*(n-1) {
				t.Errorf("%T on %d workers: %d steps, with a work of %d and a span of %d", p, workers, r.Time, r.T1, r.Tinf)
			}
		}
	}
}

// With a lock each of n threads is pushed and popped, one after the other, however many workers there are.
func TestTheLockOfTheCentralQueueLimitsSpeed(t *testing.T) {
	const n, cost = 200, 3
	for _, workers := range []int{1, 2, 8, 64} {
		r := run(t, Config{Program: dag.Loop(n), Scheduler: "central", Workers: workers, CentralCost: cost})
		if r.Time < 2*n*cost {
			t.Errorf("%d workers: %d steps for %d uses of the lock, of %d each", workers, r.Time, 2*n, cost)
		}
		if serial := r.T1 + 2*n*cost; workers == 1 && r.Time != serial {
			t.Errorf("one worker takes %d steps, not %d", r.Time, serial)
		}
	}
	var before int64
	for _, workers := range []int{2, 8, 32} {
		r := run(t, Config{Program: dag.Fib(14), Scheduler: "central", Workers: workers, CentralCost: cost})
		if before != 0 && r.Time < before*9/10 {
			t.Errorf("%d workers take %d steps, a quarter of them %d, although the lock is always taken", workers, r.Time, before)
		}
		before = r.Time
	}
}
