package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"golang.org/x/perf/benchmath"
)

// compareFiles compares two files that --json has written, by the statistics of benchstat: medians with
// their intervals of confidence, and the Mann-Whitney U test.
func compareFiles(cmd *cobra.Command, args []string, o options) error {
	if len(args) != 2 {
		return fmt.Errorf("--compare takes two files that --json has written, the old one first; here are %d", len(args))
	}
	if err := unknownTo(cmd, "--compare", append(notKept, "html", "svg", "from")...); err != nil {
		return err
	}
	if cmd.Flags().Changed("fail-if-slower") && !(o.failSlower > 0 && o.failSlower < 1e6) {
		return fmt.Errorf("--fail-if-slower %v: not a number of percent above 0", o.failSlower)
	}
	var reports [2]report
	for i, path := range args {
		var err error
		if reports[i], err = readReport(path); err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
	}
	c, err := compareReports(reports[0], reports[1], o.overSerial)
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	if len(c.machines) > 0 && o.failSlower > 0 && !o.overSerial {
		return fmt.Errorf("--fail-if-slower: the machines differ (%s); --over-serial can compare them", strings.Join(c.machines, "; "))
	}
	c.print(cmd.OutOrStdout())
	if o.failSlower > 0 && c.tellSlower(cmd.ErrOrStderr(), o.failSlower) {
		return errFailed
	}
	return nil
}

// A comparison is of two reports.
type comparison struct {
	machines, builds []string // what differs
	overSerial       bool
	changes          []change
	broken           []key // ran, and do not run any more, or give wrong answers
	unkept           int   // rows of both whose runs were not kept
	onlyOld, onlyNew []key
	warnings         []string
}

// A change is how a row differs, if it does.
type change struct {
	key
	old, new benchmath.Summary
	of       benchmath.Comparison
}

// differs reports whether chance would seldom make such a difference.
func (c change) differs() bool { return c.of.P <= c.of.Alpha && c.old.Center != c.new.Center }

func (c change) percent() float64 { return 100 * (c.new.Center/c.old.Center - 1) }

const confidence = 0.95

func compareReports(old, new report, overSerial bool) (*comparison, error) {
	c := &comparison{overSerial: overSerial}
	c.machines, c.builds = differences(old.Machine, new.Machine)
	was := byKey(old.Rows)
	is := byKey(new.Rows)
	for _, x := range new.Rows {
		y := was[x.key()]
		switch {
		case y == nil:
			c.onlyNew = append(c.onlyNew, x.key())
		case ran(y) && !ran(x):
			c.broken = append(c.broken, x.key())
		case !ran(y) || !ran(x) || overSerial && isSerial(x):
		case len(x.Times) == 0 || len(y.Times) == 0:
			c.unkept++
		default:
			before, after := values(y, was, overSerial), values(x, is, overSerial)
			if before != nil && after != nil {
				c.add(x.key(), before, after)
			}
		}
	}
	for _, y := range old.Rows {
		if is[y.key()] == nil {
			c.onlyOld = append(c.onlyOld, y.key())
		}
	}
	switch {
	case len(c.changes) > 0 || len(c.broken) > 0:
		return c, nil
	case c.unkept > 0:
		return nil, errors.New("a file has no times of single runs (times_ns), without which chance cannot be told from change; measure again")
	case overSerial:
		return nil, errors.New("no program that ran in both has a serial program in both")
	}
	return nil, errors.New("nothing that ran is in both files")
}

// ran reports whether there is a figure that counts.
func ran(r *row) bool { return r.Runs > 0 && r.OK }

func byKey(rows []*row) map[key]*row {
	all := map[key]*row{}
	for _, r := range rows {
		all[r.key()] = r
	}
	return all
}

// values returns the time of each run, in nanoseconds, or over the time of the serial program in the
// same round.
func values(r *row, all map[key]*row, overSerial bool) []float64 {
	if !overSerial {
		return each(r.Times, func(d time.Duration) float64 { return float64(d) })
	}
	name := "serial"
	if strings.HasSuffix(r.Executor, withProfile) {
		name += withProfile
	}
	serial := all[key{r.Workload, r.Size, name, 1}]
	if serial == nil || len(serial.Times) != len(r.Times) {
		return nil
	}
	var over []float64
	for i, d := range r.Times {
		if serial.Times[i] == 0 {
			return nil
		}
		over = append(over, float64(d)/float64(serial.Times[i]))
	}
	return over
}

func (c *comparison) add(k key, before, after []float64) {
	old, new := benchmath.NewSample(before, &benchmath.DefaultThresholds), benchmath.NewSample(after, &benchmath.DefaultThresholds)
	test := benchmath.AssumeNothing
	ch := change{k, test.Summary(old, confidence), test.Summary(new, confidence), test.Compare(old, new)}
	c.changes = append(c.changes, ch)
	for _, all := range [][]error{ch.old.Warnings, ch.new.Warnings, ch.of.Warnings} {
		for _, w := range all {
			if !slices.Contains(c.warnings, w.Error()) {
				c.warnings = append(c.warnings, w.Error())
			}
		}
	}
}

