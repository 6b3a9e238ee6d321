package workload

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/basic"
	"github.com/filch-go/filch/par"
)

// Suite are programs of the kind that the Barcelona OpenMP Tasks Suite (Duran and others, ICPP
// 2009) and the Problem Based Benchmark Suite (Shun and others, SPAA 2012) have. They are
// written anew here. They are measured if they are asked for.
var Suite = []*Workload{health, fft, sparselu, strassen, alignment, tsp, bfs, nbody, hull, words, build}

// Each calls f for 0 to n-1, in any order and perhaps at the same time, and returns when all
// calls have.
type Each func(n int, f func(i int))

// runLoops runs j on a pool: the loops are those of package par, on one worker that goes from
// loop to loop.
func (j *Job) runLoops(p filch.Scope) (answer string) {
	p.Do(func(w *filch.Worker) {
		answer = j.Loops(func(n int, f func(i int)) { par.For(w, n, f) })
	})
	return answer
}

// byGoroutines is the loop that one writes by hand: as many goroutines as there are to be
// workers, which take the next number from a counter.
func byGoroutines(workers int) Each {
	return func(n int, f func(i int)) {
		var next atomic.Int64
		take := func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		}
		var wg sync.WaitGroup
		for range min(workers, n) {
			wg.Go(take)
		}
		wg.Wait()
	}
}

// bySemaphore is a goroutine for each number, not more at a time than there are places.
func bySemaphore(places chan bool) Each {
	return func(n int, f func(i int)) {
		var wg sync.WaitGroup
		for i := range n {
			places <- true
			wg.Go(func() {
				f(i)
				<-places
			})
		}
		wg.Wait()
	}
}

// byBasic is a task for each number.
func byBasic(p *basic.Pool) Each {
	return func(n int, f func(i int)) {
		tasks := make([]func(), n)
		for i := range tasks {
			tasks[i] = func() { f(i) }
		}
		p.Run(tasks...)
	}
}

// byBoth halves without a cutoff.
func byBoth(w *filch.Worker, both Both) Each {
	return func(n int, f func(i int)) {
		if n > 0 {
			split(w, both, 0, n, func(_ *filch.Worker, i int) { f(i) })
		}
	}
}

// splitmix is a generator of random numbers, SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
// Its state is its seed.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (s *splitmix) below(n int) int {
	hi, _ := bits.Mul64(s.next(), uint64(n))
	return int(hi)
}

// float returns a number from 0 up to but not including 1.
func (s *splitmix) float() float64 { return float64(s.next()>>11) / (1 << 53) }
