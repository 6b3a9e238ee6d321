package strands

import (
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

var total int

// An update of a view, beside a plain addition through a pointer, an atomic one, and updates of several in turn.
func BenchmarkView(b *testing.B) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	b.Run("plain", func(b *testing.B) {
		p := &total
		for i := 0; i < b.N; i++ {
			*p += i
		}
	})
	b.Run("atomic", func(b *testing.B) {
		var sum atomic.Int64
		for i := 0; i < b.N; i++ {
			sum.Add(int64(i))
		}
	})
	for _, c := range []struct {
		name string
		n    int
	}{{"1", 1}, {"2", 2}, {"8", 8}, {"64", 64}} {
		b.Run(c.name, func(b *testing.B) {
			sums := make([]*strand.Reducer[int], c.n)
			for i := range sums {
				sums[i] = strand.NewSum[int]()
			}
			sum := sums[0]
			p.Do(func(w *filch.Worker) {
				for i := 0; i < b.N; i++ {
					*sum.View(w) += i
					if c.n > 1 {
						sum = sums[i%c.n]
					}
				}
			})
		})
	}
}

// What a Do costs that uses a Reducer, beside one that does not.
func BenchmarkDo(b *testing.B) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	sum := strand.NewSum[int]()
	for name, f := range map[string]func(w *filch.Worker){
		"nothing": func(*filch.Worker) {},
		"a view":  func(w *filch.Worker) { *sum.View(w)++ },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Do(f)
			}
		})
	}
}
