package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
)

func TestProgramsEndThoughMachinesLeave(t *testing.T) {
	var repeated, absent int64
	for seed := range uint64(fewer(100)) {
		for _, hands := range []bool{false, true} {
			for _, p := range []dag.Program{dag.Fib(12), dag.Loop(200), heavy{dag.Fib(6)}, weightless{dag.Fib(10)}} {
				c := Config{Program: p, Scheduler: "child", Workers: 16, Seed: seed, StealCost: 1 + int64(seed%3)}
				up := int64(100 + 50*(seed%5))
				if _, yes := p.(heavy); yes {
					up *= 300
				}
				c.Churn = &Churn{Machine: 1 + int(seed%5), Up: up, Down: up / 2, Hands: hands}
				r := run(t, c)
				if hands && r.Repeated > 0 {
					t.Errorf("%T, seed %d: %d nodes were repeated, though machines hand their threads over", p, seed, r.Repeated)
				}
				repeated += r.Repeated
				absent += r.Absent
			}
		}
	}
	if repeated == 0 || absent == 0 {
		t.Errorf("%d nodes were repeated, and workers away for %d steps: this tests nothing", repeated, absent)
	}
}

func TestMachinesLeaveUnderEverySchedulerThatAllowsIt(t *testing.T) {
	for _, s := range leavable {
		for seed := range uint64(fewer(30)) {
			for _, topology := range []Topology{nil, {{Groups: 4, Latency: 5}, {Groups: 4, Latency: 1}}} {
				for _, hands := range []bool{false, true} {
					for _, p := range []dag.Program{dag.Fib(12), dag.Loop(200), weightless{dag.Fib(12)}} {
						ch := &Churn{Machine: 4, Up: 60, Down: 30, Hands: hands}
						r := run(t, Config{Program: p, Scheduler: s, Workers: 16, Seed: seed, StealCost: 1 + int64(seed%3), Topology: topology, Churn: ch})
						if hands && r.Repeated > 0 || r.Absent == 0 {
							t.Errorf("%s, %T, seed %d: %+v", s, p, seed, *r)
						}
					}
				}
			}
		}
	}
}

func TestOneMachineThatStaysIsNoChurn(t *testing.T) {
	for seed := range uint64(10) {
		c := Config{Program: dag.Fib(12), Scheduler: leavable[seed%4], Workers: 8, Seed: seed}
		want := run(t, c)
		c.Churn = &Churn{Machine: 8, Up: 10, Down: 10}
		if got := run(t, c); *got != *want {
			t.Errorf("seed %d: %+v; without churn %+v", seed, *got, *want)
		}
	}
}

func TestSameSeedSameChurn(t *testing.T) {
	c := Config{Program: dag.Fib(13), Scheduler: "child", Workers: 16, Seed: 5, Churn: &Churn{Machine: 2, Up: 90, Down: 20}}
	if a, b := run(t, c), run(t, c); *a != *b || a.Repeated == 0 {
		t.Errorf("%+v, and then %+v", *a, *b)
	}
}

// Machines stay for as long as they should, on average, and are away likewise; from 1 step on.
func TestMachinesStayForTheirTime(t *testing.T) {
	for _, mean := range []int64{1, 2, 10} {
		var stays, sum int64
		since := [8]int64{}
		c := Config{Program: chain(2000), Scheduler: "child", Workers: 8, Churn: &Churn{Up: mean, Down: 2 * mean}}
		least, most := 2*mean, int64(0)
		c.Tell = func(e Event) {
			switch e.Kind {
			case Joined:
				since[e.Worker] = e.Time
			case Left:
				stay := e.Time - since[e.Worker]
				least, most = min(least, stay), max(most, stay)
				stays++
				sum += stay
			}
		}
		run(t, c)
		if least != 1 || most != 2*mean-1 || sum*20 < stays*mean*19 || sum*20 > stays*mean*21 {
			t.Errorf("%d steps on average: from %d to %d, %d in %d stays", mean, least, most, sum, stays)
		}
	}
}

