package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

// taskDAG is a graph of tasks as plain data. The result of a task is computed from those of its deps, by
// as many steps as it costs.
type taskDAG struct {
	deps, next [][]int32
	steps      []int32
}

func newDAG(n int, depsOf func(i int) []int32, stepsOf func(i int) int32) *taskDAG {
	d := &taskDAG{deps: make([][]int32, n), next: make([][]int32, n), steps: make([]int32, n)}
	for i := range n {
		d.deps[i], d.steps[i] = depsOf(i), stepsOf(i)
		for _, j := range d.deps[i] {
			d.next[j] = append(d.next[j], int32(i))
		}
	}
	return d
}

func (d *taskDAG) sources() (all []int32) {
	for i, deps := range d.deps {
		if len(deps) == 0 {
			all = append(all, int32(i))
		}
	}
	return all
}

// task computes the result of task i. It is compiled once, so that all run the same loop.
//
//go:noinline
func (d *taskDAG) task(i int32, of func(j int32) uint64) uint64 {
	v := uint64(i)
	for _, j := range d.deps[i] {
		v = v*31 + of(j)
	}
	for range d.steps[i] {
		v = v*6364136223846793005 + 1442695040888963407
	}
	return v
}

// dags are what is measured. A step takes about 1.1 ns on the Xeon of the figures.
var dags = map[string]func() *taskDAG{
	"3us": func() *taskDAG { // 10^4 tasks, layers of 100
		r := rand.New(rand.NewPCG(1, 1))
		return newDAG(10_000, layered(r, 100, 3), func(int) int32 { return 2700 })
	},
	"empty": func() *taskDAG { return grid(1000) },
	"build": func() *taskDAG { // 2,000 tasks, most of them short and some of them 100 times as long
		r := rand.New(rand.NewPCG(2, 2))
		return newDAG(2_000, layered(r, 40, 4), func(int) int32 { return int32(2000 * (1 / (0.01 + r.Float64()))) })
	},
}

// grid is a square of empty tasks, each after those above and to the left.
func grid(side int) *taskDAG {
	return newDAG(side*side, func(i int) (deps []int32) {
		if i >= side {
			deps = append(deps, int32(i-side))
		}
		if i%side > 0 {
			deps = append(deps, int32(i-1))
		}
		return deps
	}, func(int) int32 { return 0 })
}

// layered returns the deps of tasks in layers of width tasks: up to most of the layer before.
func layered(r *rand.Rand, width, most int) func(i int) []int32 {
	return func(i int) (deps []int32) {
		first := i/width*width - width
		if first < 0 {
			return nil
		}
		for range 1 + r.IntN(most) {
			if j := int32(first + r.IntN(width)); !slices.Contains(deps, j) {
				deps = append(deps, j)
			}
		}
		return deps
	}
}

// dagRunner returns a function that runs d, and puts the results into out.
type dagRunner func(d *taskDAG, out []uint64, workers int) (run func(), end func())

var dagRunners = []struct {
	name string
	make dagRunner
}{
	{"serial", serialDAG},
	{"goroutine", goroutineDAG},
	{"channel", channelDAG},
	{"flow", flowDAG},
	{"async", asyncDAG},
}

func serialDAG(d *taskDAG, out []uint64, _ int) (run, end func()) {
	of := func(j int32) uint64 { return out[j] }
	return func() {
		for i := range out {
			out[i] = d.task(int32(i), of)
		}
	}, func() {}
}

// goroutineDAG counts deps down. What is ready gets a goroutine, but for one task, which goes on where
// the last dep of it has run.
func goroutineDAG(d *taskDAG, out []uint64, _ int) (run, end func()) {
	of := func(j int32) uint64 { return out[j] }
	left, sources := make([]atomic.Int32, len(out)), d.sources()
	var wg sync.WaitGroup
	var from func(i int32)
	from = func(i int32) {
		defer wg.Done()
		for i >= 0 {
			out[i] = d.task(i, of)
			next := int32(-1)
			for _, j := range d.next[i] {
				if left[j].Add(-1) > 0 {
					continue
				}
				if next < 0 {
					next = j
					continue
				}
				wg.Add(1)
				go from(j)
			}
			i = next
		}
	}
	return func() {
		for i := range left {
			left[i].Store(int32(len(d.deps[i])))
		}
		for _, i := range sources {
			wg.Add(1)
			go from(i)
		}
		wg.Wait()
	}, func() {}
}

