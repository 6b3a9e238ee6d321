package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/filch-go/filch/internal/sim"
)

// printSim prints a row for each run.
func printSim(out io.Writer, results []*sim.Result, colour bool) {
	t := newTable(out, colour)
	var misses, away, wasted bool
	for _, r := range results {
		misses = misses || r.Misses > 0
		away = away || r.PA < float64(r.Workers)
		wasted = wasted || r.Wasted > 0
	}
	head := table.Row{"DAG", "scheduler", "workers", "seed", "T1", "Tinf", "time", "speed-up", "of bound", "idle", "steals", "attempts", "moved", "deque", "live"}
	if misses {
		head = append(head, "misses")
	}
	if away {
		head = append(head, "PA")
	}
	if wasted {
		head = append(head, "wasted")
	}
	t.AppendHeader(head)
	var right []table.ColumnConfig
	for i := 3; i <= len(head); i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	dag := ""
	for _, r := range results {
		if dag != "" && dag != r.DAG {
			t.AppendSeparator()
		}
		dag = r.DAG
		row := table.Row{r.DAG, r.Scheduler, r.Workers, r.Seed, r.T1, r.Tinf, r.Time,
			digits(r.Speedup()), fmt.Sprintf("%.2f", r.OfBound()), fmt.Sprintf("%.0f%%", 100*r.IdleShare()),
			count(r.Steals), count(r.Attempts), count(r.Migrations), count(int64(r.MaxDeque)), count(int64(r.MaxLive))}
		if misses {
			row = append(row, count(r.Misses))
		}
		if away {
			row = append(row, digits(r.PA))
		}
		if wasted {
			row = append(row, fmt.Sprintf("%.0f%%", 100*float64(r.Wasted)/float64(max(1, r.T1+r.Wasted))))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// listSim prints what there is to simulate.
func listSim(out io.Writer) {
	t := newTable(out, isTerminal(out))
	t.AppendHeader(table.Row{"DAG", "what it is"})
	for _, d := range sim.DAGs() {
		t.AppendRow(table.Row{d.Example, d.About})
	}
	t.AppendRow(table.Row{"FILE.json", "a series-parallel graph; docs/simulator.md has the form"})
	t.Render()
	fmt.Fprintln(out)
	t = newTable(out, isTerminal(out))
	t.AppendHeader(table.Row{"scheduler", "what it does"})
	for _, name := range sim.Schedulers() {
		t.AppendRow(table.Row{name, sim.About(name)})
	}
	t.Render()
	fmt.Fprintln(out)
	t = newTable(out, isTerminal(out))
	t.AppendHeader(table.Row{"kernel", "which workers have a processor"})
	for _, name := range sim.Kernels() {
		t.AppendRow(table.Row{name, sim.AboutKernel(name)})
	}
	t.Render()
}
