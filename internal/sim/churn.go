package sim

import (
	"container/heap"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/filch-go/filch/internal/sim/random"
)

// Churn lets machines leave a run and join it again: those that other people own, or that fail. A machine has some
// of the workers, in their order. The first machine stays: it has the first thread.
//
// The model is that of Cilk-NOW (Blumofe and Lisiecki, "Adaptive and Reliable Parallel Computing on Networks of
// Workstations", USENIX 1997) and of Satin (van Nieuwpoort, Wrzesinska, Jacobs and Bal, "Satin: a High-Level and
// Efficient Grid Programming Model", TOPLAS 2010). A thread that has begun stays on its machine, and the results of children
// come there. Threads that have not begun are stolen. See leave.go for what a machine that leaves takes along.
//
// What the model does not have: time to notice a failure, and results of orphans, which Satin can use again.
type Churn struct {
	Machine int   // workers of a machine; 0 stands for 1
	Up      int64 // for how many steps a machine stays, on average; 0 for ever
	Down    int64 // for how many steps it is away, on average; 0 for ever
	// Hands says that a machine that leaves hands its threads over to another. Else they are lost.
	Hands bool
	// Changes are further times at which machines leave or, if they are away, join.
	Changes []Change
}

// Change is a machine that leaves or joins at a step, before anything else happens then.
type Change struct {
	At      int64
	Machine int
}

// ParseChurn reads MACHINE/UP/DOWN, or MACHINE/UP/DOWN/hands for machines that hand their threads over.
func ParseChurn(text string) (*Churn, error) {
	rest, hands := strings.CutSuffix(text, "/hands")
	fields := strings.Split(rest, "/")
	if len(fields) != 3 {
		return nil, fmt.Errorf("sim: churn %q is not MACHINE/UP/DOWN or MACHINE/UP/DOWN/hands", text)
	}
	var n [3]int64
	for i, what := range []string{"workers", "steps that a machine stays", "steps that a machine is away"} {
		var err error
		if n[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil || n[i] < 1 || n[i] > maxTime {
			return nil, fmt.Errorf("sim: churn %q: %q is not a number of %s", text, fields[i], what)
		}
	}
	return &Churn{Machine: int(min(n[0], MaxWorkers)), Up: n[1], Down: n[2], Hands: hands}, nil
}

// leavable are the schedulers that steal only threads that have not begun, and keep all of them in machine.deques.
var leavable = []string{"child", "localized", "half", "hierarchical"}

func (c *Churn) check(workers int, scheduler string) error {
	switch {
	case !slices.Contains(leavable, scheduler):
		return fmt.Errorf("sim: machines cannot leave under the scheduler %s; they can under %v", scheduler, leavable)
	case c.Machine < 0 || c.Machine > workers:
		return fmt.Errorf("sim: %d workers on a machine; there must be from 1 to %d", c.Machine, workers)
	case c.Up < 0 || c.Up > maxTime || c.Down < 0 || c.Down > maxTime:
		return fmt.Errorf("sim: a machine cannot stay for %d steps and be away for %d; from 0 to %d", c.Up, c.Down, int64(maxTime))
	}
	machines := machines(workers, max(1, c.Machine))
	for i, e := range c.Changes {
		if e.At < 0 || e.At > maxTime || e.Machine < 1 || e.Machine >= machines {
			return fmt.Errorf("sim: change %d: machine %d at step %d; from 1 to %d, from step 0 to %d", i+1, e.Machine, e.At, machines-1, int64(maxTime))
		}
	}
	return nil
}

// maxTime is the longest time that a machine stays or is away on average.
const maxTime = 1 << 40

func machines(workers, machine int) int { return (workers + machine - 1) / machine }

// churn is the part of a run that Churn decides.
type churn struct {
	Churn
	m       *machine
	rng     uint64
	changes changes
	away    []bool    // by machine
	resumed [][]ID    // by machine: threads that have begun, are ready and are to go on there
	results []outcome // by thread
	root    outcome   // of the first thread, which has ended
	vain    outcome   // of threads that were lost
	cut     int64     // steps of nodes that did not end
	absent  int64     // worker-steps of workers that were away
	doomed  []fate    // by thread, while a machine leaves
	drop    []bool    // by worker, while a machine leaves
}

func newChurn(m *machine) *churn {
	c := &churn{Churn: *m.Churn, m: m, rng: random.Mix(m.Seed ^ 0x636875726e)}
	c.Machine = max(1, c.Machine)
	n := machines(m.Workers, c.Machine)
	c.away, c.resumed, c.drop = make([]bool, n), make([][]ID, n), make([]bool, m.Workers)
	for i, e := range c.Churn.Changes {
		c.changes = append(c.changes, change{e, i})
	}
	heap.Init(&c.changes)
	for i := 1; i < n; i++ {
		c.plan(i, c.Up)
	}
	return c
}

// plan plans the next change of a machine, in so many steps on average: from 1 to twice as many less 1, all alike.
func (c *churn) plan(machine int, mean int64) {
	if mean == 0 {
		return
	}
	in := 1 + int64(random.Mix(c.rng)%uint64(2*mean-1))
	c.rng++
	heap.Push(&c.changes, change{Change{c.m.wheel.Now + in, machine}, -1})
}

// run is machine.run with changes: before what happens at a time, the changes of that time. It returns as well when
// nothing happens any more.
func (c *churn) run() {
	m := c.m
	for m.err == nil && m.live > 0 {
		at, ok := m.wheel.When()
		if len(c.changes) > 0 && (!ok || c.changes[0].At <= at) {
			e := heap.Pop(&c.changes).(change)
			m.wheel.TurnTo(e.At)
			c.change(e)
			continue
		}
		if !ok {
			return
		}
		m.happens(m.wheel.TurnTo(at))
	}
}

func (c *churn) change(e change) {
	mean := c.Up
	if c.away[e.Machine] {
		c.join(e.Machine)
	} else {
		c.leave(e.Machine)
		mean = c.Down
	}
	if e.given < 0 {
		c.plan(e.Machine, mean)
	}
}

// join lets the workers of a machine look for work.
func (c *churn) join(machine int) {
	c.away[machine] = false
	for w := range c.workersOf(machine) {
		wk := &c.m.workers[w]
		c.absent += c.m.wheel.Now - wk.since
		wk.since = c.m.wheel.Now
		c.m.tell(Joined, w, none, None, 0)
		c.m.wheel.Add(c.m.wheel.Now, w, false)
	}
}

func (c *churn) machineOf(w int32) int { return int(w) / c.Machine }

func (c *churn) workersOf(machine int) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for w := machine * c.Machine; w < min(len(c.m.workers), (machine+1)*c.Machine); w++ {
			if !yield(int32(w)) {
				return
			}
		}
	}
}

// change is a Change in the heap of those that come.
type change struct {
	Change
	given int // its place in Churn.Changes, or -1
}

type changes []change

func (l changes) Len() int { return len(l) }
func (l changes) Less(i, j int) bool {
	a, b := l[i], l[j]
	if a.At != b.At {
		return a.At < b.At
	}
	if a.Machine != b.Machine {
		return a.Machine < b.Machine
	}
	return a.given < b.given
}
func (l changes) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *changes) Push(e any)   { *l = append(*l, e.(change)) }
func (l *changes) Pop() any {
	last := len(*l) - 1
	e := (*l)[last]
	*l = (*l)[:last]
	return e
}
