package dag

import (
	"fmt"

	"github.com/filch-go/filch/internal/sim/random"
)

// A Program is a computation that unfolds while it runs: threads that run nodes one after another, spawn
// other threads and join them. It is fully strict: a thread joins the threads that it has spawned, and no
// others. So what is ready and what waits for what make a series-parallel DAG.
//
// The model is that of Blumofe and Leiserson (JACM 1999), but that a node may take more than one step.
type Program interface {
	// Root is what the first thread is started with.
	Root() Args
	// Node sets *n, which is zero, to node t.PC of t. It depends on what t has alone, and may be called
	// more than once for a node.
	Node(t *Thread, n *Node)
}

// Args is what a thread is started with. What they mean is for the program to say.
type Args struct {
	A, B uint64
	Kind uint8
}

// Thread is a thread that has been spawned and has not ended, as the Program sees it.
type Thread struct {
	Args
	PC   uint32 // its next node, counted from 0
	Path uint64 // names it in every run: made of its parent's and of the node that spawned it
}

// Node is what a thread does without a choice of the scheduler in between.
type Node struct {
	Weight int64 // in steps; 0 if the node does nothing but spawn or join, which graphs have
	Join   bool  // it begins when all children that the thread has spawned have ended
	Last   bool  // the thread ends with it; joins as well
	Spawns bool  // when it ends, Child begins to be ready
	Child  Args
	Block  uint64 // the first block of memory that it touches
	Blocks int32  // how many
}

// Path names the thread that node pc of the thread of that path spawns.
func Path(parent uint64, pc uint32) uint64 { return random.Mix(parent + uint64(pc)) }

// BadWeight is the error of a node whose weight is negative.
func BadWeight(t *Thread, weight int64) error {
	return fmt.Errorf("sim: node %d of a thread of kind %d has weight %d; it must not be negative", t.PC, t.Kind, weight)
}
