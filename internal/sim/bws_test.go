package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// late is a program that has nothing to steal for so many steps, and then spawns so many threads of 50 steps.
type late struct{ steps, threads uint32 }

func (l late) Root() dag.Args { return dag.Args{Kind: 1} }

func (l late) Node(t *dag.Thread, n *dag.Node) {
	n.Weight = 1
	switch {
	case t.Kind == 0:
		n.Weight, n.Last = 50, true
	case t.PC == 0:
		n.Weight = int64(l.steps)
	default:
		n.Spawns, n.Last = true, t.PC == l.threads+1
	}
}

// When there is nothing to steal, thieves sleep, and so spend hardly anything. When there is, they wake.
func TestThievesSleepUntilThereIsWork(t *testing.T) {
	for seed := range uint64(20) {
		c := Config{Program: late{10000, 70}, Scheduler: "bws", Workers: 8, Seed: seed}
		var slept, woken int
		c.Tell = func(e Event) {
			switch {
			case e.Kind == Slept && e.Time < 10000:
				slept++
			case e.Kind == Woken && e.Time < 10200:
				woken++
			case e.Kind == Attempted && e.Time > sleepAfter && e.Time < 10000:
				t.Errorf("seed %d: %+v", seed, e)
			}
		}
		r := run(t, c)
		if greedy := 10000 + 70*51/8 + 200; slept != 7 || woken < 7 || r.Time > int64(greedy) {
			t.Errorf("seed %d: %d slept, %d were woken, and it took %d steps, more than %d", seed, slept, woken, r.Time, greedy)
		}
	}
}

// A thief that leaves threads in its victim's queue wakes as many others, but no more than two.
func TestThiefThatLeavesWorkWakesOthers(t *testing.T) {
	for queued, want := range []int{0, 0, 1, 2, 2} {
		m, err := newMachine(Config{Program: dag.Fib(5), Scheduler: "bws", Workers: 5})
		if err != nil {
			t.Fatal("newMachine(…):", err)
		}
		for range queued {
			m.push(0, m.spawn(None, 0, dag.Args{}, 0))
		}
		s := m.sched.(*bws)
		s.sleepers, s.thieves, s.queued = []int32{2, 3, 4}, 1, int32(queued)
		for found := None; found == None && queued > 0; {
			found, _ = s.seek(1)
		}
		if woken := 3 - len(s.sleepers); woken != want {
			t.Errorf("%d threads in the queue, and a thief wakes %d others, not %d", queued, woken, want)
		}
	}
}
