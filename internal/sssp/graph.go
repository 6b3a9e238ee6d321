// Package sssp holds single-source shortest paths: graphs, two serial programs, and
// two that share the work among workers by priority.
package sssp

import "math/rand/v2"

// Graph is a directed graph with weights.
type Graph struct {
	first []int32 // of the edges of each vertex, and of the one after the last
	edges []edge
}

type edge struct{ to, weight uint32 }

// Vertices returns how many vertices there are, Edges how many edges.
func (g *Graph) Vertices() int { return len(g.first) - 1 }
func (g *Graph) Edges() int    { return len(g.edges) }

func (g *Graph) from(v uint32) []edge { return g.edges[g.first[v]:g.first[v+1]] }

// arc is an edge while a graph is made.
type arc struct {
	from uint32
	edge
}

// newGraph returns the graph of n vertices with these edges.
func newGraph(n int, arcs []arc) *Graph {
	g := &Graph{make([]int32, n+1), make([]edge, len(arcs))}
	for _, a := range arcs {
		g.first[a.from+1]++
	}
	for v := range n {
		g.first[v+1] += g.first[v]
	}
	next := append([]int32(nil), g.first...)
	for _, a := range arcs {
		g.edges[next[a.from]] = a.edge
		next[a.from]++
	}
	return g
}

// Grid returns roads in a grid of side times side crossings, both ways, each with its
// weight from 1 to maxWeight.
func Grid(side int, maxWeight uint32, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 0))
	arcs := make([]arc, 0, 4*side*side)
	road := func(a, b int) {
		for _, ends := range [][2]int{{a, b}, {b, a}} {
			arcs = append(arcs, arc{uint32(ends[0]), edge{uint32(ends[1]), 1 + r.Uint32N(maxWeight)}})
		}
	}
	for y := range side {
		for x := range side {
			if x+1 < side {
				road(y*side+x, y*side+x+1)
			}
			if y+1 < side {
				road(y*side+x, (y+1)*side+x)
			}
		}
	}
	return newGraph(side*side, arcs)
}

// RMAT returns a graph of 2^scale vertices and so many edges for each of them as
// degree says, few of which have most: R-MAT (Chakrabarti, Zhan, Faloutsos, "R-MAT: a
// recursive model for graph mining", SDM 2004) with the parameters of Graph 500, 0.57,
// 0.19, 0.19 and 0.05. Weights are from 1 to maxWeight.
func RMAT(scale, degree int, maxWeight uint32, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 0))
	n := 1 << scale
	arcs := make([]arc, n*degree)
	for i := range arcs {
		var from, to uint32
		for range scale {
			from, to = from<<1, to<<1
			switch p := r.Float64(); {
			case p < 0.57:
			case p < 0.76:
				to |= 1
			case p < 0.95:
				from |= 1
			default:
				from, to = from|1, to|1
			}
		}
		arcs[i] = arc{from, edge{to, 1 + r.Uint32N(maxWeight)}}
	}
	return newGraph(n, arcs)
}
