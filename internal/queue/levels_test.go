package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/filch-go/filch/internal/model"
	"github.com/filch-go/filch/internal/thorough"
)

// priorities are kinds of them, inside the window, beyond it, and on its edges.
var priorities = map[string]func(r *rand.Rand) int{
	"one":      func(*rand.Rand) int { return 0 },
	"few":      func(r *rand.Rand) int { return r.IntN(8) },
	"window":   func(r *rand.Rand) int { return r.IntN(windowSize) },
	"edges":    func(r *rand.Rand) int { return r.IntN(6) + r.IntN(3)*windowSize },
	"distinct": func(r *rand.Rand) int { return r.Int() - math.MaxInt/2 },
	"steps":    func(r *rand.Rand) int { return r.IntN(40)*100_000 + r.IntN(300) },
	"near":     func(r *rand.Rand) int { return r.IntN(10_000) },
	"nearer":   func(r *rand.Rand) int { return r.IntN(1_000_000) },
	"extreme": func(r *rand.Rand) int {
		return []int{math.MinInt, math.MinInt + 1, -1, 0, math.MaxInt - 1, math.MaxInt}[r.IntN(6)]
	},
}

type entry = model.Entry

func TestLevelsAreLikeAModel(t *testing.T) {
	seed := rand.Uint64()
	for _, n := range []int{1, 3, followed} {
		t.Run(fmt.Sprintf("followed=%d", n), func(t *testing.T) {
			defer func(n int) { followed = n }(followed)
			followed = n
			testLevels(t, seed)
		})
	}
}

func testLevels(t *testing.T, seed uint64) {
	ids := 40_000
	if thorough.Sampled() {
		ids = 10_000
	}
	for name, priority := range priorities {
		r := rand.New(rand.NewPCG(seed, 0))
		var l Levels[int]
		var m model.Queue
		span := 500
		for id := range ids {
			if id == ids/2 {
				span = 3 // few at a time
			}
			grow := id/span%2 == 0
			looks := r.IntN(2) == 0 // a look may move all
			switch k := r.IntN(10); {
			case len(m) == 0 || grow && k < 7 || !grow && k < 3:
				p := priority(r)
				if r.IntN(4) == 0 {
					l.PushOldest(p, id)
					m.PushOldest(entry{p, id})
				} else {
					l.Push(p, id)
					m.Push(entry{p, id})
				}
			case k == 9 && r.IntN(20) == 0:
				k := r.IntN(len(m) + 1)
				var spilt model.Queue
				l.Spill(k, func(p, id int) { spilt.Push(entry{p, id}) }) // the oldest first
				if want := m.Spill(k); !slices.Equal(spilt, want) {
					t.Fatalf("seed %d, %s: spilled %v, want %v", seed, name, spilt, want)
				}
			case len(m) > 0 && r.IntN(10) == 0:
				n := 1 + r.IntN(l.Bests(len(m)))
				if err := moved(&l, &m, n, r); err != nil {
					t.Fatalf("seed %d, %s: %v", seed, name, err)
				}
			default:
				if looks {
					n, few := l.Bests(len(m)), l.Bests(3)
					if whole := l.span == windowSize || l.inHeap(); l.Best() != m[0].Priority() || n > m.Bests() || n < 1 || whole && n != m.Bests() || few != min(3, n) {
						t.Fatalf("seed %d, %s: %d of priority %d, want %d of %d", seed, name, n, l.Best(), m.Bests(), m[0].Priority())
					}
				}
				if got := m[0].Value(); looks && l.Peek() != got {
					t.Fatalf("seed %d, %s: %d is the best, not %d", seed, name, l.Peek(), got)
				}
				p, id := l.Pop()
				if want := m.Pop(); want != (entry{p, id}) {
					t.Fatalf("seed %d, %s: popped %v, want %v", seed, name, entry{p, id}, want)
				}
			}
			if l.n != len(m) {
				t.Fatalf("seed %d, %s: %d values, want %d", seed, name, l.n, len(m))
			}
			if err := checkParts(&l, len(m)); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
		}
	}
}

// moved moves the best n values of l away, and checks them against m.
func moved(l *Levels[int], m *model.Queue, n int, r *rand.Rand) error {
	var to Levels[int]
	if r.IntN(2) == 0 {
		to.Push((*m)[0].Priority(), -1)
	}
	before := to.Len()
	l.MoveBests(n, &to)
	for i := range n + before {
		p, id := to.Pop()
		want := entry{(*m)[0].Priority(), -1}
		if i >= before {
			want = m.Pop()
		}
		if want != (entry{p, id}) {
			return fmt.Errorf("moved %v, want %v", entry{p, id}, want)
		}
	}
	if to.Len() > 0 || to.used > 0 || to.words != 0 {
		return fmt.Errorf("%d values and %d parts too many moved", to.Len(), to.used)
	}
	return nil
}

// checkParts checks how many parts there are for n values.
func checkParts(l *Levels[int], n int) error {
	parts := 0
	for p := l.free; p != nil; p = p.next {
		parts++
	}
	if parts != l.spare || parts > l.used+partSize || l.used > n || cap(l.heap.items) > 4*n+1100 {
		return fmt.Errorf("%d parts, %d free and %d said to be, room for %d, for %d values", l.used, parts, l.spare, cap(l.heap.items), n)
	}
	return nil
}

