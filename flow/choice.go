package flow

import (
	"context"
	"fmt"
)

// End is what the function of a [Choice] returns to choose none.
const End = -1

// Choice is a node that chooses which node runs next: a condition task of Taskflow (Huang, Lin,
// Lin and Lin, "Taskflow: A Lightweight Parallel and Heterogeneous Task Graph Computing System",
// IEEE TPDS 2022). Make one with [Choose]. Its result is the index that its function returned.
//
// The edges to what it may choose are weak: [Choice.To] makes them. A node that a weak edge
// leads to does not run when the run begins, but when it is chosen: at once, whether or not its
// deps have run. Weak edges may lead back. So a Choice makes a branch of two weak edges forward,
// and a loop of one that leads back:
//
//	init -> body -> more? - - 0 - -> body
//	                      - - 1 - -> done
//
// A chosen node that has deps also runs when all of these have: body runs after init, and so the
// loop begins. What only a Choice is to start, such as done, has no deps. It reads the results of
// what comes before the Choice all the same.
//
// In a loop, the nodes that come after what was chosen run again, each when all of its deps
// have run once more. A node must not be chosen while it runs or is about to: then the run ends
// with an error. A dep on a Choice is an edge like any other: that node runs after the Choice,
// whatever is chosen.
type Choice struct{ Of[int] }

// Choose adds a [Choice] to g, and returns it. f returns the index of the node to go on with,
// among those of [Choice.To], or [End]. Any other number ends the run with an error. Choose
// panics as [Node] does.
func Choose(g *Graph, name string, f func(ctx context.Context) (int, error), deps ...Dep) *Choice {
	needs(g != nil, "Choose", "g")
	needs(f != nil, "Choose", "f")
	c := &Choice{Of[int]{f: f}}
	g.add("Choose", &c.node, &c.Of, name, deps)
	c.to = []*node{}
	return c
}

// To adds what c chooses from, and returns c. Indices count on from call to call. To panics as
// [Node] does.
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

// chosen returns the node that n's result chooses, or nil for none.
func (n *node) chosen(result int) (*node, error) {
	if result == End {
		return nil, nil
	}
	if result < 0 || result >= len(n.to) {
		return nil, fmt.Errorf("it chose %d, and has %d nodes to choose from", result, len(n.to))
	}
	return n.to[result], nil
}
