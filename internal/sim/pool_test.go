package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
)

// Where searching has cost too much, the pool wakes nobody for a while. The timer that ends it needs no processor.
func TestPoolHoldsBackUnderAKernel(t *testing.T) {
	for _, k := range []*kernel.Kernel{nil, {Name: "dedicated"}, {Name: "robin", Processors: 15}} {
		c := Config{Program: dag.Comb{Teeth: 60, Length: 2000}, Scheduler: "pool", Workers: 16, Seed: 1, Kernel: k}
		m, err := newMachine(c)
		if err != nil {
			t.Fatal("newMachine(c):", err)
		}
		s := m.sched.(*pool)
		s.held = true
		s.after(s.steps(policy.HoldTime))
		m.start()
		if r, err := m.run(); err != nil || s.held || r.Steals == 0 {
			t.Errorf("%+v: held back for ever %t, %+v, %v", k, s.held, r, err)
		}
	}
}

// A thread that waits on a worker which has no processor is not taken for a lost one, and the kernel knows of it.
func TestWorkersHoldWhatWaitsOnThem(t *testing.T) {
	m, err := newMachine(Config{Program: dag.Fib(1), Scheduler: "pool", Workers: 2, Kernel: &kernel.Kernel{Name: "adversary"}})
	if err != nil {
		t.Fatal("newMachine(…):", err)
	}
	id := m.spawn(None, 1, dag.Args{}, 1)
	m.sched.(*pool).at[1].waits = []ID{id}
	for state, holds := range map[state]bool{ready: true, waiting: false} {
		m.threads[id].state = state
		if m.procs.count(); m.procs.hold != holds || m.procs.HasWork(1) != holds || m.procs.HasWork(0) {
			t.Errorf("a thread that is %v: held %t, known to the kernel %t", state, m.procs.hold, m.procs.HasWork(1))
		}
	}
}
