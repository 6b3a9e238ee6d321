package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/filch-go/filch/internal/workload"
)

// options are the flags of filch bench.
type options struct {
	executors  []string
	workers    []int
	runs       int
	sizes      []string
	input      string
	json       string
	html       string
	from       string
	compare    bool
	failSlower float64
	overSerial bool
	markdown   bool
	list       bool
	parallel   bool
	svg        string
	builds     bool
	profile    string
}

func benchCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "bench [workload ...]",
		Short:   "Measure workloads on filch and on its rivals",
		Long:    benchLong,
		Example: benchExamples,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.addTo(cmd)
	return cmd
}

// run does what the options ask for.
func (o options) run(cmd *cobra.Command, args []string) error {
	if o.list {
		return list(cmd.OutOrStdout())
	}
	if apart := apartOf(args); apart != "" && (o.builds || o.profile != "") {
		return fmt.Errorf("%s knows no --builds and --cpuprofile", apart)
	}
	if o.compare {
		return compareFiles(cmd, args, o)
	}
	if o.failSlower != 0 || o.overSerial {
		return errors.New("--fail-if-slower and --over-serial are for --compare")
	}
	if o.parallel {
		return parallelism(cmd, args, o)
	}
	if o.from != "" {
		return drawKept(cmd, args, o)
	}
	if slices.Contains(args, "cluster") {
		return runQueues(cmd, args, o)
	}
	if slices.Contains(args, "tasks") {
		return tasks(cmd, args, o)
	}
	if slices.Contains(args, "par") {
		return runPar(cmd.OutOrStdout(), cmd.ErrOrStderr(), o, args)
	}
	if slices.Contains(args, "sssp") {
		return runSSSP(cmd.OutOrStdout(), cmd.ErrOrStderr(), o, args)
	}
	return bench(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, o)
}

// addTo makes the options flags of cmd.
func (o *options) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.executors, "executors", nil, "executors to measure (default those of --list, or for strand its own; serial always)")
	f.IntSliceVar(&o.workers, "workers", []int{1, 2}, "numbers of workers")
	f.IntVar(&o.runs, "runs", 5, "measured runs of each; the median is shown")
	f.StringSliceVar(&o.sizes, "size", nil, "size, as workload=size, or just the size if there is one workload")
	f.StringVar(&o.input, "input", "", "folder that goparse reads, all of it unless --size says otherwise (default the Go installation's src), or graph for sssp")
	f.StringVar(&o.json, "json", "", "write the figures to this file as well")
	f.StringVar(&o.html, "html", "", "draw a report into this file: charts, losses and all figures, in one file that needs no network")
	f.StringVar(&o.from, "from", "", "draw what --json has kept in this file, for --html and --svg, and measure nothing")
	f.BoolVar(&o.compare, "compare", false, "compare two files that --json has written: what got slower, and what only seems so")
	f.Float64Var(&o.failSlower, "fail-if-slower", 0, "with --compare, exit with status 1 if anything got slower by so many percent or more")
	f.BoolVar(&o.overSerial, "over-serial", false, "with --compare, compare times over those of the serial program in the same run, as for two machines")
	f.BoolVar(&o.markdown, "markdown", false, "print a summary in Markdown instead of the table")
	f.BoolVar(&o.builds, "builds", false, "measure two builds in turn, with and without the profile default.pgo; needs the go command and filch's source")
	f.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of what is measured to this file")
	f.BoolVar(&o.parallel, "parallelism", false, "print how parallel the workloads are in filch's forms: work, span, and the speed-up to expect")
	f.StringVar(&o.svg, "svg", "", "draw the charts of --html into this folder, each as an SVG; with --parallelism, the curve of each workload's speed-up")
	f.BoolVar(&o.list, "list", false, "list workloads, sizes and executors")
}

