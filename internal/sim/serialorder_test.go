package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The labels say what a list would, also where the same place gets one thread after another.
func TestSerialOrderIsThatOfAList(t *testing.T) {
	for _, near := range []int{0, 1, 2, 3} {
		rng := rand.New(rand.NewPCG(1, uint64(near)))
		var o serialOrder
		list := []ID{1}
		o.add(1, None)
		var free []ID
		for step := range 5000 {
			var at int
			switch near {
			case 0:
				at = rng.IntN(len(list))
			case 1:
				at = 0
			case 2:
				at = len(list) - 1
			case 3: // at the end
				at = len(list)
			}
			if rng.IntN(4) == 0 && len(list) > 1 {
				at = min(at, len(list)-1)
				o.remove(list[at])
				free = append(free, list[at])
				list = slices.Delete(list, at, at+1)
				continue
			}
			id := ID(step + 2)
			if n := len(free); n > 0 && rng.IntN(2) == 0 {
				id, free = free[n-1], free[:n-1]
			}
			before := None
			if at < len(list) {
				before = list[at]
			}
			o.add(id, before)
			list = slices.Insert(list, at, id)
		}
		var got []ID
		for id := o.links[None].next; id != None; id = o.links[id].next {
			got = append(got, id)
		}
		if !slices.Equal(got, list) {
			t.Fatalf("%d: the order is not that of the list", near)
		}
		for i := 1; i < len(list); i++ {
			if !o.before(list[i-1], list[i]) || o.before(list[i], list[i-1]) {
				t.Fatalf("%d: labels %x and %x are of neighbours", near, o.links[list[i-1]].label, o.links[list[i]].label)
			}
		}
		for _, id := range free {
			if o.has(id) != slices.Contains(list, id) {
				t.Errorf("%d: %d was removed, and is there", near, id)
			}
		}
	}
}
