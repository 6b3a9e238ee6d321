package queue

import (
	"math/rand/v2"
	"slices"
	"testing"
	"weak"

	"runtime"
)

// Random operations agree with a slice.
func TestAgreesWithASlice(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var d Deque[int]
		var model []int
		grow := rng.IntN(100)
		for i := range 3000 {
			switch op := rng.IntN(200); {
			case op < grow:
				d.PushBack(i)
				model = append(model, i)
			case op < 150:
				v, ok := d.PopBack()
				if ok != (len(model) > 0) || ok && v != model[len(model)-1] {
					t.Fatalf("seed %d: PopBack: %d, %v; want the last of %v", seed, v, ok, model)
				}
				model = model[:max(0, len(model)-1)]
			default:
				v, ok := d.PopFront()
				if ok != (len(model) > 0) || ok && v != model[0] {
					t.Fatalf("seed %d: PopFront: %d, %v; want the first of %v", seed, v, ok, model)
				}
				model = slices.Clone(model[min(1, len(model)):])
			}
			if d.Len() != len(model) {
				t.Fatalf("seed %d: Len %d, not %d", seed, d.Len(), len(model))
			}
			if v, ok := d.Back(); ok != (len(model) > 0) || ok && v != model[len(model)-1] {
				t.Fatalf("seed %d: Back: %d, %v", seed, v, ok)
			}
		}
	}
}

// What was popped is not retained, and neither are chunks.
func TestRetainsNothing(t *testing.T) {
	var d Deque[*[64]byte]
	var all []weak.Pointer[[64]byte]
	for range 10 * size {
		v := new([64]byte)
		all = append(all, weak.Make(v))
		d.PushBack(v)
	}
	for i := range 10 * size {
		if i%2 == 0 {
			d.PopBack()
		} else {
			d.PopFront()
		}
	}
	runtime.GC()
	for i, p := range all {
		if p.Value() != nil {
			t.Fatalf("value %d is still there", i)
		}
	}
	chunks := 0
	for _, c := range []*chunk[*[64]byte]{d.front, d.back, d.spare} {
		if c != nil {
			chunks++
		}
	}
	if chunks > 1 {
		t.Errorf("%d chunks left", chunks)
	}
}

func TestAChunkMovesInOrder(t *testing.T) {
	var a, b Deque[int]
	if n := a.MoveChunk(&b); n != 0 {
		t.Errorf("%d values out of nothing", n)
	}
	for i := range 3*size + 1 {
		a.PushBack(i)
	}
	a.PopFront()
	b.PushBack(-1)
	moved := a.MoveChunk(&b) + a.MoveChunk(&b)
	if moved != 2*size-1 || b.Len() != 2*size || a.Len() != size+1 {
		t.Fatalf("%d moved, %d and %d left", moved, b.Len(), a.Len())
	}
	var got []int
	for b.Len() > 0 {
		v, _ := b.PopFront()
		got = append(got, v)
	}
	if got[0] != -1 || got[1] != 1 || got[size-1] != size-1 || got[size] != size || got[2*size-1] != 2*size-1 {
		t.Error(got)
	}
	for i := 2 * size; i <= 3*size; i++ {
		if v, _ := a.PopFront(); v != i {
			t.Errorf("%d, not %d", v, i)
		}
	}
	if _, ok := a.PopBack(); ok {
		t.Error("not empty")
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	var d Deque[int]
	d.PushBack(1)
	if n := testing.AllocsPerRun(100, func() {
		for range 2 * size { // through a chunk, and another
			d.PushBack(1)
			d.PopFront()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
