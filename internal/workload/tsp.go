package workload

import (
	"cmp"
	"math"
	"slices"

	"github.com/filch-go/filch"
)

// tsp finds the shortest tour through cities by branch and bound: the nearest city first, and no
// way that cannot be part of a tour shorter than the best so far.
//
// Func fits: each node of the search forks those below it. How many nodes there are depends on
// how soon a good tour is found, so that two workers can be more than twice as fast as one, or
// less than once. The length of the best tour is always the same.
var tsp = &Workload{
	Name:    "tsp",
	About:   "the shortest tour through n cities by branch and bound: work that others save",
	Sizes:   []string{"12", "15", "16"},
	Default: []Default{{Size: "15"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("tsp", size, 2, maxCities)
		if err != nil {
			return nil, err
		}
		t := newTour(n, 3)
		shared := func(search func()) string {
			t.best = filch.NewLeast[int, struct{}](nil)
			search()
			return itoa(t.best.Bound())
		}
		return &Job{
			Serial: func() string {
				best := math.MaxInt
				t.search(t.start(), &best)
				return itoa(best)
			},
			Func: func(p filch.Scope) string {
				return shared(func() { tspFunc.Call(p, t.start()) })
			},
			Closures: func(w *filch.Worker, both Both) string {
				return shared(func() { closureTSP(w, both, t.start()) })
			},
			Goroutines: func(workers int) string {
				return shared(func() { goTSP(t, workers) })
			},
		}, nil
	},
}

const maxCities = 32

// tour is what a tour is sought of.
type tour struct {
	n     int
	apart [maxCities][maxCities]int
	near  [maxCities][]int           // the other cities, the nearest first
	leave [maxCities]int             // the shortest way from there
	best  *filch.Best[int, struct{}] // length of the best tour so far
}

func newTour(n int, seed splitmix) *tour {
	t := &tour{n: n}
	var x, y [maxCities]float64
	for i := range n {
		x[i], y[i] = seed.float()*10_000, seed.float()*10_000
	}
	for i := range n {
		for j := range n {
			t.apart[i][j] = int(math.Hypot(x[i]-x[j], y[i]-y[j]))
			if i != j {
				t.near[i] = append(t.near[i], j)
			}
		}
		slices.SortFunc(t.near[i], func(a, b int) int { return cmp.Compare(t.apart[i][a], t.apart[i][b]) })
		t.leave[i] = t.apart[i][t.near[i][0]]
	}
	return t
}

// way is the beginning of a tour. It has four words, which are passed in registers.
type way struct {
	of     *tour
	cities uint64 // a bit for each, and above them the last one
	length int
	least  int // that the rest has: each city must be left
}

func (t *tour) start() way {
	w := way{of: t, cities: 1}
	for _, leave := range t.leave[:t.n] {
		w.least += leave
	}
	return w
}

func (w way) last() int         { return int(w.cities >> maxCities) }
func (w way) has(city int) bool { return w.cities>>city&1 == 1 }
func (w way) bound() int        { return w.length + w.least }

// to returns the way that goes on to city.
func (w way) to(city int) way {
	last := w.last()
	return way{
		of:     w.of,
		cities: w.cities&(1<<maxCities-1) | 1<<city | uint64(city)<<maxCities,
		length: w.length + w.of.apart[last][city],
		least:  w.least - w.of.leave[last],
	}
}

// ends reports whether the way has all cities, and how long it is then with the way home.
func (w way) ends() (length int, all bool) {
	all = uint32(w.cities) == 1<<w.of.n-1
	return w.length + w.of.apart[w.last()][0], all
}

// search goes on from w, if that can be better than best.
func (t *tour) search(w way, best *int) {
	if length, all := w.ends(); all {
		*best = min(*best, length)
		return
	}
	for _, city := range t.near[w.last()] {
		if !w.has(city) {
			if next := w.to(city); next.bound() < *best {
				t.search(next, best)
			}
		}
	}
}

// promises reports whether w may be better than the best tour so far.
func (w way) promises() bool { return w.bound() < w.of.best.Bound() }

var tspFunc = filch.NewFunc(tspBody)

// tspBody forks the nearest city last: the newest fork is the first that is joined. It has to
// look twice at what each way promises, for a tour may have been found since the fork.
func tspBody(f *filch.Frame[way, struct{}], w way) struct{} {
	if !w.promises() {
		return struct{}{}
	}
	if length, all := w.ends(); all {
		w.of.best.Offer(length, struct{}{})
		return struct{}{}
	}
	m, near := f.Mark(), w.of.near[w.last()]
	for i := len(near) - 1; i >= 0; i-- {
		if w.has(near[i]) {
			continue
		}
		if next := w.to(near[i]); next.promises() {
			f.Fork(next)
		}
	}
	for range m.JoinAll {
	}
	return struct{}{}
}

func closureTSP(worker *filch.Worker, both Both, w way) {
	if !w.promises() {
		return
	}
	if length, all := w.ends(); all {
		w.of.best.Offer(length, struct{}{})
		return
	}
	var ways []way
	for _, city := range w.of.near[w.last()] {
		if !w.has(city) {
			if next := w.to(city); next.promises() {
				ways = append(ways, next)
			}
		}
	}
	if len(ways) > 0 {
		split(worker, both, 0, len(ways), func(worker *filch.Worker, i int) { closureTSP(worker, both, ways[i]) })
	}
}

// goTSP hands out all beginnings of four cities, those with the best bounds first.
func goTSP(t *tour, workers int) {
	ways := []way{t.start()}
	for range min(3, t.n-1) {
		var longer []way
		for _, w := range ways {
			for _, city := range t.near[w.last()] {
				if !w.has(city) {
					longer = append(longer, w.to(city))
				}
			}
		}
		ways = longer
	}
	slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(a.bound(), b.bound()) })
	byGoroutines(workers)(len(ways), func(i int) { t.searchShared(ways[i]) })
}

// searchShared is search with a best length that others may change.
func (t *tour) searchShared(w way) {
	if !w.promises() {
		return
	}
	if length, all := w.ends(); all {
		t.best.Offer(length, struct{}{})
		return
	}
	for _, city := range t.near[w.last()] {
		if !w.has(city) {
			t.searchShared(w.to(city))
		}
	}
}
