package par

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/simd"
)

// Reductions cut the input into blocks whose number depends only on its length, process each from the left, and combine
// the results in pairs. So the answer is reproducible even if op is only nearly associative, like the sum of
// floating-point numbers.

// blockSize returns the block length for n elements: 1 if they are few, since they may be expensive, and otherwise so
// that there are 64 blocks or more.
func blockSize(n int) int { return max(1, min(n/64, 1024), n>>16) }

// blockSize is the caller's grain, if there is one.
func (c *config) blockSize(n int) int {
	if c.grain > 0 {
		return c.grain
	}
	return c.roundUp(blockSize(n))
}

// fold calls block for each block of size elements, and combines the results in a tree; n must not be 0. The cost of
// block is remembered by the function of and its kind, that of op by opOf; with a nil opOf, op costs next to nothing.
func fold[R any](s filch.Scope, n, size int, of any, k kind, opOf any, block func(lo, hi int) R, op func(a, b R) R) R {
	return foldFrom(s, n, size, 0, *new(R), of, k, opOf, block, op)
}

// foldFrom is fold when the first done blocks, a power of two or 0, have already been reduced to first.
func foldFrom[R any](s filch.Scope, n, size, done int, first R, of any, k kind, opOf any, block func(lo, hi int) R, op func(a, b R) R) R {
	return foldAs(s, n, size, done, first, of, config{kind: k}, opOf, block, op)
}

// foldAs is foldFrom with the caller's options.
func foldAs[R any](s filch.Scope, n, size, done int, first R, of any, c config, opOf any, block func(lo, hi int) R, op func(a, b R) R) R {
	t := tree[R]{make([]R, (n-1)/size+1), op}
	t.parts[0] = first
	runBlocksAs(s, n-done*size, size, of, c, func(i, lo, hi int) { t.parts[done+i] = block(done*size+lo, done*size+hi) })
	level, from := 1, done/2
	if len(t.parts) > 1 && done == 0 && (opOf == nil || costOf(opOf, asIs).cheap(len(t.parts))) {
		level, from = t.serially(opOf != nil)
	}
	for level < len(t.parts) {
		if at, first := level, from; first < t.pairs(level) {
			runLoop(s, t.pairs(level)-first, opOf, config{most: c.most}, func(lo, hi int) { t.combine(at, first+lo, first+hi) })
		}
		level *= 2
		from = done / (2 * level)
	}
	return t.parts[0]
}

// foldFew is fold for blocks of one element, while the whole is known to be cheap. It does not allocate. It returns how
// many elements it has combined, a power of two or all, and their value. It reads the clock after two elements, and
// then after each 32 or more; on a worker, only while another wants work, as in untilAsked.
func foldFew[R any](s filch.Scope, n int, of any, k kind, opOf any, element func(i int) R, op func(a, b R) R) (done int, v R) {
	if n == 1 {
		boundary(func() { v = element(0) })
		return 1, v
	}
	if race.Logical() {
		return 0, v
	}
	c := costOf(opOf, asIs)
	chain := n <= 3 // op is called once, and then with its own result
	if !chain && !c.cheap(n) || of != nil && !costOf(of, k).cheap(n) {
		return 0, v
	}
	w, ok := s.(*filch.Worker)
	boundary(func() {
		alone := chain && of == nil // there is nothing to share
		timed := !alone && (!ok || n > few || w.Demand())
		first, begin := 0, int64(0)
		if timed {
			begin = clock.Now()
		}
		v, done = element(0), 1
		for done < n {
			more := min(2*done, n)
			v = op(v, pairwise(done, more, element, op))
			done = more
			switch {
			case done == n || alone:
			case !timed:
				if timed = w.Demand(); timed {
					first, begin = done, clock.Now()
				}
			case done == 2 || first > 0 || done >= 32:
				if took := (clock.Now() - begin) * ns; took > little || done-first <= 2 && took > watched {
					c.learn(took/int64(done-first), took/ns)
					return
				}
			}
		}
	})
	return done, v
}

// pairwise combines the elements of [lo, hi) as a tree does; lo is a multiple of a power of two that is at least hi-lo.
func pairwise[R any](lo, hi int, element func(i int) R, op func(a, b R) R) R {
	n := hi - lo
	if n == 1 {
		return element(lo)
	}
	mid := lo + 1<<(bits.Len(uint(n-1))-1)
	return op(pairwise(lo, mid, element, op), pairwise(mid, hi, element, op))
}

// tree combines neighbouring parts in pairs, then these pairs, and so on.
type tree[R any] struct {
	parts []R
	op    func(a, b R) R
}

