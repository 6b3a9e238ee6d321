package par

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/filch-go/filch"
)

// Each function against what people write without it, by the number of elements and of
// workers.
func BenchmarkPar(b *testing.B) {
	type program struct {
		name   string
		serial func(x, y []int)
		par    func(s filch.Scope, x, y []int)
	}
	double := func(v int) int { return 2 * v }
	odd := func(v int) bool { return v&1 == 1 }
	add := func(a, c int) int { return a + c }
	var sink int
	programs := []program{
		{"For", func(x, y []int) {
			body := func(i int) { y[i] = x[i] + 1 }
			for i := range x {
				body(i)
			}
		}, func(s filch.Scope, x, y []int) { For(s, len(x), func(i int) { y[i] = x[i] + 1 }) }},
		{"ForEmpty", func(x, y []int) {
			for range x {
			}
		}, func(s filch.Scope, x, y []int) { For(s, len(x), func(i int) {}) }},
		{"Map", func(x, y []int) {
			z := make([]int, len(x))
			for i, v := range x {
				z[i] = double(v)
			}
			sink += len(z)
		}, func(s filch.Scope, x, y []int) { sink += len(Map(s, x, double)) }},
		{"MapInto", func(x, y []int) {
			for i, v := range x {
				y[i] = double(v)
			}
		}, func(s filch.Scope, x, y []int) { MapInto(s, y, x, double) }},
		{"Reduce", func(x, y []int) {
			v := 0
			for _, w := range x {
				v = add(v, w)
			}
			sink += v
		}, func(s filch.Scope, x, y []int) { sink += Reduce(s, x, 0, add) }},
		{"Sum", func(x, y []int) {
			v := 0
			for _, w := range x {
				v += w
			}
			sink += v
		}, func(s filch.Scope, x, y []int) { sink += Sum(s, x) }},
		{"Scan", func(x, y []int) {
			v := 0
			for i, w := range x {
				v = add(v, w)
				y[i] = v
			}
		}, func(s filch.Scope, x, y []int) { Scan(s, y, x, add) }},
		{"Filter", func(x, y []int) {
			var z []int
			for _, v := range x {
				if odd(v) {
					z = append(z, v)
				}
			}
			sink += len(z)
		}, func(s filch.Scope, x, y []int) { sink += len(Filter(s, x, odd)) }},
		{"Count", func(x, y []int) {
			for _, v := range x {
				if odd(v) {
					sink++
				}
			}
		}, func(s filch.Scope, x, y []int) { sink += Count(s, x, odd) }},
		{"Find", func(x, y []int) { sink += slices.IndexFunc(x, func(v int) bool { return v < 0 }) },
			func(s filch.Scope, x, y []int) { sink += Find(s, x, func(v int) bool { return v < 0 }) }},
		{"MinMax", func(x, y []int) { sink += slices.Min(x) + slices.Max(x) },
			func(s filch.Scope, x, y []int) { v, w, _ := MinMax(s, x); sink += v + w }},
		{"Fill", func(x, y []int) {
			for i := range y {
				y[i] = 3
			}
		}, func(s filch.Scope, x, y []int) { Fill(s, y, 3) }},
		{"Copy", func(x, y []int) { copy(y, x) }, func(s filch.Scope, x, y []int) { Copy(s, y, x) }},
		{"Sort", func(x, y []int) { copy(y, x); slices.Sort(y) }, func(s filch.Scope, x, y []int) { copy(y, x); Sort(s, y) }},
		{"SortFunc", func(x, y []int) { copy(y, x); slices.SortFunc(y, cmp.Compare[int]) },
			func(s filch.Scope, x, y []int) { copy(y, x); SortFunc(s, y, cmp.Compare[int]) }},
		{"SortStableFunc", func(x, y []int) { copy(y, x); slices.SortStableFunc(y, cmp.Compare[int]) },
			func(s filch.Scope, x, y []int) { copy(y, x); SortStableFunc(s, y, cmp.Compare[int]) }},
	}
	for _, p := range programs {
		for _, n := range []int{10, 1000, 100_000, 10_000_000} {
			r := rand.New(rand.NewPCG(1, 1))
			x, y := make([]int, n), make([]int, n)
			for i := range x {
				x[i] = int(r.Uint64() >> 1)
			}
			name := fmt.Sprintf("%s/n=%d/", p.name, n)
			b.Run(name+"serial", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.serial(x, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
			})
			for _, workers := range []int{1, 2} {
				b.Run(name+"workers="+strconv.Itoa(workers), func(b *testing.B) {
					pool := filch.New(filch.WithWorkers(workers))
					defer pool.Close()
					b.ReportAllocs()
					for b.Loop() {
						p.par(pool, x, y)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
				})
			}
		}
	}
	if sink == 42 {
		b.Log(sink)
	}
}

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
