package filch_test

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
)

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
