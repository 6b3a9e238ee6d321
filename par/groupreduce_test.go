package par

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
)

// Sums by key beside a loop with a map, in the processor time of one worker and the time of two.
func BenchmarkGroupReduce(b *testing.B) {
	pools := [2]*filch.Pool{filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(2))}
	defer pools[0].Close()
	defer pools[1].Close()
	for _, n := range []int{100, 1000, 100_000, 1_000_000} {
		for _, keys := range []int{4, 64, 1000, 50_000, 1 << 30} {
			if keys > 10*n && keys < 1<<30 {
				continue
			}
			r := rand.New(rand.NewPCG(1, 1))
			x := ints(n, keys, r)
			b.Run(fmt.Sprintf("%d of %d keys", n, keys), func(b *testing.B) {
				took := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)} // the least of each
				times := max(1, 20_000/n)
				for b.Loop() {
					for i := range took {
						begin := clock.Now()
						for range times {
							if i == 0 {
								sums := map[int]int{}
								for _, v := range x {
									sums[v] += v
								}
								keep = sums
								continue
							}
							keep = GroupReduce(pools[i-1], x, func(v int) int { return v }, 0, add, add)
						}
						took[i] = min(took[i], float64(clock.Now()-begin)/float64(times))
					}
				}
				b.ReportMetric(took[0]/float64(n), "serial-ns/element")
				b.ReportMetric(took[0]/took[1], "of-loop-1")
				b.ReportMetric(took[0]/took[2], "of-loop-2")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

var _ = cmp.Compare[int]
