package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/gammazero/workerpool"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/basic"
)

// taskFunc is a task.
type taskFunc = func(ctx context.Context)

// running is a task pool at work.
type running struct {
	// prepare returns what submits f, given the context of the submitter; so
	// that a pool that knows no contexts does not pay for wrapping f each time.
	prepare func(f taskFunc) func(ctx context.Context)
	drain   func() // waits until all is done, and ends the pool
	// both runs f as a task and waits for it, after g has returned, inside another
	// task or outside. If it is nil, a WaitGroup does for it.
	both func(ctx context.Context, f, g taskFunc)
}

// taskPool is a way to run tasks.
type taskPool struct {
	name  string
	start func(workers int) running
}

func filchPool(name string, opts ...filch.Option) taskPool {
	return taskPool{name, func(workers int) running {
		p := filch.New(append(slices.Clone(opts), filch.WithWorkers(workers))...)
		return running{
			prepare: func(f taskFunc) func(context.Context) {
				return func(ctx context.Context) { p.Go(ctx, f) }
			},
			drain: func() { p.Shutdown(context.Background()) },
			both: func(ctx context.Context, f, g taskFunc) {
				future := filch.Submit(ctx, p, func(ctx context.Context) (struct{}, error) { f(ctx); return struct{}{}, nil })
				g(ctx)
				future.Wait(ctx)
			},
		}
	}}
}

// plainPool is one that knows no contexts.
func plainPool(name string, start func(workers int) (submit func(f func()), drain func())) taskPool {
	return taskPool{name, func(workers int) running {
		submit, drain := start(workers)
		return running{prepare: func(f taskFunc) func(context.Context) {
			plain := func() { f(context.Background()) }
			return func(context.Context) { submit(plain) }
		}, drain: drain}
	}}
}

var taskPools = []taskPool{
	filchPool("filch"),
	filchPool("filch-fifo", filch.WithOrder(filch.FIFO)),
	plainPool("basic", func(workers int) (func(func()), func()) {
		p := basic.New(workers)
		return p.Go, p.Close
	}),
	plainPool("goroutine", func(int) (func(func()), func()) {
		var wg sync.WaitGroup
		return func(f func()) { wg.Go(f) }, wg.Wait
	}),
	plainPool("channel", func(workers int) (func(func()), func()) {
		ch := make(chan func(), 1024)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for f := range ch {
					f()
				}
			})
		}
		return func(f func()) { ch <- f }, func() { close(ch); wg.Wait() }
	}),
	plainPool("errgroup", func(workers int) (func(func()), func()) {
		var g errgroup.Group
		g.SetLimit(workers)
		return func(f func()) { g.Go(func() error { f(); return nil }) }, func() { g.Wait() }
	}),
	plainPool("ants", func(workers int) (func(func()), func()) {
		p, err := ants.NewPool(workers)
		if err != nil {
			panic(err)
		}
		var wg sync.WaitGroup
		return func(f func()) {
			wg.Add(1)
			if err := p.Submit(func() { defer wg.Done(); f() }); err != nil {
				panic(err)
			}
		}, func() { wg.Wait(); p.Release() }
	}),
	plainPool("pond", func(workers int) (func(func()), func()) {
		p := pond.NewPool(workers)
		return func(f func()) { p.Go(f) }, p.StopAndWait
	}),
	plainPool("conc", func(workers int) (func(func()), func()) {
		p := pool.New().WithMaxGoroutines(workers)
		return p.Go, p.Wait
	}),
	plainPool("workerpool", func(workers int) (func(func()), func()) {
		p := workerpool.New(workers)
		return p.Submit, p.StopWait
	}),
}

// taskLoad is what is measured of task pools: it runs a number of tasks.
type taskLoad struct {
	name   string
	tasks  int
	run    func(start func() running, workers int) (note string)
	asyncs func(w *filch.Worker) // the same as asyncs of one Do, or nil
}

// asyncs is filch where the tasks are asyncs: it runs those loads that have such a form.
var asyncs = taskPool{name: "filch-async"}

// pools returns those that run l.
func (l taskLoad) pools() []taskPool {
	if l.asyncs == nil {
		return taskPools
	}
	return append(slices.Clip(taskPools), asyncs)
}

func nothing(context.Context) {}

// spinFor returns a task that computes for about n cycles.
func spinFor(n int) taskFunc {
	return func(context.Context) {
		x := uint32(n)
		for range n / 4 {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
		}
		if x == 0 {
			panic("xorshift does not reach 0")
		}
	}
}

