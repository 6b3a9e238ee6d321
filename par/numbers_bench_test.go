package par

import (
	"fmt"
	"math"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
)

// What adds and compares numbers, next to a plain loop and to Copy of as many: how many times as
// fast as the loop, and which part of Copy's bytes a second, read and written.
func BenchmarkNumbers(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 1 << 24} {
		for _, workers := range []int{1, 2} {
			benchNumbers(b, fmt.Sprintf("int64/%d/%d workers", n, workers), n, workers, int64(1))
			benchNumbers(b, fmt.Sprintf("float64/%d/%d workers", n, workers), n, workers, 1.0)
			benchNumbers(b, fmt.Sprintf("int32/%d/%d workers", n, workers), n, workers, int32(1))
		}
	}
}

func benchNumbers[T Number](b *testing.B, name string, n, workers int, one T) {
	pool := filch.New(filch.WithWorkers(workers))
	defer pool.Close()
	x, dst := make([]T, n), make([]T, n)
	for i := range x {
		x[i], dst[i] = T(i%1000), one
	}
	var sink T
	for _, c := range []struct {
		name        string
		bytes       float64 // of each element's, as those of Copy are 2
		serial, run func()
	}{
		{"Sum", 1, func() {
			var sum T
			for _, v := range x {
				sum += v
			}
			sink += sum
		}, func() { sink += Sum(pool, x) }},
		{"MinMax", 1, func() {
			least, most := x[0], x[0]
			for _, v := range x[1:] {
				least, most = min(least, v), max(most, v)
			}
			sink += least + most
		}, func() {
			least, most, _ := MinMax(pool, x)
			sink += least + most
		}},
		{"CountBetween", 1, func() {
			count := 0
			for _, v := range x {
				if 10 <= v && v <= 100 {
					count++
				}
			}
			sink += T(count)
		}, func() { sink += T(CountBetween(pool, x, 10, 100)) }},
		{"FilterBetween", 1, func() {
			var kept []T
			for _, v := range x {
				if 20 <= v && v <= 120 {
					kept = append(kept, v)
				}
			}
			sink += T(len(kept))
		}, func() { sink += T(len(FilterBetween(pool, x, 20, 120))) }},
		{"PrefixSum", 2, func() {
			var sum T
			for i, v := range x {
				sum += v
				dst[i] = sum
			}
		}, func() { PrefixSum(pool, dst, x) }},
	} {
		b.Run(c.name+"/"+name, func(b *testing.B) {
			took := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)} // the least of each
			for b.Loop() {
				for i, f := range []func(){c.serial, func() { Copy(pool, dst, x) }, c.run} { // in turn
					begin := clock.Now()
					f()
					took[i] = min(took[i], float64(clock.Now()-begin))
				}
			}
			b.ReportMetric(took[2]/float64(n), "ns/element")
			b.ReportMetric(took[0]/took[2], "of-loop")
			b.ReportMetric(took[1]/took[2]*c.bytes/2, "of-Copy")
			b.ReportMetric(0, "ns/op")
		})
	}
}
