package main

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
)

// mostGrain is the exponent of the most steps that a leaf is tried with.
const mostGrain = 20

// grain is how many steps a leaf must take so that workers spend enough of their time on the work: the least power of
// 2. If none does, runs is nil.
type grain struct {
	like   sim.Result // says what was run
	weight int64
	runs   []*sim.Result // with leaves of that weight
}

// checkEfficiency returns what is wrong with the flags if --efficiency is given.
func (s *simulation) checkEfficiency() error {
	switch {
	case s.efficiency < 0 || s.efficiency > 99:
		return fmt.Errorf("--efficiency %d: must be from 1 to 99 percent", s.efficiency)
	case s.efficiency == 0:
		return nil
	case s.churn != "":
		return fmt.Errorf("--efficiency %d: does not go with --churn: heavier leaves are lost more often, so that there need not be a least weight", s.efficiency)
	case len(s.columns) > 0 || s.summary != "":
		return fmt.Errorf("--efficiency %d: has columns of its own; --columns and --summary do not go with it", s.efficiency)
	}
	for _, d := range s.dags {
		if isFile(d.name) || strings.Contains(d.name, "@") {
			return fmt.Errorf("--efficiency %d: the weight of leaves is to be found, but --dag %s gives it", s.efficiency, d.name)
		}
	}
	return nil
}

// findGrains finds the grain for each DAG, scheduler, topology and number of workers.
func (s *simulation) findGrains(stdout, stderr io.Writer) error {
	var kinds [][]simRun // that differ in the seed alone
	for i := 0; i < len(s.runs); i += s.seeds {
		kinds = append(kinds, s.runs[i:i+s.seeds])
	}
	weighted := coarsened{made: map[string]*simDAG{}}
	grains, err := inParallel(stderr, len(kinds), func(i int) (grain, error) {
		return weighted.find(kinds[i], float64(s.efficiency)/100)
	})
	if err != nil {
		return err
	}
	var results []*sim.Result
	for _, g := range grains {
		results = append(results, g.runs...)
	}
	s.printGrains(stdout, grains)
	return s.write(results, grainCharts(grains, s.dags, s.efficiency))
}

// find searches the weights. What is efficient with leaves of a weight is taken to be so with heavier ones.
func (c *coarsened) find(kind []simRun, efficiency float64) (grain, error) {
	first := kind[0]
	g := grain{like: sim.Result{DAG: first.dag.name, Scheduler: first.Scheduler, Workers: first.Workers, Topology: first.Topology.String()}}
	var err error
	sort.Search(mostGrain+1, func(k int) bool {
		if err != nil {
			return true
		}
		var sum float64
		var runs []*sim.Result
		if runs, err = c.run(kind, 1<<k); err != nil {
			return true
		}
		for _, r := range runs {
			sum += r.Efficiency()
		}
		if sum < efficiency*float64(len(runs)) {
			return false
		}
		g.weight, g.runs = 1<<k, runs // the last that is found is the least
		return true
	})
	return g, err
}

// run runs with leaves of a weight.
func (c *coarsened) run(kind []simRun, weight int64) (results []*sim.Result, err error) {
	d, err := c.get(kind[0].dag.name, weight)
	if err != nil {
		return nil, err
	}
	for _, k := range kind {
		k.Program, k.Facts = d.program, &d.facts
		r, err := sim.Run(k.Config)
		if err != nil {
			return nil, err
		}
		r.DAG = d.name
		results = append(results, r)
	}
	return results, nil
}

// coarsened are DAGs by the weight of their leaves, each measured once.
type coarsened struct {
	mu   sync.Mutex
	made map[string]*simDAG
}

func (c *coarsened) get(name string, weight int64) (*simDAG, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = fmt.Sprint(name, "@", weight)
	if d := c.made[name]; d != nil {
		return d, nil
	}
	d := &simDAG{}
	var err error
	if d.program, d.name, err = dag.Parse(name); err != nil {
		return nil, err
	}
	if d.facts, err = dag.Serial(d.program, nil); err != nil {
		return nil, fmt.Errorf("--dag %s: %w", name, err)
	}
	c.made[name] = d
	return d, nil
}

// printGrains prints a row for each grain.
func (s *simulation) printGrains(out io.Writer, grains []grain) {
	t := newTable(out)
	t.AppendHeader(table.Row{"DAG", "topology", "workers", "scheduler", "leaf, in steps", "leaf", "efficiency", "speed-up"})
	t.right(5, 8)
	g := groups{t: t}
	for _, found := range grains {
		r := found.like
		g.begins(fmt.Sprint(r.DAG, r.Scheduler))
		row := table.Row{r.DAG, r.Topology, r.Workers, r.Scheduler, fmt.Sprint("more than ", 1<<mostGrain), "", "", ""}
		if found.runs != nil {
			var efficiency, speedup float64
			for _, r := range found.runs {
				efficiency += r.Efficiency() / float64(len(found.runs))
				speedup += r.Speedup() / float64(len(found.runs))
			}
			row = append(row[:4], found.weight, time.Duration(found.weight)*s.step, percent(efficiency), digits(speedup))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// grainCharts draws up the picture of the grains.
func grainCharts(grains []grain, dags []simDAG, efficiency int) []*chart {
	var results []*sim.Result
	steps := map[*sim.Result]float64{}
	for _, g := range grains {
		if g.runs != nil {
			r := g.like
			results = append(results, &r)
			steps[&r] = float64(g.weight)
		}
	}
	c := simColumn{name: "grain", title: fmt.Sprintf("Steps of a leaf for an efficiency of %d%%", efficiency), of: func(r *sim.Result) float64 { return steps[r] }}
	return simCharts(results, dags, []simColumn{c}, "")
}
