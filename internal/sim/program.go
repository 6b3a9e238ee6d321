package sim

// A Program is a computation that unfolds while it runs: threads that run nodes one after another, spawn
// other threads and join them. It is fully strict: a thread joins the threads that it has spawned, and no
// others. So what is ready and what waits for what make a series-parallel DAG.
//
// The model is that of Blumofe and Leiserson (JACM 1999), but that a node may take more than one step.
type Program interface {
	// Root is what the first thread is started with.
	Root() Args
	// Node sets *n, which is zero, to node t.PC of t. It depends on t.Args and t.PC alone, and may be called
	// more than once for a node.
	Node(t *Thread, n *Node)
}

// Args is what a thread is started with. What they mean is for the program to say.
type Args struct {
	A, B uint64
	Kind uint8
}

// Thread is a thread that has been spawned and has not ended.
type Thread struct {
	Args
	state   state
	PC      uint32 // its next node, counted from 0
	pending int32  // children that have not ended
	parent  ID
	worker  int32  // the last that ran it, or that spawned it
	path    uint64 // names it in every run: made of its parent's and of the node that spawned it
}

// ID names a thread as long as it has not ended. Afterwards it names another.
type ID int32

// None is the ID of no thread.
const None ID = 0

type state uint8

const (
	gone    state = iota // not spawned yet, or ended
	ready                // its next node could run, and none of its nodes does
	running              // a node of it runs
	waiting              // for its children
)

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

// mix is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// path names the thread that node pc of the thread of that path spawns.
func path(parent uint64, pc uint32) uint64 { return mix(parent + uint64(pc)) }
