package par

import (
	"math/bits"
	"sort"

	"github.com/filch-go/filch"
)

// SortInterface sorts data in place by its methods Less and Swap, as [sort.Sort] does. It is for data that is not one
// slice, such as several slices ordered together; for a slice, [SortFunc] is faster. Equal elements end up in an order
// that depends only on data. It allocates little. One worker sorts up to 1,024 elements.
//
// Several workers call Less and Swap at the same time. Concurrent calls of Swap share no index with one another or with
// a call of Less; two calls of Less may. So they need no lock, as long as they access nothing but the elements at their
// indices: no counter, and no scratch space in data. If one of them panics, data has all its elements, in some order.
// Len is called before all else, once or twice.
//
// Elements in order, or in the opposite order, take one call of Less each. Otherwise it is a quicksort like that of
// SortFunc, whose partitions swap elements (Hoare, Computer Journal 1962). After too many bad pivots it leaves a part
// to package sort, so the work is O(n log n).
func SortInterface(s filch.Scope, data sort.Interface) {
	check("SortInterface", s)
	if data == nil {
		panic("par: SortInterface: data is nil")
	}
	n := 0
	boundary(func() {
		if n = data.Len(); n <= fewSorted {
			sort.Sort(data)
		}
	})
	if n <= fewSorted {
		return
	}
	q := swapSort{data}
	if !q.inOrder(s, 0, n) && !q.reverse(s, n) {
		s.Do(func(w *filch.Worker) { q.sort(w, 0, n, bits.Len(uint(n))) })
	}
}

// swapSort is a quicksort of data known only by index.
type swapSort struct{ data sort.Interface }

// inOrder reports whether no element of [lo, hi) is less than the one before.
func (q swapSort) inOrder(s filch.Scope, lo, hi int) bool {
	return AllRange(s, hi-lo-1, func(first, last int) bool {
		for i := lo + first; i < lo+last; i++ {
			if q.data.Less(i+1, i) {
				return false
			}
		}
		return true
	})
}

// reverse reverses the n elements if none is greater than the one before, and reports whether it did.
func (q swapSort) reverse(s filch.Scope, n int) bool {
	falls := AllRange(s, n-1, func(lo, hi int) bool {
		for i := lo; i < hi; i++ {
			if q.data.Less(i, i+1) {
				return false
			}
		}
		return true
	})
	if falls {
		ForRange(s, n/2, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				q.data.Swap(i, n-1-i)
			}
		})
	}
	return falls
}

// sort sorts [lo, hi). After as many bad pivots as bad says, it leaves the rest to package sort.
func (q swapSort) sort(w *filch.Worker, lo, hi, bad int) {
	for hi-lo > fewExchanged {
		if bad == 0 {
			sort.Sort(section{q.data, lo, hi - lo})
			return
		}
		pivot, frequent, rises := q.median(lo, hi)
		if rises && q.mend(lo, hi) {
			return
		}
		q.data.Swap(lo, pivot)
		mid := q.partition(w, lo, hi, false)
		high := mid + 1
		if frequent || mid == lo { // elements equal to the pivot are done
			high = q.partition(w, mid, hi, true) + 1
		}
		if max(mid-lo, hi-high) > (hi-lo)-(hi-lo)/16 {
			bad--
		}
		if mid-lo+hi-high > fewSorted && mid > lo && high < hi {
			w.Join(
				func(w *filch.Worker) { q.sort(w, lo, mid, bad) },
				func(w *filch.Worker) { q.sort(w, high, hi, bad) })
			return
		}
		if mid-lo < hi-high { // recursion takes the shorter one
			q.sort(w, lo, mid, bad)
			lo = high
		} else {
			q.sort(w, high, hi, bad)
			hi = mid
		}
	}
	for i := lo + 1; i < hi; i++ {
		for j := i; j > lo && q.data.Less(j, j-1); j-- {
			q.data.Swap(j, j-1)
		}
	}
}

// fewExchanged is the number of elements that are sorted by insertion.
const fewExchanged = 12

