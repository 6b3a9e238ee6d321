package par

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/filch-go/filch"
)

// SortFunc sorts x by compare, which is like cmp.Compare. Equal elements may come in any order,
// which depends on x alone. It sorts in place, and allocates up to some 400 bytes and the size of
// twenty elements for each thousand elements. But if x is up to 16 runs that are sorted or
// reversed, or nearly sorted, it merges, and takes as much memory as x. If compare panics, x has
// all its elements, in some order. One worker sorts up to 1,024 elements.
//
// It is a quicksort with medians of samples (Frazer and McKellar, "Samplesort", J. ACM 1970) and
// parallel partitions (as Tsigas and Zhang, PDP 2003, but by blocks that do not depend on
// timing). Small parts are left to the pattern-defeating quicksort of package slices. The work
// is O(n log n).
func SortFunc[T any](s filch.Scope, x []T, compare func(a, b T) int) {
	check("SortFunc", s)
	checkFunc("SortFunc", compare == nil)
	if len(x) <= fewSorted {
		boundary(func() { slices.SortFunc(x, compare) })
		return
	}
	switch {
	case sortRuns(s, x, compare):
	case seemsRising(x, compare):
		mergeSort(s, x, compare)
	default:
		s.Do(func(w *filch.Worker) { quicksort(w, x, compare, bits.Len(uint(len(x)))) })
	}
}

// seemsRising reports whether, in some pieces, few elements are less than the one that is so many
// before. Then merging moves few of them, and partitions would put the others out of order.
func seemsRising[T any](x []T, compare func(a, b T) int) bool {
	const tries, size = 4, 64
	down := 0
	boundary(func() {
		for i := range tries {
			piece := x[(len(x)-2*size)/(2*tries)*(2*i+1):][:2*size]
			for j, v := range piece[:size] {
				if compare(piece[j+size], v) < 0 {
					down++
				}
			}
		}
	})
	return down <= tries*size/16
}

const (
	fewSorted      = 1 << 10 // sorted by one worker
	fewDivided     = 1 << 8  // sorted by package slices
	fewPartitioned = 1 << 15 // partitioned by one worker
	fewSwapped     = 1 << 14 // swapped by one worker
)

// quicksort sorts x. After so many bad pivots it leaves the rest to package slices, which
// is O(n log n) whatever x is, and ends whatever compare does.
func quicksort[T any](w *filch.Worker, x []T, compare func(a, b T) int, bad int) {
	for len(x) > fewDivided && bad > 0 {
		pivot, same := median(x, compare)
		if same == all && IsSortedFunc(w, x, compare) {
			return
		}
		mid := partition(w, x, pivot, 0, compare)
		low, high := x[:mid], x[mid:]
		if same != none || mid == 0 { // those that are equal to it are done
			high = high[partition(w, high, pivot, 1, compare):]
		}
		if max(len(low), len(high)) > len(x)-len(x)/16 {
			bad--
		}
		if len(low) == 0 {
			x = high
			continue
		}
		if len(low)+len(high) <= fewSorted {
			quicksort(w, low, compare, bad)
			x = high
			continue
		}
		w.Join(
			func(w *filch.Worker) { quicksort(w, low, compare, bad) },
			func(w *filch.Worker) { quicksort(w, high, compare, bad) })
		return
	}
	slices.SortFunc(x, compare)
}

// share is how much of a sample is equal to its median, as far as it matters.
type share uint8

const (
	none share = iota // or little
	some              // at least an eighth
	all
)

// median returns the median of a sample of x, which is about the third root of its length.
func median[T any](x []T, compare func(a, b T) int) (T, share) {
	r := rand.New(rand.NewPCG(uint64(len(x)), 0))
	var few [1<<3 | 1]T // so that parts of one worker allocate none
	sample := few[:]
	if n := 1<<(bits.Len(uint(len(x)))/3) | 1; n > len(few) {
		sample = make([]T, n)
	}
	for i := range sample {
		sample[i] = x[r.IntN(len(x))]
	}
	slices.SortFunc(sample, compare)
	n, same := len(sample), none
	v := sample[n/2]
	switch near := n/16 + 1; { // of so many on either side one is equal, if an eighth is
	case compare(sample[0], v) == 0 && compare(sample[n-1], v) == 0:
		same = all
	case compare(sample[n/2-near], v) == 0 || compare(sample[n/2+near], v) == 0:
		same = some
	}
	return v, same
}

// partition moves the elements for which compare with pivot is less than bound to the front,
// and returns how many they are.
func partition[T any](w *filch.Worker, x []T, pivot T, bound int, compare func(a, b T) int) int {
	if len(x) <= fewPartitioned {
		return partitionBlock(x, pivot, bound, compare)
	}
	size := max(fewPartitioned/2, len(x)>>8)
	mids := make([]int, (len(x)-1)/size+1)
	runBlocks(w, len(x), size, compare, toCompare, func(i, lo, hi int) {
		mids[i] = lo + partitionBlock(x[lo:hi], pivot, bound, compare)
	})
	swaps, mid := misplaced(mids, size, len(x))
	runBlocks(w, len(swaps), 1, misplaced, asIs, func(i, _, _ int) {
		a, b := x[swaps[i].high:][:swaps[i].n], x[swaps[i].low:][:swaps[i].n]
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
	})
	return mid
}

// partitionBlock is Lomuto's partition, in which no branch depends on what compare returns. If an
// element is large, it is Hoare's (Computer Journal, 1962), which moves fewer.
func partitionBlock[T any](x []T, pivot T, bound int, compare func(a, b T) int) int {
	if unsafe.Sizeof(pivot) > 24 {
		return partitionLarge(x, pivot, bound, compare)
	}
	mid := 0
	for i, v := range x {
		x[i], x[mid] = x[mid], v
		less := 0
		if compare(v, pivot) < bound {
			less = 1
		}
		mid += less
	}
	return mid
}

func partitionLarge[T any](x []T, pivot T, bound int, compare func(a, b T) int) int {
	i, j := 0, len(x)-1
	for {
		for i <= j && compare(x[i], pivot) < bound {
			i++
		}
		for i <= j && compare(x[j], pivot) >= bound {
			j--
		}
		if i >= j {
			return i
		}
		x[i], x[j] = x[j], x[i]
		i++
		j--
	}
}

// swap is n high elements, and as many low ones after them.
type swap struct{ high, low, n int }

// misplaced returns what to swap for n elements to be partitioned, if each block of so many is:
// mids are where the high ones of a block begin. mid is where all the high ones will.
func misplaced(mids []int, size, n int) (swaps []swap, mid int) {
	for i, m := range mids {
		mid += m - i*size
	}
	h, l := 0, mid/size // the blocks to take high ones from, and low ones
	high, low := mids[h], mid
	for {
		for h*size < mid && high >= min((h+1)*size, mid) { // there are none left here
			if h++; h*size < mid {
				high = mids[h]
			}
		}
		if h*size >= mid {
			return swaps, mid
		}
		for low >= mids[l] {
			l++
			low = l * size
		}
		n := min(min((h+1)*size, mid)-high, mids[l]-low, fewSwapped)
		swaps = append(swaps, swap{high, low, n})
		high += n
		low += n
	}
}
