//go:build unix

package benchmarks

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// village is a node of a tree that is visited in phases, as in health of the Barcelona suite.
type village struct {
	parts []*village
	sick  []int
	rnd   uint32
}

// newVillage returns a tree of that depth, with four parts a node.
func newVillage(depth int, seed *uint32) *village {
	*seed = *seed*1664525 + 1013904223
	v := &village{rnd: *seed, sick: make([]int, 16)}
	if depth > 1 {
		for range 4 {
			v.parts = append(v.parts, newVillage(depth-1, seed))
		}
	}
	return v
}

// step is what is done at a village: so many draws.
func (v *village) step(draws int) int {
	n := 0
	for range draws {
		v.rnd = v.rnd*1664525 + 1013904223
		v.sick[v.rnd>>28]++
		n += v.sick[v.rnd>>28] & 1
	}
	return n
}

func (v *village) serial(draws int) int {
	n := 0
	for _, part := range v.parts {
		n += part.serial(draws)
	}
	return n + v.step(draws)
}

// goroutines has one goroutine a part in the upper levels.
func (v *village) goroutines(draws, levels int) int {
	if levels == 0 {
		return v.serial(draws)
	}
	var wg sync.WaitGroup
	var sums [4]int
	for i, part := range v.parts {
		wg.Go(func() { sums[i] = part.goroutines(draws, levels-1) })
	}
	wg.Wait()
	return sums[0] + sums[1] + sums[2] + sums[3] + v.step(draws)
}

type visit struct {
	v     *village
	draws int
}

var visitFunc = filch.NewFunc(visitBody)

func visitBody(f *filch.Frame[visit, int], a visit) int {
	var forks [4]filch.Fork
	n := 0
	for i, part := range a.v.parts {
		if i == len(a.v.parts)-1 {
			n += visitBody(f, visit{part, a.draws})
			break
		}
		forks[i] = f.Fork(visit{part, a.draws})
	}
	for i := len(a.v.parts) - 2; i >= 0; i-- {
		n += f.Join(forks[i])
	}
	return n + a.v.step(a.draws)
}

// cpuTime returns the processor time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPhases runs short parallel phases one after the other, with serial work in between.
// Beside the time, it says how much of the processors a phase takes: a worker that looks for work
// in vain takes as much as one that works.
func BenchmarkPhases(b *testing.B) {
	for _, c := range []struct{ depth, draws, between int }{
		{4, 20, 0}, {4, 20, 5000}, {4, 60, 0}, {6, 60, 0}, {6, 60, 20_000}, {6, 60, 40_000}, {6, 60, 80_000}, {7, 100, 0},
	} {
		seed := uint32(1)
		v, other := newVillage(c.depth, &seed), newVillage(1, &seed)
		run := func(name string, phase func()) {
			b.Run(fmt.Sprintf("depth=%d/draws=%d/between=%d/%s", c.depth, c.draws, c.between, name), func(b *testing.B) {
				runtime.GC()
				begin := cpuTime()
				for b.Loop() {
					phase()
					other.step(c.between)
				}
				b.ReportMetric(float64(cpuTime()-begin)/float64(b.N), "cpu-ns/op")
			})
		}
		run("serial", func() { v.serial(c.draws) })
		run("goroutines", func() { v.goroutines(c.draws, 2) })
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers))
			run(fmt.Sprintf("filch-%d", workers), func() { visitFunc.Call(p, visit{v, c.draws}) })
			p.Close()
		}
	}
}
