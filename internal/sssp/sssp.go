package sssp

import (
	"container/heap"
	"context"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/ordered"
)

// Far is the distance of what cannot be reached.
const Far = math.MaxUint64

// Work is what a program has done.
type Work struct {
	Relaxed int64 // how often the edges of a vertex were looked at; best is once each
	Stale   int64 // how often a vertex was taken from a queue for nothing
}

// Wasted returns how many of the looks at edges were for nothing, as a part of those
// that were not.
func (w Work) Wasted(distances []uint64) float64 {
	reached := int64(0)
	for _, d := range distances {
		if d != Far {
			reached++
		}
	}
	return float64(w.Relaxed-reached) / float64(reached)
}

// Heap is Dijkstra's algorithm with a binary heap, serial. What is improved comes into
// the heap again, and what is out of date is passed by.
func Heap(g *Graph, from uint32) []uint64 {
	distance := allFar(g)
	distance[from] = 0
	h := entries{{0, from}}
	for len(h) > 0 {
		e := h.pop()
		if e.distance != distance[e.vertex] {
			continue
		}
		for _, edge := range g.from(e.vertex) {
			if d := e.distance + uint64(edge.weight); d < distance[edge.to] {
				distance[edge.to] = d
				h.push(entry{d, edge.to})
			}
		}
	}
	return distance
}

// ContainerHeap is the same with package container/heap.
func ContainerHeap(g *Graph, from uint32) []uint64 {
	distance := allFar(g)
	distance[from] = 0
	h := entries{{0, from}}
	for len(h) > 0 {
		e := heap.Pop(&h).(entry)
		if e.distance != distance[e.vertex] {
			continue
		}
		for _, edge := range g.from(e.vertex) {
			if d := e.distance + uint64(edge.weight); d < distance[edge.to] {
				distance[edge.to] = d
				heap.Push(&h, entry{d, edge.to})
			}
		}
	}
	return distance
}

func allFar(g *Graph) []uint64 {
	all := make([]uint64, g.Vertices())
	for i := range all {
		all[i] = Far
	}
	return all
}

// Ordered corrects distances until none can be: workers take the vertices that seem
// nearest from an [ordered.Queue], relax their edges, and put back what that brings
// nearer. Each is done again if it turns out to be nearer still; so the answer does
// not depend on the order, but the work does.
func Ordered(g *Graph, from uint32, workers int) ([]uint64, Work) {
	s := newSearch(g, from)
	q := ordered.New[uint32](workers, 1<<16)
	q.Push(0, from)
	works := make([]Work, workers)
	var idle atomic.Int32
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			l := q.Local(i)
			var w Work // and not of works, which are next to each other
			defer func() { works[i] = w }()
			push := func(priority int, v uint32) { l.Push(priority, v) }
			for {
				if v, ok := l.Pop(); ok {
					s.relax(v, &w, push)
					continue
				}
				idle.Add(1)
				for q.Len() == 0 { // then only workers that are not idle have a vertex
					if int(idle.Load()) == workers {
						return
					}
					runtime.Gosched()
				}
				idle.Add(-1)
			}
		})
	}
	wg.Wait()
	return s.distances(), sum(works)
}

// Pool is the same with a task for each vertex, in a pool by priority.
func Pool(g *Graph, from uint32, workers int) ([]uint64, Work) {
	return PoolWith(g, from, filch.WithWorkers(workers))
}

// PoolWith is Pool in a pool that has other options.
func PoolWith(g *Graph, from uint32, opts ...filch.Option) ([]uint64, Work) {
	s := newSearch(g, from)
	p := filch.New(append(opts, filch.WithOrder(filch.ByPriority))...)
	var relaxed, stale atomic.Int64
	var visit func(priority int, ctx context.Context, v uint32)
	visit = func(priority int, ctx context.Context, v uint32) {
		p.Go(ctx, func(ctx context.Context) { // of a task, it is accepted until the pool is shut down
			var w Work
			s.relax(v, &w, func(priority int, v uint32) { visit(priority, ctx, v) })
			relaxed.Add(w.Relaxed)
			stale.Add(w.Stale)
		}, filch.AtPriority(priority))
	}
	visit(0, context.Background(), from)
	p.Shutdown(context.Background())
	return s.distances(), Work{relaxed.Load(), stale.Load()}
}

// search is what workers share.
type search struct {
	g        *Graph
	distance []atomic.Uint64
	done     []atomic.Uint64 // the distance at which the edges of a vertex were last looked at
	shift    uint            // distances that are equal without so many bits have the same priority
}

func newSearch(g *Graph, from uint32) *search {
	s := &search{g, make([]atomic.Uint64, g.Vertices()), make([]atomic.Uint64, g.Vertices()), g.shift()}
	for i := range s.distance {
		s.distance[i].Store(Far)
		s.done[i].Store(Far)
	}
	s.distance[from].Store(0)
	return s
}

// shift makes a priority of about a tenth of the mean weight: more levels are more
// work for the queue, and fewer for the workers.
func (g *Graph) shift() uint {
	return uint(bits.Len64(g.weights() / uint64(10*len(g.edges)+1) / 2))
}

// weights returns the sum of all weights.
func (g *Graph) weights() (sum uint64) {
	for i := range g.edges {
		sum += uint64(g.edges[i].weight)
	}
	return sum
}

// relax looks at the edges of v, unless that was done at its distance.
func (s *search) relax(v uint32, w *Work, push func(priority int, v uint32)) {
	d := s.distance[v].Load()
	if s.done[v].Load() <= d {
		w.Stale++
		return
	}
	s.done[v].Store(d)
	w.Relaxed++
	for _, e := range s.g.from(v) {
		there, nearer := &s.distance[e.to], d+uint64(e.weight)
		for old := there.Load(); nearer < old; old = there.Load() {
			if there.CompareAndSwap(old, nearer) {
				push(int(nearer>>s.shift), e.to)
				break
			}
		}
	}
}

func (s *search) distances() []uint64 {
	all := make([]uint64, len(s.distance))
	for i := range all {
		all[i] = s.distance[i].Load()
	}
	return all
}

func sum(works []Work) (all Work) {
	for _, w := range works {
		all.Relaxed += w.Relaxed
		all.Stale += w.Stale
	}
	return all
}
