package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
	"github.com/filch-go/filch/internal/sim/record"
)

// simulation is what filch sim runs.
type simulation struct {
	simOptions
	file reportFile
	dir  string // of the pictures
	dags []simDAG
	runs []simRun
	show []simColumn // nil for the usual ones

	counts []int // of workers
}

// simDAG is a computation, and what holds of it.
type simDAG struct {
	name    string
	program dag.Program
	facts   dag.Facts
}

// simRun is one run.
type simRun struct {
	dag *simDAG
	sim.Config
}

// newSimulation reads the flags. Everything that is wrong with them is known afterwards.
func newSimulation(o simOptions) (*simulation, error) {
	if slices.Equal(o.schedulers, []string{"all"}) {
		o.schedulers = sim.Schedulers()
	}
	s := &simulation{simOptions: o}
	err := o.check()
	if err != nil {
		return nil, err
	}
	if s.counts, err = workerCounts(o.workers); err != nil {
		return nil, err
	}
	if s.show, err = columnsOf(o.columns); err != nil {
		return nil, err
	}
	for _, text := range o.dags {
		var d simDAG
		if d.program, d.name, err = parseDAG(text); err != nil {
			return nil, fmt.Errorf("--dag %s: %s", text, withoutPackage(err))
		}
		s.dags = append(s.dags, d)
	}
	if err := s.checkEfficiency(); err != nil {
		return nil, err
	}
	if err := s.addKinds(); err != nil {
		return nil, err
	}
	// The folder is made when nothing else is wrong.
	if s.file, err = newReportFile("--json", o.json); err != nil {
		return nil, err
	}
	if s.dir, err = newFolder("--svg", o.svg); err != nil {
		return nil, err
	}
	return s, nil
}

// check returns what is wrong with flags that need not be parsed.
func (o simOptions) check() error {
	switch {
	case o.seeds < 1:
		return fmt.Errorf("--seeds %d: there must be at least one", o.seeds)
	case o.stealCost < 1:
		return fmt.Errorf("--steal-cost %d: an attempt takes at least one step", o.stealCost)
	case o.step <= 0:
		return fmt.Errorf("--step %v: must be more than 0", o.step)
	case o.cache < 0:
		return fmt.Errorf("--cache %d: must not be negative", o.cache)
	case o.summary != "" && summaries[o.summary] == nil:
		return fmt.Errorf("--summary %s: is none of mean, median and most", o.summary)
	}
	for _, name := range o.schedulers {
		if !slices.Contains(sim.Schedulers(), name) {
			return fmt.Errorf("--scheduler %s: there is none of that name; there are %s", name, strings.Join(sim.Schedulers(), ", "))
		}
	}
	return o.simSpecial.check(o.schedulers)
}

// addKinds adds the runs of each DAG under each scheduler, with each topology and number of workers.
func (s *simulation) addKinds() error {
	far, err := s.topologies()
	if err != nil {
		return err
	}
	if err := s.checkRuns(len(s.counts) * len(far)); err != nil {
		return err
	}
	c := sim.Config{StealCost: s.stealCost, StepTime: s.step.Nanoseconds(), Cache: s.cache}
	if s.kernel != "" {
		if c.Kernel, err = parseKernel(s.kernel); err != nil {
			return fmt.Errorf("--kernel %s: %s", s.kernel, withoutPackage(err))
		}
	}
	if s.churn != "" {
		if c.Churn, err = sim.ParseChurn(s.churn); err != nil {
			return fmt.Errorf("--churn %s: %s", s.churn, withoutPackage(err))
		}
	}
	for i := range s.dags {
		for _, scheduler := range s.schedulers {
			c := c
			c.Scheduler = scheduler
			s.apply(&c)
			for _, c.Topology = range far {
				if err := s.addRuns(&s.dags[i], c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// maxRuns is the most runs that filch sim makes, since it keeps all results.
const maxRuns = 100_000

// checkRuns returns what is wrong with how many runs there are on so many numbers of workers.
func (o simOptions) checkRuns(workers int) error {
	switch kinds := len(o.dags) * len(o.schedulers) * workers; {
	case len(o.schedulers) == 0:
		return fmt.Errorf("--scheduler is empty; there are %s", strings.Join(sim.Schedulers(), ", "))
	case workers == 0:
		return errors.New("--workers is empty; it must have a number")
	case o.seeds > maxRuns/kinds:
		return fmt.Errorf("--seeds %d: each of %d kinds of runs would have so many; there may be %d runs in all", o.seeds, kinds, maxRuns)
	}
	return nil
}

// addRuns adds runs on each number of workers, with each seed.
func (s *simulation) addRuns(d *simDAG, c sim.Config) error {
	for _, c.Workers = range s.counts {
		if err := c.Check(); err != nil {
			return err
		}
		for k := range s.seeds {
			c.Seed = s.seed + uint64(k)
			s.runs = append(s.runs, simRun{d, c})
		}
	}
	return nil
}

// isFile reports whether text is the name of a file, and not of something that filch sim has.
func isFile(text string) bool {
	return strings.ContainsAny(text, `./\`) && !strings.Contains(text, "=")
}

// withoutPackage returns what an error says, without the name of the package that says it.
func withoutPackage(err error) string { return strings.TrimPrefix(err.Error(), "sim: ") }

// parseDAG reads NAME=SIZE, or a graph in a file.
func parseDAG(text string) (p dag.Program, name string, err error) {
	if !isFile(text) {
		return dag.Parse(text)
	}
	g, err := openGraph(text)
	return g, text, err
}

// openGraph reads a graph from a file: the text of a trace if its name ends in .txt, else JSON.
func openGraph(name string) (*dag.Graph, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if filepath.Ext(name) == ".txt" {
		return record.Trace(name, 0, f)
	}
	return dag.ReadGraph(f)
}

// kernelTrace is the name of the kernel whose steps are in a file, which stands for it.
const kernelTrace = "trace"

// parseKernel reads a kernel, or the steps of one in a file.
func parseKernel(text string) (*kernel.Kernel, error) {
	if name, _, _ := strings.Cut(text, "="); name == kernelTrace {
		return nil, errors.New("its steps are in a file; --kernel FILE names it")
	}
	if !isFile(text) {
		return kernel.Parse(text)
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return kernel.ReadTrace(f)
}

// workerCounts reads numbers of workers: "4", and "2..64", which doubles.
func workerCounts(texts []string) (all []int, err error) {
	for _, text := range texts {
		from, to, isRange := strings.Cut(text, "..")
		low, err := strconv.Atoi(from)
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(to)
		}
		if err != nil {
			return nil, fmt.Errorf(`--workers %s: is neither a number nor two with ".." between them`, text)
		}
		if low >= 1 && high < low {
			return nil, fmt.Errorf("--workers %s: the second number is less than the first", text)
		}
		if low < 1 || high > sim.MaxWorkers {
			return nil, fmt.Errorf("--workers %s: there may be from 1 to %d workers", text, sim.MaxWorkers)
		}
		for p := low; p <= high; p *= 2 {
			all = append(all, p)
		}
	}
	return all, nil
}
