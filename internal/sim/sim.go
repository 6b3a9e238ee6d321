// Package sim runs schedulers on computations in simulated time: every node, steal and idle step of up to four
// million workers, the same for the same seed. What a scheduler decides is the code of package policy where the pool
// has it too.
//
// Package dag has the computations, package kernel what takes processors away from workers, package cache what memory is
// near a worker, and package wheel what happens when.
//
//	sim.go        Config and Run
//	machine.go    a run: workers, and what happens when a node ends
//	thread.go     what has been spawned
//	scheduler.go  what decides which worker runs which thread
//	processors.go a run under a kernel, and yield.go, how workers bind it
//	churn.go      machines that leave and join; leave.go, outcome.go: what is lost, and what results are used
//	topology.go   how far workers are from each other
//	thief.go      what all schedulers that steal have in common
//	sleepers.go   what those with common queues have in common
//	costs.go      what the pool does between nodes
//	pool.go       the forks of the pool, by package policy; search.go, how its workers look for work; victims.go, at whom first
//	tuning.go     what the pool could do instead
//	caches.go     the caches of a run
//	event.go      what a run tells; timeline.go which workers were busy when
//	view.go       what waits in which queue, for those that watch a run
//	check.go      what every run is checked for
//
// On an EPYC, 64 workers make 35 million worker-steps a second, and a million workers 11 million, in 75 MB:
// BenchmarkSteps, BenchmarkMillionWorkers.
package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/filch-go/filch/internal/sim/cache"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
	"github.com/filch-go/filch/internal/sim/random"
	"github.com/filch-go/filch/internal/sim/wheel"
)

// A Config says what to simulate.
type Config struct {
	Program   dag.Program
	Facts     *dag.Facts // of the program, if they are known with a cache of this size; else Run finds them
	Scheduler string     // one of Schedulers
	Workers   int        // at least 1
	Seed      uint64
	StealCost int64  // what an attempt to steal takes, in steps, at least 1; 0 stands for 1
	StepTime  int64  // how long a step takes, in nanoseconds, for what a scheduler does by the clock; 0 stands for 1,000
	Costs     *Costs // what the pool does between nodes; nil stands for a wake-up of 50 us, and nothing else
	Tuning    Tuning // pool and half: what they do otherwise
	// Topology says how far workers are from each other, for schedulers that steal. Others refuse latencies.
	Topology    Topology
	CentralCost int64  // central: for how many steps each use of the queue locks it
	Priority    string // ordered: PriorityHash, the default, or PriorityDepth
	Inside      int    // hierarchical: attempts inside a group before one outside; 0 for the default
	Cache       int    // blocks that the cache of each worker holds; 0 for no caches
	SharedCache int    // blocks that the cache of all holds, behind those of the workers; 0 for none
	// Kernel, if it is not nil, takes processors away from workers.
	Kernel *kernel.Kernel
	// Churn, if it is not nil, lets machines leave and join.
	Churn *Churn
	Yield string // what a thief of scheduler abp yields to before it tries to steal: one of Yields
	// Tell, if it is not nil, is called for each event, in their order.
	Tell func(Event)
	// Watch, if it is not nil, is called when all has happened that happens at one time. Where nodes take no steps,
	// it may be called more than once for a time, and the last call counts.
	Watch func(View)

	instead func(m *machine) scheduler // of that of the name, for tests
}

// MaxWorkers is the most workers that a run may have, and as many processors.
const MaxWorkers = kernel.MaxProcessors

// MaxLive is the most threads that may be alive at once in a run. A run that has more ends with an error, since each
// takes memory.
const MaxLive = 1 << 24

// Run runs the program to its end.
func Run(c Config) (*Result, error) {
	m, err := newMachine(c)
	if err != nil {
		return nil, err
	}
	m.start()
	return m.run()
}

// run goes on until all threads have ended.
func (m *machine) run() (*Result, error) {
	switch {
	case m.procs != nil:
		m.procs.run()
	case m.churn != nil:
		m.churn.run()
	}
	for m.err == nil && m.live > 0 {
		step, ok := m.wheel.Advance()
		if !ok {
			return nil, m.fail("a ready thread is lost: no worker looks for it")
		}
		m.happens(step)
	}
	if m.err != nil {
		return nil, m.err
	}
	return m.result()
}

// happens lets happen what happens at one time.
func (m *machine) happens(s *wheel.Step) {
	if m.wheel.Now > m.latest {
		m.fail("the run takes more than %d steps, and its worker-steps cannot be counted", m.latest)
	}
	for m.err == nil {
		w, ok := m.wheel.Take(&s.Ending)
		if !ok {
			break
		}
		m.ends(w)
	}
	for m.err == nil && m.live > 0 {
		w, ok := m.wheel.Take(&s.Looking)
		if !ok {
			break
		}
		m.looks(w)
	}
	m.watch()
}

