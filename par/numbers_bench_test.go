package par

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
)

// What works on numbers, next to a plain loop and to Copy of as many: how many times as fast as the
// loop, and which part of Copy's bytes a second, read and written.
func BenchmarkNumbers(b *testing.B) {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	benchNumbers[int8](b, pool)
	benchNumbers[uint8](b, pool)
	benchNumbers[int16](b, pool)
	benchNumbers[uint16](b, pool)
	benchNumbers[int32](b, pool)
	benchNumbers[uint32](b, pool)
	benchNumbers[int64](b, pool)
	benchNumbers[uint64](b, pool)
	benchNumbers[float32](b, pool)
	benchNumbers[float64](b, pool)
}

// A numbersCase is a function, and what does the same in a loop.
type numbersCase struct {
	name        string
	bytes       float64 // of each element's, as those of Copy are 2
	serial, run func()
}

var keep any // what is computed

func numbersCases[T Number](pool *filch.Pool, x, dst []T) []numbersCase {
	var sink T
	var list []T
	var table []int
	keep = []any{&sink, &list, &table}
	buckets := 100
	bucket := func(v T) int { return int(v) }
	return []numbersCase{
		{"Sum", 1, func() {
			var sum T
			for _, v := range x {
				sum += v
			}
			sink += sum
		}, func() { sink += Sum(pool, x) }},
		{"MinMax", 1, func() {
			if len(x) == 0 {
				return
			}
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
				if 10 <= v && v <= 50 {
					count++
				}
			}
			sink += T(count)
		}, func() { sink += T(CountBetween(pool, x, 10, 50)) }},
		{"FilterBetween", 1.1, func() {
			var kept []T
			for _, v := range x {
				if 20 <= v && v <= 29 {
					kept = append(kept, v)
				}
			}
			list = kept
		}, func() { list = FilterBetween(pool, x, 20, 29) }},
		{"Fill", 1, func() {
			v := sink
			for i := range dst {
				dst[i] = v
			}
		}, func() { Fill(pool, dst, sink) }},
		{"Copy", 2, func() { copy(dst, x) }, func() { Copy(pool, dst, x) }},
		{"PrefixSum", 2, func() {
			var sum T
			for i, v := range x {
				sum += v
				dst[i] = sum
			}
		}, func() { PrefixSum(pool, dst, x) }},
		{"PrefixSumExclusive", 2, func() {
			var sum T
			for i, v := range x {
				dst[i] = sum
				sum += v
			}
			sink += sum
		}, func() { sink += PrefixSumExclusive(pool, dst, x, 0) }},
		{"Histogram", 1, func() {
			counts := make([]int, buckets)
			for _, v := range x {
				counts[bucket(v)]++
			}
			table = counts
		}, func() { table = Histogram(pool, x, buckets, bucket) }},
	}
}

func benchNumbers[T Number](b *testing.B, pool *filch.Pool) {
	size := int(unsafe.Sizeof(T(0)))
	for _, n := range []int{0, 1, 7, 100, 1000, 10_000, 100_000, 1_000_000, 100_000_000 / size} {
		x, dst := make([]T, n), make([]T, n)
		for i := range x {
			x[i] = T(uint64(i) * 0x9e3779b97f4a7c15 >> 32 * 100 >> 32)
			dst[i] = 1
		}
		for _, c := range numbersCases(pool, x, dst) {
			b.Run(fmt.Sprintf("%s/%T/%d", c.name, T(0), n), func(b *testing.B) {
				times := max(1, 2000/(n+1))                               // so often that the clock does not matter
				took := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)} // the least of each
				for b.Loop() {
					for i, f := range []func(){c.serial, func() { Copy(pool, dst, x) }, c.run} { // in turn
						begin := clock.Now()
						for range times {
							f()
						}
						took[i] = min(took[i], float64(clock.Now()-begin)/float64(times))
					}
				}
				b.ReportMetric(took[2], "ns/call")
				b.ReportMetric(took[0]/took[2], "of-loop")
				if n > 0 {
					b.ReportMetric(took[1]/took[2]*c.bytes/2, "of-Copy")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
