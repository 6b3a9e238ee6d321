package par

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
)

// Small loops inside of a large one, all workers being busy.
func BenchmarkNested(b *testing.B) {
	for _, n := range []int{0, 1, 3, 10, 100} {
		x, y := make([]int, n), make([]int, n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			pool := filch.New(filch.WithWorkers(2))
			defer pool.Close()
			for b.Loop() {
				ForScope(pool, 20_000, func(s filch.Scope, _ int) { For(s, n, func(i int) { y[i] = x[i] + 1 }) })
			}
			b.ReportMetric(2*float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "worker-ns/loop")
		})
	}
}

// Inputs that sorts are known to have trouble with: a million elements, two workers, and how
// many times as fast as package slices that is.
func BenchmarkSortInputs(b *testing.B) {
	const n = 1_000_000
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		r := rand.New(rand.NewPCG(1, 1))
		x := make([]int, n)
		for i := range x {
			x[i] = inputs[name](i, n, r)
		}
		inTurn(b, "Sort/"+name, x, slices.Sort[[]int], func(x []int) { Sort(pool, x) })
		inTurn(b, "SortFunc/"+name, x, func(x []int) { slices.SortFunc(x, cmp.Compare[int]) },
			func(x []int) { SortFunc(pool, x, cmp.Compare[int]) })
		inTurn(b, "SortStableFunc/"+name, x, func(x []int) { slices.SortStableFunc(x, cmp.Compare[int]) },
			func(x []int) { SortStableFunc(pool, x, cmp.Compare[int]) })
	}
	r := rand.New(rand.NewPCG(1, 1))
	floats := make([]float64, n)
	for i := range floats {
		if floats[i] = r.NormFloat64(); i%10 == 0 {
			floats[i] = math.NaN()
		}
	}
	inTurn(b, "Sort/floats, a tenth NaN", floats, slices.Sort[[]float64], func(x []float64) { Sort(pool, x) })
	for name, format := range map[string]string{"short": "%d", "with a prefix in common": "/usr/share/doc/some-package/%016d", "of equal length": "%020d"} {
		texts := make([]string, n/4)
		for i := range texts {
			texts[i] = fmt.Sprintf(format, r.Uint64()>>20)
		}
		inTurn(b, "Sort/strings "+name, texts, slices.Sort[[]string], func(x []string) { Sort(pool, x) })
	}
}

func inTurn[T any](b *testing.B, name string, x []T, serial, parallel func(x []T)) {
	b.Run(name, func(b *testing.B) {
		y := make([]T, len(x))
		var took [2]float64
		for b.Loop() {
			for i, sort := range []func(x []T){serial, parallel} { // in turn
				copy(y, x)
				begin := clock.Now()
				sort(y)
				took[i] += float64(clock.Now() - begin)
			}
		}
		b.ReportMetric(took[0]/float64(b.N)/1e6, "serial-ms")
		b.ReportMetric(took[1]/float64(b.N)/1e6, "par-ms")
		b.ReportMetric(took[0]/took[1], "times-as-fast")
		b.ReportMetric(0, "ns/op")
	})
}

// What a loop costs that has next to nothing to do, with a body that was made beforehand: on a Pool, and
// on a Worker of it.
func BenchmarkTiny(b *testing.B) {
	sum := 0
	index, element := func(i int) { sum += i }, func(_, v int) { sum += v }
	inScope, inRange := func(_ filch.Scope, i int) { sum += i }, func(lo, hi int) { sum += hi - lo }
	same, odd := func(v int) int { return v }, func(v int) bool { return v&1 != 0 }
	failing := func(int) error { return nil }
	for _, c := range []struct {
		name string
		run  func(s filch.Scope, x []int)
	}{
		{"For", func(s filch.Scope, x []int) { For(s, len(x), index) }},
		{"ForScope", func(s filch.Scope, x []int) { ForScope(s, len(x), inScope) }},
		{"ForRange", func(s filch.Scope, x []int) { ForRange(s, len(x), inRange) }},
		{"ForErr", func(s filch.Scope, x []int) { ForErr(s, len(x), failing) }},
		{"Each", func(s filch.Scope, x []int) { Each(s, x, element) }},
		{"MapInto", func(s filch.Scope, x []int) { MapInto(s, x, x, same) }},
		{"Reduce", func(s filch.Scope, x []int) { sum += Reduce(s, x, 0, add) }},
		{"MapReduce", func(s filch.Scope, x []int) { sum += MapReduce(s, x, 0, same, add) }},
		{"Count", func(s filch.Scope, x []int) { sum += Count(s, x, odd) }},
		{"IndexFunc", func(s filch.Scope, x []int) { sum += IndexFunc(s, x, odd) }},
	} {
		for _, n := range []int{0, 1, 4, 64} {
			for _, workers := range []int{1, 2} {
				p := filch.New(filch.WithWorkers(workers))
				x := make([]int, n)
				b.Run(fmt.Sprintf("%s/%d/a Pool of %d", c.name, n, workers), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						c.run(p, x)
					}
				})
				b.Run(fmt.Sprintf("%s/%d/a Worker of %d", c.name, n, workers), func(b *testing.B) {
					b.ReportAllocs()
					p.Do(func(w *filch.Worker) {
						for b.Loop() {
							c.run(w, x)
						}
					})
				})
				p.Close()
			}
		}
	}
}

