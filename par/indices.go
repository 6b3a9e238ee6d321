package par

import (
	"math/bits"
	"slices"

	"github.com/filch-go/filch"
)

// Indices returns the indices from 0 to n-1 for which f holds, in ascending order. It calls f once for each. It is
// [Filter] by index: for rows of several slices, vertices of a graph, or positions in a text. For the elements of one
// slice, follow it with [Map].
//
// If f is tiny, its call dominates: with one index of eight kept out of 10^6 on an Intel Xeon, it ran at 0.6 of the
// speed of a plain loop on one worker, and at 1.15 on two. While it runs, it takes two bits for each index, and a byte
// more for each of fewer than 4,096 indices.
func Indices(s filch.Scope, n int, f func(i int) bool) []int {
	check("Indices", s)
	checkNumber("Indices", "n", n)
	checkFunc("Indices", f == nil)
	var kept []int
	from := runSerial(s, n, f, &config{single: true}, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if f(i) {
				kept = append(kept, i)
			}
		}
	})
	if from == n {
		return kept
	}
	return moreIndices(s, from, n, f, kept)
}

// moreIndices continues from an index with the other workers. Its closures would cost Indices itself.
func moreIndices(s filch.Scope, from, n int, f func(i int) bool, kept []int) []int {
	chosen := chooseIndices(s, from, n, f, asIs, func(lo, hi int) (word uint64) {
		for i := lo; i < hi; i++ {
			if f(i) {
				word |= 1 << (i - lo)
			}
		}
		return word
	})
	done := len(kept)
	kept = slices.Grow(kept, chosen.n)[:done+chosen.n]
	runBlocks(s, n-from, 64, moreIndices, asIs, func(b, lo, _ int) {
		to := kept[done+chosen.before[b]:]
		for word := chosen.words[b]; word != 0; word &= word - 1 {
			to[0] = from + lo + bits.TrailingZeros64(word)
			to = to[1:]
		}
	})
	return kept
}

// chooseIndices is choose for the indices in [from, n). word returns a bit for each of up to 64 indices. The cost of an
// index is remembered by the function of and the kind.
func chooseIndices(s filch.Scope, from, n int, of any, k kind, word func(lo, hi int) uint64) choice {
	n -= from
	c := newChoice(n)
	if n < 1<<12 { // they may be expensive, so one by one
		yes := make([]bool, n)
		runLoop(s, n, of, config{kind: k, single: true}, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				yes[i] = word(from+i, from+i+1) != 0
			}
		})
		for i, y := range yes {
			if y {
				c.words[i/64] |= 1 << (i % 64)
			}
		}
	} else {
		runBlocks(s, n, 64, of, k, func(b, lo, hi int) { c.words[b] = word(from+lo, from+hi) })
	}
	c.count()
	return c
}

// Compact returns x without the elements that equal the one before, in a new slice; [slices.Compact] changes x instead.
// A sorted x keeps one of each value. NaN equals nothing, so every NaN is kept. Compact takes as much memory as
// [Filter].
func Compact[T comparable](s filch.Scope, x []T) []T {
	check("Compact", s)
	return compact(s, x, Compact[T], asIs, func(lo, hi int) (word uint64) {
		before := x[lo-1]
		for i, v := range x[lo:hi] {
			if v != before {
				word |= 1 << i
			}
			before = v
		}
		return word
	})
}

// CompactFunc is [Compact] with equal in place of ==, like [slices.CompactFunc]. It calls equal once for each element
// but the first, with the preceding element of x as a. It keeps the first of a run of equal elements.
func CompactFunc[T any](s filch.Scope, x []T, equal func(a, b T) bool) []T {
	check("CompactFunc", s)
	checkFunc("CompactFunc", equal == nil)
	return compact(s, x, equal, toCompare, func(lo, hi int) (word uint64) {
		for i := lo; i < hi; i++ {
			if !equal(x[i-1], x[i]) {
				word |= 1 << (i - lo)
			}
		}
		return word
	})
}

// compact returns the first element, and those whose bit word sets. word is not called for the first element.
func compact[T any](s filch.Scope, x []T, of any, k kind, word func(lo, hi int) uint64) []T {
	if len(x) == 0 {
		return nil
	}
	kept := []T{x[0]}
	x0, x := x, x[1:]
	from := runSerial(s, len(x), of, &config{kind: k, single: true}, func(lo, hi int) {
		for ; lo < hi; lo += 64 {
			for w := word(lo+1, min(lo+64, hi)+1); w != 0; w &= w - 1 {
				kept = append(kept, x[lo+bits.TrailingZeros64(w)])
			}
		}
	})
	if from == len(x) {
		return kept
	}
	chosen := chooseIndices(s, from+1, len(x0), of, k, word)
	done := len(kept)
	kept = slices.Grow(kept, chosen.n)[:done+chosen.n]
	gather(s, kept[done:], x[from:], chosen)
	return kept
}
