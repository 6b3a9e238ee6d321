package sim

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/random"
)

// uneven is a program with nodes of 0 to 19 steps.
type uneven struct{ dag.Program }

func (u uneven) Node(t *dag.Thread, n *dag.Node) {
	u.Program.Node(t, n)
	n.Weight = int64(random.Mix(t.Path^uint64(t.PC)) % 20)
}

// hollow is a program of which two nodes of three take no steps.
type hollow struct{ dag.Program }

func (h hollow) Node(t *dag.Thread, n *dag.Node) {
	h.Program.Node(t, n)
	if random.Mix(t.Path^uint64(t.PC))%3 > 0 {
		n.Weight = 0
	}
}

// programs are what schedulers are tried on.
var programs = []dag.Program{dag.Fib(11), dag.Loop(100), uneven{dag.Fib(9)}, uneven{dag.Loop(40)}, dag.Iterative{Rounds: 4, Blocks: 16}, hollow{dag.Fib(11)}, hollow{dag.Loop(60)}}

// Run checks that each node runs once and in time. It does so with every scheduler on every program, and the same
// seed gives the same result.
func TestSchedulersAreSoundAndReproducible(t *testing.T) {
	for _, s := range Schedulers() {
		for _, p := range programs {
			for _, workers := range []int{1, 2, 3, 7, 40, 300} {
				for seed := range uint64(3) {
					c := Config{Program: p, Scheduler: s, Workers: workers, Seed: seed, StealCost: 1 + int64(seed), Cache: 5, SharedCache: 9}
					if a, b := run(t, c), run(t, c); *a != *b {
						t.Errorf("%s: %+v, and then %+v", s, *a, *b)
					}
				}
			}
		}
	}
}

// The same with latencies.
func TestSchedulersAreSoundOverDistances(t *testing.T) {
	for _, s := range distant {
		for _, p := range programs {
			for _, topology := range []string{"4@7x2@3x3@1", "1000@1000", "3@5x1x20", "24"} {
				far, err := ParseTopology(topology)
				if err != nil {
					t.Fatal("ParseTopology(topology):", err)
				}
				for seed := range uint64(3) {
					run(t, Config{Program: p, Scheduler: s, Workers: 24, Seed: seed, Topology: far})
				}
			}
		}
	}
}

// A scheduler in which nothing is under way refuses latencies, and takes groups.
func TestSchedulersWithoutRequestsRefuseLatencies(t *testing.T) {
	for _, s := range Schedulers() {
		c := Config{Program: dag.Fib(5), Scheduler: s, Workers: 4, Topology: Topology{{2, 0}, {2, 0}}}
		run(t, c)
		c.Topology[0].Latency = 1
		_, err := Run(c)
		if slices.Contains(distant, s) {
			if err != nil {
				t.Errorf("Run(c): %s: %v", s, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "not "+s) || !strings.Contains(err.Error(), "2@1x2") {
			t.Errorf("Run(c): %s: %v", s, err)
		}
	}
}

// What the configuration says is refused with its name or its number.
func TestConfigurationsThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct {
		says string
		Config
	}{
		{"0 workers", Config{}},
		{"4194305 workers", Config{Workers: MaxWorkers + 1}},
		{"-1 steps", Config{Workers: 1, StealCost: -1}},
		{"worker cannot hold -2 blocks", Config{Workers: 1, Cache: -2}},
		{"all workers cannot hold -3 blocks", Config{Workers: 1, SharedCache: -3}},
		{"worker cannot hold 33554433 blocks", Config{Workers: 1, Cache: MaxCached + 1}},
		{"all workers cannot hold 33554433 blocks", Config{Workers: 1, SharedCache: MaxCached + 1}},
		{"room for 4 workers, not for 5", Config{Workers: 5, Topology: Topology{{2, 0}, {2, 0}}}},
		{`unknown scheduler "x"`, Config{Workers: 1, Scheduler: "x"}},
		{`unknown priority "x"`, Config{Workers: 1, Scheduler: "ordered", Priority: "x"}},
		{`Priority is "hash"`, Config{Workers: 1, Priority: PriorityHash}},
		{"-1 attempts", Config{Workers: 1, Scheduler: "hierarchical", Inside: -1}},
		{"Inside is 3", Config{Workers: 1, Inside: 3}},
		{"-1 steps", Config{Workers: 1, Scheduler: "central", CentralCost: -1}},
		{"CentralCost is 2", Config{Workers: 1, CentralCost: 2}},
	} {
		if c.Scheduler == "" {
			c.Scheduler = "child"
		}
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, which does not say %s", err, c.says)
		}
	}
}

// BenchmarkMillionWorkers says how long a run with 1,000,000 workers takes, and how much it allocates.
func BenchmarkMillionWorkers(b *testing.B) {
	for _, s := range Schedulers() {
		b.Run(s, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				r := run(b, Config{Program: dag.Fib(20), Scheduler: s, Workers: 1_000_000, Seed: 1})
				b.ReportMetric(float64(r.Time), "steps")
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/(1<<30), "GiB/op")
		})
	}
}

// BenchmarkSchedulers says how many worker-steps a second each scheduler makes.
func BenchmarkSchedulers(b *testing.B) {
	f, _ := dag.Serial(dag.Fib(22), nil)
	for _, s := range Schedulers() {
		for _, workers := range []int{64, 4096} {
			b.Run(fmt.Sprint(s, "/", workers), func(b *testing.B) {
				var steps int64
				for b.Loop() {
					r := run(b, Config{Program: dag.Fib(22), Facts: &f, Scheduler: s, Workers: workers, Seed: 1})
					steps += r.Time * int64(workers)
				}
				b.ReportMetric(float64(steps)/1e6/b.Elapsed().Seconds(), "Msteps/s")
			})
		}
	}
}

// While a thread is under way, others ask in vain as often as they like, and nothing is lost.
func TestLongWaysAreNotTakenForLostThreads(t *testing.T) {
	m, err := newMachine(Config{Program: dag.Fib(1), Scheduler: "child", Workers: 2})
	if err != nil {
		t.Fatal("newMachine(…):", err)
	}
	m.onItsWay = 1
	for range 2 * m.patience() {
		m.attempt(0, 1, None)
	}
	if m.err != nil {
		t.Error("newMachine(…):", m.err)
	}
	m.onItsWay = 0
	m.attempt(0, 1, None)
	if m.err == nil || !strings.Contains(m.err.Error(), "is lost") {
		t.Errorf("a thread that is not on its way is not missed: %v", m.err)
	}
}
