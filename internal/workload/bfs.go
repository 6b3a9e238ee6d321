package workload

import (
	"fmt"
	"sync/atomic"
)

// bfs finds how far all vertices of a graph are from the first: level by level, as all parallel
// programs do that keep the order of the serial one.
//
// A level is a loop of package par, over parts of the vertices found last. A vertex belongs to
// the part that is the first to mark it, by an atomic operation, and so the order within a level
// depends on chance; how far a vertex is does not.
var bfs = &Workload{
	Name:    "bfs",
	About:   "breadth-first search of a graph of n vertices and 8 n random edges (PBBS)",
	Sizes:   []string{"10000", "200000", "1000000"},
	Default: []Default{{Size: "200000"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("bfs", size, 1, 1<<24)
		if err != nil {
			return nil, err
		}
		var g *graph
		return &Job{
			Load:   func() { g = newGraph(n) },
			Reset:  func() { g.forget() },
			Answer: func() string { return g.sum() },
			Serial: func() string { g.search(); return "" },
			Loops:  func(each Each) string { g.searchLevels(each); return "" },
		}, nil
	},
}

// graph is a graph without directions, in compressed rows, and what is known of it.
type graph struct {
	begin []uint32 // of a vertex's neighbours in to; one more than there are vertices
	to    []uint32
	level []int32  // how far vertices are, or -1
	queue []uint32 // vertices in the order they are found
}

// newGraph makes up a graph: half of the edges go to vertices with close numbers.
func newGraph(n int) *graph {
	rng := splitmix(19)
	const edges = 8
	ends := make([][2]uint32, 0, n*edges)
	for v := range n {
		for e := range edges {
			u := rng.below(n)
			if e%2 == 0 {
				u = (v + 1 + rng.below(1000)) % n
			}
			ends = append(ends, [2]uint32{uint32(v), uint32(u)})
		}
	}
	g := &graph{begin: make([]uint32, n+1), to: make([]uint32, 2*len(ends)), level: make([]int32, n), queue: make([]uint32, n)}
	for _, e := range ends {
		g.begin[e[0]]++
		g.begin[e[1]]++
	}
	sum := uint32(0)
	for v := range g.begin {
		sum += g.begin[v]
		g.begin[v] = sum
	}
	for _, e := range ends { // from the back to the front
		for i := range 2 {
			g.begin[e[i]]--
			g.to[g.begin[e[i]]] = e[1-i]
		}
	}
	return g
}

// forget makes all vertices unknown, but the first.
func (g *graph) forget() {
	for v := range g.level {
		g.level[v] = -1
	}
	g.level[0] = 0
	g.queue[0] = 0
}

func (g *graph) neighbours(v uint32) []uint32 { return g.to[g.begin[v]:g.begin[v+1]] }

func (g *graph) sum() string {
	found, far, h := 0, int32(0), uint64(0)
	for _, level := range g.level {
		if level >= 0 {
			found++
		}
		far = max(far, level)
		h = h*0x9e3779b97f4a7c15 + uint64(level)
	}
	return fmt.Sprintf("%d of %d vertices found, up to %d away, hash %016x", found, len(g.level), far, h)
}

func (g *graph) search() {
	tail := 1
	for head := 0; head < tail; head++ {
		v := g.queue[head]
		level := g.level[v] + 1
		for _, u := range g.neighbours(v) {
			if g.level[u] < 0 {
				g.level[u] = level
				g.queue[tail] = u
				tail++
			}
		}
	}
}

// fewVertices is how many vertices are looked at in a part of a level: some ten microseconds.
const fewVertices = 128

// searchLevels searches level by level. The queue has room for all vertices, so that parts put
// what they find in by blocks.
func (g *graph) searchLevels(each Each) {
	var tail atomic.Int64
	tail.Store(1)
	head := int64(0)
	for level := int32(1); head < tail.Load(); level++ {
		last := g.queue[head:tail.Load()]
		head = tail.Load()
		each((len(last)+fewVertices-1)/fewVertices, func(i int) {
			g.expand(last[i*fewVertices:min((i+1)*fewVertices, len(last))], level, &tail)
		})
	}
}

// expand marks the neighbours of some vertices that are not marked, and queues them.
func (g *graph) expand(some []uint32, level int32, tail *atomic.Int64) {
	var found [256]uint32
	n := 0
	for _, v := range some {
		for _, u := range g.neighbours(v) {
			if atomic.LoadInt32(&g.level[u]) >= 0 || !atomic.CompareAndSwapInt32(&g.level[u], -1, level) {
				continue
			}
			if n == len(found) {
				copy(g.queue[tail.Add(int64(n))-int64(n):], found[:])
				n = 0
			}
			found[n] = u
			n++
		}
	}
	if n > 0 {
		copy(g.queue[tail.Add(int64(n))-int64(n):], found[:n])
	}
}
