// Package sssp holds single-source shortest paths: graphs, two serial programs, and
// two that share the work among workers by priority.
package sssp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

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

const format = `is neither "p sp vertices arcs" nor "a from to weight" nor a comment`

// Read reads a graph in the format of the 9th DIMACS implementation challenge: lines
// "p sp <vertices> <arcs>" once, then "a <from> <to> <weight>", vertices counted from
// 1, and "c" for comments.
func Read(in io.Reader) (*Graph, error) {
	const most = 100_000_000 // whose distances take 2 GB
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var arcs []arc
	vertices, want := -1, 0
	for n := 1; lines.Scan(); n++ {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) == 0 || fields[0][0] == 'c' {
			continue
		}
		fail := func(what string) (*Graph, error) {
			return nil, fmt.Errorf("line %d: %q %s", n, lines.Text(), what)
		}
		var numbers [3]uint64
		digits := fields[1:]
		if string(fields[0]) == "p" && len(fields) == 4 && string(fields[1]) == "sp" {
			digits = fields[2:]
		}
		if string(fields[0]) == "p" && len(digits) != 2 || len(fields) != 4 {
			return fail(format)
		}
		for i, f := range digits {
			var err error
			if numbers[i], err = strconv.ParseUint(string(f), 10, 31); err != nil {
				return fail("has what is no number from 0 to 2147483647")
			}
		}
		switch kind := string(fields[0]); {
		case kind == "p" && len(fields) == 4 && len(digits) == 2:
			if vertices >= 0 {
				return fail("comes a second time")
			}
			vertices, want = int(numbers[0]), int(numbers[1])
		case kind == "a" && len(fields) == 4:
			from, to := numbers[0], numbers[1]
			if vertices < 0 {
				return fail("comes before the line p")
			}
			if from < 1 || to < 1 || from > uint64(vertices) || to > uint64(vertices) {
				return fail(fmt.Sprintf("has a vertex that is not from 1 to %d", vertices))
			}
			arcs = append(arcs, arc{uint32(from - 1), edge{uint32(to - 1), uint32(numbers[2])}})
		default:
			return fail(format)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case vertices < 0:
		return nil, fmt.Errorf("no line \"p sp vertices arcs\"")
	case len(arcs) != want:
		return nil, fmt.Errorf("%d arcs, not the %d that the line p says", len(arcs), want)
	case vertices == 0:
		return nil, fmt.Errorf("no vertex")
	case vertices > most:
		return nil, fmt.Errorf("%d vertices; %d are as many as can be", vertices, most)
	}
	return newGraph(vertices, arcs), nil
}
