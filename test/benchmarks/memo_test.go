package benchmarks

import (
	"context"
	"testing"

	"github.com/filch-go/filch"
)

// BenchmarkMemo measures a value that is there, and a recursion in which each key needs the one
// before it, beside a plain map.
func BenchmarkMemo(b *testing.B) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	square := func(_ context.Context, k int) (int, error) { return k * k, nil }
	b.Run("hit", func(b *testing.B) {
		b.ReportAllocs()
		m := filch.NewMemo(p, square)
		for i := range 1000 {
			m.Get(context.Background(), i)
		}
		i := 0
		for b.Loop() {
			m.Get(context.Background(), i%1000)
			i++
		}
	})
	b.Run("hit/map", func(b *testing.B) {
		m := map[int]int{}
		for i := range 1000 {
			m[i] = i * i
		}
		i, sum := 0, 0
		for b.Loop() {
			sum += m[i%1000]
			i++
		}
	})
	b.Run("hits at once", func(b *testing.B) {
		m := filch.NewMemo(p, square)
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				m.Get(context.Background(), i%1000)
			}
		})
	})
	const n = 1000
	b.Run("recursion", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m *filch.Memo[int, int]
			m = filch.NewMemo(p, func(ctx context.Context, k int) (int, error) {
				if k == 0 {
					return 0, nil
				}
				v, err := m.Get(ctx, k-1)
				return v + 1, err
			})
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return m.Get(ctx, n) }).Wait(context.Background())
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	})
	b.Run("recursion/map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := map[int]int{}
			var f func(k int) (int, error)
			f = func(k int) (int, error) {
				if v, ok := m[k]; ok || k == 0 {
					return v, nil
				}
				v, err := f(k - 1)
				m[k] = v + 1
				return v + 1, err
			}
			f(n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	})
}
