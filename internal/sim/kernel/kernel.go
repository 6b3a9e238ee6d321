// Package kernel has kernels for the simulator: what takes processors away from workers, and when. kernels.go has
// them, supply.go reads a trace of one. What a run under a kernel does is in package sim.
package kernel

import (
	"fmt"
	"strconv"
	"strings"
)

// A Kernel gives processors to workers and takes them away, in the model of Arora, Blumofe and Plaxton ("Thread
// Scheduling for Multiprogrammed Multiprocessors", SPAA 1998; Theory of Computing Systems, 2001): a worker is a
// process, and in step i the kernel chooses p(i) of the workers. These go on by one step, the others stand still. PA
// is the average of p(i) over the run. What a worker yields limits the choice.
type Kernel struct {
	Name       string   // one of Names
	Processors int      // how many workers have a processor at once, at most; 0 stands for half of them, rounded up
	Steps      int64    // a time that the kernel needs, see Names; 0 stands for 100
	Trace      []Supply // of the kernel trace
}

// Supply says how many processors there are from a step on.
type Supply struct {
	From       int64
	Processors int
}

// MaxProcessors is the most processors that a kernel may have.
const MaxProcessors = 1 << 22

// Machine is the run that a kernel is for, as the kernel sees it.
type Machine interface {
	Workers() int         // how many workers there are
	Now() int64           // the step
	Sleeps(w int32) bool  // it is not to have a processor until it is woken
	HasWork(w int32) bool // it runs something, or has something to run
	Random(n int) int     // a random number below n
}

// Chooser is a Kernel in a run.
type Chooser interface {
	// Wish appends the workers that are to have a processor in this step: each once, and none that sleeps.
	Wish(to []int32) []int32
}

// kernels are all there are, in the order in which they are shown.
var kernels = []struct {
	name  string
	about string
	make  func(m Machine, k *Kernel) Chooser
}{
	{"dedicated", "each worker has a processor all the time", newDedicated},
	{"benign", "so many workers at random, others in each step", newBenign},
	{"trace", "a file says how many; workers at random, others in each step", newSupplied},
	{"robin", "the workers in turn, so many at a time, for so many steps: oblivious", newRobin},
	{"blocks", "so many workers, drawn before the run for each block of so many steps: oblivious", newDrawn},
	{"shared", "each worker in turn with another program's, for so many steps each: oblivious", newTimeShared},
	{"adversary", "workers that have nothing to do, as long as there are any and for so many steps: adaptive", newAdversary},
}

// Names returns the names of all kernels, in the order in which they are shown.
func Names() []string {
	var names []string
	for _, k := range kernels {
		names = append(names, k.name)
	}
	return names
}

// About says in a line what the kernel of that name does.
func About(name string) string {
	for _, k := range kernels {
		if k.name == name {
			return k.about
		}
	}
	return ""
}

// Parse reads NAME, NAME=PROCESSORS, NAME=/STEPS or NAME=PROCESSORS/STEPS. The kernel trace comes from ReadTrace.
func Parse(text string) (*Kernel, error) {
	name, rest, given := strings.Cut(text, "=")
	k := &Kernel{Name: name}
	if !given {
		return k, k.Check()
	}
	processors, steps, given := strings.Cut(rest, "/")
	var err error
	if k.Processors, err = strconv.Atoi(processors); (err != nil || k.Processors < 1) && !(given && processors == "") {
		return nil, fmt.Errorf("sim: kernel %q: %q is not a number of processors", text, processors)
	}
	if !given {
		return k, k.Check()
	}
	if k.Steps, err = strconv.ParseInt(steps, 10, 64); err != nil || k.Steps < 1 {
		return nil, fmt.Errorf("sim: kernel %q: %q is not a number of steps", text, steps)
	}
	return k, k.Check()
}

// Check returns what is wrong with k.
func (k *Kernel) Check() error {
	switch {
	case k.make() == nil:
		return fmt.Errorf("sim: unknown kernel %q; there are %v", k.Name, Names())
	case k.Processors < 0 || k.Processors > MaxProcessors:
		return fmt.Errorf("sim: kernel %s: %d processors; there must be from 1 to %d", k.Name, k.Processors, MaxProcessors)
	case k.Steps < 0:
		return fmt.Errorf("sim: kernel %s: %d steps; there must be at least 1", k.Name, k.Steps)
	case k.Name == "trace":
		return checkTrace(k.Trace)
	case k.Trace != nil:
		return fmt.Errorf("sim: kernel %s has a trace; only the kernel trace has one", k.Name)
	}
	return nil
}

func (k *Kernel) make() func(m Machine, k *Kernel) Chooser {
	for _, e := range kernels {
		if e.name == k.Name {
			return e.make
		}
	}
	return nil
}

// Start returns k for a run that begins.
func (k *Kernel) Start(m Machine) Chooser {
	k = k.filled(m.Workers())
	return k.make()(m, k)
}

// filled returns k with its defaults for so many workers.
func (k Kernel) filled(workers int) *Kernel {
	if k.Processors == 0 {
		k.Processors = (workers + 1) / 2
	}
	k.Processors = min(k.Processors, workers)
	if k.Steps == 0 {
		k.Steps = 100
	}
	return &k
}
