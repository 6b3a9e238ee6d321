package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/filch-go/filch/internal/sim"
)

// simCharts draws up the pictures of simulated runs. Of runs that differ in nothing but the seed, the median
// is shown.
func simCharts(results []*sim.Result, dags []simDAG) (all []*chart) {
	s := simPictures{results: results, dags: dags}
	for _, r := range results {
		if !slices.ContainsFunc(s.looks, func(l look) bool { return l.name == r.Scheduler }) {
			s.looks = append(s.looks, look{r.Scheduler, r.Scheduler == "pool", len(s.looks)})
		}
	}
	for _, c := range []*chart{s.speedUps(), s.space(), s.steals()} {
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

// chart adds a panel for each DAG: a curve for each scheduler, and the bounds for so many workers.
func (s simPictures) chart(c *chart, of func(*sim.Result) float64, bounds func(d *simDAG, p float64) []float64) *chart {
	for i := range s.dags {
		d := &s.dags[i]
		n := panel{name: d.name, wide: true}
		var counts []float64
		for look, l := range s.looks {
			curve := s.curve(look, func(r *sim.Result) bool { return r.DAG == d.name && r.Scheduler == l.name }, of)
			for _, q := range curve {
				counts = append(counts, q.x)
			}
			if len(curve) > 0 {
				n.curves = append(n.curves, curve)
			}
		}
		slices.Sort(counts)
		counts = slices.Compact(counts)
		for k := range bounds(d, 1) {
			var bound []point
			for _, p := range counts {
				bound = append(bound, point{x: p, mid: bounds(d, p)[k]})
			}
			n.bounds = append(n.bounds, bound)
		}
		if len(n.curves) > 0 {
			c.panels = append(c.panels, n)
		}
	}
	return c
}

// curve returns the medians by the number of workers, of what is not 0.
func (s simPictures) curve(look int, is func(*sim.Result) bool, of func(*sim.Result) float64) (curve []point) {
	values := map[int][]float64{}
	for _, r := range s.results {
		if is(r) {
			values[r.Workers] = append(values[r.Workers], of(r))
		}
	}
	for workers, vs := range values {
		slices.Sort(vs)
		if v := vs[len(vs)/2]; v > 0 && !math.IsInf(v, 0) {
			curve = append(curve, point{executor: look, x: float64(workers), mid: v})
		}
	}
	slices.SortFunc(curve, func(a, b point) int { return int(a.x - b.x) })
	return curve
}

// simSource says what the pictures are of.
func (s *simulation) source() string {
	if s.seeds == 1 {
		return fmt.Sprintf("filch sim, seed %d; steps of simulated time", s.seed)
	}
	return fmt.Sprintf("filch sim, medians of %d seeds from %d on; steps of simulated time", s.seeds, s.seed)
}
