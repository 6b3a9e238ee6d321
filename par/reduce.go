package par

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// Reductions cut the input into blocks whose number depends on nothing but its length,
// go through each from the left, and combine what they come to in pairs: so the answer
// does, too, even if op only nearly is associative, like the sum of floating-point
// numbers.

// blockSize returns how long the blocks of n elements are: single elements of few, for
// these may take long, and some hundred blocks of more.
func blockSize(n int) int { return max(1, min(n/64, 1024), n>>16) }

// pairs combines values that come one after the other as if by halving, with as many
// at a time as there are bits in their number.
type pairs[R any] struct {
	open []R
	n    uint
}

func (p *pairs[R]) add(v R, op func(a, b R) R) {
	for m := p.n; m&1 != 0; m >>= 1 {
		last := len(p.open) - 1
		v = op(p.open[last], v)
		p.open = p.open[:last]
	}
	p.open = append(p.open, v)
	p.n++
}

func (p *pairs[R]) total(op func(a, b R) R) R {
	i := len(p.open) - 1
	v := p.open[i]
	for i--; i >= 0; i-- {
		v = op(p.open[i], v)
	}
	return v
}

// fold calls block for each block of so many, and combines what it returns; n must not be 0. What
// block costs is known by the function of, and what op does by opOf, or nil if that is next to
// nothing.
func fold[R any](s filch.Scope, n, size int, of, opOf any, block func(lo, hi int) R, op func(a, b R) R) R {
	var total R
	serial := func() {
		all := pairs[R]{open: make([]R, 0, 8)}
		for lo := 0; lo < n; {
			end := lo + min(size, n-lo)
			all.add(block(lo, end), op)
			lo = end
		}
		total = all.total(op)
	}
	if n == 1 {
		boundary(serial)
		return total
	}
	if (opOf == nil || cheap((n-1)/size, opOf)) && serially(n, of, serial) {
		return total
	}
	parts := make([]R, (n-1)/size+1)
	eachBlock(s, n, size, of, func(i, lo, hi int) { parts[i] = block(lo, hi) })
	for half := 1; half < len(parts); half *= 2 { // as pairs does
		each(s, (len(parts)-half-1)/(2*half)+1, op, config{}, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				at := 2 * half * i
				parts[at] = op(parts[at], parts[at+half])
			}
		})
	}
	return parts[0]
}

// fromLeft returns x[0] op x[1] op …; x must not be empty.
func fromLeft[T any](x []T, op func(a, b T) T) T {
	v := x[0]
	for _, w := range x[1:] {
		v = op(v, w)
	}
	return v
}

// Reduce returns x[0] op x[1] op …, or zero if x is empty. op must be associative, but
// need not be commutative; if it only nearly is, the answer depends on the length of x
// alone.
func Reduce[T any](s filch.Scope, x []T, zero T, op func(a, b T) T) T {
	check("Reduce", s, 0)
	checkFunc("Reduce", op == nil)
	if len(x) == 0 {
		return zero
	}
	return fold(s, len(x), blockSize(len(x)), op, nil, func(lo, hi int) T { return fromLeft(x[lo:hi], op) }, op)
}

// MapReduce returns f(x[0]) op f(x[1]) op …, or zero if x is empty; see [Reduce].
func MapReduce[T, R any](s filch.Scope, x []T, zero R, f func(v T) R, op func(a, b R) R) R {
	check("MapReduce", s, 0)
	checkFunc("MapReduce", f == nil || op == nil)
	if len(x) == 0 {
		return zero
	}
	return fold(s, len(x), blockSize(len(x)), f, op, func(lo, hi int) R {
		v := f(x[lo])
		for _, w := range x[lo+1 : hi] {
			v = op(v, f(w))
		}
		return v
	}, op)
}

// ReduceRange calls f for ranges of indices that make up 0 to n-1, and returns what all of it
// comes to, f of the first op f of the second op …, or zero if n is 0. That saves the calls for
// each element of [MapReduce]. The ranges depend on n alone: see [Reduce].
func ReduceRange[R any](s filch.Scope, n int, zero R, f func(lo, hi int) R, op func(a, b R) R) R {
	check("ReduceRange", s, n)
	checkFunc("ReduceRange", f == nil || op == nil)
	if n == 0 {
		return zero
	}
	return fold(s, n, blockSize(n), f, op, f, op)
}

// Number is what can be added.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// fastBlock is how many elements of what takes a nanosecond or less a block has at least.
const fastBlock = 1 << 13

