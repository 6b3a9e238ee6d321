package line

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A Line is a slice from which any entry may be removed.
func TestLineIsASlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var l Line[int]
		var want, all []*Turn[int]
		for i := range 200 {
			switch e := (&Turn[int]{Of: i}); rng.IntN(5) {
			case 0, 1:
				l.Add(e)
				want, all = append(want, e), append(all, e)
			case 2:
				l.AddFirst(e)
				want, all = slices.Insert(want, 0, e), append(all, e)
			case 3:
				if len(all) > 0 {
					e = all[rng.IntN(len(all))]
				}
				i := slices.Index(want, e)
				if got := l.Remove(e); got != (i >= 0) {
					t.Fatalf("remove: %v", got)
				}
				if i >= 0 {
					want = slices.Delete(want, i, i+1)
				}
			default:
				got := l.Pop()
				if len(want) == 0 && got != nil || len(want) > 0 && got != want[0] {
					t.Fatalf("pop: %v", got)
				}
				want = want[min(1, len(want)):]
			}
			var got, back []*Turn[int]
			for e := l.first; e != nil; e = e.next {
				got = append(got, e)
			}
			for e := l.last; e != nil; e = e.prev {
				back = append(back, e)
			}
			slices.Reverse(back)
			if !slices.Equal(got, want) || !slices.Equal(back, want) {
				t.Fatalf("%v, %v, want %v", got, back, want)
			}
			var values, wanted []int
			for _, e := range want {
				wanted = append(wanted, e.Of)
			}
			for v := range l.All() {
				values = append(values, v)
			}
			if !slices.Equal(values, wanted) || (len(want) > 0 && l.Last() != want[len(want)-1] || len(want) == 0 && l.Last() != nil) {
				t.Fatalf("all: %v, the last: %v, want %v", values, l.Last(), want)
			}
		}
	}
}
