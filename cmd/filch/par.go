package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// parSizes are the numbers of elements if none are given.
var parSizes = []int{1000, 100_000, 10_000_000}

// parPlan is what to measure.
type parPlan struct {
	algorithms []parAlgorithm
	sizes      []int
	workers    []int
	runs       int
}

func newParPlan(names []string, o options) (*parPlan, error) {
	p := &parPlan{algorithms: parAlgorithms, sizes: parSizes, workers: o.workers, runs: o.runs}
	if len(names) > 0 {
		p.algorithms = nil
	}
	for _, name := range names {
		i := slices.IndexFunc(parAlgorithms, func(a parAlgorithm) bool { return a.name == name })
		if i < 0 {
			var all []string
			for _, a := range parAlgorithms {
				all = append(all, a.name)
			}
			return nil, fmt.Errorf("unknown algorithm %q; there are %s", name, strings.Join(all, ", "))
		}
		if slices.ContainsFunc(p.algorithms, func(a parAlgorithm) bool { return a.name == name }) {
			return nil, fmt.Errorf("algorithm %s is there twice", name)
		}
		p.algorithms = append(p.algorithms, parAlgorithms[i])
	}
	if len(o.sizes) > 0 {
		p.sizes = nil
	}
	for _, size := range o.sizes {
		n, err := strconv.Atoi(size)
		if err != nil || n < 2 || n > 100_000_000 {
			return nil, fmt.Errorf("--size %s: not a number of elements from 2 to 100000000", size)
		}
		if slices.Contains(p.sizes, n) {
			return nil, fmt.Errorf("--size %s is there twice", size)
		}
		p.sizes = append(p.sizes, n)
	}
	return p, nil
}

// parCandidate is a program that is being measured.
type parCandidate struct {
	*row
	run    func()
	before func()
	reps   int
}

// measure measures all and calls step before each group of programs.
func (p *parPlan) measure(step func(what string)) (rows []*row) {
	pools := make([]*filch.Pool, len(p.workers))
	for i, n := range p.workers {
		pools[i] = filch.New(filch.WithWorkers(n))
		defer pools[i].Close()
	}
	for _, a := range p.algorithms {
		done := 0
		for _, n := range p.sizes {
			if a.most > 0 {
				n = min(n, a.most)
			}
			if n == done {
				continue
			}
			done = n
			step(fmt.Sprintf("%s %d", a.name, n))
			rows = append(rows, p.measureGroup(a, n, pools)...)
		}
	}
	return rows
}

func (p *parPlan) measureGroup(a parAlgorithm, n int, pools []*filch.Pool) (rows []*row) {
	d := newParData(n, a.strings)
	var all []*parCandidate
	add := func(executor string, workers int, run func(*parData)) {
		r := &row{Workload: "par/" + a.name, Size: strconv.Itoa(n), Executor: executor, Workers: workers, Forks: int64(n)}
		rows = append(rows, r)
		c := &parCandidate{row: r, run: func() { run(d) }}
		if a.before != nil {
			c.before = func() { a.before(d) }
		}
		all = append(all, c)
	}
	add("serial", 1, a.serial)
	most := slices.Max(p.workers)
	for _, name := range parRivals {
		rival := a.rivals[name]
		if rival == nil {
			continue
		}
		if name == "lo" && n > loMost {
			rows = append(rows, &row{Workload: "par/" + a.name, Size: strconv.Itoa(n), Executor: name, Workers: most,
				Note: "a goroutine for each element would take more memory than there is"})
			continue
		}
		add(name, most, func(d *parData) { rival(d, most) })
	}
	for i, pool := range pools {
		add("filch", p.workers[i], func(d *parData) { a.filch(pool, d) })
	}
	var want uint64
	for i := range p.runs + 1 {
		for k := range all {
			c := all[(k+i)%len(all)]
			d.forget()
			c.once()
			if a.random {
				slices.Sort(d.y)
			}
			got := d.result()
			if i == 0 && k == 0 { // it is the serial program's turn
				want = got
			}
			if c.OK = got == want && (i == 0 || c.OK); !c.OK {
				c.Answer = "not that of the serial program"
			}
		}
	}
	for _, c := range all {
		c.summarize()
	}
	serial := all[0].row
	for _, c := range all {
		c.Serial, c.Speedup = serial.Median, 1/over(c.row, serial)
	}
	return rows
}

// once makes one run; the first is to warm up, and tells how often to repeat what takes little.
func (c *parCandidate) once() {
	runtime.GC()
	warm := c.reps > 0
	var took time.Duration
	if c.before != nil {
		for range max(1, c.reps) {
			c.before()
			begin := time.Now()
			c.run()
			took += time.Since(begin)
		}
	} else {
		begin := time.Now()
		for range max(1, c.reps) {
			c.run()
		}
		took = time.Since(begin)
	}
	if !warm {
		c.reps = int(min(max(enough/max(took, 1), 1), 100_000))
		return
	}
	c.Runs++
	c.Times = append(c.Times, took/time.Duration(c.reps))
}

