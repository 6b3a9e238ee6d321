package benchmarks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/par"
)

var spun float64

// spinFor takes as long each time: so many steps, each of which waits for the one before, also for the last of
// the call before.
func spinFor(steps int) {
	v := spun*1e-9 + 1
	for range steps {
		v = v*1.0000001 + 1e-9
	}
	spun = v
}

// least returns the shortest time of f.
func least(times int, f func()) time.Duration {
	d := time.Hour
	for range times {
		begin := time.Now()
		f()
		d = min(d, time.Since(begin))
	}
	return d
}

// BenchmarkMeasure tells how far Measure is off where work and span are known: programs of leaves of so many
// steps, whose time is that of such steps in a plain loop. work and span are what Measure says, divided by
// that: medians, and the least of all.
func BenchmarkMeasure(b *testing.B) {
	tree := filch.NewFunc(func(f *filch.Frame[[2]int, int], a [2]int) int {
		if a[0] == 1 {
			spinFor(a[1])
			return 1
		}
		h := f.Fork([2]int{a[0] / 2, a[1]})
		n := f.Call([2]int{a[0] - a[0]/2, a[1]})
		return n + f.Join(h)
	})
	for _, steps := range []int{4, 30, 300, 3000, 30_000} {
		leaf := func() { spinFor(steps) }
		alone := least(300, func() {
			for range 16 {
				leaf()
			}
		}) / 16
		for name, c := range map[string]struct {
			run        func(w *filch.Worker)
			work, span int // in leaves
		}{
			"tree": {func(w *filch.Worker) { tree.Call(w, [2]int{256, steps}) }, 256, 1},
			"comb": {func(w *filch.Worker) { // half of the leaves one after the other, and each of these has forked one
				tree.On(w, func(f *filch.Frame[[2]int, int]) {
					m := f.Mark()
					for range 128 {
						f.Fork([2]int{1, steps})
						leaf()
					}
					for range m.JoinAll {
					}
				})
			}, 256, 128},
			"loop": {func(w *filch.Worker) { par.For(w, 256, func(int) { leaf() }) }, 256, max(1, int(4*time.Microsecond/max(alone, 1)))},
			"closures": {func(w *filch.Worker) {
				for range 128 {
					w.Join(func(*filch.Worker) { leaf() }, func(*filch.Worker) { leaf() })
				}
			}, 256, 128},
		} {
			b.Run(fmt.Sprintf("%s/%d-steps", name, steps), func(b *testing.B) {
				var work, span []float64
				for b.Loop() {
					p := filch.Measure(c.run)
					work = append(work, float64(p.Work)/(float64(alone)*float64(c.work)))
					span = append(span, float64(p.Span)/(float64(alone)*float64(min(c.span, c.work))))
				}
				slices.Sort(work)
				slices.Sort(span)
				b.ReportMetric(float64(alone), "ns/leaf")
				b.ReportMetric(work[len(work)/2], "work")
				b.ReportMetric(span[len(span)/2], "span")
				b.ReportMetric(work[0], "least-work")
				b.ReportMetric(span[0], "least-span")
			})
		}
	}
}

// BenchmarkForkMeasured tells what a fork, its join and its call take while they are measured.
func BenchmarkForkMeasured(b *testing.B) {
	for b.Loop() {
		filch.Measure(func(w *filch.Worker) { rig.FibOfInts.Call(w, 20) })
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/10945, "ns/fork")
}
