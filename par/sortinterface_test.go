package par

import (
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// columns are two slices that are ordered together, by the first.
type columns struct{ keys, rows []int }

func newColumns(x []int) columns {
	c := columns{slices.Clone(x), make([]int, len(x))}
	for i := range c.rows {
		c.rows[i] = i
	}
	return c
}

func (c columns) Len() int           { return len(c.keys) }
func (c columns) Less(i, j int) bool { return c.keys[i] < c.keys[j] }
func (c columns) Swap(i, j int) {
	c.keys[i], c.keys[j] = c.keys[j], c.keys[i]
	c.rows[i], c.rows[j] = c.rows[j], c.rows[i]
}

// check reports whether all rows are there, with their keys in order.
func (c columns) check(t *testing.T, x []int) {
	t.Helper()
	seen := make([]bool, len(x))
	for i, row := range c.rows {
		if seen[row] || c.keys[i] != x[row] {
			t.Fatalf("at %d: row %d with key %d", i, row, c.keys[i])
		}
		seen[row] = true
	}
	if !slices.IsSorted(c.keys) {
		t.Error("keys are not in order")
	}
}

// Everything is sorted, and equal elements come in the same order on any number of workers.
func TestSortInterfaceDoesNotDependOnTheWorkers(t *testing.T) {
	eachInput(t, func(t *testing.T, pools []*filch.Pool, x []int) {
		var first []int
		for _, p := range pools {
			c := newColumns(x)
			SortInterface(p, c)
			c.check(t, x)
			if first == nil {
				first = c.rows
			}
			if !slices.Equal(c.rows, first) {
				t.Errorf("another order of rows with %d workers", p.Workers())
			}
		}
	})
}

// What one worker partitions is not what several do: these are long enough, with ties, a few elements out of
// place, and values of which two make up most.
func TestSortInterfaceLong(t *testing.T) {
	n := 3*fewPartitioned + 1
	if race.Enabled || thorough.Sampled() {
		n = fewPartitioned + 2
	}
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for _, input := range []func(i int, r *rand.Rand) int{
			func(_ int, r *rand.Rand) int { return r.Int() },
			func(_ int, r *rand.Rand) int { return r.IntN(100) },
			func(_ int, r *rand.Rand) int { return r.IntN(2) },
			func(i int, _ *rand.Rand) int { return (n - i) / 3 },
			func(i int, _ *rand.Rand) int { return i % (n - 5) },
			func(i int, _ *rand.Rand) int { return i % 1000 },
		} {
			r := rand.New(rand.NewPCG(1, 1))
			x := make([]int, n)
			for i := range x {
				x[i] = input(i, r)
			}
			c := newColumns(x)
			p.Do(func(w *filch.Worker) { SortInterface(w, c) })
			c.check(t, x)
		}
		p.Close()
	}
}

// guarded is data that tells which of its elements are in use: by one call of Swap, or by any of Less.
type guarded struct {
	columns
	t     *testing.T
	users []atomic.Int32 // of each element: calls of Less, or -1000 for one of Swap
	calls *atomic.Int64
	after int64 // how many calls end
	end   func()
}

func newGuarded(t *testing.T, x []int) guarded {
	return guarded{newColumns(x), t, make([]atomic.Int32, len(x)), new(atomic.Int64), -1, nil}
}

func (g guarded) use(by int32, i, j int) (done func()) {
	if g.calls.Add(1) == g.after {
		g.end()
	}
	for _, k := range []int{i, j} {
		if n := g.users[k].Add(by); by < 0 && n != by && i != j || by > 0 && n < 0 {
			g.t.Errorf("element %d is used twice at the same time", k)
		}
	}
	return func() {
		g.users[i].Add(-by)
		g.users[j].Add(-by)
	}
}

func (g guarded) Less(i, j int) bool {
	defer g.use(1, i, j)()
	return g.columns.Less(i, j)
}

func (g guarded) Swap(i, j int) {
	defer g.use(-1000, i, j)()
	g.columns.Swap(i, j)
}

// No element is exchanged while another call uses it.
func TestSortInterfaceUsesElementsAlone(t *testing.T) {
	p := filch.New(filch.WithWorkers(8))
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 1))
	for _, x := range [][]int{ints(2*fewPartitioned, math.MaxInt, r), ints(2*fewPartitioned, 3, r), r.Perm(3000)} {
		g := newGuarded(t, x)
		SortInterface(p, g)
		g.check(t, x)
	}
}

