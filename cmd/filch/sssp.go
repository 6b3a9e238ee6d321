package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/filch-go/filch/internal/sssp"
)

// ssspPrograms are the ways to find shortest paths. Those without workers are serial.
var ssspPrograms = []struct {
	name     string
	serial   func(g *sssp.Graph, from uint32) []uint64
	parallel func(g *sssp.Graph, from uint32, workers int) ([]uint64, sssp.Work)
}{
	{"Dijkstra, container/heap", sssp.ContainerHeap, nil},
	{"Dijkstra, binary heap", sssp.Heap, nil},
	{"ordered.Queue", nil, sssp.Ordered},
	{"a pool by priority", nil, sssp.Pool},
}

// ssspGraph is a graph that is made when its turn comes.
type ssspGraph struct {
	name string
	load func() *sssp.Graph
}

// ssspGraphs returns the graphs that the options ask for.
func ssspGraphs(o options) (graphs []ssspGraph, err error) {
	const maxWeight, seed = 1000, 1
	kinds := map[string]func(n int) ssspGraph{
		"grid": func(n int) ssspGraph {
			return ssspGraph{fmt.Sprintf("grid of %d x %d", n, n), func() *sssp.Graph { return sssp.Grid(n, maxWeight, seed) }}
		},
		"rmat": func(n int) ssspGraph {
			return ssspGraph{fmt.Sprintf("R-MAT of scale %d", n), func() *sssp.Graph { return sssp.RMAT(n, 8, maxWeight, seed) }}
		},
	}
	limits := map[string][2]int{"grid": {2, 10_000}, "rmat": {1, 26}}
	for i, size := range o.sizes {
		if slices.Contains(o.sizes[:i], size) {
			return nil, fmt.Errorf("--size %s is there twice", size)
		}
		kind, number, _ := strings.Cut(size, "=")
		make, ok := kinds[kind]
		if !ok {
			return nil, fmt.Errorf("--size %s: sssp has grid=<side> and rmat=<scale>", size)
		}
		n, err := strconv.Atoi(number)
		if l := limits[kind]; err != nil || n < l[0] || n > l[1] {
			return nil, fmt.Errorf("--size %s: not a number from %d to %d", size, l[0], l[1])
		}
		graphs = append(graphs, make(n))
	}
	if o.input != "" {
		if info, err := os.Stat(o.input); err != nil {
			return nil, fmt.Errorf("--input: %w", err)
		} else if info.IsDir() {
			return nil, fmt.Errorf("--input %s: is a folder; sssp reads a DIMACS .gr file", o.input)
		}
		g, err := readGraph(o.input) // now, and not after all else was measured
		if err != nil {
			return nil, err
		}
		graphs = append(graphs, ssspGraph{filepath.Base(o.input), func() *sssp.Graph { return g }})
	}
	if len(graphs) == 0 {
		graphs = append(graphs, kinds["grid"](1000), kinds["rmat"](18))
	}
	return graphs, nil
}

func readGraph(path string) (*sssp.Graph, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--input: %w", err)
	}
	defer f.Close()
	g, err := sssp.Read(f)
	if err != nil {
		return nil, fmt.Errorf("--input %s: %w", path, err)
	}
	return g, nil
}

// benchSSSP measures shortest paths on each graph, and writes a table. The rows are
// for a report.
func benchSSSP(out, progress io.Writer, graphs []ssspGraph, workers []int, runs int) (rows []*row) {
	perGraph := 0
	for _, p := range ssspPrograms {
		if perGraph++; p.parallel != nil {
			perGraph += len(workers) - 1
		}
	}
	bar := newProgress(progress, len(graphs)*perGraph*(1+runs))
	for _, graph := range graphs {
		bar.step("sssp "+graph.name, 0)
		rows = append(rows, measureSSSP(graph.load(), graph.name, workers, runs, func() { bar.step("", 1) })...)
	}
	bar.done()
	printSSSP(out, rows)
	return rows
}