// A thief that leaves with all that it has stolen costs its work once more, and no node of others.
func TestWhatAThiefLosesIsRunAgain(t *testing.T) {
	var stolen int64 // when the other worker steals the only child
	c := Config{Program: dag.Loop(1), Scheduler: "child", Workers: 2, Tell: func(e Event) {
		if e.Kind == Stole {
			stolen = e.Time
		}
	}}
	run(t, Config{Program: c.Program, Scheduler: c.Scheduler, Workers: 2, Tell: c.Tell})
	for late := range int64(3) {
		c.Churn = &Churn{Changes: []Change{{stolen + late, 1}}}
		r := run(t, c)
		if r.Repeated > 1 || r.Time > 6 {
			t.Errorf("the thief leaves %d steps after its steal: %+v", late, *r)
		}
	}
}

// All but the first machine leave at once, at every step of a run, and come back or not.
func TestAllOthersLeaveAtAnyStep(t *testing.T) {
	for at := range int64(60) {
		for _, hands := range []bool{false, true} {
			for _, back := range []int64{0, 1, 7} {
				ch := &Churn{Machine: 2, Hands: hands}
				for machine := 1; machine < 4; machine++ {
					ch.Changes = append(ch.Changes, Change{at, machine})
					if back > 0 {
						ch.Changes = append(ch.Changes, Change{at + back, machine})
					}
				}
				run(t, Config{Program: dag.Fib(9), Scheduler: "child", Workers: 8, Seed: uint64(at), Churn: ch})
			}
		}
	}
}

func TestChangesInAnyOrder(t *testing.T) {
	c := Config{Program: dag.Fib(12), Scheduler: "child", Workers: 4, Seed: 2}
	c.Churn = &Churn{Changes: []Change{{10, 1}, {15, 2}, {20, 1}, {20, 3}, {40, 2}, {60, 1}}}
	want := run(t, c)
	slices.Reverse(c.Churn.Changes)
	if got := run(t, c); *got != *want || want.Absent == 0 {
		t.Errorf("%+v, and in their order %+v", *got, *want)
	}
}

// drowsy is a scheduler whose thieves sleep, and are not woken.
type drowsy struct{ *stealing }

func (s drowsy) seek(int32) (ID, int64) { return None, Never }

func TestLostThreadWithMachinesThatLeave(t *testing.T) {
	left := 3
	for _, s := range []func(m *machine) scheduler{
		func(m *machine) scheduler { return lossy{&stealing{raids: newRaids(m), parentFirst: true}, &left} },
		func(m *machine) scheduler {
			return lossy{drowsy{&stealing{raids: newRaids(m), parentFirst: true}}, &left}
		},
	} {
		left = 3
		_, err := Run(Config{Program: dag.Loop(10), Scheduler: "child", Workers: 4, Churn: &Churn{Up: 50}, instead: s})
		if err == nil || !strings.Contains(err.Error(), "lost") {
			t.Errorf("Run(…): %v", err)
		}
	}
}

func TestMachineThatIsAwayRunsNothing(t *testing.T) {
	away := map[int32]bool{}
	c := Config{Program: dag.Fib(12), Scheduler: "child", Workers: 9, Seed: 3, Churn: &Churn{Machine: 2, Up: 50, Down: 50}}
	var absent, since [9]int64
	var last int64
	c.Tell = func(e Event) {
		last = e.Time
		switch {
		case e.Kind == Left:
			away[e.Worker], since[e.Worker] = true, e.Time
		case e.Kind == Joined:
			away[e.Worker] = false
			absent[e.Worker] += e.Time - since[e.Worker]
		case e.Kind == Lost:
		case away[e.Worker]:
			t.Fatalf("%+v, and the worker is away", e)
		}
	}
	r := run(t, c)
	var sum int64
	for w := range absent {
		if away[int32(w)] {
			absent[w] += last - since[w]
		}
		sum += absent[w]
	}
	if sum != r.Absent || sum == 0 {
		t.Errorf("workers were away for %d steps; the result says %d", sum, r.Absent)
	}
}

