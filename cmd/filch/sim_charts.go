package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
)

// simCharts draws up the pictures of simulated runs: of these columns, or of three. Of runs that differ in nothing
// but the seed, the summary is shown, or the median.
func simCharts(results []*sim.Result, dags []simDAG, columns []simColumn, summary string) (all []*chart) {
	if summary == "" {
		summary = "median"
	}
	s := simPictures{results: results, dags: dags, summary: summary}
	for _, r := range results {
		if !slices.ContainsFunc(s.looks, func(l look) bool { return l.name == r.Scheduler }) {
			s.looks = append(s.looks, lookAs(r.Scheduler, r.Scheduler == "pool", len(s.looks)))
		}
	}
	charts := []*chart{s.speedUps(), s.space(), s.steals()}
	if columns != nil {
		charts = nil
	}
	for _, c := range columns {
		charts = append(charts, s.column(c))
	}
	for _, c := range charts {
		c.looks = s.looks
		all = append(all, c.split()...)
	}
	return all
}

// simPictures is what the pictures show.
type simPictures struct {
	results []*sim.Result
	dags    []simDAG
	looks   []look
	summary string
}

// column shows a column by the number of workers.
func (s simPictures) column(c simColumn) *chart {
	switch c.name {
	case "speed-up":
		return s.speedUps()
	case "live":
		return s.space()
	case "steals":
		return s.steals()
	}
	drawn := &chart{name: strings.ReplaceAll(c.name, " ", "-"), title: c.title, axis: "workers, and " + strings.ToLower(c.title[:1]) + c.title[1:] + "; both axes are logarithmic",
		about: "What is 0 has no point."}
	bounds := func(*simDAG, float64) []float64 { return nil }
	switch c.name {
	case "time":
		drawn.about, drawn.axis = "Broken line: T1/P, or the span if that is more. No run takes less.", "workers, and steps; both axes are logarithmic"
		bounds = func(d *simDAG, p float64) []float64 {
			return []float64{max(float64(d.facts.Work)/p, float64(d.facts.Span))}
		}
	case "grain":
		drawn.about, drawn.axis = "Less is better: lighter tasks are enough.", "workers, and steps; both axes are logarithmic"
	case "spans":
		drawn.about = "Broken line: 5.5, the bound in theory."
		if slices.ContainsFunc(s.dags, func(d simDAG) bool { return bagOf(d) > 0 }) {
			drawn.about = "Broken line: the bound in theory, 5.5, or 3.65 log2 W for a bag of W tasks and half of a deque."
		}
		bounds = func(d *simDAG, _ float64) []float64 {
			if tasks := bagOf(*d); tasks > 0 {
				return []float64{3.65 * math.Log2(float64(tasks))}
			}
			return []float64{5.5}
		}
	}
	return s.chart(drawn, c.of, bounds)
}

// bagOf returns how many tasks of one step there are in a bag, or 0 for another DAG.
func bagOf(d simDAG) dag.Bag {
	tasks, _ := d.program.(dag.Bag)
	return tasks
}

// speedUps shows how many times as fast as one worker, and the bounds of it.
func (s simPictures) speedUps() *chart {
	return s.chart(&chart{name: "speed-up", title: "Simulated speed-up",
		axis:  "workers, and T1 over the time; both axes are logarithmic",
		about: "Broken lines: no run is faster than P, nor than T1/Tinf, and one that is always busy where it can be takes T1/P + Tinf at most."},
		(*sim.Result).Speedup,
		func(d *simDAG, p float64) []float64 {
			t1, tinf := float64(d.facts.Work), float64(d.facts.Span)
			return []float64{min(p, t1/tinf), t1 / (t1/p + tinf)}
		})
}

// space shows how many threads were alive, and the bound of continuation stealing.
func (s simPictures) space() *chart {
	return s.chart(&chart{name: "space", title: "Threads alive at once",
		axis:  "workers, and the most threads alive; both axes are logarithmic",
		about: "Broken line: P times as many as on one worker, which continuation stealing does not exceed."},
		func(r *sim.Result) float64 { return float64(r.MaxLive) },
		func(d *simDAG, p float64) []float64 { return []float64{p * float64(d.facts.Live)} })
}

// steals shows how often workers steal for each step of the span, and worker.
func (s simPictures) steals() *chart {
	return s.chart(&chart{name: "steals", title: "Steals over the span",
		axis:  "workers, and steals for each step of the span; both axes are logarithmic",
		about: "Broken line: one for each worker and step of the span. The bound in theory is a constant times that."},
		func(r *sim.Result) float64 { return float64(r.Steals) / float64(r.Tinf) },
		func(d *simDAG, p float64) []float64 { return []float64{p} })
}

// chart adds a panel for each DAG, and topology: a curve for each scheduler, and the bounds for so many workers.
func (s simPictures) chart(c *chart, of func(*sim.Result) float64, bounds func(d *simDAG, p float64) []float64) *chart {
	for i := range s.dags {
		d := &s.dags[i]
		var far []string
		for _, r := range s.results {
			if r.DAG == d.name && !slices.Contains(far, r.Topology) {
				far = append(far, r.Topology)
			}
		}
		for _, topology := range far {
			n := panel{name: d.name, wide: true}
			if topology != "" {
				n.name += " on " + topology
			}
			var counts []float64
			for look, l := range s.looks {
				curve := s.curve(look, func(r *sim.Result) bool { return r.DAG == d.name && r.Scheduler == l.name && r.Topology == topology }, of)
				for _, q := range curve {
					counts = append(counts, q.x)
				}
				if len(curve) > 0 {
					n.curves = append(n.curves, curve)
				}
			}
			slices.Sort(counts)
			n.bounds = boundsAt(slices.Compact(counts), func(p float64) []float64 { return bounds(d, p) })
			if len(n.curves) > 0 {
				c.panels = append(c.panels, n)
			}
		}
	}
	return c
}

// boundsAt returns the lines of the bounds at so many workers.
func boundsAt(counts []float64, bounds func(p float64) []float64) (lines [][]point) {
	for k := range bounds(1) {
		var line []point
		for _, p := range counts {
			line = append(line, point{x: p, mid: bounds(p)[k]})
		}
		lines = append(lines, line)
	}
	return lines
}

// curve returns the summaries by the number of workers, of what is not 0.
func (s simPictures) curve(look int, is func(*sim.Result) bool, of func(*sim.Result) float64) (curve []point) {
	values := map[int][]float64{}
	for _, r := range s.results {
		if is(r) {
			values[r.Workers] = append(values[r.Workers], of(r))
		}
	}
	for workers, vs := range values {
		slices.Sort(vs)
		if v := summaries[s.summary](vs); v > 0 && !math.IsInf(v, 0) {
			curve = append(curve, point{executor: look, x: float64(workers), mid: v})
		}
	}
	slices.SortFunc(curve, func(a, b point) int { return int(a.x - b.x) })
	return curve
}

// source says what the pictures are of.
func (s *simulation) source() string {
	if s.seeds == 1 {
		return fmt.Sprintf("filch sim, seed %d; steps of simulated time", s.seed)
	}
	of := map[string]string{"": "medians", "median": "medians", "mean": "means", "most": "the most"}[s.summary]
	return fmt.Sprintf("filch sim, %s of %d seeds from %d on; steps of simulated time", of, s.seeds, s.seed)
}