const benchLong = `Bench runs workloads on several executors, checks every answer, and prints a
table. Within a run the executors take turns, so that ratios hold even when the
machine's speed does not. Without arguments all workloads are measured, each in
a size that takes a moment; --list names them and their sizes.

"filch bench tasks" measures pools of tasks instead: filch and the best known for
Go, on tasks that are empty, submit tasks, wait for tasks, or compute. It takes some
minutes even with --runs 1: a rival that deadlocks is waited for, up to 20 seconds.

"filch bench suite" measures programs of the kind that the Barcelona and PBBS suites
have, a minute or two of them. Each can be named alone as well.

"filch bench strand" measures programs on package strand, on Func and on goroutines. The
program spawns also counts how many of its children are open at a time. To measure one of
them alone, name it without strand: filch bench nqueens --executors strand,filch.

"filch bench sssp" finds shortest paths from one vertex to all, by priority: on a grid
of roads and an R-MAT graph (--size grid=<side>, --size rmat=<scale>), or on the graph
of a DIMACS .gr file (--input).

"filch bench par" measures most functions of package par, all of these or those that are
named, against serial programs and other libraries; --size is the number of elements.

"filch bench cluster" measures package cluster: beside a plain program on JetStream that does the
same, on one embedded server and on three, and beside River and asynq as far as they start here; the
time from Submit to the start; a local task; a kill; and how well the simulator predicts it. Parts can be
named: filch bench cluster rates latency. --workers are places, and --size is the number of tasks.

With --parallelism it measures how parallel workloads are instead, each on one worker:
the work T1, the span Tinf, and between what the speed-up lies on 2 to 256 workers. The
run with the least span of several counts.

The output says how the command was built. With --builds it builds itself twice, with
and without the profile default.pgo, and measures both in turn, the serial programs too.

--html draws a report: charts of speed-up, overhead, scaling and spread, what is faster than
filch, and all figures, in one file for a browser, light or dark. --svg draws each of the charts
into a folder. With --from they draw what --json has kept, and nothing is measured.

--compare says what got slower from one file of --json to another: medians, their intervals of
confidence, and as changes only what chance seldom makes, by the statistics of benchstat. Take
10 runs of each, on an idle machine. The status is 0 whatever changed, unless --fail-if-slower says
from how many percent on it is 1: then a row of filch that got slower by so much or does not run any more
counts. Rivals and serial programs do not count. 2 is for files that cannot be compared.

The columns of the table:

  time      wall-clock time of the median run; at-once counts it for each of its programs
  spread    the slowest run less the fastest, in percent of the median
  T1/Ts     time of the executor on one worker over that of the serial program
  speed-up  time of the serial program over this one; the bar has eight columns for 1.00
  ns/fork   time over the number of forks in the workload
  allocs    allocations of a run
  cpu       processor time of a run, on all processors together
  peak      peak memory of the process
  steals    how often a worker got a fork of another one, in a run
  open      most children of a loop that were spawned and had not ended; only if it is counted`

const benchExamples = `  filch bench
  filch bench tasks --workers 2
  filch bench sssp --input USA-road-d.NY.gr
  filch bench suite --executors goroutine,filch
  filch bench strand --size fib=35 --executors filch,strand
  filch bench par Sort Map --size 1000,1000000
  filch bench cluster rates --workers 64 --size 20000
  filch bench fib --size 40 --executors serial,filch,filch-chain --workers 1,2,4
  filch bench --parallelism fib mergesort fft
  filch bench goparse --input ~/src --json goparse.json
  filch bench --size fib=35 --size uts=T1L fib uts
  filch bench fib uts --runs 10 --json old.json --html old.html
  filch bench --from old.json --svg charts
  filch bench --compare old.json new.json --fail-if-slower 5`

// apartOf returns which of the arguments is measured apart from the workloads, if any is.
func apartOf(args []string) string {
	for _, name := range []string{"cluster", "tasks", "par", "sssp"} {
		if slices.Contains(args, name) {
			return name
		}
	}
	return ""
}

