package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
	"github.com/filch-go/filch/steal"
)

// The owner forks one half after 1 ns and runs the other one. The thief begins after a wake-up, an attempt of 1 ns and
// a steal; what has to be done takes 1 ns at least. What is later decides, and a join of 1 ns follows.
func TestCostsOfAPool(t *testing.T) {
	const half = 100_000
	for name, c := range map[string]struct {
		Costs
		time int64
	}{
		"nothing": {Costs{}, 1 + 1 + 1 + half + 1},
		"publish": {Costs{Publish: 7000}, 1 + 7000 + half + 1},
		"waking":  {Costs{Waking: 9000}, 1 + 9000 + half + 1},
		"wake":    {Costs{Wake: 40_000}, 1 + 40_000 + 1 + half + 1},
		"steal":   {Costs{Steal: 20_000}, 1 + 1 + 1 + 20_000 + half + 1},
	} {
		r := run(t, withCosts(Config{Program: halves{half}, Scheduler: "pool", Workers: 2, StepTime: 1}, c.Costs))
		if r.Steals != 1 || r.Time != c.time {
			t.Errorf("%s: %d steals, %d ns, not %d", name, r.Steals, r.Time, c.time)
		}
	}
}

func withCosts(c Config, costs Costs) Config {
	c.Costs = &costs
	return c
}

// halves is a thread that spawns another one; both take the same time.
type halves struct{ each int64 }

func (h halves) Root() dag.Args { return dag.Args{Kind: 1} }

func (h halves) Node(t *dag.Thread, n *dag.Node) {
	n.Weight = h.each
	switch {
	case t.Kind == 0:
		n.Last = true
	case t.PC == 0:
		n.Weight, n.Spawns = 1, true
	case t.PC == 2:
		n.Weight, n.Last = 1, true
	}
}

func TestNegativeCostsAreRefused(t *testing.T) {
	for _, costs := range []Costs{{Publish: -1}, {Waking: -1}, {Wake: -1}, {Steal: -1}} {
		if _, err := Run(withCosts(Config{Program: dag.Fib(3), Scheduler: "pool", Workers: 2}, costs)); err == nil {
			t.Errorf("%+v: no error", costs)
		}
	}
}

// With as many workers as work, one wake-up after the other takes long; the policy wakes more at a time.
func TestWakingOneAtATimeTakesLonger(t *testing.T) {
	c := Config{Program: dag.Fib(20), Scheduler: "pool", Workers: 64, Seed: 1}
	now := run(t, c)
	c.Tuning.WakeShare = MaxWorkers
	if once := run(t, c); 4*now.Time > 3*once.Time {
		t.Errorf("%d steps, and %d if one is woken at a time", now.Time, once.Time)
	}
}

// Each field of a Tuning changes the schedule.
func TestEachFieldOfATuningChangesTheSchedule(t *testing.T) {
	p, _, err := dag.Parse("uts=8")
	if err != nil {
		t.Fatal(`dag.Parse("uts=8"):`, err)
	}
	c := Config{Program: p, Scheduler: "pool", Workers: 64, Seed: 1, StepTime: 100}
	c.Topology = Topology{{8, 0}, {8, 0}}
	today := run(t, c)
	for _, tuning := range []Tuning{{WakeShare: 2}, {Searchers: 8}, {Price: 500}, {SpinTime: 200}, {Glance: 1}, {FinderWakes: 2},
		{Reserve: 1}, {Amount: Amount{Every: 1, Most: 2}}, {Amount: Amount{Every: 2}},
		{Stealing: "round-robin"}, {Stealing: "localized"}, {Stealing: "nearest"}, {Stealing: "adaptive"}} {
		c.Tuning = tuning
		if r := run(t, c); r.Attempts == today.Attempts && r.Time == today.Time {
			t.Errorf("%+v: the same run", tuning)
		}
	}
	for _, tuning := range []Tuning{{Price: -1}, {Reserve: -1}, {HoldTime: -1}, {FreeSearch: -1}, {SavedTime: -1}, {FinderWakes: -1}, {Amount: Amount{Every: -1}},
		{Amount: Amount{Most: -1}}, {Amount: Amount{Leave: -1}}} {
		c.Tuning = tuning
		if _, err := Run(c); err == nil {
			t.Errorf("%+v: no error", tuning)
		}
	}
	c.Tuning, c.Kernel = Tuning{}, &kernel.Kernel{Name: "benign"}
	today = run(t, c)
	c.Tuning.YieldFirst = true
	if r := run(t, c); r.Yields <= today.Yields || today.Yields == 0 {
		t.Errorf("%d yields before each look, and %d at every 16th", r.Yields, today.Yields)
	}
}

// What searching may cost decides where parallel parts are short and many. The fields of a Tuning for it change such a run;
// those that say what the policy says leave it.
func TestTuningOfSearches(t *testing.T) {
	c := Config{Program: named(t, "iterative=20000x4"), Scheduler: "pool", Workers: 2, Seed: 1, StepTime: 100, Costs: &Costs{Publish: 200, Waking: 3500, Wake: 36_000, Steal: 215}}
	today := run(t, c)
	for _, tuning := range []Tuning{{HoldTime: 1_000_000}, {FreeSearch: 5}, {SavedTime: policy.SpinTime}} {
		c.Tuning = tuning
		if r := run(t, c); *r == *today {
			t.Errorf("%+v: the same run", tuning)
		}
	}
	c.Tuning = Tuning{HoldTime: policy.HoldTime, FreeSearch: policy.FreeSearch, SavedTime: policy.MaxSearch, Reserve: policy.Reserve,
		Price: policy.Price, SpinTime: policy.SpinTime, Glance: steal.Glance, Amount: Amount{Most: 1}}
	if r := run(t, c); *r != *today {
		t.Errorf("%+v, and today's policy written out: %+v", *today, *r)
	}
}

// What thieves take, of one, two, seven and a hundred.
func TestWhatThievesTakeOfSoMany(t *testing.T) {
	for _, c := range []struct {
		amount Amount
		want   [4]int
	}{
		{Amount{}, [4]int{1, 1, 1, 1}},
		{Amount{Every: 2}, [4]int{1, 1, 4, 50}},
		{Amount{Every: 2, Most: 33}, [4]int{1, 1, 4, 33}},
		{Amount{Every: 4}, [4]int{1, 1, 2, 25}},
		{Amount{Every: 1, Most: 4}, [4]int{1, 2, 4, 4}},
		{Amount{Every: 1, Leave: 1}, [4]int{1, 1, 6, 99}},
		{Amount{Every: 1}, [4]int{1, 2, 7, 100}},
	} {
		for i, n := range []int{1, 2, 7, 100} {
			if got := c.amount.of(n); got != c.want[i] {
				t.Errorf("%+v: %d of %d, not %d", c.amount, got, n, c.want[i])
			}
		}
	}
}

// The scheduler half takes what a Tuning says, and half of it if that says so.
func TestTuningOfHalf(t *testing.T) {
	c := Config{Program: dag.Loop(500), Scheduler: "half", Workers: 16, Seed: 1}
	today := run(t, c)
	c.Tuning.Amount = Amount{Every: policy.StealHalf}
	if r := run(t, c); *r != *today {
		t.Errorf("%+v, and half written out: %+v", *today, *r)
	}
	c.Tuning.Amount = Amount{Most: 1}
	if r := run(t, c); r.Steals <= today.Steals {
		t.Errorf("%d steals of one, and %d of half", r.Steals, today.Steals)
	}
}
