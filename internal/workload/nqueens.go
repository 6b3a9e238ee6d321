package workload

import (
	"math/bits"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// solutions is the number of ways to place n queens: OEIS A000170.
var solutions = [...]int{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512}

var nqueens = &Workload{
	Name:    "nqueens",
	About:   "count all ways to place n queens: an irregular tree",
	Sizes:   []string{"10", "11", "12", "13", "14"},
	Default: []Default{{Size: "10"}, {Size: "13", Heavy: true}},
	Strand:  "11",
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("nqueens", size, 1, len(solutions)-1)
		if err != nil {
			return nil, err
		}
		all := uint32(1)<<n - 1
		root := queens{free: all, todo: all}
		return &Job{
			Want:   itoa(solutions[n]),
			Serial: func() string { return itoa(serialQueens(all, 0, 0)) },
			Func:   func(p filch.Scope) string { return itoa(queensFunc.Call(p, root)) },
			Chain:  func(p filch.Scope) string { return itoa(queensChain.Call(p, root)) },
			Closures: func(w *filch.Worker, both Both) string {
				return itoa(closureQueens(w, both, root))
			},
			Strand:        func(s *strand.Strand) string { return itoa(strandQueens(s, root)) },
			StrandClosure: func(s *strand.Strand) string { return itoa(strandClosureQueens(s, root)) },
		}, nil
	},
}

// serialQueens counts the ways to go on when the columns in free are free, and
// the diagonals in left and right are taken in the next row.
func serialQueens(free, left, right uint32) int {
	if free == 0 {
		return 1
	}
	n := 0
	for todo := free &^ (left | right); todo != 0; todo &= todo - 1 {
		q := todo & -todo
		n += serialQueens(free^q, (left|q)<<1, (right|q)>>1)
	}
	return n
}

// queens is a board, of whose next row only the places in todo are to be tried.
type queens struct{ free, left, right, todo uint32 }

// place returns the board with a queen at the first place to try.
func (b queens) place() queens {
	q := b.todo & -b.todo
	free, left, right := b.free^q, (b.left|q)<<1, (b.right|q)>>1
	return queens{free, left, right, free &^ (left | right)}
}

// skip returns the board without the first place to try.
func (b queens) skip() queens {
	b.todo &= b.todo - 1
	return b
}

// ended reports whether there is nothing to try, and the number of solutions
// that this makes.
func (b queens) ended() (n int, ended bool) {
	if b.free == 0 {
		return 1, true
	}
	return 0, b.todo == 0
}

var queensFunc = filch.NewFunc(queensBody)

// queensBody forks the board without the first place to try. To fork all places at once
// needs an array for their handles, which costs twice as much as the forks.
func queensBody(f *filch.Frame[queens, int], b queens) int {
	if n, ended := b.ended(); ended {
		return n
	}
	rest := b.skip()
	if rest.todo == 0 {
		return queensBody(f, b.place())
	}
	h := f.Fork(rest)
	n := queensBody(f, b.place())
	return n + f.Join(h)
}

var queensChain = filch.NewChain(queensLink)

func queensLink(l *filch.Link[queens, int], b queens) int {
	if n, ended := b.ended(); ended {
		return n
	}
	n := 0
	for {
		rest := b.skip()
		if rest.todo == 0 {
			return n + queensLink(l, b.place())
		}
		l.Fork(rest)
		n += queensLink(l.Next(), b.place())
		if !l.TakeBack() {
			return n + l.Join()
		}
		b = rest
	}
}

func closureQueens(w *filch.Worker, both Both, b queens) int {
	if n, ended := b.ended(); ended {
		return n
	}
	rest := b.skip()
	if rest.todo == 0 {
		return closureQueens(w, both, b.place())
	}
	var x, y int
	both(w,
		func(w *filch.Worker) { x = closureQueens(w, both, b.place()) },
		func(w *filch.Worker) { y = closureQueens(w, both, rest) })
	return x + y
}

func strandQueens(s *strand.Strand, b queens) int {
	if n, ended := b.ended(); ended {
		return n
	}
	var few [len(solutions)]*strand.Value[int]
	ways := few[:0]
	for ; b.todo != 0; b = b.skip() {
		ways = append(ways, strand.SpawnCall(s, strandQueens, b.place()))
	}
	s.Sync()
	n := 0
	for _, way := range ways {
		n += way.Get()
	}
	return n
}

func strandClosureQueens(s *strand.Strand, b queens) int {
	if n, ended := b.ended(); ended {
		return n
	}
	ways := make([]int, bits.OnesCount32(b.todo))
	for i := range ways {
		placed := b.place()
		s.Spawn(func(s *strand.Strand) { ways[i] = strandClosureQueens(s, placed) })
		b = b.skip()
	}
	s.Sync()
	n := 0
	for _, way := range ways {
		n += way
	}
	return n
}
