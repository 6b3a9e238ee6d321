package sim

import (
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// A worker asks one of those that hold its own work as long as it knows of any. The test keeps the lists by
// what the comment on localized says, from nothing but the attempts that it sees.
func TestLocalizedStealsBackFirst(t *testing.T) {
	for _, workers := range []int32{2, 5, 40} {
		back, others := 0, 0
		robbers := make([][]int32, workers) // of each worker
		leave := func(w int32) {
			for v, list := range robbers {
				robbers[v] = slices.DeleteFunc(list, func(thief int32) bool { return thief == w })
			}
		}
		run(t, Config{Program: dag.Fib(15), Scheduler: "localized", Workers: int(workers), Seed: 9, Tell: func(e Event) {
			if e.Kind != Stole && e.Kind != Attempted {
				return
			}
			w, v := e.Worker, e.Other
			own := slices.Contains(robbers[w], v)
			if len(robbers[w]) > 0 && !own {
				t.Errorf("step %d: worker %d asks %d; its own work is at %v", e.Time, w, v, robbers[w])
			}
			switch {
			case own && e.Kind == Stole:
				back++
			case own:
				leave(v)
			case e.Kind == Stole:
				others++
				leave(w)
				robbers[v] = append(robbers[v], w)
			}
		}})
		if back == 0 || others == 0 {
			t.Errorf("%d workers: %d threads were stolen back, and %d otherwise", workers, back, others)
		}
	}
}

// The bound is T1/P + O(Tinf*P), and in practice it is near that of random victims.
func TestLocalizedIsAsFastAsRandom(t *testing.T) {
	f, err := dag.Serial(dag.Fib(18), nil)
	if err != nil {
		t.Fatal("dag.Serial(dag.Fib(18), nil):", err)
	}
	for _, workers := range []int{2, 8, 64, 256} {
		for seed := range uint64(10) {
			r := run(t, Config{Program: dag.Fib(18), Facts: &f, Scheduler: "localized", Workers: workers, Seed: seed})
			if p := int64(workers); (r.Time-r.T1/p)/r.Tinf > 6 {
				t.Errorf("%d workers, seed %d: %d steps, with a work of %d and a span of %d", workers, seed, r.Time, r.T1, r.Tinf)
			}
		}
	}
}
