package dag

import (
	"errors"
	"fmt"
	"math"
)

// A Part of a series-parallel graph. One that is in several places is one that they share.
type Part struct {
	Kind   PartKind
	Name   string  // for people
	Work   int64   // of a Step: how many steps it takes, at least 1
	Block  uint64  // of a Step: the first block of memory that it touches
	Blocks int32   // how many
	Parts  []*Part // of the other kinds, at least one
}

// PartKind is what a Part is made of.
type PartKind uint8

const (
	Step     PartKind = iota // one node
	Series                   // parts, one after another
	Parallel                 // parts at the same time; what follows waits for all of them
)

// InSeries returns parts one after another.
func InSeries(parts ...*Part) *Part { return &Part{Kind: Series, Parts: parts} }

// InParallel returns parts at the same time.
func InParallel(parts ...*Part) *Part { return &Part{Kind: Parallel, Parts: parts} }

// ForSteps returns a node of so many steps.
func ForSteps(work int64) *Part { return &Part{Work: work} }

// A Graph is a Program of parts in series and in parallel.
//
// A series is a thread. It spawns what is parallel in it, branch by branch, and joins it. If the last branch
// has nothing parallel in it, the thread runs it itself. A part that is shared is a thread of its own as well. Where
// there is no node to spawn from, or to join in, there is one that takes no step: so work and span are those of
// the parts.
type Graph struct {
	Name  string
	root  *Part
	nodes []graphNode
	first []uint32 // by thread: its first node
}

// graphNode is a node of a thread.
type graphNode struct {
	work       int64
	block      uint64
	blocks     int32
	child      int32 // the thread that it spawns, or 0
	join, last bool
}

// MaxParts is how many parts a Graph may have. A series or a parallel that is shared counts once.
const MaxParts = 1 << 22

// NewGraph returns the Program that root describes, of which nothing may be changed afterwards. It is an error if
// a part has a number that is out of range, lacks parts or is part of itself.
func NewGraph(name string, root *Part) (*Graph, error) {
	if root == nil {
		return nil, errors.New("sim: the graph has no part")
	}
	uses, err := survey(root)
	if err != nil {
		return nil, fmt.Errorf("sim: the graph %q: %w", name, err)
	}
	c := compiler{Graph: &Graph{Name: name, root: root}, uses: uses, threads: []*Part{root}, index: map[*Part]int32{}}
	for i := 0; i < len(c.threads); i++ {
		c.compile(c.threads[i])
	}
	return c.Graph, nil
}

func (g *Graph) Root() Args { return Args{} }

// Node has A for the thread.
func (g *Graph) Node(t *Thread, n *Node) {
	s := &g.nodes[g.first[t.A]+t.PC]
	n.Weight, n.Join, n.Last = s.work, s.join, s.last
	n.Block, n.Blocks = s.block, s.blocks
	n.Spawns, n.Child.A = s.child != 0, uint64(s.child)
}

// visit is a part on the way down to another.
type visit struct {
	*Part
	next int   // of its parts
	work int64 // of those before
}

// survey checks a graph, and counts in how many places each part is, but for steps. It does not recur, since
// recordings of programs may be as deep as these.
func survey(root *Part) (uses map[*Part]int, err error) {
	uses = map[*Part]int{}
	works := map[*Part]int64{} // of parts that are done; 0 for those that are not
	way := []visit{{Part: root}}
	for count := 0; ; {
		v := &way[len(way)-1]
		if v.next == 0 {
			if count++; count > MaxParts {
				return nil, fmt.Errorf("it has more than %d parts", MaxParts)
			}
			if err := v.check(); err != nil {
				return nil, err
			}
			if v.Kind == Step {
				v.work = v.Work
			} else {
				works[v.Part] = 0
				uses[v.Part]++
			}
		}
		if v.next < len(v.Parts) {
			part := v.Parts[v.next]
			v.next++
			work, seen := works[part]
			switch {
			case part == nil:
				return nil, errors.New("a part is nil")
			case !seen:
				way = append(way, visit{Part: part})
				continue
			case work == 0:
				return nil, errors.New("a part is part of itself")
			}
			uses[part]++
			if err := v.add(work); err != nil {
				return nil, err
			}
			continue
		}
		work := v.work
		if v.Kind != Step {
			works[v.Part] = work
		}
		if way = way[:len(way)-1]; len(way) == 0 {
			return uses, nil
		}
		if err := way[len(way)-1].add(work); err != nil {
			return nil, err
		}
	}
}

