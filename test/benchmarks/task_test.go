package benchmarks

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
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
	for _, order := range rig.Orders {
		b.Run(order.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := filch.New(filch.WithWorkers(2), filch.WithOrder(order))
				nop := func(context.Context) {}
				for range flood {
					p.Go(context.Background(), nop)
				}
				p.Shutdown(context.Background())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/flood, "ns/task")
		})
	}
}

// A million empty tasks with priorities, against a heap with a lock and a condition,
// which two goroutines drain.
func BenchmarkMillionTasksWithPriorities(b *testing.B) {
	for _, levels := range []int{1, 8, 256, math.MaxInt32} {
		r := rand.New(rand.NewPCG(1, 1))
		priorities := make([]int, flood)
		for i := range priorities {
			priorities[i] = r.IntN(levels)
		}
		b.Run(fmt.Sprintf("levels=%d/heap", levels), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var q heapPool
				q.cond.L = &q.mu
				var wg sync.WaitGroup
				for range 2 {
					wg.Go(q.run)
				}
				nop := func() {}
				for _, priority := range priorities {
					q.add(priority, nop)
				}
				q.end()
				wg.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/flood, "ns/task")
		})
		b.Run(fmt.Sprintf("levels=%d/filch", levels), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := filch.New(filch.WithWorkers(2), filch.WithOrder(filch.ByPriority))
				nop := func(context.Context) {}
				for _, priority := range priorities {
					p.Go(context.Background(), nop, filch.AtPriority(priority))
				}
				p.Shutdown(context.Background())
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
				filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return rig.TaskFib(ctx, p, n) }).Wait(context.Background())
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
					p.Go(context.Background(), func(ctx context.Context) {
						for range shape.inner {
							p.Go(ctx, func(context.Context) {})
						}
						ran.Add(1)
					})
				}
				p.Shutdown(context.Background())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.outer*(1+shape.inner)), "ns/task")
		})
	}
}

// heapPool is a pool with a heap and a lock.
type heapPool struct {
	mu    sync.Mutex
	cond  sync.Cond
	heap  prioritized
	ended bool
}

type prioritized []struct {
	priority int
	f        func()
}

func (h prioritized) Len() int           { return len(h) }
func (h prioritized) Less(i, j int) bool { return h[i].priority < h[j].priority }
func (h prioritized) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *prioritized) Push(x any) {
	*h = append(*h, x.(struct {
		priority int
		f        func()
	}))
}
func (h *prioritized) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}

func (q *heapPool) add(priority int, f func()) {
	q.mu.Lock()
	heap.Push(&q.heap, struct {
		priority int
		f        func()
	}{priority, f})
	q.mu.Unlock()
	q.cond.Signal()
}

func (q *heapPool) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.cond.Broadcast()
}

func (q *heapPool) run() {
	for {
		q.mu.Lock()
		for len(q.heap) == 0 && !q.ended {
			q.cond.Wait()
		}
		if len(q.heap) == 0 {
			q.mu.Unlock()
			return
		}
		f := heap.Pop(&q.heap).(struct {
			priority int
			f        func()
		}).f
		q.mu.Unlock()
		f()
	}
}
