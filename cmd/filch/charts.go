package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A chart is a picture of a report.
type chart struct {
	name  string // of its file
	title string
	part  int    // 0, or which one of several that belong together, from 1
	about string // what it shows, and how to read it
	axis  string

	looks []look // of the executors in it
	lines []line // of a chart of points
	// A chart has lines or panels.
	panels []panel

	parted  bool     // at one: what is on the left of it is slower
	sources []string // machine and versions
	apart   bool     // executors stand below one another, and not on one line
}

// A look is how an executor is drawn: what is filch's filled, and the others hollow.
type look struct {
	name  string
	ours  bool
	index int // among those that are filch's, or the others
}

// A line is a program, with a point for each executor.
type line struct {
	name   string
	points []point
	none   []int // the executors that have no figure
}

// A point is a median, or one of a curve.
type point struct {
	executor       int // its look
	x              float64
	low, mid, high float64
	runs           []float64 // each of them, if they were kept
	lost           bool
}

// A panel is a small chart of curves, both axes logarithmic.
type panel struct {
	name   string
	curves [][]point // of an executor each, by x
	bounds [][]point // broken lines, which what is measured is compared with
	wide   bool      // the values of the curves and the bounds alone are shown, and not 1
}

// mostTall is how many points or executors a chart may have below one another.
const mostTall = 130

// chartsOf draws up the charts of a report. Programs that do not fit into one chart go on in another.
func chartsOf(r report) (all []*chart) {
	looks := looksOf(r.Rows)
	lost := lost(losses(r.Rows))
	for _, c := range []*chart{speedUps(r.Rows, looks, lost), overheads(r.Rows, looks, lost), scaling(r.Rows, looks), spreads(r.Rows, looks)} {
		c.sources = r.sources()
		all = append(all, c.split()...)
	}
	return all
}

// file returns the name of the chart's file.
func (c *chart) file() string { return c.name + ".svg" }

// split makes several charts of one that is too long. A chart of nothing is none.
func (c *chart) split() (all []*chart) {
	n := len(c.lines) + len(c.panels)
	if n == 0 {
		return nil
	}
	most := 40
	if c.apart {
		most = max(1, mostTall/max(1, c.across()))
	}
	parts := (n + most - 1) / most
	if parts == 1 {
		c.onlyUsed()
		return []*chart{c}
	}
	for i := range parts {
		part := *c
		part.part = i + 1
		from, to := i*n/parts, (i+1)*n/parts
		if len(c.lines) > 0 {
			part.lines = c.lines[from:to]
		} else {
			part.panels = c.panels[from:to]
		}
		part.name = fmt.Sprintf("%s-%d", c.name, i+1)
		part.title = fmt.Sprintf("%s, %d of %d", c.title, i+1, parts)
		part.onlyUsed()
		all = append(all, &part)
	}
	return all
}

// across returns the greatest number of points of a line.
func (c *chart) across() (n int) {
	for _, l := range c.lines {
		n = max(n, len(l.points))
	}
	return n
}

// onlyUsed leaves the looks that the chart has nothing of out.
func (c *chart) onlyUsed() {
	used := map[int]int{}
	var looks []look
	for i, l := range c.looks {
		if c.uses(i) {
			used[i] = len(looks)
			looks = append(looks, l)
		}
	}
	move := func(ps []point) []point {
		return each(ps, func(p point) point { p.executor = used[p.executor]; return p })
	}
	c.looks = looks
	c.lines = each(c.lines, func(l line) line {
		return line{l.name, move(l.points), each(l.none, func(i int) int { return used[i] })}
	})
	c.panels = each(c.panels, func(p panel) panel { p.curves = each(p.curves, move); return p })
}

func (c *chart) uses(i int) bool {
	is := func(p point) bool { return p.executor == i }
	return slices.ContainsFunc(c.lines, func(l line) bool { return slices.ContainsFunc(l.points, is) || slices.Contains(l.none, i) }) ||
		slices.ContainsFunc(c.panels, func(p panel) bool {
			return slices.ContainsFunc(p.curves, func(ps []point) bool { return slices.ContainsFunc(ps, is) })
		})
}

// looksOf returns the executors of a report: filch's first, then the others.
func looksOf(rows []*row) (looks []look) {
	if i := slices.IndexFunc(rows, func(r *row) bool { return r.Executor == "filch" }); i > 0 {
		rows = append([]*row{rows[i]}, rows...) // whatever stands before it
	}
	for _, mine := range []bool{true, false} {
		n := 0
		for _, r := range rows {
			if ours(r) == mine && !slices.ContainsFunc(looks, func(l look) bool { return l.name == r.Executor }) {
				looks = append(looks, lookAs(r.Executor, mine, n))
				n++
			}
		}
	}
	return looks
}

