package par

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
)

// piecesOf are ways to return what is asked for. They add v times v to out.
var piecesOf = map[string]func(v int, out []int) []int{
	"append": func(v int, out []int) []int {
		for range v {
			out = append(out, v)
		}
		return out
	},
	"another slice": func(v int, out []int) []int { return slices.Repeat([]int{v}, v) },
	"a part of out": func(v int, out []int) []int {
		out = append(out, -1)
		for range v {
			out = append(out, v)
		}
		return out[1:]
	},
	"no room left": func(v int, out []int) []int {
		return slices.Clip(append(out, slices.Repeat([]int{v}, v)...))
	},
	"the room that is there": func(v int, out []int) []int {
		for i := range out[:cap(out)] {
			out[:cap(out)][i] = -1 // all of it is f's
		}
		if cap(out) < v {
			return slices.Repeat([]int{v}, v)
		}
		out = out[:v]
		for i := range out {
			out[i] = v
		}
		return out
	},
	"by turns": func(v int, out []int) []int {
		if v%2 == 0 {
			return append(out, slices.Repeat([]int{v}, v)...)
		}
		return slices.Repeat([]int{v}, v)
	},
}

func TestCollectIsLikeALoop(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		for _, below := range []int{1, 4, 300} { // 1: nothing comes
			if below > 100 && n > 100 || race.Enabled && n > racetest.Fewer(300, 1000) {
				continue
			}
			x := ints(n, below, r)
			want := []int{}
			for _, v := range x {
				want = append(want, slices.Repeat([]int{v}, v)...)
			}
			for name, f := range piecesOf {
				for i, opts := range [][]Option{nil, {WithGrain(7)}, {WithMaxWorkers(1)}} {
					got := FlatMap(s, x, f, opts...)
					equal(t, fmt.Sprint("FlatMap, ", name, ", options ", i), got, want)
					if cap(got) != len(got) || (got == nil) != (len(want) == 0) {
						t.Errorf("FlatMap: %d elements with room for %d, nil: %v", len(got), cap(got), got == nil)
					}
					got = Collect(s, n, func(lo, hi int, out []int) []int {
						var all []int
						for _, v := range x[lo:hi] {
							all = append(all, f(v, nil)...)
						}
						if name == "another slice" {
							return all
						}
						return append(out, all...)
					}, opts...)
					equal(t, fmt.Sprint("Collect, ", name, ", options ", i), got, want)
				}
			}
		}
	})
}

// What is handed to f is empty, and no one else's.
func TestRoomIsEmptyAndOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(4))
		defer p.Close()
		const n = 500
		x := Collect(p, n, func(lo, hi int, out []int) []int {
			if len(out) != 0 {
				t.Errorf("out has %d elements", len(out))
			}
			room := out[:cap(out)]
			for i := range room {
				room[i] = lo
			}
			time.Sleep(time.Second)
			for i := range room {
				if room[i] != lo {
					t.Fatal("another one has written to the room of this one")
				}
			}
			for i := lo; i < hi; i++ {
				out = append(out, i)
			}
			return out
		})
		equal(t, "Collect", x, upToN(n))
	})
}

// The result does not change if what f has returned does.
func TestTheResultSharesNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{1, 100, 100_000} {
		x := upToN(n)
		got := Collect(p, n, func(lo, hi int, _ []int) []int { return x[lo:hi] })
		one := FlatMap(p, x, func(v int, _ []int) []int { return x[v : v+1] })
		clear(x)
		equal(t, "Collect", got, upToN(n))
		equal(t, "FlatMap", one, upToN(n))
	}
}

// A slice whose room is not the loop's is never written to.
func TestForeignRoomIsLeftAlone(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	x := upToN(10_000)
	FlatMap(p, x, func(v int, out []int) []int {
		if v%3 == 0 {
			return append(out, -1, -2)
		}
		return x[v:v] // all that follows has room in it
	})
	FlatMap(p, x, func(v int, out []int) []int {
		if v%3 == 0 {
			return append(out, -1, -2)
		}
		return x[v : v+1]
	})
	equal(t, "x", x, upToN(10_000))
}

