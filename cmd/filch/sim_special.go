package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/filch-go/filch/internal/sim"
)

// simSpecial are the flags of filch sim that say how far workers are from each other and what they share, and those
// that one scheduler has.
type simSpecial struct {
	topology    []string
	sharedCache int
	centralCost int64
	priority    string
	inside      int
	yield       string
	stealing    string
	yieldFirst  bool
}

func (o *simSpecial) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.topology, "topology", nil, "`distances`: 8@100x16 is 8 machines of 16 workers, 100 steps apart")
	f.IntVar(&o.sharedCache, "shared-cache", 0, "blocks in a cache of all workers; 0 for none")
	f.Int64Var(&o.centralCost, "central-cost", 0, "steps that the queue of central is locked for each use")
	f.StringVar(&o.priority, "priority", "", "priority of threads under ordered: "+strings.Join(sim.Priorities(), " or "))
	f.IntVar(&o.inside, "inside", 0, "attempts of hierarchical in its group before one outside")
	f.StringVar(&o.yield, "yield", "", "whom a thief of abp yields to: "+strings.Join(sim.Yields(), ", "))
	f.StringVar(&o.stealing, "stealing", "", "`order` of victims of pool; see \"filch help sim-machines\"")
	f.BoolVar(&o.yieldFirst, "yield-first", false, "with pool and --kernel: a worker yields before each scan")
}

// topologies reads the topologies, of which there is at least the one without distances.
func (o *simSpecial) topologies() (all []sim.Topology, err error) {
	for _, text := range o.topology {
		far, err := sim.ParseTopology(text)
		if err != nil {
			return nil, fmt.Errorf("--topology %s: %s", text, withoutPackage(err))
		}
		all = append(all, far)
	}
	if len(all) == 0 {
		all = append(all, nil)
	}
	return all, nil
}

// check returns what is wrong with the flags, if these schedulers run.
func (o *simSpecial) check(schedulers []string) error {
	if o.sharedCache < 0 {
		return fmt.Errorf("--shared-cache %d: must not be negative", o.sharedCache)
	}
	for _, f := range []struct {
		given     bool
		flag, has string
	}{
		{o.centralCost != 0, fmt.Sprint("--central-cost ", o.centralCost), "central"},
		{o.priority != "", "--priority " + o.priority, "ordered"},
		{o.inside != 0, fmt.Sprint("--inside ", o.inside), "hierarchical"},
		{o.yield != "", "--yield " + o.yield, "abp"},
		{o.stealing != "", "--stealing " + o.stealing, "pool"},
		{o.yieldFirst, "--yield-first", "pool"},
	} {
		if f.given && !slices.Contains(schedulers, f.has) {
			return fmt.Errorf("%s: none of the schedulers is %s", f.flag, f.has)
		}
	}
	return nil
}

// apply sets what the scheduler of c has.
func (o *simSpecial) apply(c *sim.Config) {
	c.SharedCache = o.sharedCache
	switch c.Scheduler {
	case "central":
		c.CentralCost = o.centralCost
	case "ordered":
		c.Priority = o.priority
	case "abp":
		c.Yield = o.yield
	case "pool":
		c.Tuning.Stealing, c.Tuning.YieldFirst = o.stealing, o.yieldFirst
	case "hierarchical":
		c.Inside = o.inside
	}
}
