package workload

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// uts is the Unbalanced Tree Search benchmark (Olivier and others, LCPC 2006):
// what is below a node is known only from its SHA-1 state.
var uts = &Workload{
	Name:    "uts",
	About:   "unbalanced tree search: a tree that SHA-1 makes up as it is walked",
	Sizes:   slices.Sorted(maps.Keys(utsTrees)),
	Default: []Default{{Size: "T1/7"}, {Size: "T1/9", Heavy: true}},
	Strand:  "T1/9",
	Prepare: func(size string, _ Env) (*Job, error) {
		known, ok := utsTrees[size]
		if !ok {
			return nil, fmt.Errorf("uts: unknown size %q; there are %v", size, slices.Sorted(maps.Keys(utsTrees)))
		}
		copied := *known
		t := &copied
		t.logP = math.Log(1 - 1/(1+t.b0))
		state := t.rootState()
		root := t.node(&state, 0)
		return &Job{
			Want:   t.want.String(),
			Serial: func() string { return serialUTS(t, &state, 0).String() },
			Func:   func(p filch.Scope) string { return utsFunc.Call(p, root).String() },
			Chain:  func(p filch.Scope) string { return utsChain.Call(p, root).String() },
			Closures: func(w *filch.Worker, both Both) string {
				return closureUTS(w, both, root).String()
			},
			Strand:        func(s *strand.Strand) string { return strandUTS(s, root).String() },
			StrandClosure: func(s *strand.Strand) string { return strandClosureUTS(s, root).String() },
		}, nil
	},
}

// utsTree is a kind of tree. It is geometric if q is 0, else binomial.
type utsTree struct {
	b0    float64
	depth int     // geometric: nodes there have no children
	q     float64 // binomial: the probability of having m children
	m     int
	seed  uint32
	want  utsCount
	logP  float64 // log(1-p) with p = 1/(1+b0), which is the same for all nodes
}

var utsTrees = map[string]*utsTree{
	"T1":  {b0: 4, depth: 10, seed: 19, want: utsCount{4130071, 3305118, 10}},
	"T1L": {b0: 4, depth: 13, seed: 29, want: utsCount{102181082, 81746377, 13}},
	"T3":  {b0: 2000, q: 0.124875, m: 8, seed: 42, want: utsCount{4112897, 3599034, 1572}},
	// T3 with fewer children of the root, and T1 cut off earlier, for a quick look.
	"T3/99": {b0: 20, q: 0.124875, m: 8, seed: 42, want: utsCount{6213, 5438, 67}},
	"T1/5":  {b0: 4, depth: 5, seed: 19, want: utsCount{3987, 3232, 5}},
	"T1/7":  {b0: 4, depth: 7, seed: 19, want: utsCount{63914, 51124, 7}},
	"T1/9":  {b0: 4, depth: 9, seed: 19, want: utsCount{1031269, 825408, 9}},
}

type utsState [sha1.Size]byte

func (t *utsTree) rootState() utsState {
	var b [20]byte
	binary.BigEndian.PutUint32(b[16:], t.seed)
	return sha1.Sum(b[:])
}

func (s *utsState) child(i int) utsState {
	var b [sha1.Size + 4]byte
	copy(b[:], s[:])
	binary.BigEndian.PutUint32(b[sha1.Size:], uint32(i))
	return sha1.Sum(b[:])
}

// children returns the number of children of a node.
func (t *utsTree) children(s *utsState, height int) int {
	u := float64(binary.BigEndian.Uint32(s[16:])&math.MaxInt32) / (1 << 31)
	switch {
	case t.q > 0 && height == 0:
		return int(t.b0)
	case t.q > 0 && u < t.q:
		return t.m
	case t.q > 0 || height >= t.depth:
		return 0
	}
	return int(math.Log(1-u) / t.logP)
}

type utsCount struct{ nodes, leaves, depth int }

func (c utsCount) String() string {
	return fmt.Sprintf("%d nodes, %d leaves, depth %d", c.nodes, c.leaves, c.depth)
}

func (c utsCount) plus(d utsCount) utsCount {
	return utsCount{c.nodes + d.nodes, c.leaves + d.leaves, max(c.depth, d.depth)}
}

// utsNode is a node, of whose children only the first few are to be walked. It is four
// words, so that it is passed in registers.
type utsNode struct {
	tree       *utsTree
	begin, mid uint64 // the first 16 bytes of the state
	rest       uint64 // its last 4 bytes, 16 bits for the height, and 16 for the children to be walked
}

