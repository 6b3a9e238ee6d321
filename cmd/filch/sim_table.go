package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
)

// printSim prints a row for each run, or if there is a summary for those that differ in the seed alone.
func printSim(out io.Writer, results []*sim.Result, columns []simColumn, summary string) {
	t := newTable(out)
	if columns == nil {
		columns = usual(results)
	}
	runs := alike(results)
	if summary == "" {
		summary = "most" // of one
		runs = nil
		for _, r := range results {
			runs = append(runs, []*sim.Result{r})
		}
	}
	seeds := len(runs) == len(results)
	far := slices.ContainsFunc(results, func(r *sim.Result) bool { return r.Topology != "" })
	keys := func(r *sim.Result) table.Row {
		row := table.Row{r.DAG, r.Scheduler}
		if far {
			row = append(row, r.Topology)
		}
		if row = append(row, r.Workers); seeds {
			row = append(row, r.Seed)
		}
		return row
	}
	head := table.Row{"DAG", "scheduler"}
	if far {
		head = append(head, "topology")
	}
	if head = append(head, "workers"); seeds {
		head = append(head, "seed")
	}
	for _, c := range columns {
		head = append(head, c.name)
	}
	t.AppendHeader(head)
	t.right(3, len(head))
	t.leaveFirst("seed", "T1", "Tinf")
	for _, c := range slices.Backward(columns) {
		if c.name != "speed-up" { // what a run is, and what it gains, stay to the last
			t.leaveFirst(c.name)
		}
	}
	g := groups{t: t}
	for _, same := range runs {
		g.begins(same[0].DAG)
		row := keys(same[0])
		for _, c := range columns {
			row = append(row, c.show(c.summary(summary, same)))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// printSpeedups prints a row for each DAG and scheduler, with the speed-up on each number of workers: the mean of runs that differ in the seed alone.
func printSpeedups(out io.Writer, results []*sim.Result, kernel string) {
	var workers []int
	for _, r := range results {
		if !slices.Contains(workers, r.Workers) {
			workers = append(workers, r.Workers)
		}
	}
	slices.Sort(workers)
	met := ""
	if kernel != "" {
		met = ", with the kernel " + kernel
	}
	say(out, "Speed-up, T1/time, by the number of workers, in simulated time%s. No scheduler gains more than T1/Tinf, the parallelism of the DAG. "+
		"A queue that all share, as of central and pdf, costs nothing unless --central-cost says so.", met)
	fmt.Fprintln(out)
	t := newTable(out)
	head := table.Row{"DAG", "scheduler", "T1/Tinf"}
	for _, n := range workers {
		head = append(head, n)
	}
	t.AppendHeader(head)
	t.right(3, len(head))
	t.leaveFirst("T1/Tinf")
	g := groups{t: t}
	var row table.Row
	last := ""
	for _, same := range alike(results) {
		r := same[0]
		if key := fmt.Sprint(r.DAG, r.Scheduler, r.Topology); key != last {
			if row != nil {
				t.AppendRow(row)
			}
			g.begins(r.DAG)
			last, row = key, make(table.Row, len(head))
			row[0], row[1], row[2] = r.DAG, strings.TrimSpace(r.Scheduler+" "+r.Topology), digits(float64(r.T1)/float64(r.Tinf))
		}
		row[3+slices.Index(workers, r.Workers)] = digits(speedUp.summary("mean", same))
	}
	t.AppendRow(row)
	t.Render()
	fmt.Fprintln(out)
	say(out, "Each run, with its idle time and steals: -v. Pictures: --svg FOLDER.")
}

// listSim prints what there is to simulate.
func listSim(out io.Writer) {
	t := newTable(out)
	t.AppendHeader(table.Row{"DAG", "what it is"})
	for _, d := range dag.Families() {
		t.AppendRow(table.Row{d.Name + "=" + d.Default, d.About})
	}
	t.AppendRow(table.Row{"FILE.json", "a series-parallel graph; docs/simulator.md has the form"})
	t.AppendRow(table.Row{"FILE.txt", "the text of a trace, as package trace writes it"})
	t.Render()
	fmt.Fprintln(out)
	t = newTable(out)
	t.AppendHeader(table.Row{"scheduler", "what it does"})
	for _, name := range sim.Schedulers() {
		t.AppendRow(table.Row{name, sim.About(name)})
	}
	t.Render()
	fmt.Fprintln(out)
	t = newTable(out)
	t.AppendHeader(table.Row{"kernel", "which workers have a processor"})
	for _, name := range kernel.Names() {
		about := kernel.About(name)
		if name == kernelTrace {
			name = "FILE"
		}
		t.AppendRow(table.Row{name, about})
	}
	t.Render()
}
