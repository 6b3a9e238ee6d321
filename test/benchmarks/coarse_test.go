package benchmarks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

var napFunc = filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
	if n < 0 {
		time.Sleep(10 * time.Millisecond)
		return 1
	}
	var hs []filch.Fork
	for range n {
		hs = append(hs, f.Fork(-1))
	}
	sum := 0
	for i := len(hs) - 1; i >= 0; i-- {
		sum += f.Join(hs[i])
	}
	return sum
})

func BenchmarkNaps(b *testing.B) {
	for _, workers := range []int{1, 2, 8, 64} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			p := filch.New(filch.WithWorkers(workers))
			for b.Loop() {
				if n := napFunc.Call(p, 64); n != 64 {
					b.Fatal("napFunc.Call(p, 64):", n)
				}
				time.Sleep(time.Millisecond)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/1e7, "leaves")
			b.Logf("%+v", p.Stats())
		})
	}
}

// When the last of as many leaves as there are workers begins: the workers rest before, and sleep in the leaves.
func BenchmarkLastLeafBegins(b *testing.B) {
	for _, workers := range []int{8, 64, 256} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			starts := make([]time.Time, workers)
			var halve func(w *filch.Worker, low, high int)
			halve = func(w *filch.Worker, low, high int) {
				if high-low == 1 {
					starts[low] = time.Now()
					time.Sleep(5 * time.Millisecond)
					return
				}
				mid := (low + high) / 2
				w.Join(func(w *filch.Worker) { halve(w, low, mid) }, func(w *filch.Worker) { halve(w, mid, high) })
			}
			var last time.Duration
			for b.Loop() {
				time.Sleep(20 * time.Millisecond)
				begin := time.Now()
				p.Do(func(w *filch.Worker) { halve(w, 0, workers) })
				last += slices.MaxFunc(starts, time.Time.Compare).Sub(begin)
			}
			b.ReportMetric(float64(last.Microseconds())/float64(b.N), "last-us")
		})
	}
}
