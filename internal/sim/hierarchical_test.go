package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// A worker asks outside after Inside attempts in its group that found nothing in a row, not before, and not twice.
func TestHierarchicalAsksInsideFirst(t *testing.T) {
	for _, inside := range []int{1, 3, 8} {
		const workers, group = 24, 6
		var vain [workers]int
		out := 0
		run(t, Config{
			Program: dag.Fib(15), Scheduler: "hierarchical", Workers: workers, Seed: 2, Inside: inside,
			Topology: Topology{{Groups: 4, Latency: 20}, {Groups: group}},
			Tell: func(e Event) {
				switch {
				case e.Kind == Began:
					vain[e.Worker] = 0
				case e.Kind != Stole && e.Kind != Attempted:
				case e.Worker/group == e.Other/group:
					if vain[e.Worker]++; vain[e.Worker] > inside {
						t.Errorf("step %d: worker %d asks inside for the %d. time", e.Time, e.Worker, vain[e.Worker])
					}
				default:
					if out++; vain[e.Worker] != inside {
						t.Errorf("step %d: worker %d asks outside after %d attempts", e.Time, e.Worker, vain[e.Worker])
					}
					vain[e.Worker] = 0
				}
			},
		})
		if out == 0 {
			t.Errorf("no worker has asked outside")
		}
	}
}

// Where the way to other groups is long, it is faster than random victims. Both need work enough.
func TestHierarchicalIsFasterOverDistances(t *testing.T) {
	f, err := dag.Serial(dag.Fib(20), nil)
	if err != nil {
		t.Fatal("dag.Serial(dag.Fib(20), nil):", err)
	}
	var near, random int64
	for seed := range uint64(10) {
		c := Config{Program: dag.Fib(20), Facts: &f, Workers: 64, Seed: seed, Topology: Topology{{Groups: 4, Latency: 200}, {Groups: 16}}}
		c.Scheduler = "hierarchical"
		near += run(t, c).Time
		c.Scheduler = "child"
		random += run(t, c).Time
	}
	t.Logf("%d steps by groups, %d by random victims", near, random)
	if near*5 > random*4 {
		t.Errorf("%d steps by groups, %d by random victims", near, random)
	}
}
