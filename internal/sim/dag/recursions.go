package dag

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/filch-go/filch/internal/sim/random"
)

// Fib is the recursion of Fibonacci numbers without a cutoff. A thread of 2 or more spawns two, and joins them.
type Fib int

func (f Fib) Root() Args          { return Args{A: uint64(f)} }
func (f Fib) leaf(t *Thread) bool { return t.A < 2 }
func (f Fib) Node(t *Thread, n *Node) {
	switch {
	case t.A < 2 || t.PC == 2:
		n.lasts(1)
	case t.PC == 0:
		n.spawns(Args{A: t.A - 1})
	default:
		n.spawns(Args{A: t.A - 2})
	}
}

// Tree is a complete tree of threads. Each but the leaves spawns its children one after another.
type Tree struct {
	Arity uint32
	Depth int
}

func (f Tree) Root() Args          { return Args{A: uint64(f.Depth)} }
func (f Tree) leaf(t *Thread) bool { return t.A == 0 }
func (f Tree) Node(t *Thread, n *Node) {
	if t.A == 0 || t.PC == f.Arity {
		n.lasts(1)
		return
	}
	n.spawns(Args{A: t.A - 1})
}

// maxTree is the most threads that a tree may have.
const maxTree = 1 << 36

// makeTree makes a Tree of DEPTH or ARITY^DEPTH.
func makeTree(size string) (leafy, error) {
	arity, depth, given := strings.Cut(size, "^")
	if !given {
		arity, depth = "2", size
	}
	k, err := number("the arity", arity, 1, 100_000_000)
	d, err2 := number("the depth", depth, 0, 1_000_000)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	threads := int64(1)
	for level := int64(1); k > 1 && level <= d; level++ {
		if threads = threads*k + 1; threads > maxTree {
			return nil, errTree
		}
	}
	return Tree{uint32(k), int(d)}, nil
}

var errTree = fmt.Errorf("the tree is too large: it may have at most %d threads", int64(maxTree))

// Mergesort sorts so many elements by halves, down to one. To merge n of them takes n steps, and touches the block of
// each.
type Mergesort int

func (f Mergesort) Root() Args          { return Args{A: uint64(f)} }
func (f Mergesort) leaf(t *Thread) bool { return t.A == 1 }
func (f Mergesort) Node(t *Thread, n *Node) {
	switch {
	case t.A == 1 || t.PC == 2:
		n.lasts(int64(t.A))
		n.Block, n.Blocks = t.B, int32(t.A)
	case t.PC == 0:
		n.spawns(Args{A: t.A / 2, B: t.B})
	default:
		n.spawns(Args{A: t.A - t.A/2, B: t.B + t.A/2})
	}
}

// Quicksort partitions so many elements by a random one of them, and sorts both sides, down to one
// element or none. To partition n of them takes n steps.
type Quicksort int

func (f Quicksort) Root() Args          { return Args{A: uint64(f), B: random.Mix(1)} }
func (f Quicksort) leaf(t *Thread) bool { return t.A < 2 }
func (f Quicksort) Node(t *Thread, n *Node) {
	if t.A < 2 || t.PC == 2 {
		n.lasts(1)
		return
	}
	before, _ := bits.Mul64(t.B, t.A) // how many elements are less than the pivot: a random number below t.A
	if t.PC == 0 {
		n.spawns(Args{A: before, B: random.Mix(t.B + 1)})
		n.Weight = int64(t.A)
		return
	}
	n.spawns(Args{A: t.A - 1 - before, B: random.Mix(t.B + 2)})
}

// UTS is the benchmark Unbalanced Tree Search (Olivier et al., LCPC 2006) with its geometric distribution of
// fixed shape: a node has 4 children on average, above the depth at which it has none. Its state is a number of
// 64 bits instead of an SHA-1 hash.
type UTS int

func (f UTS) Root() Args          { return utsNode(random.Mix(19), uint64(f)) }
func (f UTS) leaf(t *Thread) bool { return t.Kind == 0 }
func (f UTS) Node(t *Thread, n *Node) {
	if t.PC == uint32(t.Kind) {
		n.lasts(1)
		return
	}
	n.spawns(utsNode(random.Mix(t.A+uint64(t.PC)), t.B-1))
}

// utsNode is a node with levels below it. Its Kind is how many children it has: k or more with a
// probability of (4/5)^k, which is below 2^-63 for more than 196.
func utsNode(state, levels uint64) Args {
	a := Args{A: state, B: levels}
	if levels == 0 {
		return a
	}
	draw := random.Mix(^state) >> 1
	for limit := uint64(1<<63) / 5 * 4; draw < limit; limit = limit / 5 * 4 {
		a.Kind++
	}
	return a
}
