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
		benchmarkSort(b, "Sort/"+name, x, slices.Sort[[]int], func(x []int) { Sort(pool, x) })
		benchmarkSort(b, "SortFunc/"+name, x, func(x []int) { slices.SortFunc(x, cmp.Compare[int]) },
			func(x []int) { SortFunc(pool, x, cmp.Compare[int]) })
		benchmarkSort(b, "SortStableFunc/"+name, x, func(x []int) { slices.SortStableFunc(x, cmp.Compare[int]) },
			func(x []int) { SortStableFunc(pool, x, cmp.Compare[int]) })
	}
	r := rand.New(rand.NewPCG(1, 1))
	floats := make([]float64, n)
	for i := range floats {
		if floats[i] = r.NormFloat64(); i%10 == 0 {
			floats[i] = math.NaN()
		}
	}
	benchmarkSort(b, "Sort/floats, a tenth NaN", floats, slices.Sort[[]float64], func(x []float64) { Sort(pool, x) })
	for name, format := range map[string]string{"short": "%d", "with a prefix in common": "/usr/share/doc/some-package/%016d", "of equal length": "%020d"} {
		texts := make([]string, n/4)
		for i := range texts {
			texts[i] = fmt.Sprintf(format, r.Uint64()>>20)
		}
		benchmarkSort(b, "Sort/strings "+name, texts, slices.Sort[[]string], func(x []string) { Sort(pool, x) })
	}
}

func benchmarkSort[T any](b *testing.B, name string, x []T, serial, parallel func(x []T)) {
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

// What a loop costs that has next to nothing to do, with a body that was made beforehand.
func BenchmarkTiny(b *testing.B) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	sum := 0
	body, each := func(i int) { sum += i }, func(_, v int) { sum += v }
	for _, n := range []int{0, 1, 2, 16} {
		x := make([]int, n)
		b.Run(fmt.Sprint("For/", n), func(b *testing.B) {
			for b.Loop() {
				For(p, n, body)
			}
		})
		b.Run(fmt.Sprint("Each/", n), func(b *testing.B) {
			for b.Loop() {
				Each(p, x, each)
			}
		})
	}
}