// channelDAG is a goroutine for each worker, and a channel of what is ready.
func channelDAG(d *taskDAG, out []uint64, workers int) (run, end func()) {
	of := func(j int32) uint64 { return out[j] }
	left, sources := make([]atomic.Int32, len(out)), d.sources()
	return func() {
		for i := range left {
			left[i].Store(int32(len(d.deps[i])))
		}
		ready := make(chan int32, len(out))
		var done atomic.Int64
		var wg sync.WaitGroup
		for _, i := range sources {
			ready <- i
		}
		for range workers {
			wg.Go(func() {
				for i := range ready {
					out[i] = d.task(i, of)
					for _, j := range d.next[i] {
						if left[j].Add(-1) == 0 {
							ready <- j
						}
					}
					if done.Add(1) == int64(len(out)) {
						close(ready)
					}
				}
			})
		}
		wg.Wait()
	}, func() {}
}

func flowDAG(d *taskDAG, out []uint64, workers int) (run, end func()) {
	of := func(j int32) uint64 { return out[j] }
	g := flow.New("dag")
	nodes := make([]flow.Dep, len(out))
	for i := range out {
		deps := make([]flow.Dep, len(d.deps[i]))
		for k, j := range d.deps[i] {
			deps[k] = nodes[j]
		}
		nodes[i] = flow.Node(g, fmt.Sprint(i), func(context.Context) (struct{}, error) {
			out[i] = d.task(int32(i), of)
			return struct{}{}, nil
		}, deps...)
	}
	p := filch.New(filch.WithWorkers(workers))
	return func() {
		if err := g.Run(context.Background(), p); err != nil {
			panic(err)
		}
	}, func() { p.Close() }
}

// asyncDAG counts deps down. What is ready becomes an async, of a closure that was made before, but for one
// task, which goes on where the last dep of it has run.
func asyncDAG(d *taskDAG, out []uint64, workers int) (run, end func()) {
	of := func(j int32) uint64 { return out[j] }
	left, sources := make([]atomic.Int32, len(out)), d.sources()
	tasks := make([]func(w *filch.Worker), len(out))
	for i := range tasks {
		tasks[i] = func(w *filch.Worker) {
			for at := int32(i); at >= 0; {
				out[at] = d.task(at, of)
				next := int32(-1)
				for _, j := range d.next[at] {
					switch {
					case left[j].Add(-1) > 0:
					case next < 0:
						next = j
					default:
						w.Async(tasks[j])
					}
				}
				at = next
			}
		}
	}
	p := filch.New(filch.WithWorkers(workers))
	return func() {
		for i := range left {
			left[i].Store(int32(len(d.deps[i])))
		}
		p.Do(func(w *filch.Worker) {
			for _, i := range sources {
				w.Async(tasks[i])
			}
		})
	}, func() { p.Close() }
}

// All run each task once, after its deps.
func TestDAGsHaveTheSameResults(t *testing.T) {
	for name, build := range dags {
		if name == "empty" {
			build = func() *taskDAG { return grid(100) }
		}
		d := build()
		want := make([]uint64, len(d.deps))
		run, _ := serialDAG(d, want, 1)
		run()
		for _, r := range dagRunners {
			out := make([]uint64, len(d.deps))
			run, end := r.make(d, out, 2)
			for range 2 {
				clear(out)
				if run(); !slices.Equal(out, want) {
					t.Errorf("%s of %s: the results differ", name, r.name)
				}
			}
			end()
		}
	}
}

// BenchmarkDAG compares package flow with a serial loop, and with what one would write by hand.
// CPU ns is the processor time for a task.
func BenchmarkDAG(b *testing.B) {
	for _, name := range []string{"3us", "empty", "build"} {
		d := dags[name]()
		for _, r := range dagRunners {
			for _, workers := range []int{1, 2} {
				if workers > 1 && r.name == "serial" {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/workers=%d", name, r.name, workers), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
					out := make([]uint64, len(d.deps))
					run, end := r.make(d, out, workers)
					defer end()
					run() // warm
					b.ReportAllocs()
					before := cpuTime()
					b.ResetTimer()
					for range b.N {
						run()
					}
					b.StopTimer()
					n := float64(b.N) * float64(len(out))
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/task")
					b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/n, "CPU-ns/task")
				})
			}
		}
	}
}