// Sum returns the sum of x. Floating-point numbers are added in pairs but for blocks of 128,
// in which four sums go side by side, so that the error grows with the logarithm of the length
// (Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 1993).
func Sum[T Number](s filch.Scope, x []T) T {
	check("Sum", s, 0)
	if len(x) <= fastBlock {
		return sumPairs(x)
	}
	return fold(s, len(x), max(fastBlock, len(x)>>16), Sum[T], nil, func(lo, hi int) T { return sumPairs(x[lo:hi]) }, add)
}

func sumPairs[T Number](x []T) T {
	if len(x) <= 128 {
		return sumBlock(x)
	}
	mid := (len(x)/2 + 127) / 128 * 128
	return sumPairs(x[:mid]) + sumPairs(x[mid:])
}

func add[T Number](a, b T) T { return a + b }

func sumBlock[T Number](x []T) T {
	var a, b, c, d T
	for ; len(x) >= 4; x = x[4:] {
		a += x[0]
		b += x[1]
		c += x[2]
		d += x[3]
	}
	for _, v := range x {
		a += v
	}
	return (a + b) + (c + d)
}

// MinMax returns the least and the greatest element of x, as the built-in min and max
// do: if one is NaN, both are. It reports false if x is empty.
func MinMax[T cmp.Ordered](s filch.Scope, x []T) (least, most T, ok bool) {
	check("MinMax", s, 0)
	if len(x) == 0 {
		return least, most, false
	}
	block := func(lo, hi int) [2]T {
		a, b := x[lo], x[lo]
		for _, v := range x[lo+1 : hi] {
			a, b = min(a, v), max(b, v)
		}
		return [2]T{a, b}
	}
	if len(x) <= fastBlock {
		m := block(0, len(x))
		return m[0], m[1], true
	}
	m := fold(s, len(x), max(fastBlock, len(x)>>16), MinMax[T], nil, block, func(p, q [2]T) [2]T { return [2]T{min(p[0], q[0]), max(p[1], q[1])} })
	return m[0], m[1], true
}

// MinMaxFunc returns the least and the greatest element of x by compare, the first of those that are
// equal. It reports false if x is empty.
func MinMaxFunc[T any](s filch.Scope, x []T, compare func(a, b T) int) (least, most T, ok bool) {
	check("MinMaxFunc", s, 0)
	checkFunc("MinMaxFunc", compare == nil)
	if len(x) == 0 {
		return least, most, false
	}
	m := fold(s, len(x), blockSize(len(x)), compare, nil, func(lo, hi int) [2]T {
		a, b := x[lo], x[lo]
		for _, v := range x[lo+1 : hi] {
			if compare(v, a) < 0 {
				a = v
			} else if compare(v, b) > 0 {
				b = v
			}
		}
		return [2]T{a, b}
	}, func(p, q [2]T) [2]T {
		if compare(q[0], p[0]) < 0 {
			p[0] = q[0]
		}
		if compare(q[1], p[1]) > 0 {
			p[1] = q[1]
		}
		return p
	})
	return m[0], m[1], true
}

// Count returns how many elements of x f holds for.
func Count[T any](s filch.Scope, x []T, f func(v T) bool) int {
	check("Count", s, 0)
	checkFunc("Count", f == nil)
	if len(x) == 0 {
		return 0
	}
	return fold(s, len(x), blockSize(len(x)), f, nil, func(lo, hi int) (n int) {
		for _, v := range x[lo:hi] {
			if f(v) {
				n++
			}
		}
		return n
	}, add)
}

// Scan sets dst[i] to x[0] op … op x[i], in parallel in two passes over x. dst must be as
// long as x, and may be x. op must be associative; see [Reduce].
func Scan[T any](s filch.Scope, dst, x []T, op func(a, b T) T) {
	check("Scan", s, 0)
	checkFunc("Scan", op == nil)
	checkLengths("Scan", len(dst), len(x))
	scan(s, len(x), op, func(lo, hi int) T { return fromLeft(x[lo:hi], op) }, func(lo, hi int, before *T) {
		v := x[lo]
		if before != nil {
			v = op(*before, v)
		}
		dst[lo] = v
		for i := lo + 1; i < hi; i++ {
			v = op(v, x[i])
			dst[i] = v
		}
	})
}

