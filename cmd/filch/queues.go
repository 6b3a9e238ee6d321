package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cmd/filch/clusterbench"
)

// queueParts are the parts of "filch bench cluster", in their order.
var queueParts = []struct {
	name, about string
	run         func(q *queueBench) error
}{
	{"rates", "empty tasks: a plain program on JetStream, and package cluster", (*queueBench).rates},
	{"rivals", "empty tasks: River on Postgres and SQLite, asynq on Redis, as far as they start here", (*queueBench).rivals},
	{"latency", "from Submit to the start on an idle cluster", (*queueBench).latency},
	{"local", "a task that stays on its node, and one of the pool", (*queueBench).local},
	{"failover", "a process is killed", (*queueBench).failover},
	{"efficiency", "by the size of tasks, predicted by the simulator and measured", (*queueBench).efficiency},
}

// queueBench measures package cluster.
type queueBench struct {
	ctx              context.Context
	out, progress    io.Writer
	places           []int
	tasks, runs      int
	report           report
	command          clusterbench.Command // of a node in a process of its own
	latencies, kills int
	markdown         bool
	leaves           []time.Duration
}

// runQueues does "filch bench cluster".
func runQueues(cmd *cobra.Command, args []string, o options) error {
	q, parts, err := newQueueBench(cmd, args, o)
	if err != nil {
		return err
	}
	file, err := newOutputs(o)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(contextOf(cmd), os.Interrupt, syscall.SIGTERM)
	defer stop()
	q.ctx = ctx
	for _, p := range queueParts {
		if !slices.Contains(parts, p.name) {
			continue
		}
		if err := p.run(q); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if o.bars && len(q.report.Bars) > 0 {
		fmt.Fprint(q.out, "\nEach bar is a goal for an idle machine.\n\n")
		barsTable(q.out, q.report.Bars).print(q.markdown)
	}
	fmt.Fprintf(q.out, "\n%s.\n", q.report.footer())
	return file.write(q.report)
}

func newQueueBench(cmd *cobra.Command, args []string, o options) (*queueBench, []string, error) {
	flags := cmd.Flags()
	if flags.Changed("executors") || flags.Changed("input") || flags.Changed("svg") || flags.Changed("html") {
		return nil, nil, errors.New("cluster knows no --executors, --input, --html and --svg")
	}
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	q := &queueBench{out: cmd.OutOrStdout(), progress: cmd.ErrOrStderr(), places: []int{1, 16, 64}, tasks: 10_000, runs: o.runs, markdown: o.markdown,
		report: report{Machine: thisMachine()}, command: asNode, latencies: 1000, kills: 5,
		leaves: []time.Duration{time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond}}
	if flags.Changed("workers") {
		q.places = o.workers
	}
	if len(o.sizes) > 1 {
		return nil, nil, errors.New("--size: cluster takes one number of tasks")
	}
	for _, size := range o.sizes {
		n, err := strconv.Atoi(strings.TrimPrefix(size, "cluster="))
		if err != nil || n < 100 || n > 1_000_000 {
			return nil, nil, fmt.Errorf("--size %s: not a number of tasks from 100 to 1000000", size)
		}
		q.tasks = n
	}
	parts, err := queuePartsOf(args)
	return q, parts, err
}

// queuePartsOf returns the parts that the arguments name besides cluster, or all.
func queuePartsOf(args []string) (parts []string, err error) {
	var all []string
	for _, p := range queueParts {
		all = append(all, p.name)
	}
	for _, a := range args {
		switch {
		case a == "cluster":
		case !slices.Contains(all, a):
			return nil, fmt.Errorf("cluster has no part %q; there are %s", a, strings.Join(all, ", "))
		default:
			parts = append(parts, a)
		}
	}
	if parts == nil {
		parts = all
	}
	return parts, nil
}

// nodeName is the hidden command that is a node of a measurement.
const nodeName = "bench-node"

// asNode is this program, as a node of a measurement.
func asNode(args ...string) *exec.Cmd { return asChild(append([]string{nodeName}, args...)...) }

// asChild is this program with other arguments, in a process of its own.
func asChild(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

func benchNodeCommand() *cobra.Command {
	return &cobra.Command{
		Use: nodeName + " URL NAME PLACES", Hidden: true, Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return clusterbench.RunNode(cmd.Context(), args, os.Stdin, cmd.OutOrStdout())
		},
	}
}

// clusterRow returns a row of figures that are about tasks.
func clusterRow(size, executor string, workers, tasks int, times []time.Duration) *row {
	r := &row{Workload: "cluster", Size: size, Executor: executor, Workers: workers, Runs: len(times), Times: times, OK: true, Forks: int64(tasks)}
	r.summarize()
	return r
}

// rateGoal is how much of the rate of a plain program is to be reached.
const rateGoal = 90

func (q *queueBench) rates() error {
	o := clusterbench.Options{Servers: []clusterbench.Servers{clusterbench.Embedded, clusterbench.Three, clusterbench.EmbeddedSynced},
		Places: q.places, Tasks: q.tasks, Runs: q.runs}
	bar := newProgress(q.progress, o.Steps())
	o.Step = func(what string) { bar.step(what, 1) }
	all, err := clusterbench.Rates(q.ctx, o)
	bar.done()
	if err != nil {
		return err
	}
	t := newTable(q.out)
	t.AppendHeader(table.Row{"empty tasks", "places", "raw, tasks/s", "filch, tasks/s", "filch, % of raw", "spread"})
	t.right(2, 6)
	for i := 0; i < len(all); i += 2 {
		raw, ours := all[i], all[i+1]
		r := clusterRow(raw.Name(), raw.System, raw.Places, raw.Tasks, raw.Times)
		f := clusterRow(ours.Name(), ours.System, ours.Places, ours.Tasks, ours.Times)
		q.report.Rows = append(q.report.Rows, r, f)
		part := 100 * over(r, f)
		t.AppendRow(table.Row{raw.Name(), raw.Places, taskRate(r), taskRate(f), fmt.Sprintf("%.0f", part), spread(f)})
		q.report.Bars = append(q.report.Bars, goalOf(fmt.Sprintf("tasks a second, %s, places %d", raw.Name(), raw.Places), part, rateGoal, "% of raw", false))
	}
	t.print(q.markdown)
	return nil
}

func goalOf(what string, got, goal float64, unit string, most bool) bar {
	return bar{What: what, Got: got, Goal: goal, Unit: unit, Most: most}
}

// taskRate is how many tasks a second the median run did.
func taskRate(r *row) string { return digits(float64(r.Forks) / r.Median.Seconds()) }

func (q *queueBench) latency() error {
	t := newTable(q.out)
	t.AppendHeader(table.Row{"from Submit to the start, after a rest of 2 ms", "p50", "p99"})
	t.right(2, 3)
	for _, s := range []clusterbench.Servers{clusterbench.Embedded, clusterbench.EmbeddedSynced, clusterbench.Three} {
		l, err := clusterbench.Latencies(q.ctx, s, q.latencies)
		if err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
		t.AppendRow(table.Row{s.String(), duration(l.P50), duration(l.P99)})
		q.report.Bars = append(q.report.Bars, bar{"p99 from Submit to the start, " + s.String(), float64(l.P99) / 1e6, 5, "ms", float64(l.P99), true})
	}
	fmt.Fprintln(q.out)
	t.print(q.markdown)
	return nil
}

func (q *queueBench) local() error {
	l, err := clusterbench.Locals(q.ctx, 15, 20_000)
	if err != nil {
		return err
	}
	more := make([]float64, len(l.Node)) // in microseconds
	for i := range more {
		more[i] = float64(l.Node[i]-l.Go[i]) / 1e3
	}
	fmt.Fprintf(q.out, "\nA task submitted and waited for: %s by Pool.Go, %s by filch.Submit, %s by a node that runs it itself.\n",
		duration(median(l.Go)), duration(median(l.Submit)), duration(median(l.Node)))
	q.report.Bars = append(q.report.Bars, bar{"a task of LocalFirst more than Pool.Go", median(more), 2, "us", 1e3 * median(more), true})
	return nil
}

// failoverMore is what may pass besides AckWait: the servers look for lost tasks at times of their own, and a request for
// the task has to be there.
const failoverMore = 250 * time.Millisecond

func (q *queueBench) failover() error {
	f, err := clusterbench.Failovers(q.ctx, q.command, q.kills)
	if err != nil {
		return err
	}
	most := slices.Max(f.Took)
	fmt.Fprintf(q.out, "\nAfter a kill -9, with an AckWait of %s, its task began on another node after %s (median), %s (most of %d).\n",
		duration(f.AckWait), duration(median(f.Took)), duration(most), len(f.Took))
	q.report.Bars = append(q.report.Bars, bar{"failover, with an AckWait of " + duration(f.AckWait), most.Seconds(), (f.AckWait + failoverMore).Seconds(), "s", float64(most), true})
	return nil
}

// efficiencyGoal is by how many percent the simulator may be wrong.
const efficiencyGoal = 20

func (q *queueBench) efficiency() error {
	bar := newProgress(q.progress, len(q.leaves)+2)
	e, err := clusterbench.Efficient(q.ctx, q.command, 3, 4, q.leaves, func(what string) { bar.step(what, 1) })
	bar.done()
	if err != nil {
		return err
	}
	fmt.Fprintf(q.out, "\n%d processes of %d places. The simulator was told: a task costs the servers %s, and a place loses %s with each.\n",
		e.Processes, e.Places, duration(e.Task), duration(e.Between))
	fmt.Fprintln(q.out)
	t := newTable(q.out)
	t.AppendHeader(table.Row{"a task sleeps", "it took", "tasks", "efficiency, predicted", "measured", "off by"})
	t.right(2, 6)
	worst := 0.0
	for _, r := range e.Rows {
		off := 100 * (r.Predicted/r.Measured - 1)
		worst = max(worst, off, -off)
		t.AppendRow(table.Row{duration(r.Leaf), duration(r.Took), r.Tasks, fmt.Sprintf("%.0f%%", 100*r.Predicted), fmt.Sprintf("%.0f%%", 100*r.Measured), fmt.Sprintf("%+.0f%%", off)})
	}
	t.print(q.markdown)
	q.report.Bars = append(q.report.Bars, goalOf("efficiency: the simulator is off by", worst, efficiencyGoal, "%", true))
	return nil
}

// contextOf returns the context of a command, which has none if it was not given one.
func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
