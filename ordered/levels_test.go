package ordered

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// priorities are kinds of them, inside the window, beyond it, and on its edges.
var priorities = map[string]func(r *rand.Rand) int{
	"one":      func(*rand.Rand) int { return 0 },
	"few":      func(r *rand.Rand) int { return r.IntN(8) },
	"window":   func(r *rand.Rand) int { return windowLow + r.IntN(windowSize) },
	"edges":    func(r *rand.Rand) int { return windowLow - 3 + r.IntN(6) + r.IntN(2)*windowSize },
	"distinct": func(r *rand.Rand) int { return r.Int() - math.MaxInt/2 },
	"extreme": func(r *rand.Rand) int {
		return []int{math.MinInt, math.MinInt + 1, -1, 0, math.MaxInt - 1, math.MaxInt}[r.IntN(6)]
	},
}

type entry struct{ priority, id int }

// model is what levels should be: entries, the best and oldest first.
type model []entry

func (m *model) push(priority, id int) {
	i, _ := slices.BinarySearchFunc(*m, priority, func(e entry, p int) int {
		if e.priority <= p {
			return -1
		}
		return 1
	})
	*m = slices.Insert(*m, i, entry{priority, id})
}

func (m *model) pushOldest(priority, id int) {
	i, _ := slices.BinarySearchFunc(*m, priority, func(e entry, p int) int { return cmp.Compare(e.priority, p) })
	*m = slices.Insert(*m, i, entry{priority, id})
}

func (m *model) pop() entry {
	e := (*m)[0]
	*m = (*m)[1:]
	return e
}

func (m *model) bests() (n int) {
	for n < len(*m) && (*m)[n].priority == (*m)[0].priority {
		n++
	}
	return n
}

func TestLevels(t *testing.T) {
	seed := rand.Uint64()
	for name, priority := range priorities {
		r := rand.New(rand.NewPCG(seed, 0))
		var l levels[int]
		var m model
		for id := range 20_000 {
			grow := id/500%2 == 0
			switch k := r.IntN(10); {
			case len(m) == 0 || grow && k < 7 || !grow && k < 3:
				p := priority(r)
				if r.IntN(4) == 0 {
					l.pushOldest(p, id)
					m.pushOldest(p, id)
				} else {
					l.push(p, id)
					m.push(p, id)
				}
			case k == 9 && r.IntN(20) == 0:
				k := r.IntN(len(m) + 1)
				var spilt model
				l.spill(k, func(p, id int) { spilt.push(p, id) })
				if want := m[len(m)-k:]; !slices.Equal(spilt, want) {
					t.Fatalf("seed %d, %s: spilled %v, want %v", seed, name, spilt, want)
				}
				m = m[:len(m)-k]
			default:
				if l.best() != m[0].priority || l.bests() != m.bests() {
					t.Fatalf("seed %d, %s: %d of priority %d, want %d of %d", seed, name, l.bests(), l.best(), m.bests(), m[0].priority)
				}
				p, id := l.pop()
				if want := m.pop(); want != (entry{p, id}) {
					t.Fatalf("seed %d, %s: popped %v, want %v", seed, name, entry{p, id}, want)
				}
			}
			if l.n != len(m) {
				t.Fatalf("seed %d, %s: %d values, want %d", seed, name, l.n, len(m))
			}
			if most := 4*len(m) + 1100; len(l.nodes) > most || cap(l.heap) > most {
				t.Fatalf("seed %d, %s: %d nodes and room for %d, for %d values", seed, name, len(l.nodes), cap(l.heap), len(m))
			}
		}
	}
}

// A million different priorities take the memory of a million values, and give it
// back.
func TestMemoryOfManyLevels(t *testing.T) {
	for name, priority := range priorities {
		r := rand.New(rand.NewPCG(1, 1))
		var l levels[int]
		for i := range 1_000_000 {
			l.push(priority(r), i)
		}
		if n := max(cap(l.nodes), cap(l.heap)); n > 1_600_000 {
			t.Errorf("%s: room for %d", name, n)
		}
		for l.n > 0 {
			l.pop()
		}
		if l.words != 0 || l.bits != [windowWords]uint64{} || len(l.nodes) > 64 || cap(l.heap) > 64 {
			t.Errorf("%s: after it, %d words, %d nodes, room for %d", name, l.words, len(l.nodes), cap(l.heap))
		}
	}
}
