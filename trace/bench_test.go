package trace_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/trace"
)

// spinFor takes about a microsecond if n is spins.
func spinFor(n int) (x uint64) {
	for i := range n {
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

var sink atomic.Uint64

// aMicrosecond returns how many turns of spinFor take a microsecond.
func aMicrosecond() int {
	n, took := 1000, time.Hour
	for range 20 {
		begin := time.Now()
		sink.Store(spinFor(n))
		took = min(took, time.Since(begin))
	}
	return int(float64(n) * float64(time.Microsecond) / float64(took))
}

// What recording adds to leaves of 1 us: tasks, forks of a Func, which are seldom published.
func BenchmarkLeaves(b *testing.B) {
	turns := aMicrosecond()
	leaves := filch.NewFunc(func(f *filch.Frame[int, uint64], n int) uint64 {
		if n == 1 {
			return spinFor(turns)
		}
		h := f.Fork(n / 2)
		x := f.Call(n - n/2)
		return x + f.Join(h)
	})
	const n = 1 << 14
	programs := []struct {
		name string
		run  func(p *filch.Pool)
	}{
		{"tasks", func(p *filch.Pool) {
			g := p.Group(context.Background())
			for range n {
				g.Go(func(context.Context) error { sink.Store(spinFor(turns)); return nil })
			}
			g.Wait()
		}},
		{"forks", func(p *filch.Pool) { sink.Store(leaves.Call(p, n)) }},
	}
	for _, program := range programs {
		for _, workers := range []int{1, 2} {
			for _, on := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/workers=%d/on=%v", program.name, workers, on), func(b *testing.B) {
					p := filch.New(filch.WithWorkers(workers))
					defer p.Close()
					if r := trace.New(p); on {
						r.Start()
						defer r.Stop()
					}
					for b.Loop() {
						program.run(p)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/leaf")
				})
			}
		}
	}
}

// What recording adds to forks that are not published: fib(38) on one worker, and a smaller one under -short.
func BenchmarkFib(b *testing.B) {
	fib := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		h := f.Fork(n - 1)
		x := f.Call(n - 2)
		return f.Join(h) + x
	})
	n := 38
	if thorough.Sampled() {
		n = 25
	}
	for _, workers := range []int{1, 2} {
		for _, on := range []bool{false, true} {
			b.Run(fmt.Sprintf("workers=%d/on=%v", workers, on), func(b *testing.B) {
				p := filch.New(filch.WithWorkers(workers))
				defer p.Close()
				if r := trace.New(p); on {
					r.Start()
					defer r.Stop()
				}
				for b.Loop() {
					fib.Call(p, n)
				}
			})
		}
	}
}
