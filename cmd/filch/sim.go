package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/par"
)

// simOptions are the flags of filch sim.
type simOptions struct {
	dags, schedulers, workers []string
	seed                      uint64
	seeds                     int
	stealCost                 int64
	step                      time.Duration
	cache                     int
	kernel, yield, churn      string
	json, svg                 string
	list                      bool
	simSpecial
	columns    []string
	summary    string
	efficiency int
	record     []string
	runs       int
	finest     time.Duration
	tune       bool
	markdown   bool
}

func simCommand() *cobra.Command {
	var o simOptions
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate schedulers on computations, on any number of workers",
		Long: `Sim runs computations under a scheduler in simulated time. A step is what a node of weight 1 takes, and
what an attempt to steal takes. The same seed gives the same run.

A computation is a DAG of nodes: threads that spawn others and join them. "--list" names those
that there are, the schedulers, and the kernels, which take processors away from workers. Every DAG runs under every scheduler on each number of workers.

The columns:

  T1, Tinf    the work and the span of the DAG: all its steps, and those of its longest path
  time        how many steps the run took
  speed-up    T1 over the time
  of bound    the time over T1/P + Tinf, which a greedy scheduler does not exceed
  idle        the part of all worker-steps in which a worker had a processor and ran no node
  steals      attempts to steal that found something, and all attempts
  moved       threads that went on on another worker than before
  deque       the most threads in one queue
  live        the most threads that had been spawned and had not ended
  misses      of the workers' caches, with --cache
  shared misses  of the cache that all share, with --shared-cache
  inversions  threads that began while one with a better priority waited, under ordered
  PA          how many workers had a processor, on average, with --kernel or --churn; "of bound" is then
              the time over T1/PA + Tinf*P/PA
  wasted      the part of all steps of nodes that was in vain, with --churn: what failed machines had done

With --columns there are also:

  spans       the time beyond T1/P, over the span
  efficiency  the part of all worker-steps with a processor in which a worker did some of the work
  M1          the misses of one worker that runs spawned threads first

Each run is checked: every node ran once, after those that it waits for, and all steps are accounted for.`,
		Example: `  filch sim
  filch sim --dag fib=20 --scheduler child,continuation --workers 1,2,4..1024 --json fib.json
  filch sim --dag graph.json --workers 64 --seeds 100 --svg pictures`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.list {
				listSim(cmd.OutOrStdout())
				return nil
			}
			if o.tune {
				return tuneSim(cmd, o)
			}
			if len(o.record) > 0 {
				return recordSim(cmd, o)
			}
			for _, name := range []string{"markdown", "runs", "finest"} {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is for --record", name)
				}
			}
			s, err := newSimulation(o)
			if err != nil {
				return err
			}
			return s.run(cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.dags, "dag", []string{"fib=22", "uts=9", "mergesort=65536", "loop=10000"}, "DAG to run, as NAME=SIZE or a file with a graph; may be repeated")
	f.StringSliceVar(&o.schedulers, "scheduler", []string{"child", "continuation"}, "schedulers, separated by commas; \"all\" for all there are")
	f.StringSliceVar(&o.workers, "workers", []string{"1", "2..64"}, `numbers of workers, separated by commas; "2..64" doubles from 2 to 64`)
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first run")
	f.IntVar(&o.seeds, "seeds", 1, "how many runs of each kind, with seeds that follow one another")
	f.Int64Var(&o.stealCost, "steal-cost", 1, "steps that an attempt to steal takes")
	f.DurationVar(&o.step, "step", time.Microsecond, "how long a step takes, for what pool does by the clock")
	f.IntVar(&o.cache, "cache", 0, "blocks that the cache of each worker holds; 0 for no caches")
	f.StringVar(&o.kernel, "kernel", "", "what takes processors from workers: NAME, NAME=PROCESSORS/STEPS, or a file of steps and processors")
	f.StringVar(&o.yield, "yield", "", "what a thief of abp yields to before it tries to steal: none, random or all")
	f.StringVar(&o.churn, "churn", "", "machines that fail and join: MACHINE/UP/DOWN, workers and mean steps; with /hands at the end they leave in order")
	f.StringVar(&o.json, "json", "", "file to write the results to")
	f.StringVar(&o.svg, "svg", "", "folder to write pictures to")
	f.BoolVar(&o.list, "list", false, "list the DAGs, the schedulers and the kernels")
	o.simSpecial.add(f)
	f.StringSliceVar(&o.columns, "columns", nil, "columns to show, separated by commas, and to draw with --svg; those of the help, and spans, efficiency and M1")
	f.StringVar(&o.summary, "summary", "", "show the mean, the median or the most of what differs in the seed alone")
	f.IntVar(&o.efficiency, "efficiency", 0, "find how many steps a leaf must take so that workers spend so many percent of their time on the work")
	f.StringArrayVar(&o.record, "record", nil, "workload of filch bench to record, run and simulate, as NAME or NAME=SIZE; may be repeated")
	f.BoolVar(&o.tune, "tune", false, "compare the pool's policies with others, on all DAGs and numbers of workers")
	f.BoolVar(&o.markdown, "markdown", false, "with --record and --tune: write the tables in Markdown")
	f.IntVar(&o.runs, "runs", 9, "with --record: how many recordings, and runs of each kind")
	f.DurationVar(&o.finest, "finest", 200*time.Nanosecond, "with --record: what takes no longer is one node")
	return cmd
}

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
	program sim.Program
	facts   sim.Facts
}

