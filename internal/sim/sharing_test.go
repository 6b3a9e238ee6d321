package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// Work sharing moves most threads although all workers have work; work stealing moves few. So it is in
// the introduction of Blumofe and Leiserson (JACM 1999).
func TestSharingMovesThreadsAndStealingDoesNot(t *testing.T) {
	f, err := dag.Serial(dag.Fib(18), nil)
	if err != nil {
		t.Fatal("dag.Serial(dag.Fib(18), nil):", err)
	}
	for _, workers := range []int{2, 8, 32} {
		c := Config{Program: dag.Fib(18), Facts: &f, Workers: workers, Seed: 5}
		c.Scheduler = "sharing"
		sharing := run(t, c)
		c.Scheduler = "child"
		stealing := run(t, c)
		if sharing.Steals != 0 || sharing.Attempts != 0 {
			t.Errorf("work sharing steals: %+v", *sharing)
		}
		if sharing.Migrations*int64(2*workers) < f.Threads*int64(workers-1) {
			t.Errorf("%d workers: of %d threads, work sharing moves %d", workers, f.Threads, sharing.Migrations)
		}
		if stealing.Migrations*5 > sharing.Migrations {
			t.Errorf("%d workers: %d migrations by stealing, %d by sharing", workers, stealing.Migrations, sharing.Migrations)
		}
	}
}

// Karp and Zhang: O(n/P + h) steps. The constant is at most 3 here.
func TestSharingIsAsFastAsItsBound(t *testing.T) {
	f, err := dag.Serial(dag.Fib(16), nil)
	if err != nil {
		t.Fatal("dag.Serial(dag.Fib(16), nil):", err)
	}
	for _, workers := range []int{1, 4, 16, 64, 1000} {
		for seed := range uint64(20) {
			r := run(t, Config{Program: dag.Fib(16), Facts: &f, Scheduler: "sharing", Workers: workers, Seed: seed})
			if p := int64(workers); r.Time*p > 3*(r.T1+p*r.Tinf) {
				t.Errorf("%d workers, seed %d: %d steps, with a work of %d and a span of %d", workers, seed, r.Time, r.T1, r.Tinf)
			}
		}
	}
}
