package filch_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
)

const flood = 1_000_000

// A million empty tasks from one goroutine, against a channel that two
// goroutines drain.
func BenchmarkMillionEmptyTasks(b *testing.B) {
	b.Run("channel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ch := make(chan func(), 1024)
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					for f := range ch {
						f()
					}
				})
			}
			nop := func() {}
			for range flood {
				ch <- nop
			}
			close(ch)
			wg.Wait()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/flood, "ns/task")
	})
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO} {
		b.Run(order.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := filch.New(filch.WithWorkers(2), filch.WithOrder(order))
				nop := func(context.Context) {}
				for range flood {
					p.Go(background, nop)
				}
				p.Shutdown(background)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/flood, "ns/task")
		})
	}
}

func BenchmarkSubmitAndWaitInsideTasks(b *testing.B) {
	const n = 22
	for _, workers := range []int{1, 2} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			b.ReportAllocs()
			for b.Loop() {
				filch.Submit(background, p, func(ctx context.Context) (int, error) { return taskFib(ctx, p, n) }).Wait(background)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/28656, "ns/task")
		})
	}
}

// Tasks submitted by tasks, which nobody waits for.
func BenchmarkRecursiveSubmission(b *testing.B) {
	for _, shape := range []struct{ outer, inner int }{{10_000, 100}, {100, 10_000}} {
		b.Run(strconv.Itoa(shape.outer)+"x"+strconv.Itoa(shape.inner), func(b *testing.B) {
			for b.Loop() {
				p := filch.New(filch.WithWorkers(2))
				var ran atomic.Int64
				for range shape.outer {
					p.Go(background, func(ctx context.Context) {
						for range shape.inner {
							p.Go(ctx, func(context.Context) {})
						}
						ran.Add(1)
					})
				}
				p.Shutdown(background)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.outer*(1+shape.inner)), "ns/task")
		})
	}
}
