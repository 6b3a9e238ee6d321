package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/steal"
)

// lonely is a worker of the scheduler pool that looks for work, and finds none but what the test gives it.
type lonely struct {
	*pool
	w       int32
	victims []int32 // of the last turn
}

// newLonely returns worker w of so many, all of which may have forks.
func newLonely(t *testing.T, c Config, w int32) *lonely {
	t.Helper()
	l := &lonely{w: w}
	c.Program, c.Scheduler, c.Costs = dag.Fib(1), "pool", &Costs{Free: true}
	c.Tell = func(e Event) {
		if e.Kind == Attempted {
			l.victims = append(l.victims, e.Other)
		}
	}
	m, err := newMachine(c)
	if err != nil {
		t.Fatal("newMachine(c):", err)
	}
	l.pool = m.sched.(*pool)
	for v := range int32(c.Workers) {
		l.runs(v)
		l.at[v].new = false
	}
	return l
}

// looks returns whom the thief looks at in its next turn that is not sat out, and for how many turns it then sits out.
func (l *lonely) looks() (victims []int32, rests int) {
	l.victims = nil
	l.turn(l.w)
	for victims = l.victims; ; rests++ {
		before := *l.at[l.w].victims
		if l.victims = nil; !before.Rests() {
			return victims, rests
		}
		l.turn(l.w)
	}
}

// robs lets a thief steal from a victim.
func (l *lonely) robs(thief, victim int32) {
	l.push(victim, l.spawn(None, victim, dag.Args{}, 1))
	l.public++
	l.steal(thief, victim)
}

// The workers of the scheduler pool look at one another as the transcripts of package steal say of the same seed. That of Nearest is of
// another machine.
func TestVictimsAreThoseOfTheOrders(t *testing.T) {
	files := map[string]string{"": "RandomStart"}
	for _, o := range steal.Orders() {
		if o != steal.Nearest {
			files[flagged(o.String())] = o.String()
		}
	}
	for name, file := range files {
		text, err := os.ReadFile(filepath.Join("..", "..", "steal", "testdata", file+".txt"))
		if err != nil {
			t.Fatal("os.ReadFile(…):", err)
		}
		const w = 2
		l := newLonely(t, Config{Workers: 6, Seed: 7 - w, Tuning: Tuning{Stealing: name}}, w)
		l.search(w)
		for line := range strings.Lines(string(text)) {
			switch line = strings.TrimSuffix(line, "\n"); {
			case line == "" || line[0] == '#':
			case line == "is robbed by worker 5, and begins a search":
				l.robs(5, w)
				l.search(w)
			case line == "steals from worker 3, and begins a search":
				l.robs(w, 3)
				l.search(w)
			default:
				victims, rests := l.looks()
				got := strings.Trim(fmt.Sprint(victims), "[]")
				if rests > 0 {
					got += fmt.Sprintf("   then sits out %d", rests)
				}
				if got != line {
					t.Errorf("%q: the thief looks at %s, not at %s", name, got, line)
				}
			}
		}
	}
}

// By distance, those come first that share a group with the thief.
func TestNearestGoesByTheTopology(t *testing.T) {
	const w = 5
	far, err := ParseTopology("2x2x3")
	if err != nil {
		t.Fatal(`ParseTopology("2x2x3"):`, err)
	}
	l := newLonely(t, Config{Workers: 12, Seed: 7 - w, Topology: far, Tuning: Tuning{Stealing: "nearest"}}, w)
	l.search(w)
	v := policy.NewVictims(steal.RandomStart, 7)
	apart := []int{2, 2, 2, 1, 1, 0, 3, 3, 3, 3, 3, 3}
	for range 20 {
		var want []int32
		look := v.Look(steal.Numbered(12), w, 12)
		for at, ok := look.Next(); ok; at, ok = look.Next() {
			want = append(want, int32(at))
		}
		slices.SortStableFunc(want, func(a, b int32) int { return apart[a] - apart[b] })
		got, _ := l.looks()
		if !slices.Equal(got, want) || apart[got[1]] != 1 || apart[got[4]] != 2 {
			t.Fatalf("the thief looks at %v, not at %v", got, want)
		}
	}
}

// A look takes the way to all victims and back, up to the one that has something.
func TestLooksOfThePoolTakeTheirTime(t *testing.T) {
	const w = 2
	l := newLonely(t, Config{Workers: 6, StealCost: 3, Topology: Topology{{2, 100}, {3, 10}}, Tuning: Tuning{Stealing: "round-robin"}}, w)
	l.search(w)
	if found, after := l.look(w, true); found != None || after != 3+2*(3*100+2*10) {
		t.Errorf("%v after %d steps", found, after)
	}
	l.push(4, l.spawn(None, 4, dag.Args{}, 1))
	l.public++
	if found, after := l.look(w, true); found == None || after != 3+2*2*100 {
		t.Errorf("%v after %d steps", found, after)
	}
}

// Each order runs every program, with distances and under each kernel, and the same seed gives the same run.
func TestStealingsAreSound(t *testing.T) {
	for _, name := range Stealings() {
		for seed := range uint64(fewer(3)) {
			for _, p := range programs {
				for _, c := range []Config{{}, {Topology: Topology{{4, 20}, {6, 2}}}} {
					c.Program, c.Scheduler, c.Workers, c.Seed, c.Tuning.Stealing = p, "pool", 24, seed, name
					if a, b := run(t, c), run(t, c); *a != *b {
						t.Errorf("%s: %+v, and then %+v", name, *a, *b)
					}
				}
			}
			for _, k := range testKernels() {
				run(t, Config{Program: uneven{dag.Fib(8)}, Scheduler: "pool", Workers: 24, Seed: seed, Kernel: k, Tuning: Tuning{Stealing: name, YieldFirst: true}})
			}
		}
	}
}

// A Tuning that cannot be is refused.
func TestTuningsThatCannotBeAreRefused(t *testing.T) {
	for says, c := range map[string]Config{
		"only the schedulers pool": {Scheduler: "child", Tuning: Tuning{Stealing: "random-start"}},
		"Amount alone":             {Scheduler: "half", Tuning: Tuning{Stealing: "random", Amount: Amount{Most: 1}}},
		`Stealing is "x"`:          {Scheduler: "pool", Tuning: Tuning{Stealing: "x"}},
		"YieldFirst":               {Scheduler: "pool", Tuning: Tuning{YieldFirst: true}},
		"negative":                 {Scheduler: "pool", Tuning: Tuning{Price: -1}},
	} {
		c.Workers = 2
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, which does not say %s", err, says)
		}
	}
}
