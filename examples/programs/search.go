package main

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// A tour has been to some cities, and is in one. Its four words fit into registers.
type tour struct {
	city int
	left uint // the cities to come, a bit for each
	km   int  // so far
	more int  // at least so many to come
}

// shortest returns the length of the shortest tour through all cities.
func (r *roads) shortest(p *filch.Pool) int {
	best := filch.NewLeast[int, tour](nil)
	filch.NewFunc(func(f *filch.Frame[tour, struct{}], t tour) struct{} {
		if t.km+t.more >= best.Bound() {
			return struct{}{} // nothing better can come of it
		}
		if t.left == 0 {
			best.Offer(t.km+r.km[t.city][0], t)
			return struct{}{}
		}
		m := f.Mark()
		for _, city := range r.farthest[t.city] { // the nearest last: this worker tries it first
			if next := r.visit(t, city); t.left>>city&1 == 1 && next.km+next.more < best.Bound() {
				f.Fork(next)
			}
		}
		for range m.JoinAll {
		}
		return struct{}{}
	}).Call(p, r.start())
	km, _, _ := best.Get()
	return km
}

// roads are the lengths of those between any two cities.
type roads struct {
	km       [][]int
	farthest [][]int // by city, the others, the farthest first
	nearest  []int   // by city, the length of its shortest road
}

func (r *roads) start() tour {
	t := tour{left: 1<<len(r.km) - 2}
	for _, km := range r.nearest {
		t.more += km
	}
	return t
}

func (r *roads) visit(t tour, city int) tour {
	return tour{city, t.left &^ (1 << city), t.km + r.km[t.city][city], t.more - r.nearest[t.city]}
}

// from searches below t, and returns the least of best and what it has found.
func (r *roads) from(t tour, best int) int {
	if t.km+t.more >= best {
		return best
	}
	if t.left == 0 {
		return min(best, t.km+r.km[t.city][0])
	}
	for _, city := range slices.Backward(r.farthest[t.city]) {
		if t.left>>city&1 == 1 {
			best = r.from(r.visit(t, city), best)
		}
	}
	return best
}

func (r *roads) shortestSerial() int { return r.from(r.start(), math.MaxInt) }

// shortestGoroutines starts a goroutine for each choice of the first two cities. Each reads the best of all before it chooses a
// third.
func (r *roads) shortestGoroutines() int {
	var best atomic.Int64
	best.Store(math.MaxInt)
	var wg sync.WaitGroup
	var start func(t tour)
	start = func(t tour) {
		for _, city := range slices.Backward(r.farthest[t.city]) {
			next := r.visit(t, city)
			switch {
			case t.left>>city&1 == 0:
			case bits.OnesCount(next.left) > len(r.km)-3:
				start(next)
			case bits.OnesCount(next.left) == len(r.km)-3:
				wg.Go(func() { start(next) })
			default:
				km := int64(r.from(next, int(best.Load())))
				for old := best.Load(); km < old && !best.CompareAndSwap(old, km); old = best.Load() {
				}
			}
		}
	}
	start(r.start())
	wg.Wait()
	return int(best.Load())
}

// newRoads makes up n cities.
func newRoads(n int, seed uint64) *roads {
	random := rand.New(rand.NewPCG(seed, 0))
	at := make([]point, n)
	for i := range at {
		at[i] = point{random.Float64() * 1000, random.Float64() * 1000}
	}
	r := &roads{km: make([][]int, n), farthest: make([][]int, n), nearest: make([]int, n)}
	for i, a := range at {
		for j, b := range at {
			r.km[i] = append(r.km[i], int(math.Hypot(a.x-b.x, a.y-b.y)))
			if i != j {
				r.farthest[i] = append(r.farthest[i], j)
			}
		}
		slices.SortFunc(r.farthest[i], func(j, k int) int { return cmp.Compare(r.km[i][k], r.km[i][j]) })
		r.nearest[i] = r.km[i][r.farthest[i][n-2]]
	}
	return r
}

func makeSearch(p *filch.Pool, small bool) forms {
	r := newRoads(15, 11)
	if small {
		r = newRoads(8, 12)
	}
	return forms{
		serial:     func() (any, error) { return r.shortestSerial(), nil },
		goroutines: func() (any, error) { return r.shortestGoroutines(), nil },
		filch:      func() (any, error) { return r.shortest(p), nil },
	}
}
