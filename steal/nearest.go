package steal

import (
	"math"
	"sync"

	"github.com/filch-go/filch/internal/processor"
	"github.com/filch-go/filch/internal/topology"
)

// Nearest is RandomStart, but tries near victims first: those that share a core with this worker, then a cache, a
// socket, and a NUMA node. It orders the first [Glance] of its circle by distance; the others follow. Go may move a
// goroutine to another processor at any time, so a worker's position is where it last looked for work or published
// forks, and each update costs a system call. Where the system does not report it, as outside Linux, Nearest is
// RandomStart.
var Nearest Order = nearest{}

// Machine gives the distances between the processors of a machine, for [NearestOn].
type Machine interface {
	Located
	// Distance returns how far apart two processors are. Only the order of distances matters.
	Distance(a, b int) int
}

// NearestOn returns [Nearest] for a machine whose distances the caller knows better than filch can read them from the
// system, or for a simulated one. It panics if m is nil.
func NearestOn(m Machine) Order {
	if m == nil {
		panic("steal: NearestOn(nil): there must be a machine")
	}
	return nearest{m}
}

// nearest orders by the distances of a machine; nil is the one that the program runs on.
type nearest struct{ machine Machine }

func (nearest) String() string { return "Nearest" }

func (o nearest) on() Machine {
	if o.machine == nil {
		return thisMachine()
	}
	return o.machine
}

// Processor is the machine's.
func (o nearest) Processor() int { return o.on().Processor() }

func (o nearest) Thief(seed uint64) Thief { return &neighbour{seeded(seed), o.on()} }

// neighbour tries near victims before far ones.
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
	// Insertion sort. Victims of unknown position come last.
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

// distances are a machine's processor distances, computed beforehand, because a thief needs dozens in a microsecond.
type distances struct {
	far     [][]uint8  // by processor and processor
	current func() int // returns the caller's processor
}

var here struct {
	sync.Once
	machine *distances
}

// thisMachine returns the machine that the program runs on. A variable initialised by a call would link package
// topology into every program.
func thisMachine() *distances {
	here.Do(func() {
		t, _ := topology.System() // unknown ones are as far as the rest
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

// Processor returns the caller's processor, or a negative number.
func (m *distances) Processor() int { return m.current() }

// Distance returns how far apart two processors are. One that was added later is farther than the rest.
func (m *distances) Distance(a, b int) int {
	if a >= len(m.far) || b >= len(m.far[a]) {
		return math.MaxUint8
	}
	return int(m.far[a][b])
}
