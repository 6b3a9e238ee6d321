package filch_test

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
)

// A board has its first rows filled: the places of their queens, and the columns and diagonals that these
// take in the next row. It has four words: more would not stay in registers.
type board struct {
	rows                 string // a byte for each queen
	columns, left, right uint32
}

// solve places n queens, one in each row. It returns the first solution that any worker has found,
// and the others stop.
func solve(p *filch.Pool, n int) string {
	search := filch.NewFunc(func(f *filch.Frame[board, string], b board) string {
		if len(b.rows) == n {
			f.Stop()
			return b.rows
		}
		m := f.Mark()
		for free := uint32(1<<n-1) &^ (b.columns | b.left | b.right); free != 0; free &= free - 1 {
			q := free & -free
			f.Fork(board{b.rows + string(rune('a'+bits.TrailingZeros32(q))), b.columns | q, (b.left | q) << 1, (b.right | q) >> 1})
		}
		for _, solution := range m.JoinAll {
			if solution != "" {
				return solution // the rest is dropped
			}
		}
		return ""
	})
	var stop filch.Stop
	solution, _ := search.CallUntil(p, &stop, board{})
	return solution
}

// The first solution of the n queens problem ends the search.
func ExampleFunc_CallUntil() {
	solution := solve(filch.Default(), 10)
	fmt.Println(len(solution), "queens")
	for i, q := range solution {
		for j, r := range solution[:i] {
			if q == r || int(q-r) == i-j || int(r-q) == i-j {
				fmt.Println("two that attack each other")
			}
		}
	}
	fmt.Printf("%q\n", solve(filch.Default(), 3))
	// Output:
	// 10 queens
	// ""
}

// A Stop also ends a search with a context.
func ExampleStop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	var stop filch.Stop
	defer context.AfterFunc(ctx, stop.Stop)()

	endless := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 1
		}
		h := f.Fork(n - 1)
		return f.Call(n-1) + f.Join(h)
	})
	_, stopped := endless.CallUntil(filch.Default(), &stop, 100) // more than any computer can
	fmt.Println(stopped)
	// Output: true
}

// Stop may be called before, during and after the call.
func ExampleStop_Stop() {
	double := filch.NewFunc(func(_ *filch.Frame[int, int], n int) int { return 2 * n })
	var stop filch.Stop
	fmt.Println(double.CallUntil(filch.Default(), &stop, 21))
	stop.Stop()
	fmt.Println(double.CallUntil(filch.Default(), &stop, 21))
	// Output:
	// 42 false
	// 0 true
}

func ExampleStop_Stopped() {
	var stop filch.Stop
	fmt.Println(stop.Stopped())
	stop.Stop()
	fmt.Println(stop.Stopped())
	// Output:
	// false
	// true
}

// Frame.Stop stops the call that the body belongs to: nothing else is forked on.
func ExampleFrame_Stop() {
	isAny := filch.NewFunc(func(f *filch.Frame[[]int, bool], xs []int) bool {
		if len(xs) == 1 {
			if xs[0] == 7 {
				f.Stop()
				return true
			}
			return false
		}
		h := f.Fork(xs[len(xs)/2:])
		found := f.Call(xs[:len(xs)/2])
		return f.Join(h) || found
	})
	var stop filch.Stop
	fmt.Println(isAny.CallUntil(filch.Default(), &stop, []int{4, 8, 7, 1, 7, 0}))
	// Output: true true
}

// A body with a long loop looks now and then whether its result is still wanted.
func ExampleFrame_Stopped() {
	type span struct{ lo, hi int }
	root := filch.NewFunc(func(f *filch.Frame[span, int], s span) int {
		if mid := (s.lo + s.hi) / 2; s.hi-s.lo > 1000 {
			h := f.Fork(span{mid, s.hi})
			r := f.Call(span{s.lo, mid})
			return r + f.Join(h)
		}
		for n := s.lo; n < s.hi && !f.Stopped(); n++ {
			if n*n == 1522756 {
				f.Stop()
				return n
			}
		}
		return 0
	})
	var stop filch.Stop
	fmt.Println(root.CallUntil(filch.Default(), &stop, span{0, 1_000_000}))
	// Output: 1234 true
}

