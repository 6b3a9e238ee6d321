package par

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/filch-go/filch"
)

// Collect calls f for ranges of indices that together make up 0 to n-1, like [ForRange], and concatenates the results
// in the order of the ranges. It is for loops that append an unknown number of elements:
//
//	above := par.Collect(s, len(points), func(lo, hi int, out []Point) []Point {
//		for _, p := range points[lo:hi] {
//			if p.isAbove(line) {
//				out = append(out, p)
//			}
//		}
//		return out
//	})
//
// f appends to out, which is empty but may have spare capacity, and returns it; or it returns nil or another slice. f
// must not retain out, and the slice it returns must not change until Collect has returned.
//
// The ranges depend on timing and chance. The result does not if f returns the same for an element in any range. All
// workers copy the results of f once, into place: while it runs, Collect takes about as much memory again as the
// result, and for each worker up to 1 MiB or its longest piece. The result has no spare capacity, shares no memory with
// what f returned, and is nil if empty.
func Collect[T any](s filch.Scope, n int, f func(lo, hi int, out []T) []T, opts ...Option) []T {
	check("Collect", s)
	checkNumber("Collect", "n", n)
	checkFunc("Collect", f == nil)
	c, first := configOf("Collect", opts, ofLoops), collector[T]{}
	from := runSerial(s, n, f, &c, func(lo, hi int) { first.add(lo, hi, f(lo, hi, first.room())) })
	if from == n {
		return first.joined()
	}
	return collectMore(s, from, n, f, c, first, func(c *collector[T], lo, hi int) { c.add(lo, hi, f(lo, hi, c.room())) })
}

// FlatMap concatenates what f returns for each element of x, in the order of x. f appends any number of elements to
// out, which is empty, as in [Collect]; or it returns nil:
//
//	words := par.FlatMap(s, lines, func(line string, out []string) []string {
//		return append(out, strings.Fields(line)...)
//	})
//
// With a tiny f, [Collect] is faster.
func FlatMap[T, R any](s filch.Scope, x []T, f func(v T, out []R) []R, opts ...Option) []R {
	check("FlatMap", s)
	checkFunc("FlatMap", f == nil)
	c, first := configOf("FlatMap", opts, ofLoops), collector[R]{}
	c.single = true
	from := runSerial(s, len(x), f, &c, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			first.add(lo+i, lo+i+1, f(v, first.room()))
		}
	})
	if from == len(x) {
		return first.joined()
	}
	return collectMore(s, from, len(x), f, c, first, func(c *collector[R], lo, hi int) {
		for i, v := range x[lo:hi] {
			c.add(lo+i, lo+i+1, f(v, c.room()))
		}
	})
}

// collectMore continues from an index with the other workers.
func collectMore[T any](s filch.Scope, from, n int, f any, c config, first collector[T], add func(c *collector[T], lo, hi int)) []T {
	more := moreStates(s, from, n, f, c, &first, func() *collector[T] { return new(collector[T]) }, byRange[*collector[T]](add))
	pieces := first.all()
	for _, c := range more {
		pieces = append(pieces, c.all()...)
	}
	slices.SortFunc(pieces, func(a, b piece[T]) int { return cmp.Compare(a.lo, b.lo) })
	return join(s, pieces, c)
}

// piece is what f returned for the indices from lo up to the beginning of the next piece.
type piece[T any] struct {
	lo  int
	of  []T
	end int // in the result
}

// join copies pieces into one slice.
func join[T any](s filch.Scope, pieces []piece[T], c config) []T {
	n := 0
	for i := range pieces {
		n += len(pieces[i].of)
		pieces[i].end = n
	}
	if n == 0 {
		return nil
	}
	x := make([]T, n)
	gather := func(lo, hi int) {
		i, _ := slices.BinarySearchFunc(pieces, lo+1, func(p piece[T], at int) int { return p.end - at })
		for ; lo < hi; i++ {
			p := &pieces[i]
			lo += copy(x[lo:hi], p.of[lo-(p.end-len(p.of)):])
		}
	}
	if n <= fewCopied/sizeOf[T]() {
		gather(0, n)
	} else {
		runLoop(s, n, join[T], config{most: c.most}, gather)
	}
	return x
}

// sizeOf returns the size of an element in bytes, at least 1.
func sizeOf[T any]() int { return int(max(1, unsafe.Sizeof(*new(T)))) }

// collector has the pieces of the workers that use it one after the other.
type collector[T any] struct {
	block  []T // holds pieces one behind the other
	pieces []piece[T]
	last   piece[T] // the newest piece, not in pieces yet; may be empty
	open   bool     // last ends where the block does: elements from index next on may extend it
	next   int
	want   int // if not 0, the capacity of the next block
}

// mostBlock is the maximum size of a block in bytes, unless a piece is longer.
const mostBlock = 1 << 20

// room returns the slice for f to append to.
func (c *collector[T]) room() []T {
	if c.want > 0 {
		c.block, c.want, c.open = make([]T, 0, c.want), 0, false
	}
	return c.block[len(c.block):]
}

// add adds the result of f for [lo, hi).
func (c *collector[T]) add(lo, hi int, r []T) {
	follows := c.open && lo == c.next
	c.next = hi
	if len(r) == 0 {
		c.open = follows
		return
	}
	free := c.block[len(c.block):cap(c.block)]
	if len(r) > len(free) { // f had to allocate it elsewhere, and it may stay there
		c.begin(lo, r)
		c.open, c.want = false, max(len(r), min(max(8*len(r), 2*cap(c.block)), mostBlock/sizeOf[T]()))
		return
	}
	at := position(free, r)
	if at < 0 {
		at = 0
		copy(free, r)
	}
	c.block = c.block[:len(c.block)+at+len(r)]
	if follows && at == 0 {
		c.last.of = c.last.of[:len(c.last.of)+len(r)]
		return
	}
	c.begin(lo, free[at:at+len(r)])
	c.open = true
}

// begin begins a piece.
func (c *collector[T]) begin(lo int, of []T) {
	if len(c.last.of) > 0 {
		c.pieces = append(c.pieces, c.last)
	}
	c.last = piece[T]{lo: lo, of: of}
}

// joined returns all elements, for a collector that received everything from the first index on: either they are few,
// or one worker did it all.
func (c *collector[T]) joined() []T {
	n := len(c.last.of)
	for _, p := range c.pieces {
		n += len(p.of)
	}
	if n == 0 {
		return nil
	}
	x := make([]T, 0, n)
	for _, p := range c.pieces {
		x = append(x, p.of...)
	}
	return append(x, c.last.of...)
}

// all returns the pieces. Call it once.
func (c *collector[T]) all() []piece[T] {
	if len(c.last.of) == 0 {
		return nil
	}
	return append(c.pieces, c.last)
}

// position returns where in free r begins, or -1 if it is elsewhere.
func position[T any](free, r []T) int {
	bytes := uintptr(unsafe.Pointer(unsafe.SliceData(r))) - uintptr(unsafe.Pointer(unsafe.SliceData(free)))
	if at := bytes / uintptr(sizeOf[T]()); at < uintptr(len(free)) {
		return int(at)
	}
	return -1
}
