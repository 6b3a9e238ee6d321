package main

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// bar is a goal, and how far it was met.
type bar struct {
	What string  `json:"what"`
	Got  float64 `json:"got"`
	Goal float64 `json:"goal"`
	Unit string  `json:"unit"`
	Most bool    `json:"at_most"` // else at least
}

func (b bar) met() bool {
	if b.Most {
		return b.Got <= b.Goal
	}
	return b.Got >= b.Goal
}

// bars works out the goals that the rows have figures for. What compares two
// rows is the median of what their runs give one by one: those of a run were
// made shortly after each other, so that a machine that is slower for a while
// slows both.
func bars(rows []*row) (bs []bar) {
	find := func(workload, size, executor string, workers int) *row {
		for _, r := range rows {
			if r.Workload == workload && r.Size == size && r.Executor == executor && r.Workers == workers && r.Runs > 0 {
				return r
			}
		}
		return nil
	}
	serial := func(r *row) *row { return find(r.Workload, r.Size, "serial", 1) }
	perFork := func(r *row) float64 { return (over(r, serial(r)) - 1) * float64(r.Serial) / float64(r.Forks) }
	if r := find("fib", "38", "filch", 1); r != nil {
		bs = append(bs, bar{"a fork and join more than a call, fib 38", perFork(r), 2, "ns", true})
		bs = append(bs, bar{"allocations a fork, fib 38", float64(r.Allocs) / float64(r.Forks), 0.00001, "", true})
	}
	if r := find("fib", "38", "filch-chain", 1); r != nil {
		bs = append(bs, bar{"the same in a chain", perFork(r), 1, "ns", true})
	}
	compared := len(bs)
	for _, r := range rows {
		if r.Workers != 2 || r.Runs == 0 || r.Serial < 20*time.Millisecond {
			continue
		}
		switch r.Workload {
		case "fib", "nqueens", "uts", "treesum":
		default:
			continue
		}
		if r.Executor != "filch" && r.Executor != "filch-chain" {
			continue
		}
		if one := find(r.Workload, r.Size, r.Executor, 1); one != nil {
			what := fmt.Sprintf("two workers against one, %s %s, %s", r.Workload, r.Size, r.Executor)
			bs = append(bs, bar{what, over(one, r), 1.95, "x", false})
		}
	}
	if len(bs) > compared {
		bs = append(bs, bar{"the machine: two serial fib 36 at once against one after the other", machineSpeedup(), 1.95, "x", false})
	}
	for _, r := range rows {
		if r.Workload == "treesum" && r.Size == "1023" && (r.Executor == "filch" || r.Executor == "filch-chain") && r.Runs > 0 {
			what := fmt.Sprintf("a tree of 1,023 nodes against serial, %s, workers %d", r.Executor, r.Workers)
			bs = append(bs, bar{what, over(r, serial(r)), 1.35, "x", true})
		}
	}
	if len(bs) > 0 {
		ns, allocs := join()
		bs = append(bs,
			bar{"a Join of closures", ns, 45, "ns", true},
			bar{"allocations a Join", allocs, 2, "", true},
			bar{"an empty Do", emptyDo(), 150, "ns", true},
			bar{"an Async of an empty function", async(), 15, "ns", true})
	}
	return bs
}

// machineSpeedup measures what two processors are worth here when they have
// nothing to do with one another: on a machine that is shared, less than two.
func machineSpeedup() float64 {
	const n = 36
	var sums [2]int
	once := func(i int) { sums[i] = serialFib(n) }
	var ratios []float64
	for range 7 {
		start := time.Now()
		once(0)
		once(1)
		one := time.Since(start)
		start = time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { once(0) })
		wg.Go(func() { once(1) })
		wg.Wait()
		ratios = append(ratios, float64(one)/float64(time.Since(start)))
	}
	if sums[0] != sums[1] {
		panic("fib is wrong")
	}
	return median(ratios)
}

// join measures Join by the naive recursion for Fibonacci numbers, on one
// worker and less the recursion.
func join() (ns, allocs float64) {
	const n, joins = 20, 10945
	p := filch.New(filch.WithWorkers(1))
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Do(func(w *filch.Worker) { joinFib(w, n) })
		}
	})
	sum := 0
	s := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			sum += serialFib(n)
		}
	})
	if sum == 0 {
		panic("fib is wrong")
	}
	return float64(r.NsPerOp()-s.NsPerOp()) / joins, float64(r.AllocsPerOp()) / joins
}

func joinFib(w *filch.Worker, n int) int {
	if n < 2 {
		return n
	}
	a, b := filch.Join(w,
		func(w *filch.Worker) int { return joinFib(w, n-1) },
		func(w *filch.Worker) int { return joinFib(w, n-2) })
	return a + b
}

func serialFib(n int) int {
	if n < 2 {
		return n
	}
	return serialFib(n-1) + serialFib(n-2)
}

// emptyDo measures a Do that does nothing, in nanoseconds.
func emptyDo() float64 {
	p := filch.New(filch.WithWorkers(runtime.GOMAXPROCS(0)))
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			p.Do(func(*filch.Worker) {})
		}
	})
	return float64(r.T.Nanoseconds()) / float64(r.N)
}

// async measures an Async that does nothing, in nanoseconds, on one worker.
func async() float64 {
	const n = 1000
	p := filch.New(filch.WithWorkers(1))
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			p.Do(func(w *filch.Worker) {
				for range n {
					w.Async(func(*filch.Worker) {})
				}
			})
		}
	})
	return float64(r.T.Nanoseconds()) / float64(r.N) / n
}

// over returns how many times as long a took as b.
func over(a, b *row) float64 {
	ratios := make([]float64, len(a.times))
	for i := range ratios {
		ratios[i] = float64(a.times[i]) / float64(b.times[i])
	}
	return median(ratios)
}
