package dag

import (
	"errors"
	"strings"
)

// Kinds of the threads of loops.
const (
	outer uint8 = iota // the first thread, or one that divides the iterations of an outer loop
	inner              // one of what that spawns
)

// Chain is a thread of so many nodes.
type Chain int

func (f Chain) Root() Args          { return Args{} }
func (f Chain) leaf(t *Thread) bool { return true }
func (f Chain) Node(t *Thread, n *Node) {
	n.Weight, n.Last = 1, t.PC+1 == uint32(f)
}

// Loop is a thread that spawns so many others in a loop, each of one node.
type Loop int

func (f Loop) Root() Args              { return Comb{int(f), 1}.Root() }
func (f Loop) leaf(t *Thread) bool     { return Comb{int(f), 1}.leaf(t) }
func (f Loop) Node(t *Thread, n *Node) { Comb{int(f), 1}.Node(t, n) }

// Bag is a thread that spawns so many others, each of one node, before the first step, and joins them. So one worker
// has all of them at the start, and there is no other work: the model of Tchiboukdjian, Gast and Trystram, see half.go.
type Bag int

func (f Bag) Root() Args          { return Args{Kind: outer} }
func (f Bag) leaf(t *Thread) bool { return t.Kind == inner }
func (f Bag) Node(t *Thread, n *Node) {
	Comb{int(f), 1}.Node(t, n)
	if t.Kind == outer {
		n.Weight = 0
	}
}

// Comb is a thread that spawns so many others in a loop, each of so many nodes.
type Comb struct{ Teeth, Length int }

func (f Comb) Root() Args          { return Args{Kind: outer} }
func (f Comb) leaf(t *Thread) bool { return t.Kind == inner }
func (f Comb) Node(t *Thread, n *Node) {
	switch {
	case t.Kind == inner:
		n.Weight, n.Last = 1, t.PC+1 == uint32(f.Length)
	case t.PC == uint32(f.Teeth):
		n.lasts(1)
	default:
		n.spawns(Args{Kind: inner})
	}
}

// Nested is a parallel loop of so many iterations, each of which is one of as many. Both are divided by
// halving.
type Nested int

func (f Nested) Root() Args          { return f.part(outer, uint64(f)) }
func (f Nested) leaf(t *Thread) bool { return t.A == 1 }
func (f Nested) Node(t *Thread, n *Node) {
	switch {
	case t.A == 1 || t.PC == 2:
		n.lasts(1)
	case t.PC == 0:
		n.spawns(f.part(t.Kind, t.A/2))
	default:
		n.spawns(f.part(t.Kind, t.A-t.A/2))
	}
}

// part is so many iterations. One of the outer loop is all of the inner one.
func (f Nested) part(kind uint8, length uint64) Args {
	if kind == outer && length == 1 {
		return Args{A: uint64(f), Kind: inner}
	}
	return Args{A: length, Kind: kind}
}

// Iterative goes over the same blocks of memory in each round, by halving. A round begins when the one before
// has ended.
type Iterative struct{ Rounds, Blocks int }

func (f Iterative) Root() Args          { return Args{Kind: outer} }
func (f Iterative) leaf(t *Thread) bool { return t.Kind == inner && t.B == 1 }

// Node has A for the first block of a part of a round, and B for how many they are.
func (f Iterative) Node(t *Thread, n *Node) {
	n.Block = t.A // a thread that touches nothing stands for the first block of its part
	switch {
	case t.Kind == outer && t.PC < uint32(f.Rounds):
		n.spawns(Args{B: uint64(f.Blocks), Kind: inner})
		n.Join = true
	case t.Kind == inner && t.B == 1:
		n.lasts(1)
		n.Blocks = 1
	case t.Kind == outer || t.PC == 2:
		n.lasts(1)
	case t.PC == 0:
		n.spawns(Args{A: t.A, B: t.B / 2, Kind: inner})
	default:
		n.spawns(Args{A: t.A + t.B/2, B: t.B - t.B/2, Kind: inner})
	}
}

// makeComb makes a Comb of TEETHxLENGTH, or of one number for both.
func makeComb(size string) (leafy, error) {
	teeth, length, given := strings.Cut(size, "x")
	if !given {
		length = teeth
	}
	n, err := number("the number of teeth", teeth, 1, 1_000_000)
	l, err2 := number("their length", length, 1, 1_000_000)
	return Comb{int(n), int(l)}, errors.Join(err, err2)
}

// makeIterative makes an Iterative of ROUNDSxBLOCKS or BLOCKS.
func makeIterative(size string) (leafy, error) {
	rounds, blocks, given := strings.Cut(size, "x")
	if !given {
		rounds, blocks = "10", size
	}
	r, err := number("the number of rounds", rounds, 1, 100_000)
	b, err2 := number("the number of blocks", blocks, 1, 1_000_000)
	return Iterative{int(r), int(b)}, errors.Join(err, err2)
}