// pairs returns how many pairs there are of parts combined to a length of level.
func (t *tree[R]) pairs(level int) int { return (len(t.parts)-level-1)/(2*level) + 1 }

func (t *tree[R]) combine(level, lo, hi int) {
	for i := lo; i < hi; i++ {
		at := 2 * level * i
		t.parts[at] = t.op(t.parts[at], t.parts[at+level])
	}
}

// serially combines parts that are known to be cheap. If op may be expensive after all, and is, it returns how far it
// got: the level and the pair.
func (t *tree[R]) serially(mayBeDear bool) (level, from int) {
	boundary(func() {
		begin := clock.Now()
		t.combine(1, 0, 1)
		if level, from = 1, 1; mayBeDear && (clock.Now()-begin)*ns > watched {
			return
		}
		t.combine(1, 1, t.pairs(1))
		for level = 2; level < len(t.parts); level *= 2 {
			t.combine(level, 0, t.pairs(level))
		}
	})
	return level, from
}

// fromLeft returns x[0] op x[1] op …; x must not be empty.
func fromLeft[T any](x []T, op func(a, b T) T) T {
	v := x[0]
	for _, w := range x[1:] {
		v = op(v, w)
	}
	return v
}

// Reduce returns x[0] op x[1] op …, or empty if x is empty. op must be associative, need not be commutative, and must
// not change its arguments, which may be in x. It combines elements in order, in blocks whose length depends only on
// that of x or on [WithGrain], so the result is the same on any number of workers, even if op is only nearly
// associative.
//
// With a tiny op, such as an addition, it runs at about 0.30 of the speed of a plain loop on each worker, and
// [ReduceRange] at 0.93. To add numbers, use [Sum].
func Reduce[T any](s filch.Scope, x []T, empty T, op func(a, b T) T, opts ...Option) T {
	check("Reduce", s)
	checkFunc("Reduce", op == nil)
	c := configOf("Reduce", opts, ofLoops)
	if len(x) == 0 {
		return empty
	}
	size, done, v := c.blockSize(len(x)), 0, empty
	if size == 1 {
		c.kind = asParts
		if done, v = foldFew(s, len(x), nil, c.kind, op, func(i int) T { return x[i] }, op); done == len(x) {
			return v
		}
	}
	return foldAs(s, len(x), size, done, v, op, c, op, func(lo, hi int) T { return fromLeft(x[lo:hi], op) }, op)
}

// MapReduce returns f(x[0]) op f(x[1]) op …, or empty if x is empty; see [Reduce]. Each result of f and op is used
// once, so op may change its arguments and return them. Tiny functions cost two calls an element; [ReduceRange] avoids
// both.
func MapReduce[T, R any](s filch.Scope, x []T, empty R, f func(v T) R, op func(a, b R) R, opts ...Option) R {
	check("MapReduce", s)
	checkFunc("MapReduce", f == nil || op == nil)
	c := configOf("MapReduce", opts, ofLoops)
	if len(x) == 0 {
		return empty
	}
	size, done, v := c.blockSize(len(x)), 0, empty
	if size == 1 {
		if done, v = foldFew(s, len(x), f, asIs, op, func(i int) R { return f(x[i]) }, op); done == len(x) {
			return v
		}
	}
	return foldAs(s, len(x), size, done, v, f, c, op, func(lo, hi int) R {
		v := f(x[lo])
		for _, w := range x[lo+1 : hi] {
			v = op(v, f(w))
		}
		return v
	}, op)
}

// ReduceRange is [MapReduce] without the call for each element: it returns f of the first range op f of the second op
// …, or empty if n is 0. The ranges together make up 0 to n-1, and depend only on n and [WithGrain]. Without a grain,
// they have one index each if n is less than 128, and more otherwise.
func ReduceRange[R any](s filch.Scope, n int, empty R, f func(lo, hi int) R, op func(a, b R) R, opts ...Option) R {
	check("ReduceRange", s)
	checkNumber("ReduceRange", "n", n)
	checkFunc("ReduceRange", f == nil || op == nil)
	c := configOf("ReduceRange", opts, ofLoops)
	if n == 0 {
		return empty
	}
	size, done, v := c.blockSize(n), 0, empty
	if size == 1 {
		if done, v = foldFew(s, n, f, inRanges, op, func(i int) R { return f(i, i+1) }, op); done == n {
			return v
		}
	}
	c.kind = inRanges
	return foldAs(s, n, size, done, v, f, c, op, f, op)
}

// Number is a type with addition.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// fastBlock is the minimum number of elements in a block if each takes a nanosecond or less.
const fastBlock = 1 << 13

