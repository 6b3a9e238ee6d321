package par

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// SortStableFunc is [SortFunc], but keeps the order of equal elements, and takes as much memory as x. One worker sorts
// up to 2,048 elements. Sorted or strictly descending runs take one comparison for each element. A merge moves only the
// overlap if that is short.
//
// It is a merge sort with parallel merges (Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", on
// multithreaded merge sort): O(n log n) work, O(log³ n) span.
func SortStableFunc[T any](s filch.Scope, x []T, compare func(a, b T) int) {
	check("SortStableFunc", s)
	checkFunc("SortStableFunc", compare == nil)
	switch {
	case len(x) <= fewStable:
		boundary(func() {
			if !reverseRun(x, compare) {
				slices.SortStableFunc(x, compare)
			}
		})
	case !sortRuns(s, x, compare):
		mergeSort(s, x, compare)
	}
}

// reverseRun reverses x if it falls, and reports whether it did.
func reverseRun[T any](x []T, compare func(a, b T) int) bool {
	if len(x) < 2 || goesOn(x, true, compare) < len(x)-1 {
		return false
	}
	slices.Reverse(x)
	return true
}

func insertionSort[T any](x []T, compare func(a, b T) int) {
	for i := 1; i < len(x); i++ {
		for j := i; j > 0 && compare(x[j], x[j-1]) < 0; j-- {
			x[j], x[j-1] = x[j-1], x[j]
		}
	}
}

const (
	fewInserted = 24      // sorted by insertion
	fewStable   = 1 << 7  // sorted by package slices
	fewForked   = 1 << 11 // sorted by one worker
	fewMerged   = 1 << 12 // merged by one worker
)

// merger sorts x by halves with the help of buf. The leaves are sorted in x; each merge goes from one slice to the
// other. It remembers which slice has the elements of each part, so that they can be put back after a panic.
type merger[T any] struct {
	x, buf  []T
	compare func(a, b T) int
	where   []atomic.Uint32 // by part, in heap order: inX or inBuf once the part is sorted
}

const (
	inX   = 1
	inBuf = 2
)

type part[T any] struct {
	m      *merger[T]
	node   int
	lo, hi int
}

func mergeSort[T any](s filch.Scope, x []T, compare func(a, b T) int) {
	m := &merger[T]{x: x, buf: make([]T, len(x)), compare: compare}
	nodes := 1
	for n := len(x); n > fewInserted; n = (n + 1) / 2 {
		nodes = 2*nodes + 1
	}
	m.where = make([]atomic.Uint32, nodes)
	done := false
	defer func() {
		if !done {
			m.restore(0, 0, len(x))
		}
	}()
	all := part[T]{m, 0, 0, len(x)}
	if len(x) <= fewForked {
		boundary(func() { m.sort(nil, all) })
		return // the deferred restore puts back what is in buf
	}
	filch.NewFunc(func(f *filch.Frame[part[T], struct{}], p part[T]) struct{} {
		m.sort(f, p)
		return struct{}{}
	}).Call(s, all)
	if m.where[0].Load() == inBuf {
		Copy(s, x, m.buf)
	}
	done = true
}

// reverse reverses x.
func reverse[T any](s filch.Scope, x []T) {
	n := len(x)
	runLoop(s, n/2, reverse[T], config{}, func(lo, hi int) { exchange(x[lo:hi], x[n-hi:n-lo]) })
}

// exchange swaps the elements of a with those of b: the first with the last, and so on. Four at a time, int64 in the
// cache take 0.20 ns each; by slices.Reverse 0.32, and with AVX2 0.13.
func exchange[T any](a, b []T) {
	for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[:len(b)-4] {
		p, q := (*[4]T)(a), (*[4]T)(b[len(b)-4:])
		p0, p1, p2, p3 := p[0], p[1], p[2], p[3]
		p[0], p[1], p[2], p[3] = q[3], q[2], q[1], q[0]
		q[0], q[1], q[2], q[3] = p3, p2, p1, p0
	}
	for i := range a {
		j := len(b) - 1 - i
		a[i], b[j] = b[j], a[i]
	}
}

