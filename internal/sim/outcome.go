package sim

import (
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/random"
)

// outcome is what the nodes of a thread, and of its children that have ended, come to. It goes from a thread that ends
// to its parent, as its result would. So what the first thread ends with has each node once, if each result
// was used once, and what was lost is known.
type outcome struct {
	nodes, steps int64
	sum          uint64
}

func (o *outcome) add(p outcome) {
	o.nodes += p.nodes
	o.steps += p.steps
	o.sum += p.sum
}

// of returns the outcome of a thread.
func (c *churn) of(id ID) *outcome {
	for int(id) >= len(c.results) {
		c.results = append(c.results, outcome{})
	}
	return &c.results[id]
}

// ran adds the node of a thread that has just ended.
func (c *churn) ran(id ID) {
	t := &c.m.threads[id]
	c.of(id).add(outcome{1, c.weight(t), random.Mix(t.Path ^ uint64(t.PC))})
}

// weight returns the weight of the next node of a thread, or of the one that runs.
func (c *churn) weight(t *thread) int64 {
	c.m.node = dag.Node{}
	c.m.Program.Node(&t.Thread, &c.m.node)
	return c.m.node.Weight
}

// returns gives the outcome of a thread that has ended to its parent.
func (c *churn) returns(id, parent ID) {
	o := *c.of(id)
	*c.of(id) = outcome{}
	if parent == None {
		c.root = o
	} else {
		c.of(parent).add(o)
	}
}

// check returns what is wrong with the outcome of a run that has ended.
func (c *churn) check() error {
	m := c.m
	switch f := m.facts; {
	case c.root != outcome{f.Nodes, f.Work, f.Sum}:
		return m.fail("the results of %d nodes of %d steps were used, and the program has %d of %d", c.root.nodes, c.root.steps, f.Nodes, f.Work)
	case m.nodes != c.root.nodes+c.vain.nodes || m.sum != c.root.sum+c.vain.sum:
		return m.fail("%d nodes have run; %d of them were used and %d lost", m.nodes, c.root.nodes, c.vain.nodes)
	case m.res.busy != f.Work+c.vain.steps+c.cut:
		return m.fail("workers were busy for %d steps; %d of them were used and %d lost", m.res.busy, f.Work, c.vain.steps+c.cut)
	}
	return nil
}
