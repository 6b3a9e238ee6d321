package benchmarks

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/basic"
)

// Empty tasks that are submitted while all workers are held up, and drained then, against
// the pool with one lock. The two phases do not overlap.
func BenchmarkSubmitThenDrain(b *testing.B) {
	const n = 300_000
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("basic/%d", workers), func(b *testing.B) {
			submitThenDrain(b, n, workers, func() (func(f func()), func() func(), func()) {
				p := basic.New(workers)
				return p.Go, func() func() { return func() { p.Go(empty) } }, p.Close
			})
		})
		for _, order := range []filch.Order{filch.LIFO, filch.FIFO} {
			b.Run(fmt.Sprintf("%v/%d", order, workers), func(b *testing.B) {
				submitThenDrain(b, n, workers, func() (func(f func()), func() func(), func()) {
					p := filch.New(filch.WithWorkers(workers), filch.WithOrder(order))
					return func(f func()) { p.Go(context.Background(), func(context.Context) { f() }) },
						func() func() { return func() { p.Go(context.Background(), emptyTask) } },
						func() { p.Shutdown(context.Background()) }
				})
			})
		}
	}
}

func empty() {}

func emptyTask(context.Context) {}

func submitThenDrain(b *testing.B, n, workers int, start func() (hold func(f func()), prepare func() func(), drain func())) {
	b.ReportAllocs()
	var submitting, draining time.Duration
	for b.Loop() {
		runtime.GC() // both begin without memory of the run before
		runtime.GC()
		hold, prepare, drain := start()
		submit := prepare()
		var held sync.WaitGroup
		gate := make(chan bool)
		held.Add(workers)
		for range workers {
			hold(func() { held.Done(); <-gate })
		}
		held.Wait()
		begin := time.Now()
		for range n {
			submit()
		}
		submitted := time.Now()
		close(gate)
		drain()
		submitting += submitted.Sub(begin)
		draining += time.Since(submitted)
	}
	tasks := float64(b.N) * float64(n)
	b.ReportMetric(float64(submitting+draining)/tasks, "ns/task")
	b.ReportMetric(float64(submitting)/tasks, "submit-ns/task")
	b.ReportMetric(float64(draining)/tasks, "drain-ns/task")
}

// A chain in which each value is computed from the one before, on demand: the task that
// needs a value makes the task for it, and waits.
func BenchmarkChainOnDemand(b *testing.B) {
	const n = 1000
	b.Run("serial", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			serialChain(n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			b.ReportAllocs()
			for b.Loop() {
				filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return demand(ctx, p, n) }).Wait(context.Background())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
		})
	}
}

//go:noinline
func serialChain(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + serialChain(n-1)
}

func demand(ctx context.Context, p *filch.Pool, n int) (int, error) {
	if n == 0 {
		return 0, nil
	}
	v, err := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return demand(ctx, p, n-1) }).Wait(ctx)
	return v + 1, err
}
