package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/sim"
)

// simColumn is a figure of a run: in the table, and if it is asked for by name in a picture.
type simColumn struct {
	name  string
	title string // of the picture
	of    func(*sim.Result) float64
	show  func(float64) string
	when  func(*sim.Result) bool // a run has it; nil if all have
	asked bool                   // it is shown if it is asked for alone
}

// simColumns are all there are, in their order.
var simColumns = []simColumn{
	{name: "T1", title: "Work", of: func(r *sim.Result) float64 { return float64(r.T1) }, show: whole},
	{name: "Tinf", title: "Span", of: func(r *sim.Result) float64 { return float64(r.Tinf) }, show: whole},
	{name: "time", title: "Time", of: func(r *sim.Result) float64 { return float64(r.Time) }, show: whole},
	{name: "speed-up", title: "Simulated speed-up", of: (*sim.Result).Speedup, show: digits},
	{name: "of bound", title: "Time over T1/P + Tinf", of: (*sim.Result).OfBound, show: hundredths},
	{name: "spans", title: "Time beyond T1/P, over the span", of: (*sim.Result).Spans, show: hundredths, asked: true},
	{name: "efficiency", title: "Efficiency", of: (*sim.Result).Efficiency, show: percent, asked: true},
	{name: "idle", title: "Idle share", of: (*sim.Result).IdleShare, show: percent},
	{name: "steals", title: "Steals", of: func(r *sim.Result) float64 { return float64(r.Steals) }, show: counted},
	{name: "attempts", title: "Attempts to steal", of: func(r *sim.Result) float64 { return float64(r.Attempts) }, show: counted},
	{name: "moved", title: "Threads that moved", of: func(r *sim.Result) float64 { return float64(r.Migrations) }, show: counted},
	{name: "deque", title: "The longest queue", of: func(r *sim.Result) float64 { return float64(r.MaxDeque) }, show: counted},
	{name: "live", title: "Threads alive at once", of: func(r *sim.Result) float64 { return float64(r.MaxLive) }, show: counted},
	{name: "misses", title: "Misses of the workers' caches", of: func(r *sim.Result) float64 { return float64(r.Misses) }, show: counted,
		when: func(r *sim.Result) bool { return r.Misses > 0 }},
	{name: "M1", title: "Misses of one worker", of: func(r *sim.Result) float64 { return float64(r.M1) }, show: counted, asked: true},
	{name: "shared misses", title: "Misses of the shared cache", of: func(r *sim.Result) float64 { return float64(r.Shared) }, show: counted,
		when: func(r *sim.Result) bool { return r.Shared > 0 }},
	{name: "inversions", title: "Inversions", of: func(r *sim.Result) float64 { return float64(r.Inversions) }, show: counted,
		when: func(r *sim.Result) bool { return r.Inversions > 0 }},
	{name: "PA", title: "Workers with a processor, on average", of: func(r *sim.Result) float64 { return r.PA }, show: digits,
		when: func(r *sim.Result) bool { return r.PA < float64(r.Workers) }},
	{name: "wasted", title: "Steps in vain", of: func(r *sim.Result) float64 { return float64(r.Wasted) / float64(max(1, r.T1+r.Wasted)) }, show: percent,
		when: func(r *sim.Result) bool { return r.Wasted > 0 }},
}

// speedUp is the column of that name.
var speedUp = simColumns[slices.IndexFunc(simColumns, func(c simColumn) bool { return c.name == "speed-up" })]

func whole(x float64) string      { return fmt.Sprintf("%.0f", x) }
func hundredths(x float64) string { return fmt.Sprintf("%.2f", x) }
func percent(x float64) string    { return fmt.Sprintf("%.0f%%", 100*x) }
func counted(x float64) string    { return count(int64(math.Round(x))) }

// columnsOf returns the columns of these names; of no names, those that each result has.
func columnsOf(names []string) (all []simColumn, err error) {
	var known []string
	for _, c := range simColumns {
		known = append(known, c.name)
	}
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("--columns %s: there is none of that name; there are %s", name, strings.Join(known, ", "))
		}
		all = append(all, simColumns[i])
	}
	return all, nil
}

// usual returns the columns that are shown if none is asked for.
func usual(results []*sim.Result) (all []simColumn) {
	for _, c := range simColumns {
		if !c.asked && (c.when == nil || slices.ContainsFunc(results, c.when)) {
			all = append(all, c)
		}
	}
	return all
}

// summaries make one figure of those of runs that differ in nothing but the seed. The figures are in order.
var summaries = map[string]func([]float64) float64{
	"mean": func(xs []float64) (sum float64) {
		for _, x := range xs {
			sum += x
		}
		return sum / float64(len(xs))
	},
	"median": func(xs []float64) float64 { return xs[len(xs)/2] },
	"most":   func(xs []float64) float64 { return xs[len(xs)-1] },
}

// summary returns the figure of a column for runs that differ in nothing but the seed.
func (c simColumn) summary(by string, runs []*sim.Result) float64 {
	var xs []float64
	for _, r := range runs {
		xs = append(xs, c.of(r))
	}
	slices.Sort(xs)
	return summaries[by](xs)
}

// alike returns the runs in groups that differ in nothing but the seed. Such runs follow one another.
func alike(results []*sim.Result) (groups [][]*sim.Result) {
	for i, r := range results {
		if i == 0 || results[i-1].DAG != r.DAG || results[i-1].Scheduler != r.Scheduler || results[i-1].Topology != r.Topology || results[i-1].Workers != r.Workers {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], r)
	}
	return groups
}
