package wheel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// entry is what a worker does next.
type entry struct {
	at     int64
	worker int32
	ends   bool
}

// take takes all of a queue.
func take(h *Wheel, q *Queue) (all []int32) {
	for w, ok := h.Take(q); ok; w, ok = h.Take(q) {
		all = append(all, w)
	}
	slices.Sort(all)
	return all
}

// A wheel comes to all times at which something happens, in their order, and has at each what a list has then,
// within a turn and beyond it. What is removed does not happen.
func TestWheelIsAList(t *testing.T) {
	const workers = 40
	rng := rand.New(rand.NewPCG(1, 1))
	h := New(workers)
	var list []entry
	add := func(w int32) {
		e := entry{h.Now + rng.Int64N(3), w, rng.IntN(2) == 0}
		if rng.IntN(3) == 0 {
			e.at += rng.Int64N(5 * turn)
		}
		h.Add(e.at, w, e.ends)
		list = append(list, e)
	}
	for w := range int32(workers) {
		add(w)
	}
	for round := range 20_000 {
		step, ok := h.Advance()
		want := slices.MinFunc(list, func(a, b entry) int { return int(a.at - b.at) }).at
		if !ok || h.Now != want {
			t.Fatalf("round %d: the time is %d, not %d", round, h.Now, want)
		}
		ending, looking := take(h, &step.Ending), take(h, &step.Looking)
		var happens [2][]int32
		list = slices.DeleteFunc(list, func(e entry) bool {
			if e.at == want && e.ends {
				happens[0] = append(happens[0], e.worker)
			} else if e.at == want {
				happens[1] = append(happens[1], e.worker)
			}
			return e.at == want
		})
		slices.Sort(happens[0])
		slices.Sort(happens[1])
		if !slices.Equal(ending, happens[0]) || !slices.Equal(looking, happens[1]) || !step.Empty() {
			t.Fatalf("step %d: %v end, not %v; %v look, not %v", want, ending, happens[0], looking, happens[1])
		}
		for _, w := range slices.Concat(ending, looking) {
			add(w)
		}
		if round%100 == 0 {
			gone := make([]bool, workers)
			for w := range gone {
				gone[w] = rng.IntN(4) == 0
			}
			h.Remove(gone)
			list = slices.DeleteFunc(list, func(e entry) bool { return gone[e.worker] })
			for w, g := range gone {
				if g {
					add(int32(w))
				}
			}
		}
	}
}

// Those that do something at one time come in the order in which they were added.
func TestFirstInFirstOut(t *testing.T) {
	h := New(5)
	order := []int32{3, 0, 4, 1, 2}
	for _, w := range order {
		h.Add(7, w, false)
	}
	step, _ := h.Advance()
	for _, want := range order {
		if w, ok := h.Take(&step.Looking); !ok || w != want {
			t.Fatalf("worker %d, %t, not %d", w, ok, want)
		}
	}
	if _, ok := h.Advance(); ok {
		t.Error("something happens in an empty wheel")
	}
	if h.Tick(); h.Now != 8 {
		t.Errorf("the time is %d", h.Now)
	}
}