// flood submits n tasks from one goroutine, while workers run them.
func flood(n int, f taskFunc) taskLoad {
	return taskLoad{tasks: n, run: func(start func() running, _ int) string {
		r := start()
		submit := r.prepare(f)
		for range n {
			submit(context.Background())
		}
		r.drain()
		return ""
	}}
}

// apart submits n tasks while all workers are held up, and drains then.
func apart(n int) taskLoad {
	return taskLoad{tasks: n, run: func(start func() running, workers int) string {
		r := start()
		var held sync.WaitGroup
		gate := make(chan bool)
		held.Add(workers)
		hold, submit := r.prepare(func(context.Context) { held.Done(); <-gate }), r.prepare(nothing)
		for range workers {
			hold(context.Background())
		}
		held.Wait()
		begin := time.Now()
		for range n {
			submit(context.Background())
		}
		submitted := time.Since(begin)
		close(gate)
		r.drain()
		drained := time.Since(begin) - submitted
		return fmt.Sprintf("submit %s, drain %s", duration(submitted/time.Duration(n)), duration(drained/time.Duration(n)))
	}}
}

// recursive has outer tasks that submit inner ones each.
func recursive(outer, inner int) taskLoad {
	load := taskLoad{tasks: outer * (1 + inner)}
	load.run = func(start func() running, _ int) string {
		r := start()
		var left sync.WaitGroup
		left.Add(outer)
		leaf := r.prepare(nothing)
		submit := r.prepare(func(ctx context.Context) {
			for range inner {
				leaf(ctx)
			}
			left.Done()
		})
		for range outer {
			submit(context.Background())
		}
		left.Wait()
		r.drain()
		return ""
	}
	load.asyncs = func(w *filch.Worker) {
		for range outer {
			w.Async(func(w *filch.Worker) {
				for range inner {
					w.Async(func(*filch.Worker) {})
				}
			})
		}
	}
	return load
}

// nested has tasks that wait for tasks: at each node of a binary tree, one branch
// is a task, and the other a call.
func nested(depth int) taskLoad {
	return taskLoad{tasks: 1 << depth, run: func(start func() running, _ int) string {
		r := start()
		both := r.both
		if both == nil {
			both = func(ctx context.Context, f, g taskFunc) {
				var done sync.WaitGroup
				done.Add(1)
				r.prepare(func(ctx context.Context) { defer done.Done(); f(ctx) })(ctx)
				g(ctx)
				done.Wait()
			}
		}
		levels := make([]taskFunc, depth+1)
		levels[0] = nothing
		for i := 1; i <= depth; i++ {
			levels[i] = func(ctx context.Context) { both(ctx, levels[i-1], levels[i-1]) }
		}
		both(context.Background(), levels[depth], nothing)
		r.drain()
		return ""
	}}
}

func (l taskLoad) named(name string) taskLoad {
	l.name = name
	return l
}

var taskLoads = []taskLoad{
	flood(1_000_000, nothing).named("empty"),
	apart(300_000).named("empty, submit then drain"),
	recursive(10_000, 100).named("10,000 submit 100"),
	recursive(100, 10_000).named("100 submit 10,000"),
	nested(16).named("submit and wait, nested"),
	flood(300_000, spinFor(100)).named("100 cycles"),
	flood(200_000, spinFor(1000)).named("1,000 cycles"),
	flood(40_000, spinFor(10_000)).named("10,000 cycles"),
}

// benchTasks measures task pools, and writes a table, or rows to a report.
func benchTasks(out, progress io.Writer, workers, runs int) []*row {
	var rows []*row
	steps := 0
	for _, l := range taskLoads {
		steps += (1 + runs) * len(l.pools())
	}
	bar := newProgress(progress, steps)
	for _, l := range taskLoads {
		var group []*row
		pools := l.pools()
		for range pools {
			group = append(group, &row{Workload: "tasks", Size: l.name, Workers: workers, OK: true, Forks: int64(l.tasks)})
		}
		for i := range runs + 1 {
			for k := range pools {
				k = (k + i) % len(pools)
				r := group[k]
				r.Executor = pools[k].name
				bar.step("tasks "+l.name, 1)
				if taskGuard.failed(r.Note) {
					continue
				}
				runtime.GC()
				before := takeSample(0)
				begin := time.Now()
				note := l.guarded(pools[k], workers)
				took := time.Since(begin)
				s := takeSample(0).minus(before)
				r.Note = note
				if i > 0 && !taskGuard.failed(note) {
					r.Runs++
					r.Times = append(r.Times, took)
					r.Allocs, r.Bytes, r.CPU = s.allocs, s.bytes, s.cpu
				}
			}
		}
		for _, r := range group {
			if taskGuard.failed(r.Note) {
				r.OK, r.Runs, r.Times = false, 0, nil
				continue
			}
			r.summarize()
		}
		rows = append(rows, group...)
	}
	bar.done()
	printTasks(out, rows)
	return rows
}