// tasks measures pools of tasks.
func tasks(cmd *cobra.Command, args []string, o options) error {
	switch {
	case len(args) > 1:
		return errors.New("tasks is measured apart from other workloads")
	case cmd.Flags().Changed("executors") || cmd.Flags().Changed("size") || cmd.Flags().Changed("input") || o.markdown:
		return errors.New("tasks knows no --executors, --size, --input and --markdown")
	}
	if err := o.check(); err != nil {
		return err
	}
	workers := slices.Max(o.workers)
	file, err := newOutputs(o)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	r := report{Machine: thisMachine(), Rows: benchTasks(out, cmd.ErrOrStderr(), workers, o.runs)}
	fmt.Fprintln(out)
	r.Rows = append(r.Rows, benchSweep(out, cmd.ErrOrStderr(), 1<<29, o.runs)...)
	fmt.Fprintln(out)
	printLatency(out, workers)
	fmt.Fprintf(out, "\n%s, %d CPUs, %s; %d workers, %s, executors in turn\n", r.Machine.CPU, r.Machine.CPUs, r.Machine.build(), workers, runsText(o.runs))
	return file.write(r)
}

func list(out io.Writer) error {
	show := func(workloads []*workload.Workload) {
		for _, w := range workloads {
			fmt.Fprintf(out, "  %-10s %s\n             %s\n", w.Name, w.About, strings.Join(w.Sizes, ", "))
		}
	}
	fmt.Fprintln(out, "Workloads, with sizes:")
	show(workload.All)
	fmt.Fprintln(out, "The suite, all of it, or those that are named:")
	show(workload.Suite)
	fmt.Fprintf(out, "The programs of strand, all of them, or those that are named: %s, and\n", strings.Join(namesOf(workload.Strands[1:]), ", "))
	show(workload.Strands[:1])
	fmt.Fprintln(out, "Others:")
	fmt.Fprintf(out, "  %-10s %s\n", "tasks", "pools of tasks, apart from the others")
	fmt.Fprintf(out, "  %-10s %s\n             %s\n", "sssp", "shortest paths by priority, apart from the others", "grid=1000, rmat=18")
	fmt.Fprintf(out, "  %-10s %s\n             %s\n", "par", "functions of package par, apart from the others", "1000, 100000, 10000000")
	fmt.Fprintf(out, "  %-10s %s\n", "cluster", "package cluster, apart from the others, in parts:")
	for _, p := range queueParts {
		fmt.Fprintf(out, "             %-10s %s\n", p.name, p.about)
	}
	fmt.Fprintln(out, "Executors:")
	for _, e := range workload.Executors {
		fmt.Fprintf(out, "  %-12s %s\n", e.Name, e.About)
	}
	return nil
}

func bench(stdout, stderr io.Writer, names []string, o options) error {
	plan, err := newPlan(names, o)
	if err != nil {
		return err
	}
	file, err := newOutputs(o)
	if err != nil {
		return err
	}
	r, err := plan.report(stderr, names, o)
	if err != nil {
		return err
	}
	rows := r.Rows
	if o.markdown {
		printSummary(stdout, r)
	} else {
		colour := isTerminal(stdout)
		printTable(stdout, r, colour)
		printBars(stdout, r.Bars, colour)
	}
	wrong := printNotes(stdout, stderr, rows, o.markdown)
	if err := file.write(r); err != nil {
		return err
	}
	if wrong {
		return errFailed
	}
	if o.input != "" {
		return unreadable(rows)
	}
	return nil
}

// report measures all, and both builds if that is asked for and can be done.
func (p *plan) report(stderr io.Writer, names []string, o options) (report, error) {
	if o.builds {
		both, err := buildBoth(sourceFolder())
		if err == nil {
			defer both.remove()
			return both.measure(stderr, childArgs(names, o), o.runs)
		}
		fmt.Fprintf(stderr, "filch: only this build is measured: %v\n", err)
	}
	stop, err := startProfile(o.profile)
	if err != nil {
		return report{}, err
	}
	bar := newProgress(stderr, p.steps())
	rows := p.measure(bar.step)
	bar.done()
	if err := stop(); err != nil {
		return report{}, err
	}
	m := thisMachine()
	return report{Machine: m, Rows: rows, Bars: bars(rows, m.Profile != "")}, nil
}

