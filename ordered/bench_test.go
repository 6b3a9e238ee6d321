package ordered

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// A push of a random priority and a pop, by several goroutines at once, with 100
// values for each there already.
func BenchmarkPushPop(b *testing.B) {
	for _, levels := range []int{8, 256, math.MaxInt32} {
		for _, goroutines := range []int{1, 2, 4, 8} {
			for _, q := range rivals {
				b.Run(fmt.Sprintf("levels=%d/goroutines=%d/queue=%s", levels, goroutines, q.name), func(b *testing.B) {
					hs := q.make(goroutines, levels)
					if hs == nil {
						b.Skip("not for so many levels")
					}
					var wg sync.WaitGroup
					var done atomic.Int32
					r := rand.New(rand.NewPCG(1, 1))
					for i := range 100 * goroutines {
						hs[i%goroutines].push(r.IntN(levels), i)
					}
					b.ReportAllocs()
					b.ResetTimer()
					for i, h := range hs {
						wg.Go(func() {
							r := rand.New(rand.NewPCG(uint64(i), 2))
							for n := i; n < b.N; n += goroutines {
								h.push(r.IntN(levels), n)
								for _, _, ok := h.pop(); !ok; _, _, ok = h.pop() {
									runtime.Gosched()
								}
							}
							done.Add(1)
							if h, ok := h.(interface{ offer() }); ok { // others can have only what the owner offers
								for int(done.Load()) < goroutines {
									h.offer()
									runtime.Gosched()
								}
							}
						})
					}
					wg.Wait()
				})
			}
		}
	}
}

// The alternatives to keep thieves out.
func BenchmarkGate(b *testing.B) {
	b.Run("flags", func(b *testing.B) {
		var g gate
		for b.Loop() {
			g.enter()
			g.leave(1)
		}
	})
	b.Run("mutex", func(b *testing.B) {
		var g gate
		for b.Loop() {
			g.mu.Lock()
			g.word.Store(2)
			g.mu.Unlock()
		}
	})
}

// How far from the order of one queue: goroutines in turn, at random, push a value and
// pop one. Of each pop, the rank is how many values were better at that moment, and it
// is an inversion if any was. From one: only the first pushes, so that the others have
// to steal; and there are few levels, so that a steal is of several.
func BenchmarkRank(b *testing.B) {
	b.Run("even", func(b *testing.B) { rank(b, 1<<12, false) })
	b.Run("from one", func(b *testing.B) { rank(b, 16, true) })
}

func rank(b *testing.B, levels int, fromOne bool) {
	for _, goroutines := range []int{1, 2, 4, 8, 16} {
		for _, q := range append([]rival{
			{"ordered,batch=2", func(n, _ int) []handle { return ofQueue(New[int](n, 0, StealBatch(2)), n) }},
			{"ordered,batch=32", func(n, _ int) []handle { return ofQueue(New[int](n, 0, StealBatch(32)), n) }},
			{"ordered,capacity=8", func(n, _ int) []handle { return ofQueue(New[int](n, 8), n) }},
		}, rivals...) {
			hs := q.make(goroutines, levels)
			if hs == nil {
				continue
			}
			b.Run(fmt.Sprintf("goroutines=%d/queue=%s", goroutines, q.name), func(b *testing.B) {
				hs := q.make(goroutines, levels)
				var there fenwick
				r := rand.New(rand.NewPCG(1, 1))
				push := func() {
					p := r.IntN(levels)
					at := r.IntN(goroutines)
					if fromOne {
						at = 0
					}
					hs[at].push(p, 0)
					there.add(p, 1)
				}
				for range 100 * goroutines {
					push()
				}
				sum, worst, inverted := 0, 0, 0
				for b.Loop() {
					push()
					p, _, ok := hs[r.IntN(goroutines)].pop()
					for !ok { // of some rivals, others may have what there is
						p, _, ok = hs[r.IntN(goroutines)].pop()
					}
					there.add(p, -1)
					rank := there.below(p)
					sum += rank
					worst = max(worst, rank)
					if rank > 0 {
						inverted++
					}
				}
				b.ReportMetric(float64(sum)/float64(b.N), "rank")
				b.ReportMetric(float64(worst), "worst")
				b.ReportMetric(100*float64(inverted)/float64(b.N), "%inversions")
			})
		}
	}
}

// fenwick counts values by level.
type fenwick [1<<12 + 1]int

func (f *fenwick) add(p, d int) {
	for i := p + 1; i < len(f); i += i & -i {
		f[i] += d
	}
}

// below counts those of lower levels.
func (f *fenwick) below(p int) (n int) {
	for i := p; i > 0; i -= i & -i {
		n += f[i]
	}
	return n
}
