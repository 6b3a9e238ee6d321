package sim

import (
	"slices"
	"strings"
	"testing"
)

// chain is a thread of so many nodes of weight 1.
type chain uint32

func (c chain) Root() Args { return Args{} }

func (c chain) Node(t *Thread, n *Node) {
	n.Weight = 1
	n.Last = t.PC == uint32(c)-1
}

// heavy is a program whose nodes have weights from 1 to 3000, many of them more than a turn of the wheel.
type heavy struct{ Program }

func (h heavy) Node(t *Thread, n *Node) {
	h.Program.Node(t, n)
	n.Weight = 1 + int64(mix(t.path^uint64(t.PC))%3000)
}

// weightless is a program of which every third node, about, takes no steps.
type weightless struct{ Program }

func (l weightless) Node(t *Thread, n *Node) {
	l.Program.Node(t, n)
	n.Weight = int64(mix(t.path^uint64(t.PC)) % 3)
}

// testKernels returns a kernel of each name, for 16 workers.
func testKernels() []*Kernel {
	var ks []*Kernel
	for _, name := range Kernels() {
		k := &Kernel{Name: name, Steps: 20}
		if name == "trace" {
			k.Trace = []Supply{{0, 16}, {50, 2}, {100, 0}, {150, 9}}
		}
		ks = append(ks, k)
	}
	return ks
}

func TestEveryScheduleUnderEveryKernelIsChecked(t *testing.T) {
	for _, k := range testKernels() {
		for _, s := range Schedulers() {
			for seed := range uint64(fewer(3)) {
				for _, p := range []Program{Fib(10), chain(50), Loop(100), heavy{Fib(2)}, weightless{Fib(10)}} {
					r := run(t, Config{Program: p, Scheduler: s, Workers: 16, Seed: seed, StealCost: 1 + int64(seed), Kernel: k})
					if r.PA <= 0 || r.PA > 16 {
						t.Errorf("%s under %s, seed %d: %+v", s, k.Name, seed, *r)
					}
				}
			}
		}
	}
}

func TestSameSeedSameRunUnderAKernel(t *testing.T) {
	for _, k := range testKernels() {
		c := Config{Program: Fib(12), Scheduler: "bws", Workers: 16, Seed: 7, Kernel: k}
		if a, b := run(t, c), run(t, c); *a != *b {
			t.Errorf("%s: %+v, and then %+v", k.Name, *a, *b)
		}
	}
}

// The event wheel jumps from event to event, and a kernel goes step by step. Both must come to the same.
func TestKernelThatTakesNothingChangesNothing(t *testing.T) {
	for _, s := range []string{"child", "continuation", "abp"} {
		for _, p := range []Program{Fib(12), chain(50), Loop(100), heavy{Fib(6)}, weightless{Fib(12)}} {
			for cost := range int64(4) {
				c := Config{Program: p, Scheduler: s, Workers: 1 + int(5*cost), Seed: uint64(cost), StealCost: cost}
				want := run(t, c)
				for _, k := range []*Kernel{{Name: "dedicated"}, {Name: "benign", Processors: 99}, {Name: "trace", Trace: []Supply{{0, 99}}}} {
					c.Kernel = k
					if got := run(t, c); *got != *want {
						t.Errorf("%s, %T, %d workers, kernel %s:\n%+v, without a kernel\n%+v", s, p, c.Workers, k.Name, *got, *want)
					}
				}
			}
		}
	}
}

func TestOneWorkerUnderAKernel(t *testing.T) {
	for _, k := range testKernels() {
		for _, s := range Schedulers() {
			r := run(t, Config{Program: Fib(10), Scheduler: s, Workers: 1, Kernel: k})
			if r.Scheduled != r.T1 || r.Idle != 0 || r.Steals != 0 {
				t.Errorf("%s under %s: %+v", s, k.Name, *r)
			}
		}
	}
}