// Sum returns the sum of x. Integers wrap around. It is [Reduce] with addition, but calls no function, and reads x at
// the speed of memory. One goroutine adds up to 8,192 elements, and each block of a longer x.
//
// Floating-point numbers are added in pairs of blocks. Within a block of 4 KiB, each of 16 lanes of float64, or 32 of
// float32, adds 32 elements in order. The error therefore grows with the logarithm of the length (Higham, "The accuracy
// of floating point summation", SIAM J. Sci. Comput. 1993). The sum is the same on any number of workers and any
// processor.
//
// On a shared Intel Xeon with AVX2, 2^24 numbers were read at 0.75 to 1.15 of the bytes a second that [Copy] reads and
// writes, and added at 1.1 to 2.6 of the speed of a plain loop; 100,000 numbers, in the cache, at 3.5 to 7.3 of it.
func Sum[T Number](s filch.Scope, x []T) T {
	check("Sum", s)
	if len(x) <= fastBlock {
		return simd.Sum(x)
	}
	return fold(s, len(x), fastBlocks(len(x)), Sum[T], asIs, nil, func(lo, hi int) T { return simd.Sum(x[lo:hi]) }, add)
}

// fastBlocks is the block length for n elements that take a nanosecond or less each.
func fastBlocks(n int) int { return max(fastBlock, n>>16) }

func add[T Number](a, b T) T { return a + b }

// MinMax returns the least and the greatest element of x, compared as the built-in min and max do: if one is NaN, both
// results are, and -0 is less than 0. It reports false if x is empty.
//
// Numbers are compared by vectors where the processor has AVX2. On a shared Intel Xeon, 2^24 numbers were read at 0.7
// to 1.2 of the bytes a second that [Copy] reads and writes, and compared at 2.0 to 8.6 of the speed of a plain loop;
// 100,000 numbers, in the cache, at 1.8 to 22. The plain loop is slowest with floating-point numbers; vectors are
// slowest with 64-bit integers on processors without AVX-512.
func MinMax[T cmp.Ordered](s filch.Scope, x []T) (least, most T, ok bool) {
	check("MinMax", s)
	if len(x) == 0 {
		return least, most, false
	}
	if len(x) <= fastBlock {
		least, most = extremes(x)
		return least, most, true
	}
	m := fold(s, len(x), fastBlocks(len(x)), MinMax[T], asIs, nil,
		func(lo, hi int) (m [2]T) { m[0], m[1] = extremes(x[lo:hi]); return m },
		func(p, q [2]T) [2]T { return [2]T{min(p[0], q[0]), max(p[1], q[1])} })
	return m[0], m[1], true
}

// MinMaxFunc returns the least and the greatest element of x by compare, and among equal ones the first. It reports
// false if x is empty.
func MinMaxFunc[T any](s filch.Scope, x []T, compare func(a, b T) int) (least, most T, ok bool) {
	check("MinMaxFunc", s)
	checkFunc("MinMaxFunc", compare == nil)
	if len(x) == 0 {
		return least, most, false
	}
	b, m, size := extremeBody[T]{x, compare}, extent[T]{}, blockSize(len(x))
	done, k := 0, toCompare
	if size == 1 {
		k = asParts
		if done, m = foldFew(s, len(x), nil, k, compare, b.element, b.combine); done == len(x) {
			return m.least, m.most, true
		}
	}
	m = foldFrom(s, len(x), size, done, m, compare, k, compare, b.block, b.combine)
	return m.least, m.most, true
}

type extent[T any] struct{ least, most T }

type extremeBody[T any] struct {
	x       []T
	compare func(a, b T) int
}

func (b extremeBody[T]) element(i int) extent[T] { return extent[T]{b.x[i], b.x[i]} }

func (b extremeBody[T]) block(lo, hi int) extent[T] {
	compare, least, most := b.compare, b.x[lo], b.x[lo]
	for _, v := range b.x[lo+1 : hi] {
		if compare(v, least) < 0 {
			least = v
		} else if compare(v, most) > 0 {
			most = v
		}
	}
	return extent[T]{least, most}
}

func (b extremeBody[T]) combine(p, q extent[T]) extent[T] {
	if b.compare(q.least, p.least) < 0 {
		p.least = q.least
	}
	if b.compare(q.most, p.most) > 0 {
		p.most = q.most
	}
	return p
}

func checkLengths(op string, dst, x int) {
	if dst != x {
		panic(fmt.Sprintf("par: %s: dst has %d elements, and x %d", op, dst, x))
	}
}
