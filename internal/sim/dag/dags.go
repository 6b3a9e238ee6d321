package dag

import (
	"fmt"
	"strconv"
	"strings"
)

// A DAG is a family of programs, which differ by their size.
type DAG struct {
	Name    string
	About   string
	Size    string // what the size means
	Default string // the size, if none is given
	Example string
	make    func(size string) (leafy, error)
}

// leafy is a Program that knows its leaves: the threads that spawn nothing.
type leafy interface {
	Program
	leaf(t *Thread) bool
}

// MaxWork is the most steps that the nodes of a program may take together, so that the worker-steps of
// MaxWorkers workers can be counted.
const MaxWork = 1 << 40

// MaxLeaf is the most steps that the nodes of a leaf may be given.
const MaxLeaf = 1_000_000_000

// Families returns all families, in the order in which they are shown.
func Families() []DAG {
	return []DAG{
		{"chain", "one thread", "nodes", "1000", "chain=1000", sized(1, 1_000_000_000, func(n int64) leafy { return Chain(n) })},
		{"loop", "a thread that spawns others in a loop, and joins them", "threads spawned", "10000", "loop=10000", sized(1, 100_000_000, func(n int64) leafy { return Loop(n) })},
		{"bag", "threads that are there before the first step, in one queue", "threads", "10000", "bag=10000", sized(1, 100_000_000, func(n int64) leafy { return Bag(n) })},
		{"tree", "a complete tree", "DEPTH, of a binary tree, or ARITY^DEPTH", "16", "tree=4^8", makeTree},
		{"fib", "the recursion of Fibonacci numbers", "the number whose Fibonacci number is found", "20", "fib=20", sized(0, 50, func(n int64) leafy { return Fib(n) })},
		{"mergesort", "two halves, then a merge of so many steps as there are elements", "elements", "10000", "mergesort=10000", sized(1, 1_000_000_000, func(n int64) leafy { return Mergesort(n) })},
		{"quicksort", "a partition of so many steps as there are elements, by a random one, then both sides", "elements", "10000", "quicksort=10000", sized(1, 1_000_000_000, func(n int64) leafy { return Quicksort(n) })},
		{"uts", "unbalanced tree search: a random tree, each node with 4 children on average", "the depth at which nodes have no children", "8", "uts=8", sized(0, 18, func(n int64) leafy { return UTS(n) })},
		{"nested", "a parallel loop in a parallel loop, both by halving", "iterations of each", "100", "nested=100", sized(1, 100_000, func(n int64) leafy { return Nested(n) })},
		{"comb", "a thread that spawns long ones in a loop, its teeth, and joins them", "TEETHxLENGTH, or one number for both", "100", "comb=1000x50", makeComb},
		{"iterative", "rounds over the same blocks of memory, each a parallel loop by halving", "ROUNDSxBLOCKS, or BLOCKS of 10 rounds", "10x1000", "iterative=10x1000", makeIterative},
	}
}

// Parse returns the program that text names, and its full name: NAME, NAME=SIZE or NAME=SIZE@WEIGHT. A
// WEIGHT is how many steps each node of a leaf takes, instead of one. A leaf is a thread that spawns nothing.
func Parse(text string) (p Program, name string, err error) {
	family, weight, weighted := strings.Cut(text, "@")
	family, size, given := strings.Cut(family, "=")
	var names []string
	for _, d := range Families() {
		names = append(names, d.Name)
		if d.Name != family {
			continue
		}
		if !given {
			size = d.Default
		}
		program, err := d.make(size)
		if err != nil {
			return nil, "", fmt.Errorf("sim: %s: %w; for example %s", text, err, d.Example)
		}
		name = family + "=" + size
		if !weighted {
			return program, name, nil
		}
		leaf, err := number("the weight of leaves", weight, 1, MaxLeaf)
		if err != nil {
			return nil, "", fmt.Errorf("sim: %s: %w", text, err)
		}
		return coarse{program, leaf}, name + "@" + weight, nil
	}
	return nil, "", fmt.Errorf("sim: unknown DAG %q; there are %s", family, strings.Join(names, ", "))
}

// sized returns how a program is made whose size is one number.
func sized(least, most int64, program func(n int64) leafy) func(size string) (leafy, error) {
	return func(size string) (leafy, error) {
		n, err := number("the size", size, least, most)
		return program(n), err
	}
}

// number reads a number in decimal.
func number(what, s string, least, most int64) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || int64(n) < least || int64(n) > most {
		return 0, fmt.Errorf("%s is %q; it must be a number from %d to %d", what, s, least, most)
	}
	return int64(n), nil
}

// coarse is a program whose leaves take longer.
type coarse struct {
	leafy
	weight int64
}

func (c coarse) Node(t *Thread, n *Node) {
	c.leafy.Node(t, n)
	if c.leaf(t) {
		n.Weight = c.weight
	}
}

// spawns makes n a node of one step that spawns a thread.
func (n *Node) spawns(child Args) {
	n.Weight, n.Spawns, n.Child = 1, true, child
}

// lasts makes n the last node of its thread.
func (n *Node) lasts(weight int64) {
	n.Weight, n.Last = weight, true
}