func TestPAIsTheAverageSupply(t *testing.T) {
	k := &Kernel{Name: "trace", Trace: []Supply{{0, 4}, {100, 0}, {200, 2}}}
	r := run(t, Config{Program: chain(1000), Scheduler: "abp", Workers: 8, Kernel: k})
	if want := 4*100 + 2*(r.Time-200); r.Scheduled != want || r.PA != float64(want)/float64(r.Time) {
		t.Errorf("scheduled for %d worker-steps, PA %v; want %d in %d steps", r.Scheduled, r.PA, want, r.Time)
	}
	if r.Preempted != 8*r.Time-r.Scheduled || r.Asleep != 0 {
		t.Errorf("preempted for %d, asleep for %d", r.Preempted, r.Asleep)
	}
}

// covered says which kernels the theorems of Arora, Blumofe and Plaxton cover with each yield.
var covered = map[string][]string{
	"none":   {"dedicated", "benign", "trace"},
	"random": {"dedicated", "benign", "trace", "robin", "blocks", "shared"},
	"all":    Kernels(),
}

func TestYieldsKeepTheTimeWithinItsBound(t *testing.T) {
	const c = 2 // 1.78 is the most that was seen, for a loop that is stolen from after each spawn
	for _, k := range testKernels() {
		for _, yield := range Yields() {
			if !slices.Contains(covered[yield], k.Name) {
				continue
			}
			for _, p := range []Program{Fib(10), chain(100), Loop(100)} {
				for seed := range seeds() {
					r := run(t, Config{Program: p, Scheduler: "abp", Workers: 16, Seed: uint64(seed), Kernel: k, Yield: yield})
					if over := r.OfBound(); over > c {
						t.Errorf("%T under %s, yield %s, seed %d: %.2f times the bound", p, k.Name, yield, seed, over)
					}
				}
			}
		}
	}
}

// Without the yield, the longer the kernel starves workers that have work, the longer the program takes, without an end.
func TestWithoutYieldsStarvingDiverges(t *testing.T) {
	for _, p := range []Program{Fib(8), chain(50)} {
		for seed := range uint64(5) {
			c := Config{Program: p, Scheduler: "abp", Workers: 16, Seed: seed}
			before := 0.0
			for _, steps := range []int64{10, 100, 1000} {
				c.Kernel = &Kernel{Name: "adversary", Steps: steps}
				c.Yield = "none"
				over := run(t, c).OfBound()
				if before > 0 && over < 5*before {
					t.Errorf("%T, seed %d: starved for %d steps at a time, %.1f times the bound, after %.1f", p, seed, steps, over, before)
				}
				before = over
				c.Yield = "all"
				if over := run(t, c).OfBound(); over > 2 {
					t.Errorf("%T, seed %d: starved for %d steps at a time, yield to all: %.1f times the bound", p, seed, steps, over)
				}
			}
			if before < 50 {
				t.Errorf("%T, seed %d: only %.1f times the bound", p, seed, before)
			}
		}
	}
}

// On a machine that is shared with another program, balanced work stealing spends fewer worker-steps on what is not work.
func TestBalancedStealingWastesLess(t *testing.T) {
	for _, p := range []Program{Fib(12), chain(100), Loop(300)} {
		waste := func(scheduler, yield string) (steps int64) {
			for seed := range uint64(20) {
				k := &Kernel{Name: "shared", Steps: 50}
				steps += run(t, Config{Program: p, Scheduler: scheduler, Workers: 16, Seed: seed, Kernel: k, Yield: yield}).Idle
			}
			return steps
		}
		bws := waste("bws", "")
		for _, yield := range Yields() {
			if abp := waste("abp", yield); bws >= abp {
				t.Errorf("%T: bws wastes %d worker-steps, and abp that yields to %s %d", p, bws, yield, abp)
			}
		}
	}
}