// ScanExclusive sets dst[i] to zero op x[0] op … op x[i-1], and returns that of all of x;
// see [Scan].
func ScanExclusive[T any](s filch.Scope, dst, x []T, zero T, op func(a, b T) T) T {
	check("ScanExclusive", s, 0)
	checkFunc("ScanExclusive", op == nil)
	checkLengths("ScanExclusive", len(dst), len(x))
	if len(x) == 0 {
		return zero
	}
	last := x[len(x)-1]
	scan(s, len(x), op, func(lo, hi int) T { return fromLeft(x[lo:hi], op) }, func(lo, hi int, before *T) {
		v := zero
		if before != nil {
			v = op(zero, *before)
		}
		for i := lo; i < hi; i++ {
			w := x[i]
			dst[i] = v
			if i+1 < hi {
				v = op(v, w)
			}
		}
	})
	var total T
	boundary(func() { total = op(dst[len(x)-1], last) })
	return total
}

func checkLengths(op string, dst, x int) {
	if dst != x {
		panic(fmt.Sprintf("par: %s: dst has %d elements, and x %d", op, dst, x))
	}
}

// scan calls total for each block but the last, combines the totals from the left, and
// then calls write for each with what comes before it; or block by block, if that takes
// little, which comes to the same.
func scan[T any](s filch.Scope, n int, op func(a, b T) T, total func(lo, hi int) T, write func(lo, hi int, before *T)) {
	if n == 0 {
		return
	}
	size := blockSize(n)
	if serially(n, op, func() {
		var before *T
		for lo := 0; lo < n; {
			end := lo + min(size, n-lo)
			var next T
			if end < n { // before x is written, which may be dst
				if next = total(lo, end); before != nil {
					next = op(*before, next)
				}
			}
			write(lo, end, before)
			before, lo = &next, end
		}
	}) {
		return
	}
	totals := make([]T, (n-1)/size+1)
	eachBlock(s, n, size, op, func(i, lo, hi int) {
		if hi < n {
			totals[i] = total(lo, hi)
		}
	})
	boundary(func() {
		for i := 1; i < len(totals)-1; i++ {
			totals[i] = op(totals[i-1], totals[i])
		}
	})
	eachBlock(s, n, size, op, func(i, lo, hi int) {
		if i == 0 {
			write(lo, hi, nil)
			return
		}
		write(lo, hi, &totals[i-1])
	})
}

// Find returns the index of the first element that f holds for, or -1. It may call f for
// elements after it, but not for many.
func Find[T any](s filch.Scope, x []T, f func(v T) bool) int {
	check("Find", s, 0)
	checkFunc("Find", f == nil)
	return find(s, x, f, true)
}

// FindAny returns the index of some element that f holds for, or -1, and sooner than
// [Find], which has to look at all before it.
func FindAny[T any](s filch.Scope, x []T, f func(v T) bool) int {
	check("FindAny", s, 0)
	checkFunc("FindAny", f == nil)
	return find(s, x, f, false)
}

// Any reports whether f holds for some element.
func Any[T any](s filch.Scope, x []T, f func(v T) bool) bool {
	check("Any", s, 0)
	checkFunc("Any", f == nil)
	return find(s, x, f, false) >= 0
}

// All reports whether f holds for all elements.
func All[T any](s filch.Scope, x []T, f func(v T) bool) bool {
	check("All", s, 0)
	checkFunc("All", f == nil)
	return holds(s, len(x), f, func(lo, hi int) bool {
		for _, v := range x[lo:hi] {
			if !f(v) {
				return false
			}
		}
		return true
	})
}

// holds reports whether right does for all parts of [0, n).
func holds(s filch.Scope, n int, f any, right func(lo, hi int) bool) bool {
	if n <= 0 {
		return true
	}
	var limit atomic.Int64
	limit.Store(int64(n))
	each(s, n, f, config{limit: &limit}, func(lo, hi int) {
		if !right(lo, hi) {
			limit.Store(-1)
		}
	})
	return limit.Load() >= 0
}

func find[T any](s filch.Scope, x []T, f func(v T) bool, first bool) int {
	var limit, found atomic.Int64
	limit.Store(int64(len(x)))
	found.Store(-1)
	each(s, len(x), f, config{limit: &limit}, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			if !f(v) {
				continue
			}
			at := int64(lo + i)
			if !first {
				found.CompareAndSwap(-1, at)
				limit.Store(0)
				return
			}
			for old := limit.Load(); at < old; old = limit.Load() {
				if limit.CompareAndSwap(old, at) {
					break
				}
			}
			return
		}
	})
	if !first {
		return int(found.Load())
	}
	if at := limit.Load(); at < int64(len(x)) {
		return int(at)
	}
	return -1
}
