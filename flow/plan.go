package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// plan is a graph as runs use it. It never changes.
type plan struct {
	nodes   []planned // and a sentinel, for the end of the last
	next    []int32   // the successors of all nodes, one list behind the other
	sources []int32   // nodes that runs begin with
	order   []int32   // all nodes, each after its deps and, where possible, after a Choice that leads to it
	slots   int       // the number of nodes that take of limits
	weak    bool      // there are weak edges, so nodes may run again
}

// planned is a node, in half a cache line, because a run visits its nodes in any order.
type planned struct {
	body     body
	deps     int32 // the number of deps
	first    int32 // the beginning of its successors in next; they end at first of the next node
	slot     int32 // its index among nodes that take of limits, or none
	isChoice bool
}

func (p *plan) len() int { return len(p.nodes) - 1 }

// after returns the successors of node i.
func (p *plan) after(i int32) []int32 { return p.next[p.nodes[i].first:p.nodes[i+1].first] }

// Validate returns an error that says what is wrong with the graph, or nil: two nodes with one name, deps of other
// graphs, a cycle of deps, which it names ("a -> b -> a"), no node to begin with, a graph that contains itself. Each
// run validates too, if the graph has changed since. The time is linear in nodes and edges. The error names the graph.
func (g *Graph) Validate() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.planned()
	return err
}

// planned returns the plan. The caller holds the lock.
func (g *Graph) planned() (*plan, error) {
	if g.plan != nil {
		return g.plan, nil
	}
	if len(g.faults) > 0 {
		return nil, &Error{Graph: g.name, Err: errors.Join(g.faults...)}
	}
	p, err := g.makePlan()
	if err == nil {
		err = g.containsItself()
	}
	if err != nil {
		return nil, &Error{Graph: g.name, Err: err}
	}
	g.plan, g.took, g.failed = p, nil, nil
	return p, nil
}

func (g *Graph) makePlan() (*plan, error) {
	p := &plan{nodes: make([]planned, len(g.nodes)+1)}
	seen := make([]int32, len(g.nodes)) // 1 + the last node with this one as a dep
	chosen := make([]bool, len(g.nodes))
	for i, n := range g.nodes {
		n.deps = slices.DeleteFunc(n.deps, func(d *node) bool { // a duplicate
			again := seen[d.index] == int32(i)+1
			seen[d.index] = int32(i) + 1
			return again
		})
		at := &p.nodes[i]
		at.body, at.slot, at.deps, at.isChoice = n.body, none, int32(len(n.deps)), n.to != nil
		for _, d := range n.deps {
			p.nodes[d.index+1].first++
		}
		if len(n.takes) > 0 {
			at.slot = int32(p.slots)
			p.slots++
		}
		for _, to := range n.to {
			chosen[to.index], p.weak = true, true
		}
	}
	for i := range g.nodes {
		p.nodes[i+1].first += p.nodes[i].first
	}
	p.next = make([]int32, p.nodes[len(g.nodes)].first)
	filled := make([]int32, len(g.nodes))
	for i, n := range g.nodes {
		for _, d := range n.deps {
			p.next[p.nodes[d.index].first+filled[d.index]] = int32(i)
			filled[d.index]++
		}
		if len(n.deps) == 0 && !chosen[i] {
			p.sources = append(p.sources, int32(i))
		}
	}
	if p.sort(g, chosen); len(p.order) < p.len() {
		return nil, fmt.Errorf("the nodes wait for one another: %s", g.cycle(p.order))
	}
	if len(p.sources) == 0 && p.len() > 0 {
		return nil, errors.New("there is no node to begin with: all have deps, or are chosen by others")
	}
	return p, nil
}

// sort sets p.order, which lacks nodes if there is a cycle. Among nodes whose deps are done, those reachable only from
// a Choice that is not done come last.
func (p *plan) sort(g *Graph, chosen []bool) {
	n := p.len()
	left := make([]int32, n)
	placed, reached := make([]bool, n), make([]bool, n)
	now, later := make([]int32, 0, n), []int32{}
	ready := func(i int32) {
		if chosen[i] && !reached[i] && p.nodes[i].deps == 0 {
			later = append(later, i)
		} else {
			now = append(now, i)
		}
	}
	for i := range left {
		if left[i] = p.nodes[i].deps; left[i] == 0 {
			ready(int32(i))
		}
	}
	for at := 0; at < len(now) || len(later) > 0; {
		if at == len(now) {
			now, later = append(now, later[0]), later[1:]
		}
		i := now[at]
		at++
		if placed[i] {
			continue
		}
		placed[i] = true
		p.order = append(p.order, i)
		for _, to := range g.nodes[i].to {
			if j := to.index; !reached[j] {
				if reached[j] = true; left[j] == 0 && !placed[j] {
					now = append(now, j)
				}
			}
		}
		for _, j := range p.after(i) {
			if left[j]--; left[j] == 0 {
				ready(j)
			}
		}
	}
}

// cycle names the nodes of a cycle among the nodes missing in order.
func (g *Graph) cycle(order []int32) string {
	const fresh, onTheWay, left = 0, 1, 2
	state := make([]int, len(g.nodes))
	for _, i := range order {
		state[i] = left
	}
	n := g.nodes[slices.Index(state, fresh)]
	var way []*node
	for state[n.index] == fresh { // each has a dep that is missing too
		state[n.index] = onTheWay
		way = append(way, n)
		n = n.deps[slices.IndexFunc(n.deps, func(d *node) bool { return state[d.index] != left })]
	}
	names := []string{n.name}
	for i := len(way) - 1; ; i-- { // from a dep to its successor
		if names = append(names, way[i].name); way[i] == n {
			break
		}
	}
	return strings.Join(names, " -> ")
}

// inner is a graph that is a node of another, and a link to those added before it.
type inner struct {
	g    *Graph
	next *inner
}

// containsItself returns an error if g is a node of itself or of a graph that it contains. It locks no other graph,
// because two graphs that contain each other would deadlock.
func (g *Graph) containsItself() error {
	var visit func(in *Graph, way []string) error
	seen := map[*Graph]bool{}
	visit = func(in *Graph, way []string) error {
		if seen[in] {
			return nil
		}
		seen[in] = true
		for i := in.inner.Load(); i != nil; i = i.next {
			way := append(slices.Clip(way), i.g.name)
			if i.g == g {
				return fmt.Errorf("the graph contains itself: %s", strings.Join(way, " -> "))
			}
			if err := visit(i.g, way); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(g, []string{g.name})
}