// simRun is one run.
type simRun struct {
	dag *simDAG
	sim.Config
}

// newSimulation reads the flags. Everything that is wrong with them is known afterwards.
func newSimulation(o simOptions) (*simulation, error) {
	s := &simulation{simOptions: o}
	if o.seeds < 1 {
		return nil, fmt.Errorf("--seeds %d: there must be at least one", o.seeds)
	}
	if o.stealCost < 1 {
		return nil, fmt.Errorf("--steal-cost %d: an attempt takes at least one step", o.stealCost)
	}
	if o.step <= 0 {
		return nil, fmt.Errorf("--step %v: must be more than 0", o.step)
	}
	if o.cache < 0 {
		return nil, fmt.Errorf("--cache %d: must not be negative", o.cache)
	}
	if slices.Equal(o.schedulers, []string{"all"}) {
		o.schedulers = sim.Schedulers()
	}
	for _, name := range o.schedulers {
		if !slices.Contains(sim.Schedulers(), name) {
			return nil, fmt.Errorf("--scheduler %s: there is none of that name; there are %s", name, strings.Join(sim.Schedulers(), ", "))
		}
	}
	if err := o.simSpecial.check(o.schedulers); err != nil {
		return nil, err
	}
	workers, err := workerCounts(o.workers)
	s.counts = workers
	if err != nil {
		return nil, err
	}
	far, err := o.topologies()
	if err != nil {
		return nil, err
	}
	if err := o.checkRuns(len(workers) * len(far)); err != nil {
		return nil, err
	}
	if s.show, err = columnsOf(o.columns); err != nil {
		return nil, err
	}
	if o.summary != "" && summaries[o.summary] == nil {
		return nil, fmt.Errorf("--summary %s: is none of mean, median and most", o.summary)
	}
	if s.file, err = newReportFile("--json", o.json); err != nil {
		return nil, err
	}
	if s.dir, err = newFolder("--svg", o.svg); err != nil {
		return nil, err
	}
	for _, text := range o.dags {
		var d simDAG
		if d.program, d.name, err = parseDAG(text); err != nil {
			return nil, fmt.Errorf("--dag %s: %w", text, err)
		}
		s.dags = append(s.dags, d)
	}
	kernel, err := parseKernel(o.kernel)
	if err != nil {
		return nil, fmt.Errorf("--kernel %s: %w", o.kernel, err)
	}
	var churn *sim.Churn
	if o.churn != "" {
		if churn, err = sim.ParseChurn(o.churn); err != nil {
			return nil, fmt.Errorf("--churn %s: %w", o.churn, err)
		}
	}
	if o.yield != "" && !slices.Contains(o.schedulers, "abp") {
		return nil, fmt.Errorf("--yield %s: none of the schedulers is abp", o.yield)
	}
	if err := s.checkEfficiency(); err != nil {
		return nil, err
	}
	for i := range s.dags {
		for _, scheduler := range o.schedulers {
			c := sim.Config{Scheduler: scheduler, StealCost: o.stealCost, StepTime: o.step.Nanoseconds(), Cache: o.cache, Kernel: kernel, Churn: churn}
			if scheduler == "abp" {
				c.Yield = o.yield
			}
			o.simSpecial.apply(&c)
			for _, c.Topology = range far {
				if err := s.addRuns(&s.dags[i], c, workers); err != nil {
					return nil, err
				}
			}
		}
	}
	return s, nil
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

// addRuns adds runs on so many workers, with each seed.
func (s *simulation) addRuns(d *simDAG, c sim.Config, workers []int) error {
	for _, c.Workers = range workers {
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

// parseDAG reads NAME=SIZE, or a graph in a file.
func parseDAG(text string) (p sim.Program, name string, err error) {
	if !isFile(text) {
		return sim.ParseDAG(text)
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	g, err := sim.ReadGraph(f)
	return g, text, err
}

// parseKernel reads a kernel, or the steps of one in a file. Without a text there is none.
func parseKernel(text string) (*sim.Kernel, error) {
	if text == "" {
		return nil, nil
	}
	if !isFile(text) {
		return sim.ParseKernel(text)
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return sim.ReadTrace(f)
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
		if low < 1 || high < low || high > sim.MaxWorkers {
			return nil, fmt.Errorf("--workers %s: there may be from 1 to %d workers", text, sim.MaxWorkers)
		}
		for p := low; p <= high; p *= 2 {
			all = append(all, p)
		}
	}
	return all, nil
}

// run runs all, as many at once as there are processors, and writes what came of them.
func (s *simulation) run(stdout, stderr io.Writer) error {
	if s.efficiency > 0 {
		return s.findGrains(stdout, stderr)
	}
	if err := s.measure(); err != nil {
		return err
	}
	results := make([]*sim.Result, len(s.runs))
	errs := make([]error, len(s.runs))
	bar := newProgress(stderr, len(s.runs))
	par.For(filch.Default(), len(s.runs), func(i int) {
		r := s.runs[i]
		r.Program, r.Facts = r.dag.program, &r.dag.facts
		results[i], errs[i] = sim.Run(r.Config)
		if errs[i] == nil {
			results[i].DAG = r.dag.name
		}
		bar.step("", 1)
	}, par.WithGrain(1))
	bar.done()
	for _, err := range errs {
		if err != nil {
			fmt.Fprintln(stderr, "filch:", err)
			return errFailed
		}
	}
	printSim(stdout, results, s.show, s.summary, isTerminal(stdout))
	return s.write(results, simCharts(results, s.dags, s.show, s.summary))
}

// measure finds the work and the span of each DAG.
func (s *simulation) measure() error {
	for i := range s.dags {
		d := &s.dags[i]
		var err error
		if d.facts, err = sim.Serial(d.program, sim.NewCache(s.cache)); err != nil {
			return fmt.Errorf("--dag %s: %w", d.name, err)
		}
	}
	return nil
}

// write writes the files.
func (s *simulation) write(results []*sim.Result, charts []*chart) error {
	b, err := json.MarshalIndent(struct {
		Results []*sim.Result `json:"results"`
	}{results}, "", "  ")
	if err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	if err := s.file.write(append(b, '\n')); err != nil {
		return err
	}
	if s.dir == "" {
		return nil
	}
	for _, c := range charts {
		c.sources = []string{s.source()}
		f := reportFile{"--svg", filepath.Join(s.dir, c.file())}
		if err := f.write(c.svg(wide, standing)); err != nil {
			return err
		}
	}
	return nil
}
