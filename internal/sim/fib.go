package sim

// Fib is the recursion of Fibonacci numbers without a cutoff.
type Fib int

func (f Fib) Root() Args { return Args{A: uint64(f)} }

func (f Fib) Node(t *Thread, n *Node) {
	n.Weight = 1
	switch {
	case t.A < 2 || t.PC == 2:
		n.Last = true
	case t.PC == 0:
		n.Spawns, n.Child = true, Args{A: t.A - 1}
	case t.PC == 1:
		n.Spawns, n.Child = true, Args{A: t.A - 2}
	}
}

// Loop is a thread that spawns so many others in a loop.
type Loop int

func (l Loop) Root() Args { return Args{Kind: 1} }

func (l Loop) Node(t *Thread, n *Node) {
	n.Weight = 1
	switch {
	case t.Kind == 0 || t.PC == uint32(l):
		n.Last = true
	default:
		n.Spawns = true
	}
}