func printPar(out io.Writer, rows []*row, workers []int, markdown bool) {
	t := newTable(out)
	header := table.Row{"algorithm", "elements", "serial", "ns each"}
	type column struct {
		executor string
		workers  int
	}
	var columns []column
	for _, name := range parRivals {
		columns = append(columns, column{name, slices.Max(workers)})
		header = append(header, name)
	}
	for _, n := range workers {
		columns = append(columns, column{"filch", n})
		header = append(header, fmt.Sprintf("filch, %d", n))
	}
	t.AppendHeader(header)
	t.right(2, len(header))
	groups := groups{t: t}
	var line table.Row
	for i, r := range rows {
		if r.Executor == "serial" {
			name := strings.TrimPrefix(r.Workload, "par/")
			if !groups.begins(name) {
				name = ""
			}
			line = make(table.Row, len(header))
			line[0], line[1], line[2], line[3] = name, r.Size, duration(r.Median), digits(r.NsPerFork)
			for k := range columns {
				line[4+k] = "-"
			}
		} else {
			k := slices.Index(columns, column{r.Executor, r.Workers})
			switch {
			case r.Runs == 0:
				line[4+k] = "not run"
			case !r.OK:
				line[4+k] = "WRONG"
			default:
				line[4+k] = digits(r.Speedup)
			}
		}
		if i+1 == len(rows) || rows[i+1].Executor == "serial" {
			t.AppendRow(line)
		}
	}
	t.print(markdown)
}

// parBars are the goals that the rows have figures for.
func parBars(rows []*row) (bs []bar) {
	find := func(name, size string) *row {
		for _, r := range rows {
			if r.Workload == "par/"+name && r.Size == size && r.Executor == "filch" && r.Workers == 2 && r.Runs > 0 {
				return r
			}
		}
		return nil
	}
	for _, goal := range []struct {
		name, size string
		speedup    float64
	}{{"Sort", "10000000", 7}, {"Sort-strings", "1000000", 2}, {"SortFunc", "10000000", 1.9}, {"Map-skewed", "1000000", 1.9}} {
		if r := find(goal.name, goal.size); r != nil {
			bs = append(bs, bar{fmt.Sprintf("%s of %s against serial", goal.name, goal.size), r.Speedup, goal.speedup, "x", 0, false})
		}
	}
	if r := find("For-empty", "10000000"); r != nil {
		call, store := yardsticks()
		small := smallFor()
		bs = append(bs, bar{"an element of an empty For of 10000000", r.NsPerFork / call, 0.4, calls, r.NsPerFork, true},
			bar{"an empty For of 2", small / store, 200, stores, small, true})
	}
	for _, name := range []string{"ReduceRange", "Scan"} {
		if r, c := find(name, "10000000"), find("Copy", "10000000"); r != nil && c != nil {
			bytes := map[string]float64{"ReduceRange": 8, "Scan": 24}[name]
			bs = append(bs, bar{fmt.Sprintf("bytes a second that %s reads and writes, of Copy's", name), bytes / 16 * float64(c.Median) / float64(r.Median), 1, "x", 0, false})
		}
	}
	var worst *row
	for _, r := range rows {
		if r.Executor == "filch" && r.Workers == 2 && r.Runs > 0 && r.Forks <= 1000 && (worst == nil || r.Speedup < worst.Speedup) {
			worst = r
		}
	}
	if worst != nil {
		bs = append(bs, bar{fmt.Sprintf("the worst of up to 1,000 elements, %s, against serial", worst.Workload[len("par/"):]), 1 / worst.Speedup, 1.35, serials, 0, true})
	}
	return bs
}

// smallFor measures a loop of two elements that do nothing, in nanoseconds.
func smallFor() float64 {
	const n = 100_000
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var times []float64
	for range 5 {
		begin := time.Now()
		for range n {
			par.For(p, 2, func(int) {})
		}
		times = append(times, float64(time.Since(begin))/n)
	}
	return median(times)
}

// printMemory tells how fast memory is gone through, by what moves next to nothing else.
func printMemory(out io.Writer, rows []*row) {
	size := 0
	for _, r := range rows {
		size = max(size, int(r.Forks))
	}
	var parts []string
	for _, p := range []struct {
		name  string
		bytes int // of an element, read and written
	}{{"Copy", 16}, {"Fill", 8}, {"Sum", 8}, {"Reduce", 8}, {"ReduceRange", 8}, {"Scan", 24}, {"MinMax", 8}} {
		for _, r := range rows {
			if r.Workload == "par/"+p.name && int(r.Forks) == size && r.Executor == "filch" && r.Workers == 2 && r.Runs > 0 {
				parts = append(parts, fmt.Sprintf("%s %.1f", p.name, float64(p.bytes)*float64(r.Forks)/float64(r.Median.Nanoseconds())))
			}
		}
	}
	if len(parts) > 1 {
		fmt.Fprintf(out, "\nGB/s read and written, %d elements of 8 bytes, two workers: %s\n", size, strings.Join(parts, ", "))
	}
}

// runPar is the command.
func runPar(out, stderr io.Writer, o options, args []string) error {
	switch {
	case args[0] != "par":
		return errors.New("par is measured apart from other workloads, and comes before the names of its algorithms")
	case len(o.executors) > 0 || o.input != "":
		return errors.New("par knows no --executors and --input")
	}
	if err := o.check(); err != nil {
		return err
	}
	plan, err := newParPlan(args[1:], o)
	if err != nil {
		return err
	}
	file, err := newOutputs(o)
	if err != nil {
		return err
	}
	bar := newProgress(stderr, len(plan.algorithms)*len(plan.sizes))
	rows := plan.measure(func(what string) { bar.step("par "+what, 1) })
	bar.done()
	printPar(out, rows, o.workers, o.markdown)
	r := report{Machine: thisMachine(), Rows: rows, Bars: parBars(rows)}
	fmt.Fprintln(out)
	say(out, "Times faster than serial, which is a plain loop, or package slices. %s", r.footer())
	if !o.markdown {
		printMemory(out, rows)
	}
	if o.bars {
		printBars(out, r.Bars)
	}
	return finish(out, stderr, file, r)
}
