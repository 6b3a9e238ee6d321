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

// printRows prints a row for each executor and number of workers.
func printRows(out io.Writer, rows []*row) {
	t := newTable(out)
	t.AppendHeader(table.Row{"workload", "size", "executor", "workers", "time", "spread", "T1/Ts", "speed-up", "", "ns/fork", "allocs", "cpu", "peak", "steals", "open"})
	t.right(4, 8)
	t.right(10, 15)
	t.leaveFirst("open", "steals", "peak", "cpu", "allocs", "ns/fork", "spread", "", "T1/Ts", "size", "time")
	if !slices.ContainsFunc(rows, func(x *row) bool { return x.Open > 0 }) {
		t.hide(15)
	}
	groups := groups{t: t}
	for _, x := range rows {
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
			ratio(x.Overhead), ratio(x.Speedup), t.paint(paintOf(x), speedBar(x)), perFork(x),
			count(x.Allocs), duration(x.CPU), megabytes(x.MaxRSS), stealsOf(x), openOf(x)})
	}
	t.Render()
}

func printBars(out io.Writer, bs []bar) {
	if len(bs) == 0 {
		return
	}
	fmt.Fprintln(out)
	say(out, `Each bar is a goal for an idle machine. "missed" says that this run did not reach it, not that an answer was wrong. `+
		"Times are counted in what was measured in the same minutes: calls of serial fib, atomic stores, the serial program, "+
		"and what serial programs gain that run at once.")
	fmt.Fprintln(out)
	barsTable(out, bs).Render()
}

// barsTable lists goals and how far they were met.
func barsTable(out io.Writer, bs []bar) *sheet {
	t := newTable(out)
	t.AppendHeader(table.Row{"bar", "measured", "goal", "", "time"})
	t.right(2, 3)
	t.right(5, 5)
	for _, b := range bs {
		goal, verdict, paint := "at least", "met", text.FgGreen
		if b.Most {
			goal = "at most"
		}
		if !b.met() {
			verdict, paint = "missed", text.FgRed
		}
		took := ""
		if b.NS > 0 {
			took = durationOf(b.NS)
		}
		t.AppendRow(table.Row{b.What, strings.TrimSpace(fmt.Sprintf("%.3g %s", b.Got, b.Unit)), strings.TrimSpace(fmt.Sprintf("%s %.3g %s", goal, b.Goal, b.Unit)), t.paint(paint, verdict), took})
	}
	return t
}

// printSummary prints a line for each workload with the speed-up over serial of each executor at the most workers measured.
func printSummary(out io.Writer, r report, markdown bool) {
	most := 0
	for _, x := range r.Rows {
		most = max(most, x.Workers)
	}
	names := executorsIn(r.Rows)
	header := table.Row{"workload"}
	for _, name := range names {
		header = append(header, name)
	}
	t := newTable(out)
	t.AppendHeader(header)
	t.right(2, len(header))
	t.leaveFirst("basic", "semaphore", "filch-join", "filch-call", "at-once", "goroutine")
	var line table.Row
	for i, x := range r.Rows {
		switch {
		case x.Executor == "serial":
			line = make(table.Row, len(header))
			for k := range line {
				line[k] = ""
			}
			line[0], line[1] = x.Workload+" "+x.Size, duration(x.Median)
		case x.Workers != most:
		case x.Runs == 0:
			line[1+slices.Index(names, x.Executor)] = shortReason(x.Note)
		default:
			line[1+slices.Index(names, x.Executor)] = t.paint(paintOf(x), ratio(x.Speedup))
		}
		if i+1 == len(r.Rows) || r.Rows[i+1].Executor == "serial" {
			t.AppendRow(line)
		}
	}
	if markdown {
		t.print(markdown)
		fmt.Fprintf(out, "\nSpeed-up over serial with %d workers. %s.\n", most, r.footer())
		return
	}
	fmt.Fprintf(out, "Speed-up over the serial program, with %d workers:\n\n", most)
	t.Render()
}

// paintOf is the colour of a speed-up: filch's is green where it gains, and yellow where it does not.
func paintOf(r *row) text.Color {
	switch {
	case !onPool(r):
		return text.Reset
	case r.Speedup > 1:
		return text.FgGreen
	}
	return text.FgYellow
}

// footer says where the figures come from.
func (r report) footer() string {
	m := r.Machine
	text := fmt.Sprintf("%s, %d CPUs, %s/%s, %s", m.CPU, m.CPUs, m.OS, m.Arch, m.build())
	if runs := runsOf(r.Rows); runs > 0 {
		text += fmt.Sprintf("; %s, in turn", runsText(runs))
	}
	return text
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
func speedBar(r *row) string {
	const unit = 8
	n := int(math.Round(r.Speedup * unit))
	s := strings.Repeat("█", min(n, 4*unit))
	if n > 4*unit {
		s += "…"
	}
	if n == 0 {
		s = "▏"
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
