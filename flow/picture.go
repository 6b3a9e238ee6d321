package flow

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// picture is a graph to be drawn, with the times of the run that ended last.
type picture struct {
	name  string
	nodes []drawn
	edges []edge
	order []int32 // of the plan
	ran   bool    // there are times or failures
	work  int64   // the sum of all times, in nanoseconds
	span  int64   // the sum of the times on the critical path
}

type drawn struct {
	name     string
	note     string // its time, "failed", or "did not run"
	took     int64  // in nanoseconds; 0 if it has not returned
	isChoice bool
	isSub    bool
	critical bool // it is on the critical path
	failed   bool
}

type edge struct {
	from, to int32
	weak     bool
	label    string // of a weak edge: the index that chooses it
	back     bool   // its target is not drawn below its source
	critical bool
}

// picture returns g as a picture.
func (g *Graph) picture() (*picture, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, err := g.planned()
	if err != nil {
		return nil, err
	}
	g.timed = true
	if st := g.alone.Load(); g.took == nil && st != nil && g.active == 0 {
		g.keepTimes(st)
	}
	took := g.took
	if took == nil {
		took = make([]int64, len(g.nodes))
	}
	v := &picture{name: g.name, order: p.order, nodes: make([]drawn, len(g.nodes))}
	place := make([]int, len(g.nodes))
	for at, i := range p.order {
		place[i] = at
	}
	for i, n := range g.nodes {
		v.nodes[i] = drawn{name: n.name, took: took[i], isChoice: n.to != nil, isSub: n.sub != nil}
		v.work += took[i]
		for _, d := range n.deps {
			v.edges = append(v.edges, edge{from: d.index, to: int32(i)})
		}
		for k, to := range n.to {
			v.addWeak(int32(i), to.index, strconv.Itoa(k), place[to.index] <= place[i])
		}
	}
	for _, i := range g.failed {
		v.nodes[i].failed = true
	}
	v.ran = v.work > 0 || len(g.failed) > 0
	for i := range v.nodes {
		switch n := &v.nodes[i]; {
		case n.failed:
			n.note = "failed"
		case n.took > 0:
			n.note = timeText(n.took)
		case v.ran:
			n.note = "did not run"
		}
	}
	v.markCritical()
	return v, nil
}

// addWeak adds an edge of a Choice, or another label to an existing one.
func (v *picture) addWeak(from, to int32, label string, back bool) {
	for i := len(v.edges) - 1; i >= 0 && v.edges[i].from == from && v.edges[i].weak; i-- {
		if e := &v.edges[i]; e.to == to {
			e.label += ", " + label
			return
		}
	}
	v.edges = append(v.edges, edge{from: from, to: to, weak: true, label: label, back: back})
}

// markCritical marks the path that took longest, over forward edges and nodes that have run.
func (v *picture) markCritical() {
	if v.work == 0 {
		return
	}
	into := v.into()
	longest, by := make([]int64, len(v.nodes)), make([]int, len(v.nodes))
	end := int32(none)
	for _, i := range v.order {
		by[i] = none
		if v.nodes[i].took == 0 {
			continue
		}
		for _, e := range into[i] {
			if from := v.edges[e].from; longest[from] > longest[i] {
				longest[i], by[i] = longest[from], e
			}
		}
		longest[i] += v.nodes[i].took
		if end == none || longest[i] > longest[end] {
			end = i
		}
	}
	v.span = longest[end]
	for i := end; ; {
		v.nodes[i].critical = true
		e := by[i]
		if e == none {
			return
		}
		v.edges[e].critical = true
		i = v.edges[e].from
	}
}

// into returns the forward edges by target.
func (v *picture) into() [][]int {
	into := make([][]int, len(v.nodes))
	for k, e := range v.edges {
		if !e.back {
			into[e.to] = append(into[e.to], k)
		}
	}
	return into
}

// timeText returns a time with about three digits.
func timeText(ns int64) string {
	d := time.Duration(ns)
	for unit := time.Duration(1); unit < time.Hour; unit *= 10 {
		if d < 1000*unit {
			d = d.Round(unit)
			break
		}
	}
	return strings.Replace(d.String(), "µs", "us", 1)
}

// title returns the line above a picture.
func (v *picture) title() string {
	t := fmt.Sprintf("%s: %d nodes", v.name, len(v.nodes))
	if v.work > 0 {
		t += fmt.Sprintf(", work %s, critical path %s, parallelism %.1f",
			timeText(v.work), timeText(v.span), float64(v.work)/float64(v.span))
	}
	return t
}
