// Package topology tells which processors of a machine are near one another: which share a core,
// a cache, a package or a NUMA node. It reads that from the files of Linux below /sys, and is pure
// text work: [Read] takes any fs.FS.
//
// Nothing here fails for a machine that hides something. What is not known is left out, and the reason is
// told: a processor whose core is unknown has a core of its own, and one whose node is unknown
// is on the first.
package topology

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
)

// A Processor is a logical processor, which the kernel numbers: a hardware thread.
type Processor struct {
	ID      int
	Core    int       // the least ID that shares its core, so SMT siblings have the same
	Caches  []Sharing // its data and unified caches, by ascending level; of one level the one that most share
	Package int       // the number of its package, which is a socket
	Node    int       // the number of its NUMA node
}

// Sharing is a cache as one of its processors sees it.
type Sharing struct {
	Level int
	First int // the least ID that shares it
}

// Topology is the processors of a machine that are online. It does not change.
type Topology struct {
	Processors []Processor // by ascending ID

	index map[int]int // by ID
	nodes map[int]int // indices into slit, by number of the node
	slit  [][]int     // distances between nodes as the firmware gives them, or nil
	far   []int       // those of two nodes, each once, ascending
}

// The distances of two processors. Each level is farther than the one before.
const (
	Itself    = 0 // one processor
	SameCore  = 1 // SMT siblings
	SameL2    = 2 // a cache of level 1 or 2 in common
	SameL3    = 3 // a cache of level 3 or more in common
	SameNode  = 4 // nothing but memory in common: one package and one node
	OtherNode = 5 // another package or node. Farther nodes have 6, 7 and so on
)

// Distance returns how far a and b are from one another, in the levels from [Itself] to
// [OtherNode] and beyond. Nodes that are at the least distance of the machine's table are at
// OtherNode, those at the next distance one level farther, and so on. Without a table, another
// node is at OtherNode, and one in another package a level farther. A processor that t does not know
// is at SameNode from all others. Distance(a, b) is Distance(b, a).
func (t *Topology) Distance(a, b int) int {
	if a == b {
		return Itself
	}
	i, ok := t.index[a]
	j, also := t.index[b]
	if !ok || !also {
		return SameNode
	}
	p, q := &t.Processors[i], &t.Processors[j]
	switch level := sharedLevel(p.Caches, q.Caches); {
	case p.Core == q.Core:
		return SameCore
	case level > 2:
		return SameL3
	case level > 0:
		return SameL2
	case p.Node != q.Node:
		return t.distanceOfNodes(p, q)
	case p.Package != q.Package:
		return OtherNode
	}
	return SameNode
}

// sharedLevel returns the lowest level at which a and b share a cache, or 0.
func sharedLevel(a, b []Sharing) int {
	for _, c := range a {
		if slices.Contains(b, c) {
			return c.Level
		}
	}
	return 0
}

func (t *Topology) distanceOfNodes(p, q *Processor) int {
	i, ok := t.nodes[p.Node]
	j, also := t.nodes[q.Node]
	switch {
	case t.slit != nil && ok && also:
		rank, _ := slices.BinarySearch(t.far, between(t.slit, i, j))
		return OtherNode + rank
	case p.Package != q.Package:
		return OtherNode + 1
	}
	return OtherNode
}

// between returns the distance of two nodes. Firmware may give one for each direction; the greater counts.
func between(slit [][]int, i, j int) int { return max(slit[i][j], slit[j][i]) }

// Flat returns the topology of n processors of which nothing is known: one group, of the IDs 0 to n-1.
func Flat(n int) *Topology {
	t := &Topology{}
	for id := range n {
		t.Processors = append(t.Processors, Processor{ID: id, Core: id})
	}
	t.finish()
	return t
}

// finish makes what is looked up.
func (t *Topology) finish() {
	t.index = make(map[int]int, len(t.Processors))
	for i, p := range t.Processors {
		t.index[p.ID] = i
	}
	for i := range t.slit {
		for j := range i {
			t.far = append(t.far, between(t.slit, i, j))
		}
	}
	slices.Sort(t.far)
	t.far = slices.Compact(t.far)
}

// errNotLinux is why nothing is known.
var errNotLinux = errors.New("topology: the caches and nodes of processors are not known on " + runtime.GOOS)

// this is the topology of this machine, once it is known. As sync.OnceValues, it would be in every program, since variables that
// are made by a call are.
var this struct {
	sync.Once
	topology *Topology
	err      error
}

// System returns the topology of this machine as it was when System was first called. On Linux it is
// what Read finds below /sys; elsewhere all processors are one group, and the error says so.
func System() (*Topology, error) {
	this.Do(func() {
		if runtime.GOOS != "linux" {
			this.topology, this.err = Flat(runtime.NumCPU()), errNotLinux
			return
		}
		this.topology, this.err = Read(os.DirFS("/sys"))
		if len(this.topology.Processors) == 0 {
			this.topology = Flat(runtime.NumCPU())
		}
	})
	return this.topology, this.err
}
