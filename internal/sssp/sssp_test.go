package sssp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/filch-go/filch"
)

// random returns a graph with loops, several edges between the same vertices, weights
// of nothing, and vertices that cannot be reached.
func random(r *rand.Rand) *Graph {
	n := 1 + r.IntN(60)
	arcs := make([]arc, r.IntN(4*n))
	for i := range arcs {
		arcs[i] = arc{uint32(r.IntN(n)), edge{uint32(r.IntN(n)), uint32(r.IntN(20))}}
		if r.IntN(10) == 0 {
			arcs[i].weight = r.Uint32()
		}
	}
	return newGraph(n, arcs)
}

// bellmanFord knows neither heaps nor priorities.
func bellmanFord(g *Graph, from uint32) []uint64 {
	all := allFar(g)
	all[from] = 0
	for changed := true; changed; {
		changed = false
		for v, d := range all {
			for _, e := range g.from(uint32(v)) {
				if d != Far && d+uint64(e.weight) < all[e.to] {
					all[e.to] = d + uint64(e.weight)
					changed = true
				}
			}
		}
	}
	return all
}

func TestDistancesAreThoseOfBellmanAndFord(t *testing.T) {
	seed := rand.Uint64()
	for round := range 200 {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		g := random(r)
		from := uint32(r.IntN(g.Vertices()))
		check(t, fmt.Sprintf("seed %d, round %d", seed, round), g, from, bellmanFord(g, from))
	}
	for name, g := range map[string]*Graph{"grid": Grid(60, 1000, 1), "R-MAT": RMAT(10, 8, 1000, 1)} {
		check(t, name, g, 0, bellmanFord(g, 0))
	}
}

func check(t *testing.T, name string, g *Graph, from uint32, want []uint64) {
	t.Helper()
	for program, got := range map[string][]uint64{"Heap": Heap(g, from), "ContainerHeap": ContainerHeap(g, from)} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s: %v, want %v", name, program, got, want)
		}
	}
	for _, workers := range []int{1, 2, 8} {
		for program, f := range map[string]func(*Graph, uint32, int) ([]uint64, Work){"Ordered": Ordered, "Pool": Pool, "Rounds": roundsOn} {
			got, work := f(g, from, workers)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s with %d workers: %v, want %v", name, program, workers, got, want)
			}
			if wasted := work.Wasted(got); wasted < 0 {
				t.Errorf("%s: %s with %d workers: %v wasted", name, program, workers, wasted)
			}
		}
	}
}

func roundsOn(g *Graph, from uint32, workers int) ([]uint64, Work) {
	p := filch.New(filch.WithWorkers(workers))
	defer p.Close()
	return Rounds(g, from, p)
}

func TestTheSeedDecidesAGraph(t *testing.T) {
	g := Grid(10, 5, 1)
	if g.Vertices() != 100 || g.Edges() != 4*90 {
		t.Errorf("%d vertices, %d edges", g.Vertices(), g.Edges())
	}
	if !slices.Equal(g.edges, Grid(10, 5, 1).edges) || slices.Equal(g.edges, Grid(10, 5, 2).edges) {
		t.Error("the seed does not decide")
	}
	g = RMAT(10, 8, 5, 1)
	most := 0
	for v := range g.Vertices() {
		most = max(most, len(g.from(uint32(v))))
	}
	if g.Vertices() != 1024 || g.Edges() != 8192 || most < 100 {
		t.Errorf("%d vertices, %d edges, at most %d of one", g.Vertices(), g.Edges(), most)
	}
}