// A recursion in which each call is a loop of four, with bodies that were made beforehand.
func BenchmarkNestedLoops(b *testing.B) {
	const depth = 7
	leaf := 0
	tree := newBush(depth, func() { leaf++ })
	loops := float64(int(1)<<(2*depth)-1) / 3
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		b.Run(fmt.Sprintf("%d workers", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tree.walk(p)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/loops, "ns/loop")
			b.ReportMetric(0, "ns/op")
		})
		p.Close()
	}
}

// What a function value costs for each element of many that take next to nothing, and its Range form:
// parts of the speed of a plain loop.
func BenchmarkTinyBodies(b *testing.B) {
	const n = 1_000_000
	x, dst := make([]int, n), make([]int, n)
	for i := range x {
		x[i] = i
	}
	sink := 0
	odd, never := func(v int) bool { return v&1 != 0 }, func(v int) bool { return v < 0 }
	sum := func(x []int) (sum int) {
		for _, v := range x {
			sum += v
		}
		return sum
	}
	odds := func(x []int) (n int) {
		for _, v := range x {
			n += v & 1
		}
		return n
	}
	negative := func(x []int) int {
		for i, v := range x {
			if v < 0 {
				return i
			}
		}
		return -1
	}
	double := func(dst, x []int) {
		for i, v := range x {
			dst[i] = 2 * v
		}
	}
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		for _, c := range []struct {
			name                 string
			serial, call, ranges func()
		}{
			{"For", func() { double(dst, x) }, func() { For(p, n, func(i int) { dst[i] = 2 * x[i] }) },
				func() { ForRange(p, n, func(lo, hi int) { double(dst[lo:hi], x[lo:hi]) }) }},
			{"Each", func() { double(dst, x) }, func() { Each(p, x, func(i, v int) { dst[i] = 2 * v }) },
				func() { ForRange(p, n, func(lo, hi int) { double(dst[lo:hi], x[lo:hi]) }) }},
			{"MapInto", func() { double(dst, x) }, func() { MapInto(p, dst, x, func(v int) int { return 2 * v }) },
				func() { ForRange(p, n, func(lo, hi int) { double(dst[lo:hi], x[lo:hi]) }) }},
			{"Reduce", func() { sink += sum(x) }, func() { sink += Reduce(p, x, 0, func(a, b int) int { return a + b }) },
				func() { sink += ReduceRange(p, n, 0, func(lo, hi int) int { return sum(x[lo:hi]) }, add) }},
			{"Count", func() { sink += odds(x) }, func() { sink += Count(p, x, odd) },
				func() { sink += CountRange(p, n, func(lo, hi int) int { return odds(x[lo:hi]) }) }},
			{"IndexFunc", func() { sink += negative(x) }, func() { sink += IndexFunc(p, x, never) },
				func() {
					sink += IndexRange(p, n, func(lo, hi int) int {
						if i := negative(x[lo:hi]); i >= 0 {
							return lo + i
						}
						return -1
					})
				}},
			{"All", func() { sink += negative(x) }, func() { All(p, x, func(v int) bool { return v >= 0 }) },
				func() { AllRange(p, n, func(lo, hi int) bool { return negative(x[lo:hi]) < 0 }) }},
		} {
			b.Run(fmt.Sprintf("%s/%d workers", c.name, workers), func(b *testing.B) {
				took := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)} // the least of each
				for b.Loop() {
					for i, f := range []func(){c.serial, c.call, c.ranges} { // in turn
						begin := clock.Now()
						f()
						took[i] = min(took[i], float64(clock.Now()-begin))
					}
				}
				b.ReportMetric(took[0]/n, "serial-ns/element")
				b.ReportMetric(took[1]/n, "ns/element")
				b.ReportMetric(took[0]/took[1], "of-loop")
				b.ReportMetric(took[0]/took[2], "Range-of-loop")
				b.ReportMetric(0, "ns/op")
			})
		}
		p.Close()
	}
}

// Scan with a function beside a loop that calls the same one, in turn.
func BenchmarkScan(b *testing.B) {
	x := make([]int64, 20_000_000)
	for i := range x {
		x[i] = int64(i)
	}
	dst := make([]int64, len(x))
	op := func(a, b int64) int64 { return a + b }
	if len(x) == 0 {
		op = nil // so that the compiler does not know it
	}
	loop := func([]int64) {
		var v int64
		for i, w := range x {
			v = op(v, w)
			dst[i] = v
		}
	}
	for _, workers := range []int{1, 2} {
		pool := filch.New(filch.WithWorkers(workers))
		defer pool.Close()
		inTurn(b, fmt.Sprint("workers=", workers), x[:1], loop, func([]int64) { Scan(pool, dst, x, op) })
	}
}
