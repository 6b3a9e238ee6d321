package main

import (
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/record"
	"github.com/filch-go/filch/internal/sssp"
	"github.com/filch-go/filch/internal/workload"
)

// recorded is a workload that was run on the pool, recorded, and simulated; or a graph in a file, which is
// simulated alone.
type recorded struct {
	Workload  string        `json:"workload"`
	Size      string        `json:"size,omitempty"` // none of a graph in a file
	Work      int64         `json:"work_ns"`        // of the recording
	Span      int64         `json:"span_ns"`
	Nodes     int64         `json:"nodes"`
	Serial    time.Duration `json:"serial_ns,omitempty"`
	Predicted []prediction  `json:"predicted"`
}

// prediction is what a simulation says of a number of workers, and what a clock does.
type prediction struct {
	Workers  int           `json:"workers"`
	Time     int64         `json:"time_ns"`
	Measured time.Duration `json:"measured_ns,omitempty"` // the median of the runs
	Limit    string        `json:"limit"`
	// Without is how long it would take without one of the costs, or with workers that are never held back.
	Without map[string]int64 `json:"without_ns"`
}

// error returns by which part the prediction is wrong.
func (p prediction) error() float64 { return float64(p.Time)/float64(p.Measured) - 1 }

// recording is what filch sim does with --record.
type recording struct {
	simOptions
	file    reportFile
	workers []int
	jobs    []recordedJob
}

// recordedJob is a workload that is to be recorded, or the graph of one that was.
type recordedJob struct {
	name, size string
	graph      *dag.Graph // of a file; else nil
	job        *workload.Job
	run        func(s filch.Scope) string
}

func (j recordedJob) label() string { return label(j.name, j.size) }

func label(name, size string) string {
	if size == "" {
		return name
	}
	return name + "=" + size
}

// recordings is what --json writes.
type recordings struct {
	Machine  machine       `json:"machine"`
	Runs     int           `json:"runs"`
	Attempt  int64         `json:"attempt_ns"`
	Costs    sim.Costs     `json:"costs_ns"`
	Recorded []*recorded   `json:"recorded"`
	Results  []*sim.Result `json:"results"`
}

// recordSim is filch sim with --record.
func recordSim(cmd *cobra.Command, o simOptions) error {
	if err := onlyFlags(cmd, "record", "workers", "seed", "runs", "finest", "json", "markdown"); err != nil {
		return err
	}
	if cmd.Flags().Changed("finest") && !slices.ContainsFunc(o.record, func(text string) bool { return !isFile(text) }) {
		return errors.New("--finest is for workloads; a graph in a file has its nodes")
	}
	if !cmd.Flags().Changed("workers") {
		o.workers = []string{"1", "2", "8", "64", "256"}
	}
	r, err := newRecording(o)
	if err != nil {
		return err
	}
	return r.do(cmd.OutOrStdout())
}

// onlyFlags refuses what does not go with the flag mode.
func onlyFlags(cmd *cobra.Command, mode string, more ...string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != mode && !slices.Contains(more, f.Name) {
			err = fmt.Errorf("--%s knows no --%s", mode, f.Name)
		}
	})
	return err
}

// newRecording reads the flags.
func newRecording(o simOptions) (r *recording, err error) {
	r = &recording{simOptions: o}
	if o.runs < 1 {
		return nil, fmt.Errorf("--runs %d: there must be at least one", o.runs)
	}
	if o.finest < 0 {
		return nil, fmt.Errorf("--finest %v: must not be negative", o.finest)
	}
	if r.workers, err = workerCounts(o.workers); err != nil {
		return nil, err
	}
	if r.file, err = newReportFile("--json", o.json); err != nil {
		return nil, err
	}
	for _, text := range o.record {
		j, err := findRecorded(text)
		if err != nil {
			return nil, fmt.Errorf("--record %s: %s", text, withoutPackage(err))
		}
		r.jobs = append(r.jobs, j)
	}
	return r, nil
}

// findRecorded finds the job of WORKLOAD or WORKLOAD=SIZE, or reads a graph.
func findRecorded(text string) (r recordedJob, err error) {
	if isFile(text) {
		r.name = text
		r.graph, err = openGraph(text)
		return r, err
	}
	r.name, r.size, _ = strings.Cut(text, "=")
	if r.name == "sssp" {
		r.size = cmp.Or(r.size, "15")
		r.job, err = roundsJob(r.size)
	} else {
		var w *workload.Workload
		if w, err = workload.Find(r.name); err != nil {
			return r, err
		}
		if w.Sleeps {
			return r, fmt.Errorf("%s sleeps, and a recording is of what takes processors", r.name)
		}
		r.size = cmp.Or(r.size, w.Default[0].Size)
		r.job, err = w.Prepare(r.size, workload.Env{})
	}
	if err != nil {
		return r, err
	}
	e, err := workload.FindExecutor("filch")
	if err != nil {
		return r, err
	}
	r.run, err = e.Program(r.job)
	return r, err
}

