package filch

import (
	"math"
	"sync"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/processor"
	"github.com/filch-go/filch/internal/topology"
)

// machine is how far the processors of a machine are from one another, for workers that look at what is near
// first.
type machine struct {
	far     [][]uint8  // by processor and processor
	current func() int // the processor that the caller runs on
}

var _ engine.Machine = (*machine)(nil)

// thisMachine returns the machine that the program runs on.
var thisMachine = sync.OnceValue(func() engine.Machine {
	t, _ := topology.System() // what is not known is as far as the rest
	return newMachine(t, processor.Current)
})

// newMachine looks up all distances: a thief asks for dozens in a microsecond.
func newMachine(t *topology.Topology, current func() int) *machine {
	n := 0
	for _, p := range t.Processors {
		n = max(n, p.ID+1)
	}
	m := &machine{make([][]uint8, n), current}
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
func (m *machine) Processor() int { return m.current() }

// Distance returns how far two processors are from each other. One that came later is farther than the rest.
func (m *machine) Distance(a, b int) int {
	if a >= len(m.far) || b >= len(m.far[a]) {
		return math.MaxUint8
	}
	return int(m.far[a][b])
}