func (t *utsTree) node(s *utsState, height int) utsNode {
	return utsNode{
		tree:  t,
		begin: binary.BigEndian.Uint64(s[0:]),
		mid:   binary.BigEndian.Uint64(s[8:]),
		rest:  uint64(binary.BigEndian.Uint32(s[16:]))<<32 | uint64(height)<<16 | uint64(t.children(s, height)),
	}
}

func (n utsNode) todo() int   { return int(n.rest & 0xffff) }
func (n utsNode) height() int { return int(n.rest >> 16 & 0xffff) }

// child returns the last child to be walked.
func (n utsNode) child() utsNode {
	var s utsState
	binary.BigEndian.PutUint64(s[0:], n.begin)
	binary.BigEndian.PutUint64(s[8:], n.mid)
	binary.BigEndian.PutUint32(s[16:], uint32(n.rest>>32))
	c := s.child(n.todo() - 1)
	return n.tree.node(&c, n.height()+1)
}

// skip returns the node without the last child to be walked.
func (n utsNode) skip() utsNode {
	n.rest--
	return n
}

// count counts the node alone.
func (n utsNode) count() utsCount {
	c := utsCount{nodes: 1, depth: n.height()}
	if n.todo() == 0 {
		c.leaves = 1
	}
	return c
}

func serialUTS(t *utsTree, s *utsState, height int) utsCount {
	c := utsCount{nodes: 1, depth: height}
	n := t.children(s, height)
	if n == 0 {
		c.leaves = 1
	}
	var child utsState // declared in the loop, it would be allocated for each call
	for i := range n {
		child = s.child(i)
		c = c.plus(serialUTS(t, &child, height+1))
	}
	return c
}

var utsFunc = filch.NewFunc(utsBody)

func utsBody(f *filch.Frame[utsNode, utsCount], n utsNode) utsCount {
	c := n.count()
	if n.todo() == 0 {
		return c
	}
	var few [16]filch.Fork
	hs := few[:0]
	for ; n.todo() > 1; n = n.skip() {
		hs = append(hs, f.Fork(n.child()))
	}
	c = c.plus(utsBody(f, n.child()))
	for i := len(hs) - 1; i >= 0; i-- {
		c = c.plus(f.Join(hs[i]))
	}
	return c
}

var utsChain = filch.NewChain(utsLink)

// utsLink is handed a node with children taken off, too; it counts those that
// are left, and the node if there is none.
func utsLink(l *filch.Link[utsNode, utsCount], n utsNode) utsCount {
	c := n.count()
	for n.todo() > 1 {
		child := n.child()
		n = n.skip()
		l.Fork(n)
		c = c.plus(utsLink(l.Next(), child))
		if !l.TakeBack() {
			rest := l.Join()
			rest.nodes-- // n again
			return c.plus(rest)
		}
	}
	if n.todo() == 1 {
		c = c.plus(utsLink(l, n.child()))
	}
	return c
}

func closureUTS(w *filch.Worker, both Both, n utsNode) utsCount {
	c := n.count()
	if n.todo() == 0 {
		return c
	}
	counts := make([]utsCount, n.todo())
	split(w, both, 0, n.todo(), func(w *filch.Worker, i int) {
		upTo := n
		upTo.rest -= uint64(n.todo() - 1 - i)
		counts[i] = closureUTS(w, both, upTo.child())
	})
	for _, d := range counts {
		c = c.plus(d)
	}
	return c
}

func strandUTS(s *strand.Strand, n utsNode) utsCount {
	c := n.count()
	if n.todo() == 0 {
		return c
	}
	var few [16]*strand.Value[utsCount]
	below := few[:0]
	for ; n.todo() > 0; n = n.skip() {
		below = append(below, strand.SpawnCall(s, strandUTS, n.child()))
	}
	s.Sync()
	for _, d := range below {
		c = c.plus(d.Get())
	}
	return c
}

func strandClosureUTS(s *strand.Strand, n utsNode) utsCount {
	c := n.count()
	if n.todo() == 0 {
		return c
	}
	below := make([]utsCount, n.todo())
	for i := range below {
		child := n.child()
		s.Spawn(func(s *strand.Strand) { below[i] = strandClosureUTS(s, child) })
		n = n.skip()
	}
	s.Sync()
	for _, d := range below {
		c = c.plus(d)
	}
	return c
}