func lookOf(looks []look, r *row) int {
	return slices.IndexFunc(looks, func(l look) bool { return l.name == r.Executor })
}

// programs returns the rows of each program: a workload in one size.
func programs(rows []*row) (all [][]*row) {
	for _, r := range rows {
		i := slices.IndexFunc(all, func(p []*row) bool { return p[0].Workload == r.Workload && p[0].Size == r.Size })
		if i < 0 {
			i = len(all)
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}

func programName(r *row) string { return strings.TrimSpace(r.Workload + " " + r.Size) }

// speedUps shows how many times as fast as the serial program each executor is.
func speedUps(rows []*row, looks []look, lost map[*row]bool) *chart {
	c := &chart{name: "speed-up", title: "Speed-up over the serial program", axis: "times as fast as serial", looks: looks, parted: true}
	var on []int // workers, for each line
	for _, p := range programs(rows) {
		l := line{name: programName(p[0])}
		most := mostWorkers(rows, p[0].Workload, p[0].Size)
		for _, r := range p {
			switch {
			case r.Serial == 0 || isSerial(r) || r.Workers != most:
			case r.Runs == 0:
				l.none = append(l.none, lookOf(looks, r))
			case r.Speedup > 0:
				by := func(d time.Duration) float64 { return r.Speedup / r.over(max(d, 1)) }
				l.points = append(l.points, point{executor: lookOf(looks, r), mid: r.Speedup, low: by(r.Max), high: by(r.Min), runs: each(r.Times, by), lost: lost[r]})
			}
		}
		if len(l.points) > 0 {
			c.lines = append(c.lines, l)
			on = append(on, most)
		}
	}
	c.sayWorkers(on)
	c.about = "A point is the median of the runs, its line goes from the slowest run to the fastest. Left of 1 the serial program is faster."
	return c
}

// sayWorkers says on how many workers each line was measured: in the title, if it was the same for all.
func (c *chart) sayWorkers(on []int) {
	if len(slices.Compact(slices.Clone(on))) == 1 {
		c.title += ", " + workersText(on[0])
		return
	}
	for i := range c.lines {
		c.lines[i].name += ", on " + strconv.Itoa(on[i])
	}
}

func workersText(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}

// unitOf is what ns_per_fork counts in a workload.
func unitOf(workload string) string {
	switch {
	case workload == "tasks" || workload == "sweep":
		return "task"
	case strings.HasPrefix(workload, "par/"):
		return "element"
	case workload == "sssp":
		return "vertex"
	}
	return "fork"
}

// overheads shows what a fork or a task takes, with what is done in it.
func overheads(rows []*row, looks []look, lost map[*row]bool) *chart {
	c := &chart{name: "overhead", looks: looks}
	var units []string
	var on []int // workers, for each line
	for _, p := range programs(rows) {
		n := workersOfOverhead(p)
		l := line{name: programName(p[0])}
		for _, r := range p {
			switch {
			case r.Forks == 0 || r.Workers != n && !isSerial(r):
			case r.Runs == 0:
				l.none = append(l.none, lookOf(looks, r))
			case r.NsPerFork > 0:
				by := func(d time.Duration) float64 { return r.NsPerFork * r.over(max(d, 1)) }
				l.points = append(l.points, point{executor: lookOf(looks, r), mid: r.NsPerFork, low: by(r.Min), high: by(r.Max), runs: each(r.Times, by), lost: lost[r]})
			}
		}
		if len(l.points) == 0 {
			continue
		}
		c.lines = append(c.lines, l)
		on = append(on, n)
		if u := unitOf(p[0].Workload); !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	unit := strings.Join(units, " or ")
	c.title = "Time of a " + unit
	if strings.HasPrefix(unit, "element") {
		c.title = "Time of an " + unit
	}
	c.sayWorkers(on)
	c.axis = "ns, less is better"
	c.about = "The time of a run over the number of its " + strings.Join(each(units, plural), " or ") +
		", with the work that is done in each. What is right of the serial program's point is overhead."
	if !slices.ContainsFunc(rows, isSerial) {
		c.about = "The time of a run over the number of its " + strings.Join(each(units, plural), " or ") + ", with the work that is done in each."
	}
	return c
}

func plural(s string) string {
	if s == "vertex" {
		return "vertices"
	}
	return s + "s"
}

// workersOfOverhead is the number of workers that most executors of a program were measured with, and
// of several such the least: what a fork costs shows best on one worker.
func workersOfOverhead(rows []*row) (best int) {
	count := map[int]int{}
	for _, r := range rows {
		if !isSerial(r) && r.Runs > 0 && !strings.HasPrefix(r.Executor, "at-once") {
			count[r.Workers]++
		}
	}
	for n := range count {
		if best == 0 || count[n] > count[best] || count[n] == count[best] && n < best {
			best = n
		}
	}
	return best
}

// scaling shows the speed-up by the number of workers: over the serial program, or if there is none over
// the same executor with the fewest.
func scaling(rows []*row, looks []look) *chart {
	c := &chart{name: "scaling", title: "Speed-up by workers", looks: looks,
		axis:  "workers, and speed-up over serial; both axes are logarithmic",
		about: "Across are the workers, upward the speed-up over the serial program. The broken line is as many times as fast as there are workers; below the other one the serial program is faster."}
	for _, p := range programs(rows) {
		n := panel{name: programName(p[0])}
		for i := range looks {
			var curve []point
			var fewest *row
			for _, r := range p {
				if lookOf(looks, r) != i || r.Runs == 0 || r.Median == 0 || isSerial(r) {
					continue
				}
				if fewest == nil || r.Workers < fewest.Workers {
					fewest = r
				}
			}
			for _, r := range p {
				if fewest == nil || lookOf(looks, r) != i || r.Runs == 0 || r.Median == 0 {
					continue
				}
				y := r.Speedup
				if r.Serial == 0 {
					y = float64(fewest.Workers) * float64(fewest.Median) / float64(r.Median)
				}
				if y > 0 {
					curve = append(curve, point{executor: i, x: float64(r.Workers), mid: y})
				}
			}
			slices.SortFunc(curve, func(a, b point) int { return int(a.x - b.x) })
			if len(curve) > 1 {
				n.curves = append(n.curves, curve)
			}
		}
		if len(n.curves) == 0 {
			continue
		}
		if p[0].Serial == 0 {
			c.axis = "workers, and speed-up over the fewest; both axes are logarithmic"
			c.about = "Across are the workers, upward the speed-up over the same executor with the fewest workers. The broken line is as many times as fast as there are workers."
		}
		n.bounds = [][]point{n.linear()}
		c.panels = append(c.panels, n)
	}
	return c
}

// linear returns the line of as many times as fast as there are workers.
func (n panel) linear() []point {
	fewest, most := math.Inf(1), 0.0
	for _, curve := range n.curves {
		for _, q := range curve {
			fewest, most = min(fewest, q.x), max(most, q.x)
		}
	}
	return []point{{x: fewest, mid: fewest}, {x: most, mid: most}}
}

// spreads shows how far the runs of a row lie apart.
func spreads(rows []*row, looks []look) *chart {
	c := &chart{name: "spread", title: "Spread of the runs", axis: "time over the median of the runs", looks: looks, apart: true,
		about: "A line goes from the fastest run to the slowest, and the point is the median. Where the runs were kept, each has a small mark."}
	for _, p := range programs(rows) {
		l := line{name: programName(p[0])}
		most := mostWorkers(rows, p[0].Workload, p[0].Size)
		for _, r := range p {
			if r.Runs == 0 || r.Median == 0 || r.Workers != most && !isSerial(r) {
				continue
			}
			l.points = append(l.points, point{executor: lookOf(looks, r), low: r.over(max(r.Min, 1)), mid: 1, high: r.over(r.Max), runs: each(r.Times, r.over)})
		}
		if len(l.points) > 0 {
			c.lines = append(c.lines, l)
		}
	}
	return c
}

// extent returns between what all points of lines lie.
func extent(lines []line) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			low, high = min(low, p.low), max(high, p.high)
		}
	}
	return low, high
}

// sources says what the figures are from.
func (r report) sources() []string {
	m := r.Machine
	s := fmt.Sprintf("%s, %d CPUs, %s/%s, %s", m.CPU, m.CPUs, m.OS, m.Arch, m.Go)
	if m.Level != "" {
		s += ", " + m.Level
	}
	if m.Profile != "" {
		s += ", profile: " + m.Profile
	}
	s += "; " + runsText(runsOf(r.Rows))
	if !m.Time.IsZero() {
		s += ", " + m.Time.Format("2006-01-02")
	}
	return []string{s}
}
