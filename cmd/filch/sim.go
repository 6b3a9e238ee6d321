package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/cache"
	"github.com/filch-go/filch/internal/sim/dag"
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
	kernel, churn             string
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

// simText explains what filch sim prints.
const simText = `Sim runs computations under a scheduler in simulated time. A step is what a node of weight 1 takes, and
what an attempt to steal takes. The same seed gives the same run.

A computation is a DAG of nodes: threads that spawn others and join them. "--list" names those
that there are, the schedulers, and the kernels, which take processors away from workers. Every DAG
runs under every scheduler on each number of workers.

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

Each run is checked: every node ran once, after those that it waits for, and all steps are accounted for.`

func simCommand() *cobra.Command {
	var o simOptions
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate schedulers on computations, on any number of workers",
		Long:  simText,
		Example: `  filch sim
  filch sim --dag fib=20 --scheduler child,continuation --workers 1,2,4..1024 --json fib.json
  filch sim --dag graph.json --workers 64 --seeds 100 --svg pictures`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q follows no flag; --dag %s chooses a DAG", args[0], args[0])
			}
			return nil
		},
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
	o.add(cmd.Flags())
	return cmd
}

// add adds the flags.
func (o *simOptions) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.dags, "dag", []string{"fib=22", "uts=9", "mergesort=65536", "loop=10000"}, "DAG to run, as NAME=SIZE or a file with a graph, whose name has a dot or a slash; may be repeated")
	f.StringSliceVar(&o.schedulers, "scheduler", []string{"child", "continuation"}, "schedulers, separated by commas; \"all\" for all there are")
	f.StringSliceVar(&o.workers, "workers", []string{"1", "2..64"}, `numbers of workers, separated by commas; "2..64" doubles from 2 to 64`)
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first run")
	f.IntVar(&o.seeds, "seeds", 1, "how many runs of each kind, with seeds that follow one another")
	f.Int64Var(&o.stealCost, "steal-cost", 1, "steps that an attempt to steal takes")
	f.DurationVar(&o.step, "step", time.Microsecond, "how long a step takes, for what pool does by the clock")
	f.IntVar(&o.cache, "cache", 0, "blocks that the cache of each worker holds; 0 for no caches")
	f.StringVar(&o.kernel, "kernel", "", "what takes processors from workers: NAME, NAME=PROCESSORS/STEPS, or a file of steps and processors")
	f.StringVar(&o.churn, "churn", "", "machines that fail and join: MACHINE/UP/DOWN, workers and mean steps; with /hands at the end they leave in order")
	f.StringVar(&o.json, "json", "", "file to write the results to")
	f.StringVar(&o.svg, "svg", "", "folder to write pictures to")
	f.BoolVar(&o.list, "list", false, "list the DAGs, the schedulers and the kernels")
	o.simSpecial.add(f)
	f.StringSliceVar(&o.columns, "columns", nil, "columns to show, separated by commas, and to draw with --svg; those of the help, and spans, efficiency and M1")
	f.StringVar(&o.summary, "summary", "", "show the mean, the median or the most of what differs in the seed alone")
	f.IntVar(&o.efficiency, "efficiency", 0, "find how many steps a leaf must take so that workers spend so many percent of their time on the work")
	f.StringArrayVar(&o.record, "record", nil, "workload of filch bench to record, run and simulate, as NAME or NAME=SIZE; or a file with a graph in nanoseconds, to simulate; may be repeated")
	f.BoolVar(&o.tune, "tune", false, "compare the pool's policies with others, on all DAGs and numbers of workers")
	f.BoolVar(&o.markdown, "markdown", false, "with --record and --tune: write the tables in Markdown")
	f.IntVar(&o.runs, "runs", 9, "with --record: how many recordings, and runs of each kind")
	f.DurationVar(&o.finest, "finest", 200*time.Nanosecond, "with --record: what takes no longer is one node")
}

// run runs all, as many at once as there are processors, and writes what came of them.
func (s *simulation) run(stdout, stderr io.Writer) error {
	if s.efficiency > 0 {
		return s.findGrains(stdout, stderr)
	}
	if err := s.measure(); err != nil {
		return err
	}
	results, err := inParallel(stderr, len(s.runs), func(i int) (*sim.Result, error) {
		r := s.runs[i]
		r.Program, r.Facts = r.dag.program, &r.dag.facts
		result, err := sim.Run(r.Config)
		if err != nil {
			return nil, fmt.Errorf("%s under %s on %d workers: %s", r.dag.name, r.Scheduler, r.Workers, withoutPackage(err))
		}
		result.DAG = r.dag.name
		return result, nil
	})
	if err != nil {
		return err
	}
	printSim(stdout, results, s.show, s.summary, isTerminal(stdout))
	return s.write(results, simCharts(results, s.dags, s.show, s.summary))
}

// inParallel returns what f returns of each of n, with a bar meanwhile. What fails is told, the first of them.
func inParallel[T any](stderr io.Writer, n int, f func(i int) (T, error)) ([]T, error) {
	results := make([]T, n)
	errs := make([]error, n)
	bar := newProgress(stderr, n)
	par.For(filch.Default(), n, func(i int) {
		results[i], errs[i] = f(i)
		bar.step("", 1)
	}, par.WithGrain(1))
	bar.done()
	for _, err := range errs {
		if err != nil {
			fmt.Fprintln(stderr, "filch:", err)
			return nil, errFailed
		}
	}
	return results, nil
}

// measure finds the work and the span of each DAG.
func (s *simulation) measure() error {
	for i := range s.dags {
		d := &s.dags[i]
		var err error
		if d.facts, err = dag.Serial(d.program, cache.New(s.cache)); err != nil {
			return fmt.Errorf("--dag %s: %w", d.name, err)
		}
	}
	return nil
}

// write writes the files.
func (s *simulation) write(results []*sim.Result, charts []*chart) error {
	err := s.file.writeJSON(struct {
		Results []*sim.Result `json:"results"`
	}{results})
	if err != nil {
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