// Branch and bound: what to pack, of the greatest value, if it may weigh no more than 53.
func ExampleBest() {
	type item struct{ weight, value int }
	items := []item{ // the most for its weight first
		{2, 25}, {5, 50}, {8, 64}, {10, 70}, {16, 104}, {9, 54}, {15, 82}, {20, 100}, {12, 55}, {13, 52},
	}
	// bound is what the rest may be worth at most, if items could be cut.
	bound := func(room, next int) (value int) {
		for _, it := range items[next:] {
			if it.weight > room {
				return value + it.value*room/it.weight
			}
			room -= it.weight
			value += it.value
		}
		return value
	}
	// Of packings that are worth the same, the one with the least number is kept, in each run.
	best := filch.NewGreatest[int](func(a, b uint) bool { return a < b })
	type state struct {
		next, room, value int
		packed            uint // a bit for each item
	}
	pack := filch.NewFunc(func(f *filch.Frame[state, struct{}], s state) struct{} {
		if s.value+bound(s.room, s.next) < best.Bound() { // what equals it counts, for the order of ties
			return struct{}{}
		}
		if s.next == len(items) {
			best.Offer(s.value, s.packed)
			return struct{}{}
		}
		it := items[s.next]
		h := f.Fork(state{s.next + 1, s.room, s.value, s.packed})
		if it.weight <= s.room { // the more promising of the two: this worker tries it first
			f.Call(state{s.next + 1, s.room - it.weight, s.value + it.value, s.packed | 1<<s.next})
		}
		return f.Join(h)
	})
	pack.Call(filch.Default(), state{room: 53})
	value, packed, _ := best.Get()
	weight := 0
	for i, it := range items {
		weight += it.weight * int(packed>>i&1)
	}
	fmt.Printf("items %b: value %d, weight %d\n", packed, value, weight)
	// Output: items 100011111: value 368, weight 53
}

func ExampleNewLeast() {
	nearest := filch.NewLeast[float64, string](nil) // ties: the first
	nearest.Offer(2.5, "Turin")
	nearest.Offer(1.5, "Milan")
	nearest.Offer(4, "Rome")
	fmt.Println(nearest.Get())
	// Output: 1.5 Milan true
}

func ExampleNewGreatest() {
	longest := filch.NewGreatest[int](strings.HasPrefix) // of equal ones, the one with the other as its prefix
	for _, s := range []string{"fork", "join", "steal"} {
		longest.Offer(len(s), s)
	}
	fmt.Println(longest.Get())
	// Output: 5 steal true
}

func ExampleBest_Offer() {
	cheapest := filch.NewLeast[int64, string](nil)
	fmt.Println(cheapest.Offer(30, "by train"), cheapest.Offer(30, "by bus"), cheapest.Offer(20, "on foot"))
	// Output: true false true
}

func ExampleBest_Bound() {
	cheapest := filch.NewLeast[float64, string](nil)
	fmt.Println(cheapest.Bound())
	cheapest.Offer(30, "by train")
	fmt.Println(cheapest.Bound())
	// Output:
	// +Inf
	// 30
}

func ExampleBest_Get() {
	cheapest := filch.NewLeast[int, string](nil)
	_, _, ok := cheapest.Get()
	fmt.Println(ok)
	cheapest.Offer(30, "by train")
	fmt.Println(cheapest.Get())
	// Output:
	// false
	// 30 by train true
}

// A game of noughts and crosses: a bit for each field. The window is what the result must be
// in to matter.
type game struct {
	x, o        uint16 // x moves if there are as many of both
	alpha, beta int8
}

var lines = []uint16{0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124}

func wins(player uint16) bool {
	return slices.ContainsFunc(lines, func(l uint16) bool { return player&l == l })
}

