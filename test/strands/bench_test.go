package strands

import (
	"fmt"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// What a spawn with its Sync takes, in each form, lazy and eager: fib of 25, closures and results included.
func BenchmarkFib(b *testing.B) {
	const n, want, spawns = 25, 75025, 121392
	for _, fib := range fibs {
		for way, opts := range ways {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/workers=%d", fib.name, way, workers), func(b *testing.B) {
					p := filch.New(filch.WithWorkers(workers))
					defer p.Close()
					b.ReportAllocs()
					for b.Loop() {
						var got int
						strand.Run(p, func(s *strand.Strand) { got = fib.f(s, n) }, opts...)
						if got != want {
							b.Fatal(got)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spawns, "ns/spawn")
				})
			}
		}
	}
}

// What a run takes that spawns nothing, to go over to its goroutines and back; and a small one.
func BenchmarkRun(b *testing.B) {
	for name, f := range map[string]func(s *strand.Strand){"empty": func(*strand.Strand) {}, "fib10": func(s *strand.Strand) { fib(s, 10) }} {
		for way, opts := range ways {
			b.Run(name+"/"+way, func(b *testing.B) {
				p := filch.New(filch.WithWorkers(2))
				defer p.Close()
				b.ReportAllocs()
				for b.Loop() {
					strand.Run(p, f, opts...)
				}
			})
		}
	}
}
