package par

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/rig"
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

// A key without a hash panics as in a body, whichever step finds it.
func TestGroupReduceOfKeysWithoutAHash(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{1, 2, 9, 1000, 5000} {
		x := make([]any, n)
		for i := range x {
			x[i] = i % 7
		}
		x[n-1] = []int{1}
		same := func(v any) any { return v }
		count := func(n int, _ any) int { return n + 1 }
		if v := rig.Catch(func() { GroupReduce(p, x, same, 0, count, add) }); !isPanicError(v) {
			t.Errorf("rig.Catch(…): %d: %T", n, v)
		}
	}
}

func isPanicError(v any) bool { _, ok := v.(*filch.PanicError); return ok }

var _ = cmp.Compare[int]
