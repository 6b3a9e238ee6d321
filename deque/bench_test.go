package deque

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Push and Pop of one value, with others below it and without.
func BenchmarkPushPop(b *testing.B) {
	for _, below := range []int{0, 10} {
		b.Run(fmt.Sprintf("ChaseLev/below=%d", below), func(b *testing.B) {
			o, _ := NewChaseLev[*int]()
			v := new(int)
			for range below {
				o.Push(v)
			}
			b.ReportAllocs()
			for b.Loop() {
				o.Push(v)
				o.Pop()
			}
		})
	}
}

// The owner's speed while it is robbed.
func BenchmarkPushPopRobbed(b *testing.B) {
	for _, thieves := range []int{1, 2, 7} {
		b.Run(fmt.Sprintf("ChaseLev/thieves=%d", thieves), func(b *testing.B) {
			o, th := NewChaseLev[*int]()
			v := new(int)
			var stop atomic.Bool
			var stolen atomic.Int64
			var wg sync.WaitGroup
			for range thieves {
				wg.Go(func() {
					for !stop.Load() {
						if _, r := th.Steal(); r == Success {
							stolen.Add(1)
						}
						runtime.Gosched()
					}
				})
			}
			for b.Loop() {
				o.Push(v)
				o.Pop()
			}
			stop.Store(true)
			wg.Wait()
			b.ReportMetric(float64(stolen.Load())/float64(b.N), "stolen/op")
		})
	}
}