// A million different priorities take the memory of a million values, and give it
// back.
func TestMemoryOfManyLevels(t *testing.T) {
	values := 1_000_000
	if thorough.Sampled() {
		values = 200_000
	}
	for name, priority := range priorities {
		r := rand.New(rand.NewPCG(1, 1))
		var l Levels[int]
		for i := range values {
			l.Push(priority(r), i)
		}
		if n := max(partSize*l.used, cap(l.heap.items)); n > values+values*3/5 {
			t.Errorf("%s: room for %d", name, n)
		}
		for l.n > 0 {
			l.Pop()
		}
		blocks := 0
		for _, b := range l.blocks {
			if b != nil {
				blocks++
			}
		}
		if blocks > 0 || l.words != 0 || l.bits != [windowWords]uint64{} || l.used > 0 || l.spare > partSize || cap(l.heap.items) > 64 {
			t.Errorf("%s: after it, %d words, %d and %d parts, room for %d", name, l.words, l.used, l.spare, cap(l.heap.items))
		}
	}
}

// The window moves while two values are left.
func TestTheLastTwo(t *testing.T) {
	var l Levels[string]
	l.Push(0, "a")
	l.Push(1_000_063, "b")
	l.Push(1_003_008, "c")
	for i, want := range []entry{{0, 'a'}, {1_000_063, 'b'}, {1_003_008, 'c'}} {
		if p, v := l.Pop(); p != want.Priority() || v != string(rune(want.Value())) {
			t.Errorf("pop %d: %q of priority %d, want %q of %d", i, v, p, rune(want.Value()), want.Priority())
		}
	}
}

// Of the worst priority the newest is spilled first, also if the older ones are in a list already
// and there was no room for the newer ones.
func TestSpillOfTheWorstOutsideOfTheWindow(t *testing.T) {
	defer func(n int) { followed = n }(followed)
	followed = 1
	var l Levels[string]
	l.Push(0, "far")
	for _, v := range []string{"a", "b", "c"} {
		l.Push(math.MinInt, v)
	}
	var spilt []string
	spill := func(_ int, v string) { spilt = append(spilt, v) }
	l.Spill(1, spill)
	l.Best() // follows, with one
	l.Spill(1, spill)
	l.Spill(1, spill)
	if want := []string{"far", "c", "b"}; !slices.Equal(spilt, want) {
		t.Errorf("%v were spilled, not %v", spilt, want)
	}
}

// Values of one priority move by parts, and not one by one.
func TestPartsMove(t *testing.T) {
	var from, to Levels[int]
	for i := range 3 * partSize {
		from.Push(7, i)
	}
	at := from.first()
	part := from.blocks[at/64][at%64].head
	from.MoveBests(2*partSize+1, &to)
	if at = to.first(); to.blocks[at/64][at%64].head != part {
		t.Error("the first part did not move")
	}
	if from.Len() != partSize-1 || to.Len() != 2*partSize+1 {
		t.Errorf("%d are left, and %d have moved", from.Len(), to.Len())
	}
}

// A part is taken from those that are free first, and else from those that others have put down.
func TestPartsOfOthers(t *testing.T) {
	asked := 0
	l := Levels[int]{Parts: &sync.Pool{New: func() any { asked++; return &part[int]{} }}}
	for range 3 {
		l.Push(1, 1)
		l.Pop()
		if asked != 1 || l.spare != 1 {
			t.Errorf("asked others %d times; %d parts are free", asked, l.spare)
		}
	}
}

// What moves on by and by, as time does, stays in order.
func TestLevelsThatMove(t *testing.T) {
	seed := rand.Uint64()
	for _, spread := range []int{1, 100, windowSize / 8, windowSize / 2} {
		r := rand.New(rand.NewPCG(seed, 0))
		var l Levels[int]
		var m model.Queue
		at, lists := 0, 0
		for id := range 20_000 {
			for range r.IntN(3) {
				p := at + r.IntN(spread)
				l.Push(p, id)
				m.Push(entry{p, id})
			}
			if len(m) == 0 {
				continue
			}
			if l.words != 0 && (l.heap.Len() == 0 || l.heap.Best() > l.low) {
				lists++
			}
			p, id := l.Pop()
			if want := m.Pop(); want != (entry{p, id}) {
				t.Fatalf("seed %d, spread %d: popped %v, want %v", seed, spread, entry{p, id}, want)
			}
			at = max(at, p)
		}
		if lists < 10_000 {
			t.Errorf("spread %d: only %d pops without the heap", spread, lists)
		}
	}
}

// The alternatives for the inside of a queue of 200 values, in one goroutine; moving:
// as time does.
func BenchmarkLevels(b *testing.B) {
	for _, levels := range []int{1, 8, 256, math.MaxInt32} {
		for _, moving := range []bool{false, true} {
			run := func(b *testing.B, push func(priority, v int), pop func() (priority, v int)) {
				r := rand.New(rand.NewPCG(1, 1))
				for i := range 200 {
					push(r.IntN(levels), i)
				}
				if !moving {
					for b.Loop() {
						push(r.IntN(levels), 0)
						pop()
					}
					return
				}
				for at := 0; b.Loop(); {
					push(at+r.IntN(levels), 0)
					at, _ = pop()
				}
			}
			b.Run(fmt.Sprintf("levels=%d/moving=%v/lists", levels, moving), func(b *testing.B) {
				var l Levels[int]
				run(b, l.Push, l.Pop)
			})
			b.Run(fmt.Sprintf("levels=%d/moving=%v/heap", levels, moving), func(b *testing.B) {
				var h Heap[int]
				run(b, h.Push, h.Pop)
			})
		}
	}
}
