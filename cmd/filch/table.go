package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(w io.Writer, steps int) progress {
	if !isTerminal(w) {
		return progress{}
	}
	return progress{progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())}
}

// step moves on by n, and says what comes next, if it is not empty.
func (p progress) step(what string, n int) {
	if p.bar == nil {
		return
	}
	if what != "" {
		p.bar.Describe(fmt.Sprintf("%-20s", what))
	}
	p.bar.Add(n)
}

func (p progress) done() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

func newTable(out io.Writer, colour bool) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	style := table.StyleLight
	style.Options.DrawBorder = false
	style.Options.SeparateColumns = false
	style.Format.Header = text.FormatDefault
	if colour {
		style.Color.Header = text.Colors{text.Bold}
	}
	t.SetStyle(style)
	return t
}

// groups are the rows of a table that have something in common, with a line between them.
type groups struct {
	t    table.Writer
	last string
}

// begins reports whether the next row, which is of the given group, is its first.
func (g *groups) begins(group string) bool {
	if group == g.last {
		return false
	}
	if g.last != "" {
		g.t.AppendSeparator()
	}
	g.last = group
	return true
}

func printTable(out io.Writer, r report, colour bool) {
	fmt.Fprintf(out, "%s\n\n", r.Machine.build())
	t := newTable(out, colour)
	t.AppendHeader(table.Row{"workload", "size", "executor", "workers", "time", "spread", "T1/Ts", "speed-up", "", "ns/fork", "allocs", "cpu", "peak", "steals", "open"})
	var configs []table.ColumnConfig
	for _, n := range []int{4, 5, 6, 7, 8, 10, 11, 12, 13, 14} {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	counted := slices.ContainsFunc(r.Rows, func(x *row) bool { return x.Open > 0 })
	configs = append(configs, table.ColumnConfig{Number: 15, Align: text.AlignRight, AlignHeader: text.AlignRight, Hidden: !counted})
	t.SetColumnConfigs(configs)
	groups := groups{t: t}
	for _, x := range r.Rows {
		name, size := x.Workload, x.Size
		if !groups.begins(name + size) {
			name, size = "", ""
		}
		if x.Runs == 0 {
			t.AppendRow(table.Row{name, size, x.Executor, x.Workers, "-", "", "", "", shortReason(x.Note)})
			continue
		}
		executor := x.Executor
		if !x.OK {
			executor += " WRONG"
		}
		t.AppendRow(table.Row{name, size, executor, x.Workers, duration(x.Median), spread(x),
			ratio(x.Overhead), ratio(x.Speedup), speedBar(x, colour), perFork(x),
			count(x.Allocs), duration(x.CPU), megabytes(x.MaxRSS), stealsOf(x), openOf(x)})
	}
	t.Render()
	m := r.Machine
	fmt.Fprintf(out, "\n%s, %d CPUs, %s/%s, %s; %s, executors in turn\n", m.CPU, m.CPUs, m.OS, m.Arch, m.Go, runsText(runsOf(r.Rows)))
}

// barsIntro says how to read the list of bars.
const barsIntro = `Each bar is a goal for an idle machine. "missed" says that this run did not reach it, not that an answer was wrong.
Times are counted in what was measured in the same minutes: calls of serial fib, atomic stores, the serial
program, and what serial programs gain that run at once.`

func printBars(out io.Writer, bs []bar, colour bool) {
	if len(bs) == 0 {
		return
	}
	fmt.Fprint(out, "\n", barsIntro, "\n\n")
	barsTable(out, bs, colour).Render()
}

// barsTable lists goals and how far they were met.
func barsTable(out io.Writer, bs []bar, colour bool) table.Writer {
	t := newTable(out, colour)
	t.AppendHeader(table.Row{"bar", "measured", "goal", "", "time"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 5, Align: text.AlignRight}})
	for _, b := range bs {
		goal, verdict, paint := "at least", "met", text.FgGreen
		if b.Most {
			goal = "at most"
		}
		if !b.met() {
			verdict, paint = "missed", text.FgRed
		}
		if colour {
			verdict = paint.Sprint(verdict)
		}
		took := ""
		if b.NS > 0 {
			took = durationOf(b.NS)
		}
		t.AppendRow(table.Row{b.What, strings.TrimSpace(fmt.Sprintf("%.3g %s", b.Got, b.Unit)), strings.TrimSpace(fmt.Sprintf("%s %.3g %s", goal, b.Goal, b.Unit)), verdict, took})
	}
	return t
}