// What begins where the room ends is elsewhere.
func TestPositionAtTheEnd(t *testing.T) {
	x := upToN(10)
	for at, want := range map[int]int{2: 0, 4: 2, 5: 3, 6: -1, 7: -1, 1: -1} {
		if got := position(x[2:6:6], x[at:at+1]); got != want {
			t.Errorf("at %d: %d, not %d", at, got, want)
		}
	}
}

// Many elements are put together by several workers, each of which may begin in the middle of a piece.
func TestSeveralWorkersPutPiecesTogether(t *testing.T) {
	p := filch.New(filch.WithWorkers(8))
	defer p.Close()
	for _, size := range []int{1, 3, 1000, 70_001} {
		const n = 4 * fewCopied / 8
		want := upToN(n)
		var pieces []piece[int]
		for lo := 0; lo < n; lo += size {
			pieces = append(pieces, piece[int]{lo: lo, of: want[lo:min(n, lo+size)]})
			pieces = append(pieces, piece[int]{lo: lo})
		}
		equal(t, fmt.Sprint("in pieces of ", size), join(p, pieces, config{}), want)
	}
}

// Elements of no size, and large ones.
func TestCollectOfOddTypes(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{1, 10, 1000} {
		none := FlatMap(p, upToN(n), func(v int, out []struct{}) []struct{} { return append(out, make([]struct{}, v%7)...) })
		want := 0
		for v := range n {
			want += v % 7
		}
		if len(none) != want {
			t.Errorf("%d elements of no size, not %d", len(none), want)
		}
		type large struct {
			at int
			_  [10_000]byte
		}
		for i, v := range FlatMap(p, upToN(n), func(v int, out []large) []large { return append(out, large{at: v}) }) {
			if v.at != i {
				t.Fatalf("element %d is %d", i, v.at)
			}
		}
		texts := FlatMap(p, upToN(n), func(v int, out []string) []string { return append(out, fmt.Sprint(v), "x") })
		if k := strings.Count(strings.Join(texts, " "), " x"); k != n {
			t.Errorf("%d texts of %d", k, n)
		}
	}
}

// Pieces that come one after the other are one piece, also with nothing in between, and those of which others
// may have what is between are not.
func TestPiecesOneAfterTheOtherAreOnePiece(t *testing.T) {
	var c collector[int]
	add := func(lo, hi int, v ...int) { c.add(lo, hi, append(c.room(), v...)) }
	add(0, 1, 0, 0, 0) // no room yet
	add(1, 2, 1, 1)
	add(2, 3)
	add(3, 4, 3)
	add(6, 7, 6)
	add(7, 9, 7)
	add(20, 21)
	add(21, 22, 21)
	var los []int
	var all []int
	for _, p := range c.all() {
		los = append(los, p.lo)
		all = append(all, p.of...)
	}
	equal(t, "pieces", los, []int{0, 1, 6, 21})
	equal(t, "elements", all, []int{0, 0, 0, 1, 1, 3, 6, 7, 21})
	if cap(c.block) != 24 || len(c.block) != 6 {
		t.Errorf("a block of %d, %d used", cap(c.block), len(c.block))
	}
	add(22, 23, make([]int, 100)...)
	if c.want != 800 {
		t.Errorf("after a piece of 100 the next block is to have %d", c.want)
	}
	add(23, 24, make([]int, mostBlock)...)
	if add(24, 25, 1); cap(c.block) != mostBlock {
		t.Errorf("after a piece of %d, a block of %d", mostBlock, cap(c.block))
	}
}

// Collect takes about as much memory again as the result.
func TestMemoryOfCollect(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	const n = 2_000_000
	bytes := allocated(func() {
		Collect(p, n, func(lo, hi int, out []int) []int {
			for i := lo; i < hi; i++ {
				if i%2 == 0 {
					out = append(out, i)
				}
			}
			return out
		})
	})
	if most := 2*8*float64(n/2) + 5*mostBlock; bytes > most {
		t.Errorf("%v bytes for a result of %d, more than %v", bytes, 8*n/2, most)
	}
}