// roundsJob finds shortest paths in an R-MAT graph of that scale, in rounds.
func roundsJob(size string) (*workload.Job, error) {
	scale, err := strconv.Atoi(size)
	if err != nil || scale < 1 || scale > 26 {
		return nil, fmt.Errorf("sssp: size %q is not a number from 1 to 26, the scale of an R-MAT graph", size)
	}
	var g *sssp.Graph
	var distances []uint64
	return &workload.Job{
		Load:   func() { g = sssp.RMAT(scale, 8, 1000, 1) },
		Serial: func() string { distances = sssp.Heap(g, 0); return "" },
		Func:   func(s filch.Scope) string { distances, _ = sssp.Rounds(g, 0, s); return "" },
		Answer: func() string { return fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, distances))) },
	}, nil
}

// do records all, and prints what came of it.
func (r *recording) do(stdout io.Writer) error {
	out := recordings{Machine: thisMachine(), Runs: r.runs}
	if runtime.GOMAXPROCS(0) < 2 {
		return fmt.Errorf("--record measures what a steal costs, for which it takes two processors; GOMAXPROCS is 1")
	}
	out.Attempt, out.Costs = poolCosts(50 * r.runs)
	for _, j := range r.jobs {
		one, results, err := r.one(j, out)
		if err != nil {
			return fmt.Errorf("--record %s: %w", j.label(), err)
		}
		out.Recorded = append(out.Recorded, one)
		out.Results = append(out.Results, results...)
	}
	printRecorded(stdout, out, r.markdown)
	return r.file.writeJSON(out)
}

// one records a workload, measures and simulates it. A graph it simulates.
func (r *recording) one(j recordedJob, all recordings) (one *recorded, results []*sim.Result, err error) {
	g, times := j.graph, runTimes{}
	if g == nil {
		if j.job.Load != nil {
			j.job.Load()
		}
		if g, err = r.record(j); err != nil {
			return nil, nil, err
		}
		times = measureRecorded(j, r.workers, r.runs)
	}
	facts, err := dag.Serial(g, nil)
	if err != nil {
		return nil, nil, err
	}
	one = &recorded{Workload: j.name, Size: j.size, Work: facts.Work, Span: facts.Span, Nodes: facts.Nodes, Serial: times.serial}
	c := sim.Config{Program: g, Facts: &facts, Scheduler: "pool", Seed: r.seed, StepTime: 1, StealCost: all.Attempt, Costs: &all.Costs}
	for _, c.Workers = range r.workers {
		p, result, err := predict(c)
		if err != nil {
			return nil, nil, err
		}
		p.Measured = times.pool[c.Workers]
		result.DAG = j.label()
		one.Predicted = append(one.Predicted, p)
		results = append(results, result)
	}
	return one, results, nil
}

// record records j some times, and returns the recording with the median of the work: of the others, some were
// interrupted, and in some the measuring was taken for dearer than it was.
func (r *recording) record(j recordedJob) (*dag.Graph, error) {
	all := make([]*record.Recording, r.runs)
	for i := range all {
		j.reset()
		runtime.GC()
		var err error
		if all[i], err = record.Run(j.label(), r.finest, func(w *filch.Worker) { j.run(w) }); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b *record.Recording) int { return cmp.Compare(a.Profile.Work, b.Profile.Work) })
	return all[len(all)/2].Graph, nil
}

// predict simulates a run, and finds what limits it.
func predict(c sim.Config) (p prediction, r *sim.Result, err error) {
	if r, err = sim.Run(c); err != nil {
		return p, nil, err
	}
	p = prediction{Workers: c.Workers, Time: r.Time, Without: map[string]int64{}}
	for _, cost := range []struct {
		name string
		less func(c *sim.Config)
	}{
		{"publishing", func(c *sim.Config) { c.Costs.Publish = 0 }},
		{"waking", func(c *sim.Config) { c.Costs.Waking, c.Costs.Wake = 0, 0 }},
		{"stealing", func(c *sim.Config) { c.Costs.Steal = 0 }},
		{"held searches", func(c *sim.Config) { c.Costs.Free = true }},
	} {
		less, costs := c, *c.Costs
		less.Costs = &costs
		cost.less(&less)
		without, err := sim.Run(less)
		if err != nil {
			return p, nil, err
		}
		p.Without[cost.name] = without.Time
	}
	p.Limit = limit(r, p.Without)
	return p, r, nil
}

// limit says what keeps a run from being shorter: the work that each worker has, if that is most of the time; the
// span, if that is more than half of it; else the cost without which the run would be shortest.
func limit(r *sim.Result, without map[string]int64) string {
	share := func(part int64) string { return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(r.Time)) }
	switch each := r.T1 / int64(r.Workers); {
	case each*10 >= r.Time*8:
		return "work " + share(each)
	case r.Tinf*2 > r.Time:
		return "span " + share(r.Tinf)
	}
	best, name := r.Time, "many things"
	for _, cost := range []string{"waking", "stealing", "publishing", "held searches"} {
		if t := without[cost]; t*20 < best*19 {
			best, name = t, cost
		}
	}
	if best == r.Time {
		return name
	}
	return name + " " + share(r.Time-best)
}