// startProfile writes a CPU profile to a file, if there is one, until stop is called.
func startProfile(file string) (stop func() error, err error) {
	if file == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, fmt.Errorf("--cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("--cpuprofile: %w", err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// unreadable returns an error if part of the input could not be used: the rest
// was, but the author of the input must know.
func unreadable(rows []*row) error {
	for _, r := range rows {
		if r.Workload == "goparse" && r.Runs > 0 && r.Note != "" {
			return fmt.Errorf("--input: %s", shorten(r.Note))
		}
	}
	return nil
}

// printNotes prints what does not fit into the table, and wrong answers. It
// reports whether there were any of these.
func printNotes(stdout, stderr io.Writer, rows []*row, brief bool) (wrong bool) {
	for _, r := range rows {
		if !r.OK && r.Runs > 0 {
			fmt.Fprintf(stderr, "filch: WRONG ANSWER: %s %s, %s on %d workers: %s\n", r.Workload, r.Size, r.Executor, r.Workers, r.Answer)
			wrong = true
		}
	}
	if !brief {
		for _, n := range notes(rows) {
			fmt.Fprintf(stdout, "%s%s\n", strings.Join(n.about, ", "), n.text)
		}
	}
	return wrong
}

// A note is a remark, and the workloads that it is about.
type note struct {
	text  string
	about []string
}

// notes returns the remarks on rows: what an executor has not run, once for each reason, and
// what there is to say of a workload.
func notes(rows []*row) []*note {
	var all []*note
	for _, r := range rows {
		var text string
		switch {
		case r.Note == "":
			continue
		case r.Runs == 0:
			text = fmt.Sprintf(" on %s: %s", r.Executor, r.Note)
		case r.Executor == "serial":
			text = ": " + shorten(r.Note)
		default:
			continue
		}
		i := slices.IndexFunc(all, func(n *note) bool { return n.text == text })
		if i < 0 {
			i = len(all)
			all = append(all, &note{text: text})
		}
		if n := all[i]; !slices.Contains(n.about, r.Workload) {
			n.about = append(n.about, r.Workload)
		}
	}
	return all
}

// finish writes the report, and tells wrong answers, of workloads apart from the others.
func finish(stdout, stderr io.Writer, file outputs, r report) error {
	wrong := printNotes(stdout, stderr, r.Rows, true)
	if err := file.write(r); err != nil {
		return err
	}
	if wrong {
		return errFailed
	}
	return nil
}

// shorten cuts a long list of names.
func shorten(s string) string {
	if names := strings.Split(s, ", "); len(names) > 12 {
		return fmt.Sprintf("%s, and more (all with --json)", strings.Join(names[:10], ", "))
	}
	return s
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// check checks the options that stand for themselves.
func (o options) check() error {
	if o.runs < 1 {
		return fmt.Errorf("--runs %d: there must be a run", o.runs)
	}
	if len(o.workers) == 0 {
		return errors.New("--workers: there must be a number")
	}
	for i, n := range o.workers {
		if slices.Contains(o.workers[:i], n) {
			return fmt.Errorf("--workers: %d is there twice", n)
		}
		if n < 1 || n > 10_000 {
			return fmt.Errorf("--workers %d: the number of workers must be from 1 to 10000", n)
		}
	}
	return nil
}

// newPlan checks the options and lists what to measure.
func newPlan(names []string, o options) (*plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.input != "" {
		if _, err := os.ReadDir(o.input); err != nil {
			return nil, fmt.Errorf("--input: %w", err)
		}
	}
	workloads, err := workloadsOf(names)
	if err != nil {
		return nil, err
	}
	if o.input != "" && !slices.ContainsFunc(workloads, func(w *workload.Workload) bool { return w.Name == "goparse" }) {
		return nil, errors.New("--input: only goparse reads a folder, and it is not measured")
	}
	onStrands := slices.Contains(names, "strand")
	executors, err := executorsOf(o.executors, onStrands)
	if err != nil {
		return nil, err
	}
	sizes, err := parseSizes(o.sizes, workloads)
	if err != nil {
		return nil, err
	}
	p := &plan{runs: o.runs, workers: o.workers, executors: executors}
	for _, w := range workloads {
		p.groups = append(p.groups, groupsOf(w, sizes[w.Name], o.input, onStrands)...)
	}
	// A size or input that is wrong is said before anything is measured.
	env := workload.Env{Input: o.input}
	for i, g := range p.groups {
		if p.groups[i].job, err = g.workload.Prepare(g.size, env); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// workloadsOf returns those that are named, or all.
func workloadsOf(names []string) (all []*workload.Workload, err error) {
	if len(names) == 0 {
		return workload.All, nil
	}
	for _, name := range expand(expand(names, "suite", workload.Suite), "strand", workload.Strands) {
		w, err := workload.Find(name)
		if err != nil {
			return nil, fmt.Errorf("%w; suite is all from %s to %s, and strand is %s; tasks, par and sssp are measured apart", err,
				workload.Suite[0].Name, workload.Suite[len(workload.Suite)-1].Name, strings.Join(namesOf(workload.Strands), ", "))
		}
		if slices.Contains(all, w) {
			err := fmt.Errorf("workload %s is there twice", name)
			if slices.Contains(names, "suite") || slices.Contains(names, "strand") {
				err = fmt.Errorf("%w: suite and strand stand for all their programs; name one alone, as fib --executors strand,filch", err)
			}
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// executorsOf returns the serial one, and those that are named, or those that are usual.
func executorsOf(names []string, onStrands bool) ([]*workload.Executor, error) {
	if len(names) == 0 {
		names = defaultExecutors(onStrands)
	}
	all := []*workload.Executor{workload.Executors[0]}
	for _, name := range names {
		e, err := workload.FindExecutor(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(all[1:], e) {
			return nil, fmt.Errorf("--executors: %s is there twice", name)
		}
		if e != workload.Executors[0] {
			all = append(all, e)
		}
	}
	return all, nil
}

// groupsOf returns the sizes in which w is measured: those that are asked for, or else those that are usual.
func groupsOf(w *workload.Workload, asked []string, input string, onStrands bool) (all []group) {
	switch {
	case len(asked) > 0:
		for _, size := range asked {
			all = append(all, group{workload: w, size: size})
		}
	case w.Name == "goparse" && input != "":
		all = []group{{workload: w, size: "all"}}
	case onStrands && slices.Contains(workload.Strands, w):
		all = []group{{workload: w, size: w.Strand}}
	default:
		for _, d := range w.Default {
			all = append(all, group{workload: w, size: d.Size, heavy: d.Heavy})
		}
	}
	return all
}

// expand puts the names of the workloads in the place of the name that stands for them.
func expand(names []string, set string, workloads []*workload.Workload) (all []string) {
	for _, name := range names {
		if name == set {
			all = append(all, namesOf(workloads)...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

func namesOf(workloads []*workload.Workload) []string {
	return each(workloads, func(w *workload.Workload) string { return w.Name })
}

func defaultExecutors(onStrands bool) (names []string) {
	if onStrands {
		return workload.OnStrands
	}
	for _, e := range workload.Executors {
		if !e.Apart {
			names = append(names, e.Name)
		}
	}
	return names
}

// parseSizes reads the values of --size.
func parseSizes(values []string, workloads []*workload.Workload) (map[string][]string, error) {
	sizes := map[string][]string{}
	for _, v := range values {
		name, size, ok := strings.Cut(v, "=")
		if !ok {
			if len(workloads) != 1 {
				return nil, fmt.Errorf("--size %s: which workload's? Write, say, %s=%s", v, workloads[0].Name, v)
			}
			name, size = workloads[0].Name, v
		}
		if !slices.ContainsFunc(workloads, func(w *workload.Workload) bool { return w.Name == name }) {
			return nil, fmt.Errorf("--size %s: workload %s is not measured", v, strconv.Quote(name))
		}
		sizes[name] = append(sizes[name], size)
	}
	return sizes, nil
}