// sort sorts a part, and records where it is then. Up to fewForked elements, f is not used.
func (m *merger[T]) sort(f *filch.Frame[part[T], struct{}], p part[T]) {
	n := p.hi - p.lo
	if n <= fewInserted {
		insertionSort(m.x[p.lo:p.hi], m.compare)
		m.where[p.node].Store(inX)
		return
	}
	if n > fewForked/2 && n <= fewForked && m.isRun(p.lo, p.hi) {
		m.where[p.node].Store(inX)
		return
	}
	mid := p.lo + (n+1)/2
	left, right := part[T]{m, 2*p.node + 1, p.lo, mid}, part[T]{m, 2*p.node + 2, mid, p.hi}
	if n > fewForked {
		h := f.Fork(right)
		f.Call(left)
		f.Join(h)
	} else {
		m.sort(f, left)
		m.sort(f, right)
	}
	// Leaves may be a level apart; then one of the halves moves.
	from, to, at := m.x, m.buf, uint32(inBuf)
	l, r := m.where[left.node].Load(), m.where[right.node].Load()
	if l == inBuf && r == inBuf {
		from, to, at = m.buf, m.x, inX
	} else if l != r {
		moved := left
		if r == inBuf {
			moved = right
		}
		copy(m.x[moved.lo:moved.hi], m.buf[moved.lo:moved.hi])
		m.where[moved.node].Store(inX)
	}
	a, b, dst := from[p.lo:mid], from[mid:p.hi], to[p.lo:p.hi]
	if m.compare(a[len(a)-1], b[0]) <= 0 { // in order already
		m.where[p.node].Store(3 - at)
		return
	}
	if k := len(b) / 4; n > 2*fewInserted && m.compare(a[len(a)-1-k], b[0]) <= 0 && m.compare(a[len(a)-1], b[k]) <= 0 {
		k++ // the number that may have to move on each side
		mergeMiddle(from[mid-k:mid+k], to[p.lo:p.lo+k], k, m.compare)
		m.where[p.node].Store(3 - at)
		return
	}
	if n > fewMerged {
		mergeParallel(f.Worker(), dst, a, b, m.compare, merge)
	} else {
		merge(dst, a, b, m.compare)
	}
	m.where[p.node].Store(at)
}

// isRun reports whether a part is sorted. It first reverses a strictly descending one.
func (m *merger[T]) isRun(lo, hi int) bool {
	x := m.x[lo:hi]
	falls := m.compare(x[1], x[0]) < 0
	if goesOn(x, falls, m.compare) < len(x)-1 {
		return false
	}
	if falls {
		slices.Reverse(x)
	}
	return true
}

// mergeMiddle merges the first mid elements of x with the others in place. buf has length mid. If compare
// panics, x has all its elements.
func mergeMiddle[T any](x, buf []T, mid int, compare func(a, b T) int) {
	i := gallop(mid, func(i int) bool { return compare(x[mid], x[i]) < 0 })
	a, b := buf[:copy(buf, x[i:mid])], mid
	defer func() { copy(x[i:], a) }() // the rest of a fits before x[b]
	for len(a) > 0 && b < len(x) {
		if compare(x[b], a[0]) < 0 {
			x[i] = x[b]
			b++
		} else {
			x[i], a = a[0], a[1:]
		}
		i++
	}
}

// restore puts all elements of a part into x: the largest sorted parts are complete.
func (m *merger[T]) restore(node, lo, hi int) {
	switch {
	case m.where[node].Load() == inX:
	case m.where[node].Load() == inBuf:
		copy(m.x[lo:hi], m.buf[lo:hi])
	case hi-lo > fewInserted:
		mid := lo + (hi-lo+1)/2
		m.restore(2*node+1, lo, mid)
		m.restore(2*node+2, mid, hi)
	}
}

// oftenFirst is the lead of one side, in elements, at which merge gallops.
const oftenFirst = 12

// merge merges a and b. Equal elements of a come first.
func merge[T any](dst, a, b []T, compare func(a, b T) int) {
	for len(a) > 0 && len(b) > 0 {
		i, j := 0, 0
		for i < len(a) && j < len(b) && i-j < oftenFirst && j-i < oftenFirst {
			if compare(b[j], a[i]) < 0 {
				dst[i+j] = b[j]
				j++
			} else {
				dst[i+j] = a[i]
				i++
			}
		}
		dst, a, b = dst[i+j:], a[i:], b[j:]
		if len(a) == 0 || len(b) == 0 {
			break
		}
		n := 0
		if i > j {
			n = copy(dst, a[:gallop(len(a), func(i int) bool { return compare(b[0], a[i]) < 0 })])
			a = a[n:]
		} else {
			n = copy(dst, b[:gallop(len(b), func(j int) bool { return compare(b[j], a[0]) >= 0 })])
			b = b[n:]
		}
		dst = dst[n:]
	}
	copy(dst[copy(dst, a):], b)
}

