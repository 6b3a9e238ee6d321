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
	verbose    bool
	bars       bool
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
	if slices.Contains(args, "service") {
		return runService(cmd, args, o)
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
	f.StringSliceVar(&o.executors, "executors", nil, "executors to measure (default those of --list; serial always)")
	f.IntSliceVar(&o.workers, "workers", []int{1, 2}, "numbers of workers")
	f.IntVar(&o.runs, "runs", 3, "measured runs of each; the median is shown")
	f.StringSliceVar(&o.sizes, "size", nil, "`workload=size`, or the size alone for one workload")
	f.StringVar(&o.input, "input", "", "`folder` for goparse (default Go's src), or graph for sssp")
	f.StringVar(&o.json, "json", "", "`file` to write the figures to as well")
	f.StringVar(&o.html, "html", "", "`file` to write a report with charts to, for a browser")
	f.StringVar(&o.svg, "svg", "", "`folder` to write the charts to, each as an SVG")
	f.StringVar(&o.from, "from", "", "`file` of --json: draw it by --html and --svg, measure nothing")
	f.BoolVar(&o.compare, "compare", false, "compare two files of --json: what got slower")
	f.Float64Var(&o.failSlower, "fail-if-slower", 0, "with --compare: exit with status 1 from so many `percent` on")
	f.BoolVar(&o.overSerial, "over-serial", false, "with --compare: times relative to serial, for two machines")
	f.BoolVar(&o.markdown, "markdown", false, "print the summary in Markdown")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print a row for each executor and number of workers, however many")
	f.BoolVar(&o.bars, "bars", false, "print the goals too, and which were missed")
	f.BoolVar(&o.builds, "builds", false, "measure builds with and without the profile default.pgo")
	f.StringVar(&o.profile, "cpuprofile", "", "`file` to write a CPU profile to")
	f.BoolVar(&o.parallel, "parallelism", false, "print work, span and the speed-up to expect")
	f.BoolVar(&o.list, "list", false, "list workloads, sizes and executors")
}

const benchLong = `Bench runs workloads on filch and its rivals, checks every answer, and prints a table. Executors alternate
within a run, so ratios hold even when the machine's speed does not.`

const benchExamples = `  filch bench
  filch bench fib --size 40 --executors serial,filch,filch-chain --workers 1,2,4
  filch bench goparse --input ~/src --json goparse.json --html report.html`

// apartOf returns which of the arguments is measured apart from the workloads, if any is.
func apartOf(args []string) string {
	for _, name := range []string{"cluster", "tasks", "service", "par", "sssp"} {
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
	fmt.Fprintln(out)
	say(out, "%d workers. %s", workers, r.footer())
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
	fmt.Fprintf(out, "  %-10s %s\n", "service", "thumbnails by HTTP, with urgent requests, apart from the others")
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

// fewRows are so many that all are printed. Of more there is a line for each program.
const fewRows = 40

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
	each := !o.markdown && (o.verbose || len(rows) <= fewRows)
	if each {
		printRows(stdout, rows)
	} else {
		printSummary(stdout, r, o.markdown)
	}
	wrong := printNotes(stdout, stderr, rows, !each)
	if !o.markdown {
		printClosing(stdout, r, each)
	}
	if o.bars {
		printBars(stdout, r.Bars)
	}
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
			say(stdout, "%s%s", strings.Join(n.about, ", "), n.text)
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
			return nil, fmt.Errorf("%w; suite is all from %s to %s, and strand is %s; tasks, service, par and sssp are measured apart", err,
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