// differences says what is another machine's, and what another build's.
func differences(a, b machine) (machines, builds []string) {
	say := func(to *[]string, what string, was, is any) {
		if was != is {
			*to = append(*to, fmt.Sprintf("%s: %v, then %v", what, was, is))
		}
	}
	say(&machines, "system", a.OS+"/"+a.Arch, b.OS+"/"+b.Arch)
	say(&machines, "processor", a.CPU, b.CPU)
	say(&machines, "CPUs", a.CPUs, b.CPUs)
	say(&machines, "GOMAXPROCS", a.GOMAXPROCS, b.GOMAXPROCS)
	say(&builds, "Go", a.Go, b.Go)
	say(&builds, "instructions", a.Level, b.Level)
	say(&builds, "profile", orNone(a.Profile), orNone(b.Profile))
	if a.Revision != "" && b.Revision != "" {
		say(&builds, "revision", a.Revision, b.Revision)
	}
	for name := range rivals {
		if was, is := a.Versions[name], b.Versions[name]; was != "" && is != "" {
			say(&builds, name, was, is)
		}
	}
	slices.Sort(builds)
	return machines, builds
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (c *comparison) print(out io.Writer) {
	for _, s := range c.machines {
		fmt.Fprintf(out, "Another machine: %s\n", s)
	}
	if len(c.machines) > 0 && !c.overSerial {
		fmt.Fprintln(out, "Times of different machines say nothing of filch. --over-serial compares them with the serial program's.")
	}
	for _, s := range c.builds {
		fmt.Fprintf(out, "Another build: %s\n", s)
	}
	if len(c.machines)+len(c.builds) > 0 {
		fmt.Fprintln(out)
	}
	c.printTable(out)
	fmt.Fprintln(out)
	c.printNotes(out)
}

func (c *comparison) printTable(out io.Writer) {
	t := newTable(out)
	unit := "time"
	if c.overSerial {
		unit = "over serial"
	}
	t.AppendHeader(table.Row{"workload", "size", "executor", "workers", "old " + unit, "±", "new " + unit, "±", "change", "p", "n"})
	t.right(4, 11)
	show := durationOf
	if c.overSerial {
		show = digits
	}
	groups := groups{t: t}
	for _, ch := range c.changes {
		name, size := ch.workload, ch.size
		if !groups.begins(name + size) {
			name, size = "", ""
		}
		t.AppendRow(table.Row{name, size, ch.executor, ch.workers, show(ch.old.Center), ch.old.PctRangeString(), show(ch.new.Center), ch.new.PctRangeString(),
			ch.text(t), fmt.Sprintf("%.3f", ch.of.P), fmt.Sprintf("%d+%d", ch.of.N1, ch.of.N2)})
	}
	if len(c.changes) > 0 {
		t.Render()
	}
}

// text is the change in percent, or ~ if there may be none.
func (ch change) text(t *sheet) string {
	s := "~"
	switch {
	case !ch.differs():
	case ch.percent() > 0:
		s = t.paint(text.FgRed, fmt.Sprintf("slower %+.1f%%", ch.percent()))
	default:
		s = t.paint(text.FgGreen, fmt.Sprintf("faster %+.1f%%", ch.percent()))
	}
	return s
}

func (c *comparison) printNotes(out io.Writer) {
	slower, faster := 0, 0
	for _, ch := range c.changes {
		switch {
		case !ch.differs():
		case ch.percent() > 0:
			slower++
		default:
			faster++
		}
	}
	n := len(c.changes)
	say(out, "Of %d rows %d got slower, %d faster; %d show no change that is beyond chance, ~.", n, slower, faster, n-slower-faster)
	say(out, "Medians, with intervals of %.0f%% confidence; changes have p ≤ %.2f in the Mann-Whitney U test. In %d rows, chance alone makes about %.0f of them.",
		100*confidence, benchmath.DefaultThresholds.CompareAlpha, n, math.Round(benchmath.DefaultThresholds.CompareAlpha*float64(n)))
	if s := c.serialChanged(); s != "" {
		say(out, "The serial programs changed as well: %s. The machine or the compiler did that, and --over-serial takes it out.", s)
	}
	for _, k := range c.broken {
		say(out, "No longer runs, or gives a wrong answer: %s", k)
	}
	for _, w := range c.warnings {
		say(out, "Too few runs: %s", w)
	}
	if c.unkept > 0 {
		say(out, "Not compared, since a file has no times of single runs: %d rows", c.unkept)
	}
	tellOnly(out, "old", c.onlyOld)
	tellOnly(out, "new", c.onlyNew)
}

func tellOnly(out io.Writer, which string, keys []key) {
	switch n := len(keys); {
	case n == 1:
		say(out, "Only in the %s file: %s", which, keys[0])
	case n > 1:
		say(out, "Only in the %s file: %s, and %d more", which, keys[0], n-1)
	}
}

// serialChanged says which serial programs changed, if any did.
func (c *comparison) serialChanged() string {
	var all []string
	for _, ch := range c.changes {
		if ch.differs() && (ch.executor == "serial" || ch.executor == "serial"+withProfile) {
			all = append(all, fmt.Sprintf("%s %s %+.1f%%", ch.workload, ch.size, ch.percent()))
		}
	}
	if len(all) > 6 {
		all = append(all[:5], fmt.Sprintf("and %d more", len(all)-5))
	}
	return strings.Join(all, ", ")
}

// tellSlower tells which rows got slower by so many percent, and which do not run any more, and reports
// whether there are any. Serial programs and rivals are there to compare with, and do not count.
func (c *comparison) tellSlower(stderr io.Writer, percent float64) (any bool) {
	for _, ch := range c.changes {
		if ch.differs() && ch.percent() >= percent && ours(&row{Executor: ch.executor}) {
			fmt.Fprintf(stderr, "filch: slower: %s: %+.1f%%, p=%.3f\n", ch.key, ch.percent(), ch.of.P)
			any = true
		}
	}
	for _, k := range c.broken {
		if ours(&row{Executor: k.executor}) {
			fmt.Fprintf(stderr, "filch: no longer runs, or gives a wrong answer: %s\n", k)
			any = true
		}
	}
	return any
}
