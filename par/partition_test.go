package par

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/thorough"
)

// After blocks have been partitioned, the moves partition the whole: all sequences of what is less
// than a pivot, equal to it, and greater, with blocks of two parts and of three.
func TestMovesOfBlocksPartitionTheWhole(t *testing.T) {
	t.Parallel()
	most := ifRace(6, 8)
	if thorough.Sampled() {
		most = 6
	}
	for n := 1; n <= most; n++ {
		codes := 1
		for range n {
			codes *= 3
		}
		for code := range codes {
			whole := make([]int, n)
			for i := range whole {
				whole[i], code = code%3, code/3
			}
			for size := 1; size <= n; size++ {
				for pivot := 1; pivot <= 2; pivot++ {
					checkMisplaced(t, whole, size, pivot, partitionThree[int])
					checkMisplaced(t, whole, size, pivot, partitionFlag[int])
					checkMisplaced(t, whole, size, pivot, partitionBlock[int])
					checkMisplaced(t, whole, size, pivot, partitionLarge[int])
				}
			}
		}
	}
}

func checkMisplaced(t *testing.T, whole []int, size, pivot int, divide func(x []int, pivot, bound int, compare func(a, b int) int) (low, high int)) {
	t.Helper()
	n, x := len(whole), slices.Clone(whole)
	ends := make([][2]int, (n-1)/size+1)
	for i := range ends {
		low, high := divide(x[i*size:min((i+1)*size, n)], pivot, 0, cmp.Compare[int])
		ends[i] = [2]int{i*size + low, i*size + high}
	}
	moves, low, high := misplaced(ends, size, n)
	touched := make([]bool, n)
	for _, m := range moves {
		at := m.at[:2]
		if m.ring {
			at = m.at[:]
		}
		for _, from := range at {
			for i := from; i < from+m.n; i++ {
				if touched[i] {
					t.Fatalf("%v by %d: an element is moved twice", whole, size)
				}
				touched[i] = true
			}
		}
		apply(x, m)
	}
	for i, v := range x {
		if (i < low) != (v < pivot) || i >= low && i < high && v != pivot || i >= high && high > low && v == pivot {
			t.Fatalf("%v by %d and %d: %v, %d and %d", whole, size, pivot, x, low, high)
		}
	}
	slices.Sort(x)
	equal(t, fmt.Sprint(whole), x, slices.Sorted(slices.Values(whole)))
}
