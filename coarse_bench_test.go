package filch_test

import (
	"fmt"
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
					b.Fatal(n)
				}
				time.Sleep(time.Millisecond)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/1e7, "leaves")
			b.Logf("%+v", p.Stats())
		})
	}
}