// median returns the index of the median of a sample, and whether others in the sample are equal to it. rises reports
// that a sample of five or more was in order.
func (q swapSort) median(lo, hi int) (at int, frequent, rises bool) {
	n := hi - lo
	var room [1<<6 | 1]int // indices of the sample, in the order of their elements
	sample := room[:min(len(room), 1<<(bits.Len(uint(n))/3)|1)]
	random := Rand{seed: uint64(n)}
	rises = len(sample) >= 5
	for i := range sample {
		sample[i] = lo + i*(n/len(sample)) + random.IntN(n/len(sample))
		for j := i; j > 0 && q.data.Less(sample[j], sample[j-1]); j-- {
			sample[j], sample[j-1] = sample[j-1], sample[j]
			rises = false
		}
	}
	mid := len(sample) / 2
	at = sample[mid]
	frequent = !q.data.Less(sample[mid-1], at) || !q.data.Less(at, sample[mid+1])
	return at, frequent, rises
}

// mend sorts [lo, hi) if only few elements must move, as the pattern-defeating quicksort of package sort does, and
// reports whether it did.
func (q swapSort) mend(lo, hi int) bool {
	i := lo + 1
	for range fewMended {
		for i < hi && !q.data.Less(i, i-1) {
			i++
		}
		if i == hi {
			return true
		}
		q.data.Swap(i, i-1)
		for j := i - 1; j > lo && q.data.Less(j, j-1); j-- {
			q.data.Swap(j, j-1)
		}
		for j := i + 1; j < hi && q.data.Less(j, j-1); j++ {
			q.data.Swap(j, j-1)
		}
	}
	return false
}

// fewMended is the number of elements that mend moves at most.
const fewMended = 5

// partition moves the elements of [lo+1, hi) that are less than the one at lo, the pivot, to the front; with equal,
// those that are not greater. The pivot follows them. It returns the pivot's index.
func (q swapSort) partition(w *filch.Worker, lo, hi int, equal bool) (mid int) {
	if hi-lo <= fewPartitioned {
		mid = q.divide(lo+1, hi, lo, equal)
	} else {
		mid = q.divideBlocks(w, lo+1, hi, lo, equal)
	}
	mid--
	q.data.Swap(lo, mid)
	return mid
}

// divide is partition for [lo, hi) with a pivot elsewhere, which stays.
func (q swapSort) divide(lo, hi, pivot int, equal bool) (mid int) {
	i, j := lo, hi-1
	for {
		if equal {
			for i <= j && !q.data.Less(pivot, i) {
				i++
			}
			for i <= j && q.data.Less(pivot, j) {
				j--
			}
		} else {
			for i <= j && q.data.Less(i, pivot) {
				i++
			}
			for i <= j && !q.data.Less(j, pivot) {
				j--
			}
		}
		if i >= j {
			return i
		}
		q.data.Swap(i, j)
		i++
		j--
	}
}

// divideBlocks divides blocks in parallel, and then swaps elements that are on the wrong side of the whole.
func (q swapSort) divideBlocks(w *filch.Worker, lo, hi, pivot int, equal bool) (mid int) {
	n := hi - lo
	size := max(fewPartitioned/2, n>>8)
	ends := make([][2]int, (n-1)/size+1)
	runBlocks(w, n, size, q.data.Less, toCompare, func(b, first, last int) {
		end := q.divide(lo+first, lo+last, pivot, equal)
		ends[b] = [2]int{end - lo, end - lo}
	})
	moves, low, _ := misplaced(ends, size, n)
	runBlocks(w, len(moves), 1, q.data.Swap, asIs, func(i, _, _ int) {
		m := moves[i]
		for k := range m.n {
			q.data.Swap(lo+m.at[0]+k, lo+m.at[1]+k)
		}
	})
	return lo + low
}

// section is a part of data.
type section struct {
	data  sort.Interface
	at, n int
}

func (s section) Len() int           { return s.n }
func (s section) Less(i, j int) bool { return s.data.Less(s.at+i, s.at+j) }
func (s section) Swap(i, j int)      { s.data.Swap(s.at+i, s.at+j) }