// What ends in the middle leaves all elements.
func TestSortInterfaceThatPanicsOrExits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for _, n := range []int{2, 100, 5000, fewPartitioned + 2} {
			for _, after := range []int64{1, 2, 50, 20_000, 60_000} {
				x := ints(n, math.MaxInt, r)
				g := newGuarded(t, x)
				g.after, g.end = after, rig.Bad
				v := rig.Catch(func() { SortInterface(p, g) })
				if g.calls.Load() >= after {
					if err, ok := v.(*filch.PanicError); !ok || err.Value != "bad" {
						t.Errorf("%d elements, call %d: %v", n, after, v)
					}
				} else if v != nil {
					t.Error("rig.Catch(…):", v)
				}
				sort.Sort(g.columns)
				g.columns.check(t, x)
			}
		}
		g := newGuarded(t, ints(5000, math.MaxInt, r))
		g.after, g.end = 6000, runtime.Goexit
		done := make(chan bool)
		go func() {
			defer close(done)
			SortInterface(p, g)
			t.Error("a Goexit was lost")
		}()
		<-done
		p.Close()
	}
}

// Less that is no order ends all the same, and keeps all elements.
func TestSortInterfaceWithoutAnOrder(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	x := make([]int, fewPartitioned+100)
	for i, less := range []func(i, j int) bool{
		func(_, _ int) bool { return true },
		func(i, j int) bool { return (i*7+j*13)%3 == 0 },
	} {
		c := newColumns(x)
		SortInterface(p, lawless{c, less})
		slices.Sort(c.rows)
		for k, row := range c.rows {
			if k != row {
				t.Fatalf("order %d: row %d is missing", i, k)
			}
		}
	}
}

type lawless struct {
	columns
	less func(i, j int) bool
}

func (l lawless) Less(i, j int) bool { return l.less(i, j) }

// What is in order takes a call of Less each, and what is not, not many more than package sort.
func TestSortInterfaceCalls(t *testing.T) {
	const n = 50_000
	for _, workers := range []int{1, 4} {
		p := filch.New(filch.WithWorkers(workers))
		for name, most := range map[string]int64{"sorted": n, "equal": n, "reversed": n + n/2 + 100, "random": 24 * n, "few": 4 * n, "one low": 5 * n} {
			r := rand.New(rand.NewPCG(1, 1))
			x := make([]int, n)
			for i := range x {
				x[i] = inputs[name](i, n, r)
			}
			c := countedRows{newColumns(x), new(atomic.Int64)}
			SortInterface(p, c)
			if k := c.calls.Load(); k < n-1 || k > most {
				t.Errorf("%s on %d workers: %d calls, not up to %d", name, workers, k, most)
			}
		}
		p.Close()
	}
}

type countedRows struct {
	columns
	calls *atomic.Int64
}

func (c countedRows) Less(i, j int) bool { c.calls.Add(1); return c.columns.Less(i, j) }
func (c countedRows) Swap(i, j int)      { c.calls.Add(1); c.columns.Swap(i, j) }

// A million rows of two columns, on one worker and on two: how many times as fast as package sort that is.
func BenchmarkSortInterface(b *testing.B) {
	const n = 1_000_000
	pools := []*filch.Pool{filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(2))}
	defer pools[0].Close()
	defer pools[1].Close()
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		r := rand.New(rand.NewPCG(1, 1))
		x := make([]int, n)
		for i := range x {
			x[i] = inputs[name](i, n, r)
		}
		b.Run(name, func(b *testing.B) {
			c := newColumns(x)
			took := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)} // the least of each
			for b.Loop() {
				for i := range took { // in turn
					copy(c.keys, x)
					begin := clock.Now()
					if i == 0 {
						sort.Sort(c)
					} else {
						SortInterface(pools[i-1], c)
					}
					took[i] = min(took[i], float64(clock.Now()-begin))
				}
			}
			b.ReportMetric(took[0]/1e6, "serial-ms")
			b.ReportMetric(took[0]/took[1], "one-worker")
			b.ReportMetric(took[0]/took[2], "two-workers")
			b.ReportMetric(0, "ns/op")
		})
	}
}