// Results that are used twice or not at all, and steps that are not counted, are found.
func TestOutcomeOfChurnIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(*churn){
		"a result used twice": func(c *churn) { c.root.add(outcome{1, 1, 7}) },
		"another node's":      func(c *churn) { c.root.sum++ },
		"a lost node":         func(c *churn) { c.vain.nodes++ },
		"cut steps":           func(c *churn) { c.cut++ },
		"absence":             func(c *churn) { c.absent++ },
	} {
		m, err := newMachine(Config{Program: dag.Fib(10), Scheduler: "child", Workers: 4, Churn: &Churn{Up: 50, Down: 50}})
		if err != nil {
			t.Fatal("newMachine(…):", err)
		}
		m.start()
		m.churn.run()
		spoil(m.churn)
		if _, err := m.result(); err == nil {
			t.Errorf("%s: nothing has noticed", name)
		}
	}
}

func TestChurnIsReadAndWhatIsNoneIsTold(t *testing.T) {
	for text, want := range map[string]Churn{
		"1/2/3":              {Machine: 1, Up: 2, Down: 3},
		"16/100000/50/hands": {Machine: 16, Up: 100000, Down: 50, Hands: true},
	} {
		if c, err := ParseChurn(text); err != nil || c.Machine != want.Machine || c.Up != want.Up || c.Down != want.Down || c.Hands != want.Hands {
			t.Errorf("ParseChurn(text): %s: %+v, %v", text, c, err)
		}
	}
	for text, want := range map[string]string{
		"":                       "is not MACHINE/UP/DOWN",
		"1/2":                    "is not MACHINE/UP/DOWN",
		"1/2/3/4":                "is not MACHINE/UP/DOWN",
		"1/2/hands":              "is not MACHINE/UP/DOWN",
		"0/2/3":                  `"0" is not a number of workers`,
		"1/x/3":                  `"x" is not a number of steps that a machine stays`,
		"1/2/-3":                 `"-3" is not a number of steps that a machine is away`,
		"1/2/99999999999999":     "is away",
		"1/2/999999999999999999": "is away",
	} {
		if _, err := ParseChurn(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func TestChurnThatCannotBeIsRefused(t *testing.T) {
	for _, c := range []struct {
		churn     Churn
		scheduler string
		want      string
	}{
		{Churn{}, "continuation", "they can under [child"},
		{Churn{Machine: -1}, "child", "-1 workers on a machine"},
		{Churn{Machine: 5}, "child", "5 workers on a machine"},
		{Churn{Up: -1}, "child", "stay for -1 steps"},
		{Churn{Down: 1 << 50}, "child", "be away for"},
		{Churn{Changes: []Change{{3, 1}, {4, 4}}}, "child", "change 2: machine 4 at step 4"},
		{Churn{Changes: []Change{{3, 0}}}, "child", "change 1: machine 0 at step 3"},
		{Churn{Changes: []Change{{-1, 1}}}, "child", "change 1: machine 1 at step -1"},
	} {
		_, err := Run(Config{Program: dag.Fib(3), Scheduler: c.scheduler, Workers: 4, Churn: &c.churn})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %s", c.churn, err, c.want)
		}
	}
	_, err := Run(Config{Program: dag.Fib(3), Scheduler: "child", Workers: 4, Churn: &Churn{}, Kernel: &kernel.Kernel{Name: "benign"}})
	if err == nil {
		t.Error("a kernel and churn")
	}
}

// The cost of a change is proportional to the workers and the threads that are alive.
func BenchmarkChurn(b *testing.B) {
	var steps int64
	for b.Loop() {
		c := Config{Program: dag.Fib(22), Scheduler: "child", Workers: 1000, Seed: 1, Churn: &Churn{Machine: 16, Up: 1000, Down: 500}}
		steps += run(b, c).Scheduled
	}
	b.ReportMetric(float64(steps)/1e6/b.Elapsed().Seconds(), "Msteps/s")
}
