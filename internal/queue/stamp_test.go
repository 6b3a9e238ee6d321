package queue

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The oldest value, and each on a walk, has the first stamp that was left after its push,
// whatever is pushed, popped and moved.
func TestAValueHasTheFirstStampAfterItsPush(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	type value struct{ id, by int64 } // by is 0 as long as there is no stamp
	const never = -1
	for range 300 {
		var d Deque[int64]
		var to Deque[int64] // is used again and again
		var model []value
		grow := 1 + rng.IntN(130)
		check := func(d *Deque[int64], model []value) {
			by, ok := d.Oldest()
			if want := len(model) > 0 && model[0].by > 0; ok != want || ok && by != model[0].by {
				t.Fatalf("seed %d: the oldest is from %d, %v, and not %v", seed, by, ok, model[:min(3, len(model))])
			}
			i, from := 0, 0
			for more := true; more; {
				from, more = d.Walk(from, 1+rng.IntN(100), never, func(id, by int64) {
					if i < len(model) && (id != model[i].id || by != model[i].by && (by != never || model[i].by != 0)) {
						t.Fatalf("seed %d: value %d is %d of %d, and not %v", seed, i, id, by, model[i])
					}
					i++
				})
			}
			if i != len(model) {
				t.Fatalf("seed %d: a walk sees %d values of %d", seed, i, len(model))
			}
		}
		for now := int64(1); now < 2000; now++ {
			switch op := rng.IntN(200); {
			case op < grow:
				d.PushBack(now)
				model = append(model, value{now, 0})
			case op < 140:
				d.PopBack()
				model = model[:max(0, len(model)-1)]
			case op < 170:
				d.PopFront()
				model = slices.Clone(model[min(1, len(model)):])
			case op < 180:
				d.Stamp(now * fine)
				for i := range model {
					if model[i].by == 0 {
						model[i].by = now * fine
					}
				}
			case op < 184: // there and back
				n := rng.IntN(min(len(model), 40) + 1)
				if op == 180 {
					n = d.MoveChunk(&to)
				} else {
					d.MoveFront(n, &to)
				}
				moved := model[:n]
				check(&to, moved)
				model = slices.Clone(model[n:])
				check(&d, model)
				if rng.IntN(4) == 0 {
					d, to, model = to, d, moved
				}
				for to.Len() > 0 {
					to.PopFront()
				}
			}
			if now%50 == 0 {
				check(&d, model)
			}
		}
	}
}

// Stamps that come too often are one, and the memory of those that are used up is given
// back.
func TestStampsAreFew(t *testing.T) {
	var d Deque[int]
	for i := range int64(1000) {
		d.PushBack(0)
		d.Stamp(i * fine / 10)
	}
	if n := len(d.stamps); n != 100 {
		t.Errorf("%d stamps in 100 units", n)
	}
	for range 999 {
		d.PopFront()
	}
	if d.Oldest(); len(d.stamps) != 1 {
		t.Errorf("%d stamps of one value", len(d.stamps))
	}
	d.PopFront()
	if d.Stamp(1000 * fine); d.stamps != nil {
		t.Errorf("%d stamps of nothing", len(d.stamps))
	}
}

// A walk ends with the chunk in which it has seen as many values as it was to.
func TestWalkEndsWithAChunk(t *testing.T) {
	var d Deque[int]
	for i := range 3 * size {
		d.PushBack(i)
	}
	for n, want := range map[int]int{1: size, size: size, size + 1: 2 * size, 3 * size: 3 * size} {
		seen := 0
		next, more := d.Walk(0, n, 0, func(int, int64) { seen++ })
		if seen != want || next != want || more != (want < 3*size) {
			t.Errorf("of %d: %d values, to %d, more: %t", n, seen, next, more)
		}
	}
}

// A walk in pieces sees each value once, and the oldest of each priority.
func TestAWalkInPiecesSeesEachValueOnce(t *testing.T) {
	for name, priority := range priorities {
		r := rand.New(rand.NewPCG(1, 2))
		var l Levels[int]
		priorityOf := map[int]int{}
		for i := range 3000 {
			p := priority(r)
			l.Push(p, i)
			priorityOf[i] = p
			if i%3 == 0 {
				_, v := l.Pop()
				delete(priorityOf, v)
			}
		}
		oldest := map[int]int{}
		for v, p := range priorityOf {
			if old, ok := oldest[p]; !ok || v < old {
				oldest[p] = v
			}
		}
		l.Oldest(func(v int) {
			if oldest[priorityOf[v]] == v {
				delete(oldest, priorityOf[v])
			}
		})
		if len(oldest) != 0 {
			t.Errorf("%s: the oldest of %d priorities were not seen", name, len(oldest))
		}
		var at Place
		for pieces, more := 0, true; more; pieces++ {
			n := 0
			more = l.Walk(&at, 7, func(p, v int) {
				if q, ok := priorityOf[v]; !ok || p != q {
					t.Fatalf("%s: value %d of priority %d, not %d, %v", name, v, p, q, ok)
				}
				delete(priorityOf, v)
				n++
			})
			if n > 7+partSize {
				t.Errorf("%s: a piece has %d values", name, n)
			}
		}
		if len(priorityOf) != 0 {
			t.Errorf("%s: %d values were not seen", name, len(priorityOf))
		}
	}
}
