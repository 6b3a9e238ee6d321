package benchmarks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/sssp"
	"github.com/filch-go/filch/internal/workload"
	"github.com/filch-go/filch/steal"
)

// stealingWay is a way to steal that is measured.
type stealingWay struct {
	name string
	opt  filch.Option
}

var stealingWays = []stealingWay{
	{"random", filch.WithStealing(steal.RandomStart)},
	{"robin", filch.WithStealing(steal.RoundRobin)},
	{"localized", filch.WithStealing(steal.Localized)},
	{"nearest", filch.WithStealing(steal.Nearest)},
	{"adaptive", filch.WithStealing(steal.Adaptive)},
	{"one", filch.WithStealing(steal.RandomStart, filch.StealOne())},
	{"yield", filch.WithStealing(steal.RandomStart, filch.YieldFirst())},
}

// What ways to steal are measured by. Each returns a function that does the work once on a pool with the option.
var stealingWork = []struct {
	name    string
	workers []int
	prepare func(b *testing.B, p *filch.Pool) (once func())
}{
	{"fib", []int{2, 8}, func(b *testing.B, p *filch.Pool) func() {
		return func() { rig.Sink = rig.FibFunc.Call(p, 30) }
	}},
	{"uts", []int{2, 8}, benchmarkUTS},
	{"tree", []int{2, 8}, func(b *testing.B, p *filch.Pool) func() {
		n := 0
		t := rig.Build(10, &n)
		return func() { rig.Sink = rig.SumFunc.Call(p, t) }
	}},
	{"naps", []int{8, 64}, func(b *testing.B, p *filch.Pool) func() {
		return func() { rig.Sink = napFunc.Call(p, 64) }
	}},
	{"tasks", []int{2, 8}, func(b *testing.B, p *filch.Pool) func() {
		return func() { tasksOfTasks(b, p, 100, 100, func() {}) }
	}},
	{"tasks-nap", []int{8, 64}, func(b *testing.B, p *filch.Pool) func() {
		return func() { tasksOfTasks(b, p, 4, 64, func() { time.Sleep(time.Millisecond) }) }
	}},
}

func benchmarkUTS(b *testing.B, p *filch.Pool) func() {
	w, err := workload.Find("uts")
	if err != nil {
		b.Fatal(`workload.Find("uts"):`, err)
	}
	job, err := w.Prepare("T1/7", workload.Env{})
	if err != nil {
		b.Fatal(`w.Prepare("T1/7", …):`, err)
	}
	return func() {
		if got := job.Func(p); got != job.Want {
			b.Fatalf("%s, not %s", got, job.Want)
		}
	}
}

// tasksOfTasks has n tasks submit m tasks each, and waits for all.
func tasksOfTasks(b *testing.B, p *filch.Pool, n, m int, f func()) {
	var left sync.WaitGroup
	left.Add(n * m)
	for range n {
		if err := p.Go(context.Background(), func(ctx context.Context) {
			for range m {
				if p.Go(ctx, func(context.Context) { f(); left.Done() }) != nil {
					panic("the pool is closed")
				}
			}
		}); err != nil {
			b.Fatal("p.Go(background, …):", err)
		}
	}
	left.Wait()
}

// What a way to steal gains, and how often workers look for it. docs/stealing.md has what was found.
func BenchmarkStealing(b *testing.B) {
	for _, work := range stealingWork {
		for _, workers := range work.workers {
			for _, way := range stealingWays {
				b.Run(fmt.Sprintf("%s/%d/%s", work.name, workers, way.name), func(b *testing.B) {
					p := filch.New(filch.WithWorkers(workers), way.opt)
					defer p.Close()
					once := work.prepare(b, p)
					once()
					before := p.Stats()
					for b.Loop() {
						once()
					}
					reportSteals(b, before, p.Stats())
				})
			}
		}
	}
	g := sssp.Grid(200, 1000, 1)
	for _, workers := range []int{2, 8} {
		for _, way := range stealingWays {
			b.Run(fmt.Sprintf("sssp/%d/%s", workers, way.name), func(b *testing.B) {
				for b.Loop() {
					sssp.PoolWith(g, 0, filch.WithWorkers(workers), way.opt)
				}
			})
		}
	}
}

// A random tree of tasks, each of which queues its children and sleeps, on more workers than processors. How many tasks
// a thief takes decides it.
func BenchmarkTreeOfTasks(b *testing.B) {
	for _, workers := range []int{64, 256} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			before := p.Stats()
			for b.Loop() {
				var left sync.WaitGroup
				left.Add(1)
				growTasks(context.Background(), p, &left, 7, 1)
				left.Wait()
			}
			reportSteals(b, before, p.Stats())
		})
	}
}

// growTasks queues a tree of tasks: the upper two levels have 6 children a task, the others up to 8.
func growTasks(ctx context.Context, p *filch.Pool, left *sync.WaitGroup, depth int, seed uint64) {
	err := p.Go(ctx, func(ctx context.Context) {
		defer left.Done()
		r := rand.New(rand.NewPCG(seed, 1))
		n := 6
		if depth <= 5 {
			n = r.IntN(9)
		}
		if depth > 0 {
			left.Add(n)
			for range n {
				growTasks(ctx, p, left, depth-1, r.Uint64())
			}
		}
		time.Sleep(500 * time.Microsecond)
	})
	if err != nil {
		panic("the pool is closed")
	}
}

// reportSteals reports looks at others, and what was stolen, for one run.
func reportSteals(b *testing.B, before, after filch.Stats) {
	per := func(n int64, unit string) { b.ReportMetric(float64(n)/float64(b.N), unit) }
	per(after.Attempts-before.Attempts+after.Tasks.Attempts-before.Tasks.Attempts, "looks/op")
	per(after.Steals-before.Steals+after.Tasks.Stolen-before.Tasks.Stolen, "stolen/op")
}
