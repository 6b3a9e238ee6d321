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
	verbose    bool
}

const simText = `Sim runs computations under schedulers in simulated time, and checks that every node ran once. A step is
what a node of weight 1 takes. Every DAG runs under every scheduler on each number of workers.`

func simCommand() *cobra.Command {
	var o simOptions
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate schedulers on computations, on any number of workers",
		Long:  simText,
		Example: `  filch sim --dag fib=20 --scheduler child,sharing --workers 1..64 --columns speed-up,steals
  filch sim --dag fib=20 --scheduler all --workers 1,2,4..1024 --json fib.json
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
	for _, rare := range []string{"shared-cache", "central-cost", "inside", "priority", "yield", "yield-first", "step", "finest"} {
		cmd.Flags().Lookup(rare).Hidden = true // in "filch help sim-machines"
	}
	return cmd
}

// add adds the flags.
func (o *simOptions) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.dags, "dag", []string{"fib=22", "uts=9", "mergesort=65536", "loop=10000"}, "`NAME=SIZE` or a file with a graph; may be repeated")
	f.StringSliceVar(&o.schedulers, "scheduler", []string{"child", "continuation"}, `schedulers; "all" for all`)
	f.StringSliceVar(&o.workers, "workers", []string{"1", "2..64"}, `numbers of workers; "2..64" doubles from 2 to 64`)
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first run")
	f.IntVar(&o.seeds, "seeds", 1, "runs of each kind, with consecutive seeds")
	f.Int64Var(&o.stealCost, "steal-cost", 1, "steps that an attempt to steal takes")
	f.DurationVar(&o.step, "step", time.Microsecond, "length of a step, for what pool does by the clock")
	f.IntVar(&o.cache, "cache", 0, "blocks in the cache of each worker; 0 for no caches")
	f.StringVar(&o.kernel, "kernel", "", "`kernel` that takes processors away: NAME[=PROCESSORS/STEPS] or a file")
	f.StringVar(&o.churn, "churn", "", "machines that fail and join: `MACHINE/UP/DOWN`[/hands], in steps")
	f.StringVar(&o.json, "json", "", "`file` to write the results to")
	f.StringVar(&o.svg, "svg", "", "`folder` to write charts to")
	f.BoolVar(&o.list, "list", false, "list the DAGs, the schedulers and the kernels")
	o.simSpecial.add(f)
	f.StringSliceVar(&o.columns, "columns", nil, `columns to show and to draw; see "filch help sim-columns"`)
	f.StringVar(&o.summary, "summary", "", "mean, median or most of runs that differ in the seed alone")
	f.IntVar(&o.efficiency, "efficiency", 0, "find the steps of a leaf for so many `percent` of efficiency")
	f.StringArrayVar(&o.record, "record", nil, "`workload` of filch bench to record and simulate, or a graph in ns")
	f.BoolVar(&o.tune, "tune", false, "compare the pool's policies with others")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print a row for each run, however many")
	f.BoolVar(&o.markdown, "markdown", false, "with --record and --tune: tables in Markdown")
	f.IntVar(&o.runs, "runs", 9, "with --record: recordings, and runs of each kind")
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
	if len(results) > fewRows && s.show == nil && s.summary == "" && !s.verbose {
		printSpeedups(stdout, results, s.kernel)
	} else {
		printSim(stdout, results, s.show, s.summary)
	}
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