// gallop returns the least i below n for which after holds, or n. It is fast if i is small.
func gallop(n int, after func(i int) bool) int {
	lo, step := 0, 1
	for lo+step <= n && !after(lo+step-1) {
		lo += step
		step *= 2
	}
	hi := min(lo+step-1, n)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); after(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// mergeParallel is merge by halves: it cuts the longer slice in half, and the other by value, down to fewMerged
// elements.
func mergeParallel[T any](w *filch.Worker, dst, a, b []T, compare func(a, b T) int, few func(dst, a, b []T, compare func(a, b T) int)) {
	if len(dst) <= fewMerged {
		few(dst, a, b, compare)
		return
	}
	var i, j int
	if len(a) >= len(b) {
		i = len(a) / 2
		j, _ = slices.BinarySearchFunc(b, a[i], compare) // equal elements of b come after a[i]
	} else {
		j = len(b) / 2
		i, _ = slices.BinarySearchFunc(a, b[j], func(v, t T) int {
			if compare(v, t) <= 0 { // equal elements of a come before b[j]
				return -1
			}
			return 1
		})
	}
	low, lowA, lowB := dst[:i+j], a[:i], b[:j] // not empty, since the longer one is cut
	high, highA, highB := dst[i+j:], a[i:], b[j:]
	w.Join(
		func(w *filch.Worker) { mergeParallel(w, low, lowA, lowB, compare, few) },
		func(w *filch.Worker) { mergeParallel(w, high, highA, highB, compare, few) })
}

// Merge sets dst to the elements of a and b in order. Both must be sorted. Equal elements of a come first. dst must be
// len(a)+len(b) long and overlap neither.
func Merge[T cmp.Ordered](s filch.Scope, dst, a, b []T) {
	check("Merge", s)
	mergeAll(s, "Merge", dst, a, b, cmp.Compare[T], mergeOrdered[T])
}

// MergeFunc is [Merge] for slices sorted by compare. One worker merges up to 4,096 elements.
func MergeFunc[T any](s filch.Scope, dst, a, b []T, compare func(a, b T) int) {
	check("MergeFunc", s)
	checkFunc("MergeFunc", compare == nil)
	mergeAll(s, "MergeFunc", dst, a, b, compare, merge)
}

func mergeAll[T any](s filch.Scope, op string, dst, a, b []T, compare func(a, b T) int, few func(dst, a, b []T, compare func(a, b T) int)) {
	checkLengths(op, len(dst), len(a)+len(b))
	if len(dst) <= fewMerged {
		boundary(func() { few(dst, a, b, compare) })
		return
	}
	s.Do(func(w *filch.Worker) { mergeParallel(w, dst, a, b, compare, few) })
}

// mergeOrdered is merge without calls of compare or of cmp.Less, which loads the dictionary of types each time.
func mergeOrdered[T cmp.Ordered](dst, a, b []T, _ func(a, b T) int) {
	for len(a) > 0 && len(b) > 0 {
		if v, w := a[0], b[0]; w < v || w != w && v == v {
			dst[0], b = w, b[1:]
		} else {
			dst[0], a = v, a[1:]
		}
		dst = dst[1:]
	}
	copy(dst[copy(dst, a):], b)
}

// IsSorted reports whether x is in order, NaN first.
func IsSorted[T cmp.Ordered](s filch.Scope, x []T) bool {
	check("IsSorted", s)
	return find(s, len(x)-1, IsSorted[T], config{}, fallBody[T](x), false) < 0
}

// fallBody finds a pair of elements that is not in order anywhere in a range, and reports it as the beginning of the
// range.
type fallBody[T cmp.Ordered] []T

func (x fallBody[T]) find(lo, hi int) int {
	if rises(x[lo:hi+1]) || slices.IsSorted(x[lo:hi+1]) {
		return -1
	}
	return lo
}

// IsSortedFunc is [IsSorted] by compare.
func IsSortedFunc[T any](s filch.Scope, x []T, compare func(a, b T) int) bool {
	check("IsSortedFunc", s)
	checkFunc("IsSortedFunc", compare == nil)
	return find(s, len(x)-1, compare, config{kind: inRanges}, fallBodyFunc[T]{x, compare}, false) < 0
}

type fallBodyFunc[T any] struct {
	x       []T
	compare func(a, b T) int
}

func (b fallBodyFunc[T]) find(lo, hi int) int {
	if slices.IsSortedFunc(b.x[lo:hi+1], b.compare) {
		return -1
	}
	return lo
}