// Alpha-beta search by two Funcs, each of which forks calls of the other. The first move is
// searched before others are forked, so that these have a narrow window.
func ExampleFunc_On() {
	var forX, forO *filch.Func[game, int8]
	forX = filch.NewFunc(func(f *filch.Frame[game, int8], g game) int8 {
		switch free := 0o777 &^ (g.x | g.o); {
		case wins(g.o):
			return -1
		case free == 0:
			return 0
		default:
			forO.On(f.Worker(), func(f *filch.Frame[game, int8]) {
				g.alpha = max(g.alpha, f.Call(game{g.x | free&-free, g.o, g.alpha, g.beta}))
				m := f.Mark()
				for free &= free - 1; free != 0 && g.alpha < g.beta; free &= free - 1 {
					f.Fork(game{g.x | free&-free, g.o, g.alpha, g.beta})
				}
				for _, r := range m.JoinAll {
					if g.alpha = max(g.alpha, r); g.alpha >= g.beta {
						break // drops the moves that nobody has begun to search
					}
				}
			})
			return g.alpha
		}
	})
	forO = filch.NewFunc(func(f *filch.Frame[game, int8], g game) int8 {
		switch free := 0o777 &^ (g.x | g.o); {
		case wins(g.x):
			return 1
		case free == 0:
			return 0
		default:
			forX.On(f.Worker(), func(f *filch.Frame[game, int8]) {
				g.beta = min(g.beta, f.Call(game{g.x, g.o | free&-free, g.alpha, g.beta}))
				m := f.Mark()
				for free &= free - 1; free != 0 && g.alpha < g.beta; free &= free - 1 {
					f.Fork(game{g.x, g.o | free&-free, g.alpha, g.beta})
				}
				for _, r := range m.JoinAll {
					if g.beta = min(g.beta, r); g.alpha >= g.beta {
						break
					}
				}
			})
			return g.beta
		}
	})
	fmt.Println(forX.Call(filch.Default(), game{alpha: -1, beta: 1}))                     // nobody must lose
	fmt.Println(forX.Call(filch.Default(), game{x: 0o001, o: 0o002, alpha: -1, beta: 1})) // a bad answer to a corner
	fmt.Println(forO.Call(filch.Default(), game{x: 0o021, o: 0o400, alpha: -1, beta: 1})) // a good one to the next
	// Output:
	// 0
	// 1
	// 0
}

// One Func for calls of two kinds, where each call is too short for [filch.Func.On]: its argument
// says the kind, and each kind has a body of its own.
func ExampleFrame_kinds() {
	type node struct {
		n    int
		even bool
	}
	type frame = *filch.Frame[node, bool]
	even := func(f frame, n int) bool { return n == 0 || f.Join(f.Fork(node{n - 1, false})) }
	odd := func(f frame, n int) bool { return n != 0 && f.Join(f.Fork(node{n - 1, true})) }
	parity := filch.NewFunc(func(f *filch.Frame[node, bool], x node) bool {
		if x.even {
			return even(f, x.n)
		}
		return odd(f, x.n)
	})
	fmt.Println(parity.Call(filch.Default(), node{10, true}), parity.Call(filch.Default(), node{10, false}))
	// Output: true false
}

// A Func without a result returns struct{}, as Join of its forks does.
func ExampleNewFunc_noResult() {
	type tree struct {
		left, right *tree
		n           int
	}
	number := filch.NewFunc(func(f *filch.Frame[*tree, struct{}], t *tree) struct{} {
		if t == nil {
			return struct{}{}
		}
		t.n *= 10
		h := f.Fork(t.right)
		f.Call(t.left)
		return f.Join(h)
	})
	t := &tree{&tree{n: 1}, &tree{n: 2}, 3}
	number.Call(filch.Default(), t)
	fmt.Println(t.left.n, t.right.n, t.n)
	// Output: 10 20 30
}

// A body that forks in a loop, and needs the results in order.
func ExampleMark() {
	squares := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n >= 0 {
			return n * n
		}
		m := f.Mark()
		for i := range 5 {
			f.Fork(i)
		}
		var all [5]int
		for i, r := range m.JoinAll {
			all[i] = r
		}
		fmt.Println(all)
		return 0
	})
	squares.Call(filch.Default(), -1)
	// Output: [0 1 4 9 16]
}

