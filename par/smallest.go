package par

import (
	"cmp"
	"slices"

	"github.com/filch-go/filch"
)

// Smallest returns the k smallest elements of x in order, or all if there are fewer. Elements are compared as by
// cmp.Compare: NaN is smaller than any other number. It panics if k is negative; for the cost see [SmallestFunc].
func Smallest[T cmp.Ordered](s filch.Scope, x []T, k int) []T {
	return firstOf("Smallest", s, x, k, cmp.Compare[T], cmp.Compare[T])
}

// SmallestFunc returns the k smallest elements of x by compare in order, or all if there are fewer. Equal elements keep
// their order. It panics if k is negative.
//
// While it runs, each worker keeps up to 2k elements. If k is more than a sixteenth of the length of x, it sorts a copy
// of x instead.
func SmallestFunc[T any](s filch.Scope, x []T, k int, compare func(a, b T) int) []T {
	return firstOf("SmallestFunc", s, x, k, compare, compare)
}

// Largest returns the k largest elements of x, the largest first, or all if there are fewer. It is [Smallest] in the
// opposite order.
func Largest[T cmp.Ordered](s filch.Scope, x []T, k int) []T {
	return firstOf("Largest", s, x, k, cmp.Compare[T], func(a, b T) int { return cmp.Compare(b, a) })
}

// LargestFunc returns the k largest elements of x by compare, the largest first, or all if there are fewer. Equal
// elements keep their order. It is [SmallestFunc] in the opposite order.
func LargestFunc[T any](s filch.Scope, x []T, k int, compare func(a, b T) int) []T {
	return firstOf("LargestFunc", s, x, k, compare, func(a, b T) int { return compare(b, a) })
}

// firstOf returns the first k elements of x by compare, whose cost is remembered by the caller's function of.
func firstOf[T any](op string, s filch.Scope, x []T, k int, of, compare func(a, b T) int) []T {
	check(op, s)
	checkNumber(op, "k", k)
	checkFunc(op, of == nil)
	if k = min(k, len(x)); k == 0 {
		return nil
	}
	if k > len(x)/16 { // enough to sort everything
		all := make([]T, len(x))
		Copy(s, all, x)
		SortStableFunc(s, all, compare)
		return slices.Clone(all[:k])
	}
	type ranked struct {
		at int
		v  T
	}
	order := func(a, b ranked) int { return cmp.Or(compare(a.v, b.v), cmp.Compare(a.at, b.at)) }
	type best struct {
		list []ranked // the first k so far, sorted, then some that may precede the last of these
		full bool     // otherwise there are fewer than k
	}
	parts := withStates(s, len(x), of, config{kind: toRank}, func() *best { return &best{list: make([]ranked, 0, 2*k)} }, byRange[*best](func(b *best, lo, hi int) {
		var last ranked
		if b.full {
			last = b.list[k-1]
		}
		for i, v := range x[lo:hi] {
			if b.full {
				if c := compare(v, last.v); c > 0 || c == 0 && lo+i > last.at {
					continue
				}
			}
			b.list = append(b.list, ranked{lo + i, v})
			if len(b.list) == 2*k || !b.full && len(b.list) == k {
				slices.SortFunc(b.list, order)
				b.list, b.full = b.list[:k], true
				last = b.list[k-1]
			}
		}
	}))
	all := parts.first.list
	for _, b := range parts.more {
		all = append(all, b.list...)
	}
	boundary(func() { slices.SortFunc(all, order) })
	first := make([]T, k)
	for i := range first {
		first[i] = all[i].v
	}
	return first
}
