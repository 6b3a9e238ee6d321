package par

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/filch-go/filch"
)

// SortFunc sorts x in place by compare, which is like cmp.Compare. Equal elements end up in an order that depends only
// on x. It allocates up to some 400 bytes and the size of twenty elements for each thousand elements. Exception: an x
// of up to 16 sorted or reversed runs, or nearly so, or with three quarters in order, is merged, which takes as much
// memory as x. If compare panics, x has all its elements, in some order. One worker sorts up to 1,024 elements.
//
// It is a quicksort with medians of samples (Frazer and McKellar, "Samplesort", J. ACM 1970) and parallel partitions
// (as Tsigas and Zhang, PDP 2003, but by blocks that do not depend on timing). The pattern-defeating quicksort of
// package slices sorts small parts. The work is O(n log n).
func SortFunc[T any](s filch.Scope, x []T, compare func(a, b T) int) {
	check("SortFunc", s)
	checkFunc("SortFunc", compare == nil)
	if len(x) <= fewSorted {
		boundary(func() { slices.SortFunc(x, compare) })
		return
	}
	if sortRuns(s, x, compare) {
		return
	}
	switch seems(x, compare) {
	case falling:
		reverse(s, x)
		mergeSort(s, x, compare)
	case rising:
		mergeSort(s, x, compare)
	default:
		s.Do(func(w *filch.Worker) { quicksort(w, x, compare, bits.Len(uint(len(x)))) })
	}
}

// seems samples pieces, and returns the direction in which most elements stand to the element a fixed distance before.
// A merge moves few elements of such input, and a partition would put the others out of order.
func seems[T any](x []T, compare func(a, b T) int) direction {
	const tries, size, most = 4, 64, 4 * 64 / 16
	down, up := 0, 0
	boundary(func() {
		for i := range tries {
			piece := x[(len(x)-2*size)/(2*tries)*(2*i+1):][:2*size]
			for j, v := range piece[:size] {
				switch c := compare(piece[j+size], v); {
				case c < 0:
					down++
				case c > 0:
					up++
				}
			}
		}
	})
	switch {
	case down <= most:
		return rising
	case up <= most:
		return falling
	}
	return mixed
}

const (
	fewSorted      = 1 << 10 // sorted by one worker
	fewDivided     = 1 << 8  // sorted by package slices
	fewPartitioned = 1 << 15 // partitioned by one worker
	fewSwapped     = 1 << 14 // swapped by one worker
)

// quicksort sorts x. After as many bad pivots as bad says, it leaves the rest to package slices, which is O(n log n)
// for any x, and terminates whatever compare does.
func quicksort[T any](w *filch.Worker, x []T, compare func(a, b T) int, bad int) {
	for len(x) > fewDivided && bad > 0 {
		pivot, same := median(x, compare)
		if same == all && IsSortedFunc(w, x, compare) {
			return
		}
		divide := partitionBlock[T]
		if same == half {
			divide = partitionThree[T]
		}
		a, b := partition(w, x, pivot, 0, divide, compare)
		if same == some || b == 0 { // elements equal to it are done
			_, more := partition(w, x[b:], pivot, 1, partitionBlock[T], compare)
			b += more
		}
		low, high := x[:a], x[b:]
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

// share is the fraction of a sample that equals its median, as far as it matters.
type share uint8

const (
	none share = iota // or little
	some              // at least an eighth
	half              // at least about that
	all
)

// median returns the median of a sample of x. The size of the sample is about the cube root of the length of x.
func median[T any](x []T, compare func(a, b T) int) (T, share) {
	r := rand.New(rand.NewPCG(uint64(len(x)), 0))
	var few [1<<3 | 1]T // so that small parts do not allocate
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
	is := func(i int) bool { return compare(sample[i], v) == 0 }
	switch near := n/16 + 1; { // if an eighth is equal, so is one this near on either side
	case is(0) && is(n-1):
		same = all
	case is(0) || is(n-1) || is(n/4) && is(n-1-n/4):
		same = half
	case is(n/2-near) || is(n/2+near):
		same = some
	}
	return v, same
}
