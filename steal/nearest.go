package steal

import (
	"math"
	"sync"

	"github.com/filch-go/filch/internal/processor"
	"github.com/filch-go/filch/internal/topology"
)

// Nearest looks as RandomStart does, but first at those that share a core with this worker, then a cache, a socket, and a
// NUMA node: at the first [Glance] of its circle in the order of their distance, and then at the others. Go may move a goroutine to
// another processor at any time: the place of a worker is where it last looked for work or published forks. To find that
// out costs a system call each time. Where the system does not tell, as outside of Linux, Nearest is RandomStart.
var Nearest Order = nearest{}

// Machine is how far the processors of a machine are from one another, for [NearestOn].
type Machine interface {
	Located
	// Distance returns how far two processors are from each other. Only which distance is the larger counts.
	Distance(a, b int) int
}

// NearestOn returns [Nearest] for a machine whose distances the caller knows better than filch can read them from the
// system, or for one that is simulated. It panics if m is nil.
func NearestOn(m Machine) Order {
	if m == nil {
		panic("steal: NearestOn(nil): there must be a machine")
	}
	return nearest{m}
}

// nearest is the order by the distances of a machine; nil stands for the one that the program runs on.
type nearest struct{ machine Machine }

func (nearest) String() string { return "Nearest" }

func (o nearest) on() Machine {
	if o.machine == nil {
		return thisMachine()
	}
	return o.machine
}

// Processor is that of the machine.
func (o nearest) Processor() int { return o.on().Processor() }

func (o nearest) Thief(seed uint64) Thief { return &neighbour{seeded(seed), o.on()} }

// neighbour looks at what is near before what is far.
type neighbour struct {
	random
	machine Machine
}

func (b *neighbour) Look(l *Look) {
	b.random.Look(l)
	here := l.Here()
	if here < 0 {
		return
	}
	// Sorted by insertion. Those that have not said where they are come last.
	var far [Glance]int
	l.firsts = min(l.victims, Glance)
	for i := range l.firsts {
		victim, d := (l.start+i)%l.victims, math.MaxInt
		if there := l.Processor(victim); there >= 0 {
			d = b.machine.Distance(here, there)
		}
		at := i
		for ; at > 0 && far[at-1] > d; at-- {
			far[at], l.first[at] = far[at-1], l.first[at-1]
		}
		far[at], l.first[at] = d, int32(victim)
	}
}

// distances are how far the processors of a machine are from one another, looked up beforehand: a thief asks for dozens in
// a microsecond.
type distances struct {
	far     [][]uint8  // by processor and processor
	current func() int // the processor that the caller runs on
}

var here struct {
	sync.Once
	machine *distances
}

// thisMachine returns the machine that the program runs on. A variable that is made by a call would have every program carry
// package topology.
func thisMachine() *distances {
	here.Do(func() {
		t, _ := topology.System() // what is not known is as far as the rest
		here.machine = newDistances(t, processor.Current)
	})
	return here.machine
}

func newDistances(t *topology.Topology, current func() int) *distances {
	n := 0
	for _, p := range t.Processors {
		n = max(n, p.ID+1)
	}
	m := &distances{make([][]uint8, n), current}
	for _, p := range t.Processors {
		row := make([]uint8, n)
		for _, q := range t.Processors {
			row[q.ID] = uint8(min(t.Distance(p.ID, q.ID), math.MaxUint8))
		}
		m.far[p.ID] = row
	}
	return m
}

// Processor returns where the caller runs, or a negative number.
func (m *distances) Processor() int { return m.current() }

// Distance returns how far two processors are from each other. One that came later is farther than the rest.
func (m *distances) Distance(a, b int) int {
	if a >= len(m.far) || b >= len(m.far[a]) {
		return math.MaxUint8
	}
	return int(m.far[a][b])
}
