package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// takeaway says in a sentence what a chart shows, or "" where that takes two things to compare.
func (c *chart) takeaway() string {
	kind, _, _ := strings.Cut(c.name, "-")
	switch {
	case len(c.panels) > 0:
		return c.highest()
	case kind == "spread":
		return c.widest()
	case kind == "speed": // speed-up
		return c.ahead(func(ours, other float64) float64 { return ours / other })
	}
	return c.ahead(func(ours, other float64) float64 { return other / ours })
}

// ahead counts the programs in which the best of filch's executors is ahead of all others, by how many times as good it is. The serial
// program is not one of the others: it is the measure.
func (c *chart) ahead(by func(ours, other float64) float64) string {
	wins, all := 0, 0
	behind, where := 1.0, ""
	for _, l := range c.lines {
		best := func(mine bool) (x float64) {
			for _, p := range l.points {
				if look := c.looks[p.executor]; look.ours == mine && look.name != "serial" && look.name != "at-once" && (x == 0 || by(p.mid, x) > 1) {
					x = p.mid
				}
			}
			return x
		}
		ours, other := best(true), best(false)
		if ours == 0 || other == 0 {
			continue
		}
		all++
		if times := by(ours, other); times >= 1 {
			wins++
		} else if times < behind {
			behind, where = times, l.name
		}
	}
	switch {
	case all == 0:
		return ""
	case where == "":
		return fmt.Sprintf("Of the parallel executors, filch is ahead in all of %d.", all)
	}
	return fmt.Sprintf("Of the parallel executors, filch is ahead in %d of %d; furthest behind in %s, by %s times.", wins, all, where, digits(1/behind))
}

// widest tells how far the runs lie apart.
func (c *chart) widest() string {
	var apart []float64
	most, where := 0.0, ""
	for _, l := range c.lines {
		for _, p := range l.points {
			x := p.high - p.low
			apart = append(apart, x)
			if x > most {
				most, where = x, l.name+" by "+c.looks[p.executor].name
			}
		}
	}
	if len(apart) < 2 {
		return ""
	}
	return fmt.Sprintf("From the fastest run to the slowest it is %.0f%% of the median in half of the rows, and at most %.0f%%, in %s.", 100*median(apart), 100*most, where)
}

// highest names the curves that end highest and lowest, by the geometric mean of the panels.
func (c *chart) highest() string {
	logs := map[int][]float64{}
	last := 0.0
	for _, p := range c.panels {
		for _, curve := range p.curves {
			end := slices.MaxFunc(curve, func(a, b point) int { return cmp.Compare(a.x, b.x) })
			if end.mid > 0 {
				logs[end.executor] = append(logs[end.executor], math.Log(end.mid))
				last = max(last, end.x)
			}
		}
	}
	var all []int
	for executor, ls := range logs {
		if len(ls) == len(c.panels) {
			all = append(all, executor)
		}
	}
	if len(all) < 2 {
		return ""
	}
	mean := func(executor int) (sum float64) {
		for _, l := range logs[executor] {
			sum += l / float64(len(logs[executor]))
		}
		return math.Exp(sum)
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(mean(b), mean(a)), cmp.Compare(a, b)) })
	first, end := all[0], all[len(all)-1]
	if mean(first) < 1.02*mean(end) {
		return fmt.Sprintf("On %.0f workers all are within 2%%.", last)
	}
	return fmt.Sprintf("On %.0f workers, highest is %s, %s, and lowest %s, %s%s.", last,
		c.looks[first].name, digits(mean(first)), c.looks[end].name, digits(mean(end)), map[bool]string{true: ", as geometric means"}[len(c.panels) > 1])
}