// Check returns what is wrong with c, apart from the program.
func (c Config) Check() error {
	switch {
	case c.Workers < 1 || c.Workers > MaxWorkers:
		return fmt.Errorf("sim: %d workers; there must be from 1 to %d", c.Workers, MaxWorkers)
	case !slices.Contains(Schedulers(), c.Scheduler):
		return fmt.Errorf("sim: unknown scheduler %q; there are %v", c.Scheduler, Schedulers())
	case c.StealCost < 0 || c.StealCost > maxLatency:
		return fmt.Errorf("sim: an attempt to steal cannot take %d steps; it must be from 0 to %d", c.StealCost, int64(maxLatency))
	case c.Costs != nil && c.Costs.negative():
		return fmt.Errorf("sim: costs of %+v; none may be negative", *c.Costs)
	case c.StepTime < 0:
		return fmt.Errorf("sim: a step cannot take %d ns", c.StepTime)
	case c.Cache < 0 || c.Cache > MaxCached:
		return fmt.Errorf("sim: the cache of a worker cannot hold %d blocks; it must be from 0 to %d", c.Cache, MaxCached)
	case c.SharedCache < 0 || c.SharedCache > MaxCached:
		return fmt.Errorf("sim: the cache of all workers cannot hold %d blocks; it must be from 0 to %d", c.SharedCache, MaxCached)
	case c.Yield != "" && c.Scheduler != "abp":
		return fmt.Errorf("sim: Yield is %q; only the scheduler abp yields, not %s", c.Yield, c.Scheduler)
	case c.Yield != "" && !slices.Contains(Yields(), c.Yield):
		return fmt.Errorf("sim: thieves cannot yield to %q; there are %v", c.Yield, Yields())
	case c.Kernel != nil && c.Churn != nil:
		return errors.New("sim: a kernel and machines that leave cannot be had in one run")
	}
	if c.Kernel != nil {
		if err := c.Kernel.Check(); err != nil {
			return err
		}
	}
	if c.Churn != nil {
		if err := c.Churn.check(c.Workers, c.Scheduler); err != nil {
			return err
		}
	}
	if err := c.checkTuning(); err != nil {
		return err
	}
	return c.checkOptions()
}

// checkOptions returns what is wrong with what only some schedulers have.
func (c Config) checkOptions() error {
	switch {
	case c.Topology.distances() != nil && !slices.Contains(distant, c.Scheduler):
		return fmt.Errorf("sim: topology %v has latencies; only %v have them, not %s", c.Topology, distant, c.Scheduler)
	case c.CentralCost != 0 && c.Scheduler != "central":
		return fmt.Errorf("sim: CentralCost is %d; only the scheduler central has it, not %s", c.CentralCost, c.Scheduler)
	case c.CentralCost < 0 || c.CentralCost > maxLatency:
		return fmt.Errorf("sim: a use of the central queue cannot take %d steps; it must be from 0 to %d", c.CentralCost, int64(maxLatency))
	case c.Priority != "" && c.Scheduler != "ordered":
		return fmt.Errorf("sim: Priority is %q; only the scheduler ordered has it, not %s", c.Priority, c.Scheduler)
	case c.Priority != "" && !slices.Contains(Priorities(), c.Priority):
		return fmt.Errorf("sim: unknown priority %q; there are %q", c.Priority, Priorities())
	case c.Inside != 0 && c.Scheduler != "hierarchical":
		return fmt.Errorf("sim: Inside is %d; only the scheduler hierarchical has it, not %s", c.Inside, c.Scheduler)
	case c.Inside < 0 || c.Inside > maxInside:
		return fmt.Errorf("sim: %d attempts inside a group; there must be from 1 to %d, or 0 for %d", c.Inside, maxInside, defaultInside)
	}
	return c.Topology.check(c.Workers)
}

// latest returns the last time at which worker-steps, and what a scheduler counts in nanoseconds, are known to fit
// into 63 bits.
func (c Config) latest() int64 {
	most := math.MaxInt64 / int64(c.Workers)
	if c.Scheduler == "pool" {
		most = min(most, math.MaxInt64/2/c.StepTime)
	}
	return most
}

// newMachine makes a machine that has not started.
func newMachine(c Config) (*machine, error) {
	if c.Program == nil {
		return nil, errors.New("sim: there is no program")
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.StealCost = max(1, c.StealCost)
	if c.Costs == nil {
		c.Costs = &Costs{Wake: 50_000}
	}
	if c.StepTime == 0 {
		c.StepTime = 1000
	}
	if c.Facts == nil || c.Facts.Cache != c.Cache {
		f, err := dag.Serial(c.Program, cache.New(c.Cache))
		if err != nil {
			return nil, err
		}
		c.Facts = &f
	}
	if err := c.checkCaches(c.Facts.Touched); err != nil {
		return nil, err
	}
	m := &machine{Config: c, facts: c.Facts, wheel: wheel.New(c.Workers + 1), rng: random.Mix(c.Seed), most: MaxLive, latest: c.latest()}
	m.workers = make([]worker, c.Workers)
	m.begins = make([]bool, c.Workers)
	m.deques, m.stocked = make([]deque, c.Workers), make([]uint64, (c.Workers+63)/64)
	m.threads = make([]thread, 1)
	if c.Cache > 0 {
		m.caches = make([]*cache.Cache, c.Workers)
		for w := range m.caches {
			m.caches[w] = cache.New(c.Cache)
		}
	}
	m.shared = cache.New(c.SharedCache)
	if c.Kernel != nil {
		m.procs = newProcessors(m)
	}
	if c.Churn != nil {
		m.churn = newChurn(m)
	}
	return m, m.schedule()
}