// summarize sums up the runs of r.
func (r *row) summarize() {
	r.Median, r.Min, r.Max = median(r.Times), slices.Min(r.Times), slices.Max(r.Times)
	r.NsPerFork = float64(r.Median) / float64(r.Forks)
}

// guarded runs l on p, and does not wait for ever.
func (l taskLoad) guarded(p taskPool, workers int) string {
	return taskGuard.run(func() string {
		if p.start == nil {
			pool := filch.New(filch.WithWorkers(workers))
			pool.Do(l.asyncs)
			_ = pool.Close()
			return ""
		}
		return l.run(func() running { return p.start(workers) }, workers)
	})
}

func printTasks(out io.Writer, rows []*row) {
	t := newTable(out)
	t.AppendHeader(table.Row{"tasks", "executor", "ns/task", "spread", "allocs/task", "cpu", ""})
	t.right(3, 6)
	groups := groups{t: t}
	for _, r := range rows {
		name := r.Size
		if !groups.begins(name) {
			name = ""
		}
		if r.Runs == 0 {
			t.AppendRow(table.Row{name, r.Executor, r.Note})
			continue
		}
		t.AppendRow(table.Row{name, r.Executor, digits(r.NsPerFork), spread(r), digits(float64(r.Allocs) / float64(r.Forks)), duration(r.CPU), r.Note})
	}
	t.Render()
}

// sweep is the cost of tasks, in cycles, and the numbers of workers that
// benchSweep goes through.
var sweep = struct{ cycles, workers []int }{[]int{100, 300, 1000, 3000, 10_000}, []int{1, 2, 4, 8}}

// benchSweep measures how tasks of growing cost share the queue of the locked
// pool, and those of filch, by the number of workers, and writes a table; total is
// about how many cycles all tasks of a cell take.
func benchSweep(out, progress io.Writer, total, runs int) (rows []*row) {
	pools := []taskPool{taskPools[2], taskPools[0]}
	bar := newProgress(progress, len(sweep.cycles)*len(sweep.workers)*len(pools)*runs)
	t := newTable(out)
	header := table.Row{"ns/task, by workers"}
	for _, workers := range sweep.workers {
		for _, p := range pools {
			header = append(header, fmt.Sprintf("%s, %d", p.name, workers))
		}
	}
	t.AppendHeader(header)
	t.right(2, len(header))
	for _, cycles := range sweep.cycles {
		load := flood(max(1, total/cycles), spinFor(cycles))
		name := fmt.Sprint(cycles, " cycles")
		var group []*row
		for _, workers := range sweep.workers {
			for _, p := range pools {
				group = append(group, &row{Workload: "sweep", Size: name, Executor: p.name, Workers: workers, OK: true, Forks: int64(load.tasks), Runs: runs})
			}
		}
		for range runs {
			for i, r := range group {
				begin := time.Now()
				load.run(func() running { return pools[i%len(pools)].start(r.Workers) }, r.Workers)
				r.Times = append(r.Times, time.Since(begin))
				bar.step("tasks of "+name, 1)
			}
		}
		cells := table.Row{name}
		for _, r := range group {
			r.summarize()
			cells = append(cells, digits(r.NsPerFork))
		}
		t.AppendRow(cells)
		rows = append(rows, group...)
	}
	bar.done()
	t.Render()
	return rows
}

// printLatency prints how long after a rest a task starts, and what rest costs.
func printLatency(out io.Writer, workers int) {
	t := newTable(out)
	t.AppendHeader(table.Row{"after a rest of 2 ms", "p50", "p99", "CPU of a second's rest"})
	for _, p := range []taskPool{filchPool("filch"), filchPool("filch, idle timeout 1s", filch.WithIdleTimeout(time.Second)),
		filchPool("filch, busy poll", filch.WithBusyPoll()), taskPools[2], taskPools[3]} {
		r := p.start(workers)
		var times []time.Duration
		for range 500 {
			time.Sleep(2 * time.Millisecond)
			started := make(chan time.Duration)
			begin := time.Now()
			r.prepare(func(context.Context) { started <- time.Since(begin) })(context.Background())
			times = append(times, <-started)
		}
		cpu := cpuTime()
		time.Sleep(time.Second)
		cpu = cpuTime() - cpu
		r.drain()
		slices.Sort(times)
		t.AppendRow(table.Row{p.name, duration(times[len(times)/2]), duration(times[len(times)*99/100]), duration(cpu)})
	}
	t.Render()
}
