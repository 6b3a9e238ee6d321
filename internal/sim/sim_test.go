package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
)

// run simulates, or fails.
func run(t testing.TB, c Config) *Result {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatalf("%s on %d workers, seed %d: %v", c.Scheduler, c.Workers, c.Seed, err)
	}
	return r
}

func TestOneWorkerTakesTheWorkAndStealsNothing(t *testing.T) {
	for _, s := range Schedulers() {
		for _, d := range dag.Families() {
			r := run(t, Config{Program: named(t, small[d.Name]), Scheduler: s, Workers: 1})
			if r.Time != r.T1 || r.Steals != 0 || r.Attempts != 0 || r.Migrations != 0 || r.Idle != 0 {
				t.Errorf("run(t, …): %s, %s: %+v", s, d.Name, *r)
			}
		}
	}
}

// A run that would take too much memory ends with an error, whatever the scheduler.
func TestThreadsThatMayBeAliveAreLimited(t *testing.T) {
	for _, s := range Schedulers() {
		for _, workers := range []int{1, 5} {
			c := Config{Program: dag.Tree{Arity: 3, Depth: 6}, Scheduler: s, Workers: workers, Seed: 1}
			live := run(t, c).MaxLive
			for most, want := range map[int]string{live: "", live - 1: "threads would be alive"} {
				m, err := newMachine(c)
				if err != nil {
					t.Fatal("newMachine(c):", err)
				}
				m.most = most
				m.start()
				_, err = m.run()
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %d threads may be alive, and %d are: %v", s, most, live, err)
				}
			}
		}
	}
}

// Where an int has 32 bits, products of workers and threads, or of workers and processors, do not fit into one.
func TestManyWorkersFitInto32Bits(t *testing.T) {
	m, err := newMachine(Config{Program: dag.Chain(1), Scheduler: "continuation", Workers: 1 << 16})
	if err != nil {
		t.Fatal("newMachine(…):", err)
	}
	m.facts.Live, m.res.MaxLive = 1<<16, 1
	if err := m.sched.(*stealing).bounds(); err != nil {
		t.Error("newMachine(…):", err)
	}
	c := Config{Program: dag.Chain(1), Scheduler: "abp", Workers: 100_000}
	c.Kernel = &kernel.Kernel{Name: "robin", Processors: 90_000, Steps: 1}
	if m, err = newMachine(c); err != nil {
		t.Fatal("newMachine(c):", err)
	}
	m.wheel.Now = 99_999
	if first := m.procs.kernel.Wish(nil)[0]; first != 10_000 {
		t.Errorf("turn 99999 begins with worker %d", first) // 99,999 times 90,000 modulo 100,000
	}
	c.Kernel = &kernel.Kernel{Name: "shared", Steps: 1<<30 - 1}
	if m, err = newMachine(c); err != nil {
		t.Fatal("newMachine(c):", err)
	}
	if n := len(m.procs.kernel.Wish(nil)); n < 49_000 || n > 51_000 { // those whose turn would begin at a step below 0 as well
		t.Errorf("%d of 100000 workers have their turn", n)
	}
}

// A run ends with an error before its time, its worker-steps or its nanoseconds overflow.
func TestTimeThatCannotBeCountedEndsARun(t *testing.T) {
	far := Config{Scheduler: "child", Workers: MaxWorkers, StepTime: 1000}
	if far.latest() > math.MaxInt64/MaxWorkers {
		t.Errorf("%d steps may be taken by %d workers", far.latest(), far.Workers)
	}
	if _, err := Run(Config{Program: dag.Fib(10), Scheduler: "pool", Workers: 4, StepTime: math.MaxInt64 / 100}); err == nil || !strings.Contains(err.Error(), "cannot be counted") {
		t.Errorf("a step takes 2.9 years: %v", err)
	}
	c := Config{Program: dag.Fib(10), Scheduler: "child", Workers: 4}
	time := run(t, c).Time
	for latest, ends := range map[int64]bool{time: true, time - 1: false} {
		m, err := newMachine(c)
		if err != nil {
			t.Fatal("newMachine(c):", err)
		}
		m.latest = latest
		m.start()
		if _, err := m.run(); (err == nil) != ends {
			t.Errorf("the run takes %d steps and may take %d: %v", time, latest, err)
		}
	}
}

// The article on work stealing has this example: a loop that forks n children.
func TestQueueOfALoop(t *testing.T) {
	const n = 1000
	child := run(t, Config{Program: dag.Loop(n), Scheduler: "child", Workers: 1})
	continuation := run(t, Config{Program: dag.Loop(n), Scheduler: "continuation", Workers: 1})
	if child.MaxDeque != n || continuation.MaxDeque != 1 {
		t.Errorf("the queue grows to %d by child stealing, and to %d by continuation stealing", child.MaxDeque, continuation.MaxDeque)
	}
}

func TestIdleWorkersStealAllTheTime(t *testing.T) {
	for _, workers := range []int{2, 8, 1000} {
		r := run(t, Config{Program: dag.Fib(20), Scheduler: "continuation", Workers: workers, Seed: 1})
		if r.Idle != r.Attempts {
			t.Errorf("%d workers were idle for %d steps, and have tried to steal %d times", workers, r.Idle, r.Attempts)
		}
	}
}

func BenchmarkSteps(b *testing.B) {
	f, _ := dag.Serial(dag.Fib(27), nil)
	for b.Loop() {
		begin := time.Now()
		r := run(b, Config{Program: dag.Fib(27), Facts: &f, Scheduler: "continuation", Workers: 64, Seed: 1})
		b.ReportMetric(64*float64(r.Time)/1e6/time.Since(begin).Seconds(), "Msteps/s")
	}
}