func TestBadKernels(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"mild", "unknown kernel"},
		{"", "unknown kernel"},
		{"benign=0", "not a number of processors"},
		{"benign=x", "not a number of processors"},
		{"benign=", "not a number of processors"},
		{"benign=99999999", "99999999 processors"},
		{"blocks=4/", "not a number of steps"},
		{"blocks=4/0", "not a number of steps"},
		{"blocks=4/2/3", "not a number of steps"},
		{"trace=3", "no rows"},
	} {
		if _, err := ParseKernel(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %s", c.text, err, c.want)
		}
	}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Kernel: &Kernel{Name: "benign", Processors: -1}}, "-1 processors"},
		{Config{Kernel: &Kernel{Name: "benign", Steps: -1}}, "-1 steps"},
		{Config{Kernel: &Kernel{Name: "benign", Trace: []Supply{{0, 1}}}}, "has a trace"},
		{Config{Kernel: &Kernel{Name: "trace", Trace: []Supply{{0, 1}, {0, 2}}}}, "row 2"},
		{Config{Yield: "some"}, "cannot yield to \"some\""},
		{Config{Yield: "all", Scheduler: "child"}, "only the scheduler abp yields"},
	} {
		c.config.Program, c.config.Workers = Fib(3), 2
		if c.config.Scheduler == "" {
			c.config.Scheduler = "abp"
		}
		if _, err := Run(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}

func TestParseKernel(t *testing.T) {
	for text, want := range map[string]Kernel{
		"benign":       {Name: "benign"},
		"robin=3":      {Name: "robin", Processors: 3},
		"adversary=/9": {Name: "adversary", Steps: 9},
		"blocks=4/250": {Name: "blocks", Processors: 4, Steps: 250},
	} {
		if got, err := ParseKernel(text); err != nil || got.Name != want.Name || got.Processors != want.Processors || got.Steps != want.Steps {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// What a run counts under a kernel is checked: each sum that is off by one is found.
func TestCountsUnderAKernelAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(*processors){
		"busy":      func(p *processors) { p.busy++ },
		"idle":      func(p *processors) { p.idle++ },
		"scheduled": func(p *processors) { p.scheduled++ },
		"preempted": func(p *processors) { p.preempted-- },
		"asleep":    func(p *processors) { p.asleep++ },
	} {
		m, err := newMachine(Config{Program: Fib(8), Scheduler: "bws", Workers: 4, Kernel: &Kernel{Name: "benign"}})
		if err != nil {
			t.Fatal(err)
		}
		m.start()
		m.procs.run()
		spoil(m.procs)
		if _, err := m.result(); err == nil {
			t.Errorf("%s is wrong, and nothing has noticed", name)
		}
	}
}

// lossy is a scheduler that loses a thread.
type lossy struct {
	scheduler
	left *int
}

func (l lossy) enabled(w int32, cont, child ID) ID {
	if *l.left--; *l.left == 0 {
		child = None
	}
	return l.scheduler.enabled(w, cont, child)
}

func TestLostThreadUnderAKernel(t *testing.T) {
	for _, k := range testKernels() {
		for _, s := range []string{"abp", "bws"} {
			m, err := newMachine(Config{Program: Loop(10), Scheduler: s, Workers: 4, Kernel: k})
			if err != nil {
				t.Fatal(err)
			}
			left := 3
			m.sched = lossy{m.sched, &left}
			m.start()
			m.procs.run()
			if m.err == nil || !strings.Contains(m.err.Error(), "lost") {
				t.Errorf("%s under %s: %v", s, k.Name, m.err)
			}
		}
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, k := range testKernels() {
		b.Run(k.Name, func(b *testing.B) {
			var steps int64
			for b.Loop() {
				steps += run(b, Config{Program: Fib(20), Scheduler: "abp", Workers: 64, Seed: 1, Kernel: k}).Scheduled
			}
			b.ReportMetric(float64(steps)/1e6/b.Elapsed().Seconds(), "Msteps/s")
		})
	}
}
