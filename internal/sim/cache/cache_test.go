package cache

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What a cache misses is what a list misses to whose front each block goes that is used, and that is cut off at the end.
func TestCacheIsAList(t *testing.T) {
	for _, size := range []int{1, 2, 7, 50} {
		rng := rand.New(rand.NewPCG(uint64(size), 1))
		c := New(size)
		var list []uint64
		for range 5000 {
			first, n := rng.Uint64N(60), 1+rng.Int32N(4)
			var want int64
			for block := first; block < first+uint64(n); block++ {
				at := slices.Index(list, block)
				if at < 0 {
					want++
				} else {
					list = slices.Delete(list, at, at+1)
				}
				list = slices.Insert(list, 0, block)
				list = list[:min(len(list), size)]
			}
			if got := c.Touch(first, n); got != want {
				t.Fatalf("%d blocks: %d of %d blocks from %d on were missing, not %d", size, got, n, first, want)
			}
		}
	}
}

func TestNoCacheMissesNothing(t *testing.T) {
	if c := New(0); c != nil || c.Touch(3, 5) != 0 {
		t.Error("a cache of no blocks holds something")
	}
}
