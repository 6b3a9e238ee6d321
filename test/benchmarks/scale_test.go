package benchmarks

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// Tasks that sleep on very many workers: what a task costs beyond its sleep, and how
// often deques and queues of others were looked at for it.
func BenchmarkManyWorkers(b *testing.B) {
	const sleep = 10 * time.Millisecond
	for _, workers := range []int{100, 1000, 10_000} {
		for _, limit := range []int{0, 1} {
			b.Run(fmt.Sprintf("workers=%d/limit=%d", workers, limit), func(b *testing.B) {
				opts := []filch.Option{filch.WithWorkers(workers)}
				if limit > 0 {
					opts = append(opts, filch.WithQueueLimit(limit, filch.Block))
				}
				p := filch.New(opts...)
				defer p.Close()
				var done sync.WaitGroup
				for range b.N {
					done.Add(1)
					if err := p.Go(context.Background(), func(context.Context) {
						time.Sleep(sleep)
						done.Done()
					}); err != nil {
						b.Fatal("p.Go(context.Background(), …):", err)
					}
				}
				done.Wait()
				s := p.Stats()
				b.ReportMetric(float64(s.Attempts+s.Tasks.Attempts)/float64(b.N), "looks/op")
			})
		}
	}
}

// Tasks with goroutines of their own, so many at a time.
func BenchmarkLongRunning(b *testing.B) {
	for _, crowd := range []int{100, 10_000} {
		b.Run(fmt.Sprint(crowd), func(b *testing.B) {
			p := filch.New()
			defer p.Close()
			for n := b.N; n > 0; n -= crowd {
				end := make(chan bool)
				var done sync.WaitGroup
				for range min(n, crowd) {
					done.Add(1)
					if err := p.Go(context.Background(), func(context.Context) {
						<-end
						done.Done()
					}, filch.LongRunning()); err != nil {
						b.Fatal("p.Go(context.Background(), …, filch.LongRunning()):", err)
					}
				}
				close(end)
				done.Wait()
			}
		})
	}
}