func (v *visit) add(work int64) error {
	if work > MaxWork-v.work {
		return fmt.Errorf("the work is more than %d steps, the most that there may be", int64(MaxWork))
	}
	v.work += work
	return nil
}

// check returns what is wrong with a part as such.
func (p *Part) check() error {
	switch {
	case p.Kind > Parallel:
		return fmt.Errorf("a part has the kind %d", p.Kind)
	case p.Kind == Step && len(p.Parts) > 0:
		return errors.New("a step has parts")
	case p.Kind == Step && (p.Work < 1 || p.Work > MaxWork):
		return fmt.Errorf("the work of a step is %d; it must be from 1 to %d", p.Work, int64(MaxWork))
	case p.Kind == Step && (p.Blocks < 0 || p.Blocks > MaxBlocks || p.Block > math.MaxInt64):
		return fmt.Errorf("a step touches %d blocks from block %d on; it must be up to %d", p.Blocks, p.Block, MaxBlocks)
	case p.Kind != Step && len(p.Parts) == 0:
		return errors.New("a series or what is parallel has no parts")
	case p.Kind != Step && (p.Work != 0 || p.Block != 0 || p.Blocks != 0):
		return errors.New("only steps have work and blocks")
	}
	return nil
}

// MaxBlocks is how many blocks of memory a step of a Graph may touch.
const MaxBlocks = 1 << 20

// compiler makes threads of parts.
type compiler struct {
	*Graph
	uses    map[*Part]int
	threads []*Part
	index   map[*Part]int32 // the threads of parts that are shared
	begins  int             // the thread's first node
	joins   bool            // the next node joins
}

// compile makes a thread of a part.
func (c *compiler) compile(thread *Part) {
	c.begins, c.joins = len(c.nodes), false
	c.first = append(c.first, uint32(c.begins))
	way := []visit{{Part: thread}}
	for len(way) > 0 {
		v := &way[len(way)-1]
		switch {
		case v.Kind == Step:
			c.node(graphNode{work: v.Work, block: v.Block, blocks: v.Blocks})
		case v.Kind == Parallel:
			c.parallel(v.Parts)
		case v.next < len(v.Parts):
			part := v.Parts[v.next]
			v.next++
			if c.uses[part] > 1 {
				c.spawn(part)
				c.joins = true
			} else {
				way = append(way, visit{Part: part})
			}
			continue
		}
		way = way[:len(way)-1]
	}
	if c.joins || len(c.nodes) == c.begins || c.nodes[len(c.nodes)-1].child != 0 {
		c.node(graphNode{})
	}
	c.nodes[len(c.nodes)-1].last = true
}

// parallel spawns the branches, but for the last if it is plain.
func (c *compiler) parallel(branches []*Part) {
	last := branches[len(branches)-1]
	plain := c.plain(last)
	if plain {
		branches = branches[:len(branches)-1]
	}
	for _, part := range branches {
		c.spawn(part)
	}
	switch {
	case plain && last.Kind == Step:
		c.node(graphNode{work: last.Work, block: last.Block, blocks: last.Blocks})
	case plain:
		for _, s := range last.Parts {
			c.node(graphNode{work: s.Work, block: s.Block, blocks: s.Blocks})
		}
	}
	c.joins = c.joins || len(branches) > 0
}

// plain reports whether a part is nothing but steps, and not shared.
func (c *compiler) plain(part *Part) bool {
	if part.Kind == Parallel || c.uses[part] > 1 {
		return false
	}
	for _, s := range part.Parts {
		if s.Kind != Step {
			return false
		}
	}
	return true
}

func (c *compiler) node(n graphNode) {
	n.join, c.joins = c.joins, false
	c.nodes = append(c.nodes, n)
}

// spawn makes the last node spawn a part, or one that takes no step.
func (c *compiler) spawn(part *Part) {
	if c.joins || len(c.nodes) == c.begins || c.nodes[len(c.nodes)-1].child != 0 {
		c.node(graphNode{})
	}
	thread, ok := c.index[part]
	if !ok {
		thread = int32(len(c.threads))
		c.threads = append(c.threads, part)
		if c.uses[part] > 1 {
			c.index[part] = thread
		}
	}
	c.nodes[len(c.nodes)-1].child = thread
}
