package flow

import (
	"context"
	"fmt"
)

// End is the result of a [Choice] that chooses no node.
const End = -1

// Choice is a node that chooses which node runs next: a condition task of Taskflow (Huang, Lin, Lin and Lin, "Taskflow:
// A Lightweight Parallel and Heterogeneous Task Graph Computing System", IEEE TPDS 2022). Make one with [Choose]. Its
// result is the index that its function returned.
//
// [Choice.To] makes weak edges to the nodes it may choose. A node with a weak edge to it does not run when the run
// begins, but at once when it is chosen, whether or not its deps have run. Weak edges may lead back: two that lead
// forward make a branch, and one that leads back makes a loop:
//
//	init -> body -> more? - - 0 - -> body
//	                      - - 1 - -> done
//
// A node that may be chosen and has deps also runs when all of these have: body runs after init, so the loop begins.
// Give a node that only a Choice is to start, such as done, no deps; it can still read the results of nodes before the
// Choice.
//
// In a loop, the nodes after the chosen one run again, each when all its deps have run once more. Choosing a node that
// runs or is about to run ends the run with an error. A dep on a Choice is an ordinary edge: that node runs after the
// Choice, whatever is chosen.
type Choice struct{ Of[int] }

// Choose adds a [Choice] to g, and returns it. f returns the index of the node to continue with, among those of
// [Choice.To], or [End]. Any other number ends the run with an error. Choose panics as [Node] does.
func Choose(g *Graph, name string, f func(ctx context.Context) (int, error), deps ...Dep) *Choice {
	needs(g != nil, "Choose", "g")
	needs(f != nil, "Choose", "f")
	c := &Choice{Of[int]{f: f}}
	g.add("Choose", &c.node, &c.Of, name, deps)
	c.to = []*node{}
	return c
}

// To adds nodes that c may choose, and returns c. Indices continue from call to call. To panics as [Node] does.
func (c *Choice) To(nodes ...Dep) *Choice {
	c.made("To").change("To", func() {
		for i, d := range nodes {
			if n := c.ours("To", "choice", i, d); n != nil {
				c.to = append(c.to, n)
			}
		}
	})
	return c
}

// chosen returns the node that the result of n chooses, or nil for none.
func (n *node) chosen(result int) (*node, error) {
	if result == End {
		return nil, nil
	}
	if result < 0 || result >= len(n.to) {
		return nil, fmt.Errorf("it chose %d, and has %d nodes to choose from", result, len(n.to))
	}
	return n.to[result], nil
}