// printSummary prints, in Markdown, a line for each workload with the speed-up
// over serial of each executor at the most workers measured.
func printSummary(out io.Writer, r report) {
	most := 0
	var executors []string
	for _, x := range r.Rows {
		most = max(most, x.Workers)
		if x.Executor != "serial" && !slices.Contains(executors, x.Executor) {
			executors = append(executors, x.Executor)
		}
	}
	t := table.NewWriter()
	header := table.Row{"workload", "serial"}
	configs := []table.ColumnConfig{{Number: 2, Align: text.AlignRight}}
	for i, e := range executors {
		header = append(header, e)
		configs = append(configs, table.ColumnConfig{Number: 3 + i, Align: text.AlignRight})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	var line table.Row
	for _, x := range r.Rows {
		if x.Executor == "serial" {
			if line != nil {
				t.AppendRow(line)
			}
			line = make(table.Row, len(header))
			line[0], line[1] = x.Workload+" "+x.Size, duration(x.Median)
			continue
		}
		if x.Workers != most {
			continue
		}
		cell := ratio(x.Speedup)
		if x.Runs == 0 {
			cell = shortReason(x.Note)
		}
		line[2+slices.Index(executors, x.Executor)] = cell
	}
	t.AppendRow(line)
	fmt.Fprintln(out, t.RenderMarkdown())
	m := r.Machine
	fmt.Fprintf(out, "\nSpeed-up over serial with %d workers. %s, %d CPUs, %s; %s, executors in turn.\n",
		most, m.CPU, m.CPUs, m.build(), runsText(runsOf(r.Rows)))
}

// shortReason is the first word of why an executor cannot run a workload.
func shortReason(note string) string {
	word, _, _ := strings.Cut(note, ":")
	return word
}

func runsOf(rows []*row) (n int) {
	for _, r := range rows {
		n = max(n, r.Runs)
	}
	return n
}

// runsText says what a time in a table is, given the number of runs.
func runsText(n int) string {
	if n == 1 {
		return "one run of each"
	}
	return fmt.Sprintf("medians of %d runs", n)
}

// duration shows three digits.
func duration(d time.Duration) string { return durationOf(float64(d)) }

func durationOf(x float64) string {
	unit := "ns"
	for _, u := range []string{"us", "ms", "s"} {
		if x < 999.5 {
			break
		}
		x, unit = x/1000, u
	}
	return digits(x) + " " + unit
}

func digits(x float64) string {
	switch {
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func ratio(x float64) string {
	if x == 0 {
		return ""
	}
	return digits(x)
}

// spread is how far the runs lie apart, in percent of the median. One run has none.
func spread(r *row) string {
	if r.Median == 0 || r.Runs == 1 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*float64(r.Max-r.Min)/float64(r.Median))
}

// speedBar draws the speed-up, eight columns for a worker's worth.
func speedBar(r *row, colour bool) string {
	const unit = 8
	n := int(math.Round(r.Speedup * unit))
	s := strings.Repeat("█", min(n, 4*unit))
	if n > 4*unit {
		s += "…"
	}
	if n == 0 {
		s = "▏"
	}
	if colour && onPool(r) {
		s = text.FgCyan.Sprint(s)
	}
	return s
}

func perFork(r *row) string {
	if r.NsPerFork == 0 {
		return ""
	}
	return digits(r.NsPerFork)
}

// onPool reports whether r ran on a pool of filch.
func onPool(r *row) bool {
	return strings.HasPrefix(r.Executor, "filch") || strings.HasPrefix(r.Executor, "strand")
}

func stealsOf(r *row) string {
	if !onPool(r) {
		return ""
	}
	return count(r.Steals)
}

func openOf(r *row) string {
	if r.Open == 0 {
		return ""
	}
	return count(r.Open)
}

func count(n int64) string {
	switch {
	case n >= 999_500_000:
		return digits(float64(n)/1e9) + "G"
	case n >= 999_500:
		return digits(float64(n)/1e6) + "M"
	case n >= 1e4:
		return digits(float64(n)/1e3) + "k"
	}
	return fmt.Sprint(n)
}

func megabytes(n int64) string {
	if n == 0 {
		return ""
	}
	return digits(float64(n)/(1<<20)) + " MB"
}