func measureSSSP(g *sssp.Graph, name string, workers []int, runs int, step func()) []*row {
	type candidate struct {
		*row
		run           func() ([]uint64, sssp.Work)
		wasted, stale []float64
	}
	var all []*candidate
	for _, p := range ssspPrograms {
		add := func(workers int, run func() ([]uint64, sssp.Work)) {
			r := &row{Workload: "sssp", Size: name, Executor: p.name, Workers: workers, OK: true, Runs: runs}
			all = append(all, &candidate{row: r, run: run})
		}
		if p.serial != nil {
			add(1, func() ([]uint64, sssp.Work) { return p.serial(g, 0), sssp.Work{} })
			continue
		}
		for _, n := range workers {
			add(n, func() ([]uint64, sssp.Work) { return p.parallel(g, 0, n) })
		}
	}
	want := sssp.Heap(g, 0)
	reached := 0
	for _, d := range want {
		if d != sssp.Far {
			reached++
		}
	}
	for i := range runs + 1 { // the first is to warm up
		for k := range all {
			c := all[(k+i)%len(all)]
			runtime.GC()
			begin := time.Now()
			got, work := c.run()
			took := time.Since(begin)
			c.OK = c.OK && slices.Equal(got, want)
			step()
			if i == 0 {
				continue
			}
			c.Times = append(c.Times, took)
			if work.Relaxed > 0 {
				c.wasted = append(c.wasted, work.Wasted(got))
				c.stale = append(c.stale, float64(work.Stale)/float64(reached))
			}
		}
	}
	var rows []*row
	for _, c := range all {
		c.Forks = int64(reached)
		c.summarize()
		c.Answer = fmt.Sprintf("%d of %d vertices reached", reached, g.Vertices())
		if c.wasted != nil {
			c.Wasted, c.Stale = median(c.wasted), median(c.stale)
		}
		rows = append(rows, c.row)
	}
	compareSSSP(rows)
	return rows
}

// compareSSSP fills in what the rows of a graph say in terms of the best serial one.
func compareSSSP(rows []*row) {
	best := rows[0]
	for i, p := range ssspPrograms {
		if p.serial != nil && rows[i].Median < best.Median { // they come first
			best = rows[i]
		}
	}
	for _, r := range rows {
		r.Serial = best.Median
		r.Speedup = 1 / over(r, best)
	}
}

func printSSSP(out io.Writer, rows []*row) {
	t := newTable(out)
	t.AppendHeader(table.Row{"graph", "program", "workers", "time", "spread", "of best serial", "wasted", "stale", "ns/vertex"})
	t.right(3, 9)
	groups := groups{t: t}
	for _, r := range rows {
		name := r.Size
		if !groups.begins(name) {
			name = ""
		}
		wasted, stale := "", ""
		if r.Wasted > 0 || r.Stale > 0 {
			wasted, stale = fmt.Sprintf("%.1f%%", 100*r.Wasted), fmt.Sprintf("%.0f%%", 100*r.Stale)
		}
		program := r.Executor
		if !r.OK {
			program += " WRONG"
		}
		t.AppendRow(table.Row{name, program, r.Workers, duration(r.Median), spread(r), fmt.Sprintf("%.2f", 1/r.Speedup), wasted, stale, digits(r.NsPerFork)})
	}
	t.Render()
}

// ssspBars are the goals for the grid.
func ssspBars(rows []*row) (bs []bar) {
	for _, r := range rows {
		if strings.HasPrefix(r.Size, "grid") && r.Executor == "ordered.Queue" && r.Workers == 2 {
			bs = append(bs,
				bar{"shortest paths with two workers, of the best serial time, " + r.Size, 1 / r.Speedup, 0.65, serials, 0, true},
				bar{"wasted work in it", 100 * r.Wasted, 10, "%", 0, true})
		}
	}
	return bs
}

// runSSSP is the command.
func runSSSP(out, stderr io.Writer, o options, args []string) error {
	switch {
	case len(args) > 1:
		return errors.New("sssp is measured apart from other workloads")
	case len(o.executors) > 0 || o.markdown:
		return errors.New("sssp knows no --executors and --markdown")
	}
	if err := o.check(); err != nil {
		return err
	}
	graphs, err := ssspGraphs(o)
	if err != nil {
		return err
	}
	file, err := newOutputs(o)
	if err != nil {
		return err
	}
	rows := benchSSSP(out, stderr, graphs, o.workers, o.runs)
	r := report{Machine: thisMachine(), Rows: rows, Bars: ssspBars(rows)}
	fmt.Fprintln(out)
	say(out, "%s", r.footer())
	if o.bars {
		printBars(out, r.Bars)
	}
	return finish(out, stderr, file, r)
}
