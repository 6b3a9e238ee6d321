package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/workload"
)

// bar is a goal, and how far it was met. What takes time is compared with something that
// is measured in the same minutes, so that a goal means the same on any machine.
type bar struct {
	What string  `json:"what"`
	Got  float64 `json:"got"`
	Goal float64 `json:"goal"`
	Unit string  `json:"unit"`         // what Got and Goal count
	NS   float64 `json:"ns,omitempty"` // what was compared, in nanoseconds
	Most bool    `json:"at_most"`      // else at least
}

// What bars count.
const (
	calls   = "calls"      // of the serial program of fib, with its comparison and its addition
	stores  = "stores"     // of an atomic word that is in the processor's own cache
	serials = "x serial"   // times of the serial program
	atOnce  = "of at-once" // the speed-up of as many serial programs at once as there are workers
)

func (b bar) met() bool {
	if b.Most {
		return b.Got <= b.Goal
	}
	return b.Got >= b.Goal
}

// A fork and a join may take so many calls more than a call. On the processors that the
// goals were set on, that is 2.0 ns where a call takes 1.2 ns, and with a profile, which
// halves the calls of the serial program as well, 1.0 ns. In a chain it is 1.0 ns.
const (
	forkGoal       = 1.7
	guidedForkGoal = 1.3
	chainGoal      = 0.85
)

// bars works out the goals that the rows have figures for. What compares rows is the median
// of what their runs give one by one: those of a run were made shortly after each other, so
// that a machine that is slower for a while slows all.
func bars(rows []*row, profile bool) (bs []bar) {
	find := func(name, size, executor string, workers int) *row {
		for _, r := range rows {
			if r.Workload == name && r.Size == size && r.Executor == executor && r.Workers == workers && r.Runs > 0 {
				return r
			}
		}
		return nil
	}
	serial := func(r *row) *row { return find(r.Workload, r.Size, "serial", 1) }
	fork := func(what string, r *row, goal float64) bar {
		more := over(r, serial(r)) - 1
		// The serial program makes two calls for a fork.
		return bar{what, 2 * more, goal, calls, more * float64(r.Serial) / float64(r.Forks), true}
	}
	goal := forkGoal
	if profile {
		goal = guidedForkGoal
	}
	if r := find("fib", "38", "filch", 1); r != nil {
		bs = append(bs, fork("a fork and join more than a call, fib 38", r, goal))
		bs = append(bs, bar{"allocations a fork, fib 38", float64(r.Allocs) / float64(r.Forks), 0.00001, "", 0, true})
	}
	if r := find("fib", "38", "filch-chain", 1); r != nil {
		bs = append(bs, fork("the same in a chain", r, chainGoal))
	}
	for _, r := range rows {
		if r.Workers != 2 || r.Runs == 0 || ofSuite(r.Workload) || r.Serial < 20*time.Millisecond || (r.Executor != "filch" && r.Executor != "filch-chain") {
			continue
		}
		one, both := find(r.Workload, r.Size, r.Executor, 1), find(r.Workload, r.Size, "at-once", 2)
		if one == nil || both == nil {
			continue
		}
		what := fmt.Sprintf("two workers against one, %s %s, %s", r.Workload, r.Size, r.Executor)
		bs = append(bs, bar{what, overMachine(one, r, serial(r), both), 0.975, atOnce, float64(r.Median), false})
	}
	for _, r := range rows {
		if r.Workload == "treesum" && r.Size == "1023" && (r.Executor == "filch" || r.Executor == "filch-chain") && r.Runs > 0 {
			what := fmt.Sprintf("a tree of 1,023 nodes against serial, %s, workers %d", r.Executor, r.Workers)
			bs = append(bs, bar{what, over(r, serial(r)), 1.35, serials, float64(r.Median), true})
		}
	}
	if len(bs) > 0 {
		bs = append(bs, calledBars()...)
	}
	return bs
}

// ofSuite reports whether the workload is one of the suite's. They set no goals: some do not gain a
// worker's worth from a second one, whatever runs them, and what tsp has to do differs from run
// to run.
func ofSuite(name string) bool {
	return slices.ContainsFunc(workload.Suite, func(w *workload.Workload) bool { return w.Name == name })
}

// calledBars are the goals of what is called, rather than of workloads. A goal of ten
// stores is 45 ns where a store takes 4.7 ns.
func calledBars() []bar {
	one := filch.New(filch.WithWorkers(1))
	defer one.Close()
	all := filch.New(filch.WithWorkers(runtime.GOMAXPROCS(0)))
	defer all.Close()
	sum := 0
	const n, joins = 18, 4180
	joined := func() { one.Do(func(w *filch.Worker) { sum += joinFib(w, n) }) }
	rounds := inTurns(25,
		storing,
		timed{joins, func() { sum += serialFib(n) }},
		timed{joins, joined},
		timed{1000, func() {
			for range 1000 {
				all.Do(func(*filch.Worker) {})
			}
		}},
		timed{1000, func() {
			one.Do(func(w *filch.Worker) {
				for range 1000 {
					w.Async(func(*filch.Worker) {})
				}
			})
		}})
	allocs := testing.AllocsPerRun(5, joined) / joins
	if sum == 0 {
		panic("fib is wrong")
	}
	store, serial, join, do, async := rounds[0], rounds[1], rounds[2], rounds[3], rounds[4]
	for i := range join {
		join[i] -= serial[i]
	}
	return []bar{
		{"a Join of closures", medianOver(join, store), 10, stores, median(join), true},
		{"allocations a Join", allocs, 2, "", 0, true},
		{"an empty Do", medianOver(do, store), 32, stores, median(do), true},
		{"an Async of an empty function", medianOver(async, store), 3.2, stores, median(async), true},
	}
}

var word atomic.Int64

var storing = timed{10_000, func() {
	for i := range 10_000 {
		word.Store(int64(i))
	}
}}

// yardsticks measures, in nanoseconds, a call of the serial program of fib, and an atomic
// store.
func yardsticks() (call, store float64) {
	const n, made = 18, 8361
	sum := 0
	rounds := inTurns(25, storing, timed{made, func() { sum += serialFib(n) }})
	if sum == 0 {
		panic("fib is wrong")
	}
	return median(rounds[1]), median(rounds[0])
}

// timed is a function that does something so many times.
type timed struct {
	times int
	f     func()
}

// inTurns runs the functions in turn, after a round to warm up, and returns for each of them
// how long it took each time, in nanoseconds for one of the things it does.
func inTurns(rounds int, fs ...timed) [][]float64 {
	took := make([][]float64, len(fs))
	for i := range rounds + 1 {
		for k, t := range fs {
			start := time.Now()
			t.f()
			if ns := time.Since(start); i > 0 {
				took[k] = append(took[k], float64(ns)/float64(t.times))
			}
		}
	}
	return took
}

// medianOver returns how many times as much as b a is, in the median of the rounds.
func medianOver(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
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

// overMachine returns how many times as fast two workers are as one, as a part of how many
// times as fast serial programs are at once as one after the other.
func overMachine(one, two, serial, both *row) float64 {
	ratios := make([]float64, len(one.Times))
	for i := range ratios {
		ratios[i] = float64(one.Times[i]) / float64(two.Times[i]) / (float64(serial.Times[i]) / float64(both.Times[i]))
	}
	return median(ratios)
}

// over returns how many times as long a took as b.
func over(a, b *row) float64 {
	ratios := make([]float64, len(a.Times))
	for i := range ratios {
		ratios[i] = float64(a.Times[i]) / float64(b.Times[i])
	}
	return median(ratios)
}
