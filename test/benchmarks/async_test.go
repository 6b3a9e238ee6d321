package benchmarks

import (
	"strconv"
	"sync"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/basic"
	"github.com/filch-go/filch/internal/rig"
)

// An Async with an empty body, and what its closure costs.
func BenchmarkAsync(b *testing.B) {
	const n = 1000
	p := filch.New(filch.WithWorkers(1))
	perAsync := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/async")
	}
	b.Run("empty", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Do(func(w *filch.Worker) {
				for range n {
					w.Async(rig.Nop)
				}
			})
		}
		perAsync(b)
	})
	b.Run("from asyncs", func(b *testing.B) {
		b.ReportAllocs()
		left := 0
		var next func(w *filch.Worker)
		next = func(w *filch.Worker) {
			if left--; left > 0 {
				w.Async(next)
			}
		}
		for b.Loop() {
			left = n
			p.Do(next)
		}
		perAsync(b)
	})
	b.Run("closure of 16 bytes", func(b *testing.B) {
		b.ReportAllocs()
		sum := 0
		for b.Loop() {
			p.Do(func(w *filch.Worker) {
				for i := range n {
					w.Async(func(*filch.Worker) { sum += i })
				}
			})
		}
		perAsync(b)
	})
	b.Run("Finish", func(b *testing.B) {
		b.ReportAllocs()
		p.Do(func(w *filch.Worker) {
			for b.Loop() {
				w.Finish(rig.Nop)
			}
		})
	})
	b.Run("Do", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Do(rig.Nop)
		}
	})
}

// Asyncs of asyncs, against functions that a pool with one lock runs.
func BenchmarkRecursiveAsyncs(b *testing.B) {
	for _, shape := range []struct{ outer, inner int }{{10_000, 100}, {100, 10_000}} {
		name := strconv.Itoa(shape.outer) + "x" + strconv.Itoa(shape.inner)
		perTask := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.outer*(1+shape.inner)), "ns/task")
		}
		for _, workers := range []int{1, 2} {
			b.Run(name+"/async/"+strconv.Itoa(workers), func(b *testing.B) {
				for b.Loop() {
					p := filch.New(filch.WithWorkers(workers))
					p.Do(func(w *filch.Worker) {
						for range shape.outer {
							w.Async(func(w *filch.Worker) {
								for range shape.inner {
									w.Async(rig.Nop)
								}
							})
						}
					})
					p.Close()
				}
				perTask(b)
			})
			b.Run(name+"/basic/"+strconv.Itoa(workers), func(b *testing.B) {
				for b.Loop() {
					p := basic.New(workers)
					var left sync.WaitGroup
					left.Add(shape.outer)
					for range shape.outer {
						p.Go(func() {
							for range shape.inner {
								p.Go(func() {})
							}
							left.Done()
						})
					}
					left.Wait()
					p.Close()
				}
				perTask(b)
			})
		}
	}
}
