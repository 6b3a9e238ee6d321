package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// named parses, or fails.
func named(t testing.TB, text string) dag.Program {
	t.Helper()
	p, _, err := dag.Parse(text)
	if err != nil {
		t.Fatal("dag.Parse(text):", err)
	}
	return p
}

// facts counts, or fails.
func facts(t testing.TB, p dag.Program) dag.Facts {
	t.Helper()
	f, err := dag.Serial(p, nil)
	if err != nil {
		t.Fatal("dag.Serial(p, nil):", err)
	}
	return f
}

// small has a DAG of each family that runs in no time.
var small = map[string]string{
	"chain": "chain=50", "loop": "loop=60", "bag": "bag=70", "tree": "tree=3^4", "fib": "fib=9", "mergesort": "mergesort=100", "quicksort": "quicksort=100",
	"uts": "uts=4", "nested": "nested=6", "comb": "comb=9x7", "iterative": "iterative=4x12",
}

// Each family of programs ends under each scheduler.
func TestAllDAGsRun(t *testing.T) {
	for _, d := range dag.Families() {
		for _, text := range []string{small[d.Name], small[d.Name] + "@3"} {
			p := named(t, text)
			f := facts(t, p)
			for _, s := range Schedulers() {
				run(t, Config{Program: p, Facts: &f, Scheduler: s, Workers: 16, Seed: 1})
			}
		}
	}
}

// somePart makes a part of at most so many levels. Some of its parts are shared.
func somePart(rng *rand.Rand, levels int) *dag.Part {
	if levels == 0 || rng.IntN(4) == 0 {
		return dag.ForSteps(1 + rng.Int64N(9))
	}
	shared := somePart(rng, levels-1)
	parts := []*dag.Part{shared, somePart(rng, levels-1), shared}
	if rng.IntN(2) == 0 {
		return dag.InSeries(parts...)
	}
	return dag.InParallel(parts...)
}

// So does each graph.
func TestGraphsRun(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g, err := dag.NewGraph("", somePart(rng, 5))
		if err != nil {
			t.Fatal(`dag.NewGraph("", somePart(rng, 5)):`, err)
		}
		for _, s := range Schedulers() {
			run(t, Config{Program: g, Scheduler: s, Workers: 1 + rng.IntN(20), Seed: seed})
		}
	}
}

// One that is as deep as a recording may be takes no deep stack.
func TestDeepGraphsRun(t *testing.T) {
	root := dag.ForSteps(1)
	for range 20_000 {
		root = dag.InSeries(dag.ForSteps(1), dag.InParallel(dag.ForSteps(1), root))
	}
	g, err := dag.NewGraph("", root)
	if err != nil {
		t.Fatal(`dag.NewGraph("", root):`, err)
	}
	run(t, Config{Program: g, Scheduler: "continuation", Workers: 8})
}
