package benchmarks

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/filch-go/filch"
)

// Stats of a pool whose workers all run a task, by order of the pool. At 64 workers it should take at most 2 us.
func BenchmarkStats(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
			b.Run(fmt.Sprintf("workers=%d/%v", workers, order), func(b *testing.B) {
				p := filch.New(filch.WithWorkers(workers), filch.WithOrder(order))
				defer p.Close()
				release := make(chan struct{})
				defer close(release)
				var running sync.WaitGroup
				for range workers {
					running.Add(1)
					p.Go(context.Background(), func(context.Context) { running.Done(); <-release })
				}
				running.Wait()
				b.ReportAllocs()
				for b.Loop() {
					p.Stats()
				}
			})
		}
	}
}