// A tree with any number of children: the results are added up, whatever their order.
func ExampleMark_JoinAll() {
	type tree struct {
		value    int
		children []tree
	}
	sum := filch.NewFunc(func(f *filch.Frame[*tree, int], t *tree) int {
		m := f.Mark()
		for i := range t.children {
			f.Fork(&t.children[i])
		}
		s := t.value
		for _, r := range m.JoinAll {
			s += r
		}
		return s
	})
	t := &tree{1, []tree{{2, nil}, {3, []tree{{4, nil}}}, {5, nil}}}
	fmt.Println(sum.Call(filch.Default(), t))
	// Output: 15
}

// Forks that were made before the mark stay open.
func ExampleFrame_Mark() {
	fn := filch.NewFunc(func(f *filch.Frame[string, string], s string) string {
		if s != "" {
			return s
		}
		before := f.Fork("before")
		m := f.Mark()
		f.Fork("first")
		f.Fork("second")
		for i, r := range m.JoinAll {
			fmt.Println(i, r)
		}
		return f.Join(before)
	})
	fmt.Println(fn.Call(filch.Default(), ""))
	// Output:
	// 1 second
	// 0 first
	// before
}

// A nim is a position of a game: heaps of matches. A player takes some of one heap. Who takes the last match wins.
type nim struct{ heaps [3]int }

// moves returns the positions that a move leads to.
func (g nim) moves() (all []nim) {
	for i, n := range g.heaps {
		for left := range n {
			next := g
			next.heaps[i] = left
			all = append(all, next)
		}
	}
	return all
}

// A turn is a node of the game tree, whose moves are searched within a window of scores. Its Stop is under that of the turn
// before: a move that is good enough, the cutoff, stops all that is searched below.
type turn struct {
	nim
	best atomic.Int64 // of the player who moves
	beta int64        // enough: the other player will not let it come to this
	stop filch.Stop
}

// moveRange is some of the moves of a turn.
type moveRange struct {
	turn *turn
	all  []nim
}

// siblings searches moves of a turn, by halves, until there is a cutoff or none is left.
var siblings *filch.Func[moveRange, struct{}]

func init() {
	siblings = filch.NewFunc(func(f *filch.Frame[moveRange, struct{}], r moveRange) (none struct{}) {
		if len(r.all) > 1 {
			half := len(r.all) / 2
			later := f.Fork(moveRange{r.turn, r.all[half:]})
			f.Call(moveRange{r.turn, r.all[:half]})
			return f.Join(later)
		}
		score := -score(f.Worker(), r.turn, r.all[0], -r.turn.beta, -r.turn.best.Load())
		if f.Stopped() {
			return none // the score is of a search that was stopped
		}
		for old := r.turn.best.Load(); old < score && !r.turn.best.CompareAndSwap(old, score); old = r.turn.best.Load() {
		}
		if score >= r.turn.beta {
			f.Stop()
		}
		return none
	})
}

// score returns 1 if the player who moves wins, and else -1, as far as that is between alpha and beta.
func score(s filch.Scope, above *turn, g nim, alpha, beta int64) int64 {
	moves := g.moves()
	if len(moves) == 0 {
		return -1 // the other player took the last one
	}
	n := &turn{nim: g, beta: beta}
	n.best.Store(alpha)
	if above != nil {
		n.stop.Under(&above.stop)
	}
	siblings.CallUntil(s, &n.stop, moveRange{n, moves})
	return n.best.Load()
}

// Alpha-beta search: a cutoff at a node stops its descendants, on all workers, and nothing beside it.
func ExampleStop_Under() {
	for _, heaps := range [][3]int{{1, 2, 3}, {1, 2, 4}, {2, 2, 0}, {3, 4, 4}} {
		fmt.Println(heaps, score(filch.Default(), nil, nim{heaps}, -1, 1) > 0)
	}
	// Output:
	// [1 2 3] false
	// [1 2 4] true
	// [2 2 0] false
	// [3 4 4] true
}
