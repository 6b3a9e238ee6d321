package par

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/filch-go/filch"
)

// Map returns f of each element of x, in their order.
func Map[T, R any](s filch.Scope, x []T, f func(v T) R, opts ...Option) []R {
	check("Map", s, 0)
	checkFunc("Map", f == nil)
	dst := make([]R, len(x))
	mapInto(s, dst, x, f, configOf("Map", opts))
	return dst
}

// MapInto sets dst[i] to f of x[i]. dst must be as long as x, and may be x.
func MapInto[T, R any](s filch.Scope, dst []R, x []T, f func(v T) R, opts ...Option) {
	check("MapInto", s, 0)
	checkFunc("MapInto", f == nil)
	checkLengths("MapInto", len(dst), len(x))
	mapInto(s, dst, x, f, configOf("MapInto", opts))
}

func mapInto[T, R any](s filch.Scope, dst []R, x []T, f func(v T) R, c config) {
	b := mapBody[T, R]{dst, x, f}
	if from := alone(len(x), f, c, b.run); from < len(x) { // as in For
		divide(s, from, len(x), f, c, b.run)
	}
}

type mapBody[T, R any] struct {
	dst []R
	x   []T
	f   func(v T) R
}

func (b mapBody[T, R]) run(lo, hi int) {
	to := b.dst[lo:hi]
	for i, v := range b.x[lo:hi] {
		to[i] = b.f(v)
	}
}

// MapErr returns f of each element of x, or the error of the first that fails; see
// [ForErr]. With an error, what f has returned without one is there as well.
func MapErr[T, R any](s filch.Scope, x []T, f func(v T) (R, error), opts ...Option) ([]R, error) {
	check("MapErr", s, 0)
	checkFunc("MapErr", f == nil)
	dst := make([]R, len(x))
	err := eachErr(s, len(x), f, configOf("MapErr", opts), func(i int) error {
		v, err := f(x[i])
		if err == nil {
			dst[i] = v
		}
		return err
	})
	return dst, err
}

// Fill sets all elements of x to v.
func Fill[T any](s filch.Scope, x []T, v T) {
	check("Fill", s, 0)
	if len(x) <= 1<<9 {
		for i := range x {
			x[i] = v
		}
		return
	}
	each(s, len(x), Fill[T], config{}, func(lo, hi int) {
		x := x[lo:hi]
		n := min(len(x), 64)
		for i := range x[:n] {
			x[i] = v
		}
		for n < len(x) {
			n += copy(x[n:], x[:min(n, 1<<12)])
		}
	})
}

// Copy copies as many elements of x to dst as both have, and returns how many that
// are. They must not overlap.
func Copy[T any](s filch.Scope, dst, x []T) int {
	check("Copy", s, 0)
	n := min(len(dst), len(x))
	if n <= 1<<10 {
		return copy(dst, x)
	}
	each(s, n, Copy[T], config{}, func(lo, hi int) { copy(dst[lo:hi], x[lo:hi]) })
	return n
}

// Filter returns the elements of x that f holds for, in their order. f is called once for
// each.
func Filter[T any](s filch.Scope, x []T, f func(v T) bool) []T {
	check("Filter", s, 0)
	checkFunc("Filter", f == nil)
	var kept []T
	if serially(len(x), f, func() {
		for _, v := range x {
			if f(v) {
				kept = append(kept, v)
			}
		}
	}) {
		return kept
	}
	chosen := choose(s, x, f)
	if chosen.n == 0 {
		return nil
	}
	kept = make([]T, chosen.n)
	gather(s, kept, x, chosen)
	return kept
}

// Partition returns the elements of x that f holds for, and the others, both in their
// order. f is called once for each.
func Partition[T any](s filch.Scope, x []T, f func(v T) bool) (yes, no []T) {
	check("Partition", s, 0)
	checkFunc("Partition", f == nil)
	chosen := choose(s, x, f)
	all := make([]T, len(x))
	yes, no = all[:chosen.n:chosen.n], all[chosen.n:]
	gather(s, yes, x, chosen)
	for i := range chosen.words {
		chosen.words[i] = ^chosen.words[i]
		chosen.before[i] = 64*i - chosen.before[i]
	}
	gather(s, no, x, chosen)
	return yes, no
}

// choice is a bit for each element that was chosen, and for each word of bits how many
// were chosen before it.
type choice struct {
	words  []uint64
	before []int
	n      int
}

func choose[T any](s filch.Scope, x []T, f func(v T) bool) choice {
	words := len(x)/64 + 1
	c := choice{words: make([]uint64, words), before: make([]int, words)}
	if len(x) < 1<<12 { // they may take long, one by one
		yes := make([]bool, len(x))
		mapInto(s, yes, x, f, config{})
		for i, y := range yes {
			if y {
				c.words[i/64] |= 1 << (i % 64)
			}
		}
	} else {
		eachBlock(s, len(x), 64, f, func(i, lo, hi int) {
			word := uint64(0)
			for k, v := range x[lo:hi] {
				if f(v) {
					word |= 1 << k
				}
			}
			c.words[i] = word
		})
	}
	for i, word := range c.words {
		c.before[i] = c.n
		c.n += bits.OnesCount64(word)
	}
	return c
}

// gather moves the elements that were chosen to dst.
func gather[T any](s filch.Scope, dst, x []T, c choice) {
	eachBlock(s, len(x), 64, gather[T], func(i, lo, hi int) {
		to, word := c.before[i], c.words[i]
		if n := hi - lo; n < 64 {
			word &= 1<<n - 1
		}
		for ; word != 0; word &= word - 1 {
			dst[to] = x[lo+bits.TrailingZeros64(word)]
			to++
		}
	})
}

// Unique returns the different elements of x, in the order of their first. Blocks of 256 and
// more are one worker's.
func Unique[T comparable](s filch.Scope, x []T) []T {
	check("Unique", s, 0)
	type found struct {
		values []T
		seen   map[T]struct{}
	}
	if len(x) == 0 {
		return nil
	}
	size := max(blockSize(len(x)), len(x)/64, 256)
	parts := make([]found, (len(x)-1)/size+1)
	eachBlock(s, len(x), size, Unique[T], func(i, lo, hi int) {
		p := found{seen: map[T]struct{}{}}
		for _, v := range x[lo:hi] {
			if _, ok := p.seen[v]; !ok {
				p.seen[v] = struct{}{}
				p.values = append(p.values, v)
			}
		}
		parts[i] = p
	})
	all := parts[0]
	for _, p := range parts[1:] {
		for _, v := range p.values {
			if _, ok := all.seen[v]; !ok {
				all.seen[v] = struct{}{}
				all.values = append(all.values, v)
			}
		}
	}
	return all.values
}

// Histogram returns how many elements f puts into each of so many buckets, numbered from
// 0. It panics if f returns another number. Blocks of as many elements as there are buckets
// are one worker's.
func Histogram[T any](s filch.Scope, x []T, buckets int, f func(v T) int) []int {
	check("Histogram", s, buckets)
	checkFunc("Histogram", f == nil)
	all := make([]int, buckets)
	if len(x) == 0 {
		return all
	}
	size := max(blockSize(len(x)), len(x)/64, buckets)
	parts := make([][]int, (len(x)-1)/size+1)
	eachBlock(s, len(x), size, f, func(i, lo, hi int) {
		n := make([]int, buckets)
		for _, v := range x[lo:hi] {
			b := f(v)
			if uint(b) >= uint(buckets) {
				panic(fmt.Sprintf("par: Histogram: bucket %d of %d", b, buckets))
			}
			n[b]++
		}
		parts[i] = n
	})
	for _, part := range parts {
		for b, n := range part {
			all[b] += n
		}
	}
	return all
}

// GroupBy returns the elements of x by what f returns for them, those of each group in
// their order.
func GroupBy[K comparable, T any](s filch.Scope, x []T, f func(v T) K) map[K][]T {
	check("GroupBy", s, 0)
	checkFunc("GroupBy", f == nil)
	all := map[K][]T{}
	if len(x) == 0 {
		return all
	}
	size := max(blockSize(len(x)), len(x)/64)
	parts := make([]map[K][]T, (len(x)-1)/size+1)
	eachBlock(s, len(x), size, f, func(i, lo, hi int) {
		m := map[K][]T{}
		for _, v := range x[lo:hi] {
			k := f(v)
			m[k] = append(m[k], v)
		}
		parts[i] = m
	})
	for _, m := range parts {
		for k, values := range m {
			all[k] = append(all[k], values...)
		}
	}
	return all
}

// Shuffle puts x into an order that depends on the seed and its length alone: each is
// equally likely, as far as the generator goes (PCG). Elements are dealt to piles at
// random, and the piles shuffled (Rao 1961, Sandelius 1962). It takes as much memory as x.
func Shuffle[T any](s filch.Scope, x []T, seed uint64) {
	check("Shuffle", s, 0)
	const least = 1 << 14
	n := len(x)
	if n <= least {
		boundary(func() { shuffle(x, seed, 0) })
		return
	}
	piles := min(256, n/(least/4))
	size := max(least/4, n/64)
	blocks := (n-1)/size + 1
	to := make([]uint8, n)
	counts := make([][256]int, blocks)
	eachBlock(s, n, size, Shuffle[T], func(i, lo, hi int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)+1<<32))
		for k := lo; k < hi; k++ {
			to[k] = uint8(r.IntN(piles))
			counts[i][to[k]]++
		}
	})
	ends := make([]int, piles+1)
	at := 0
	for p := range piles {
		ends[p] = at
		for b := range counts {
			at, counts[b][p] = at+counts[b][p], at
		}
	}
	ends[piles] = at
	dealt := make([]T, n)
	eachBlock(s, n, size, Shuffle[T], func(i, lo, hi int) {
		for k := lo; k < hi; k++ {
			c := &counts[i][to[k]]
			dealt[*c] = x[k]
			*c++
		}
	})
	each(s, piles, shuffle[T], config{grain: 1}, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			pile := dealt[ends[p]:ends[p+1]]
			shuffle(pile, seed, uint64(p))
			copy(x[ends[p]:], pile)
		}
	})
}

func shuffle[T any](x []T, seed, stream uint64) {
	r := rand.New(rand.NewPCG(seed, stream))
	r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
}

// TopK returns the k least elements of x by compare, in order, those that are equal in their
// order in x. It returns all, if they are fewer. Blocks of 2k elements are one worker's. It
// panics if k is negative.
func TopK[T any](s filch.Scope, x []T, k int, compare func(a, b T) int) []T {
	check("TopK", s, k)
	checkFunc("TopK", compare == nil)
	k = min(k, len(x))
	if k == 0 {
		return nil
	}
	type ranked struct {
		at int
		v  T
	}
	order := func(a, b ranked) int { return cmp.Or(compare(a.v, b.v), cmp.Compare(a.at, b.at)) }
	size := max(blockSize(len(x)), len(x)/64, k+min(k, len(x)))
	parts := make([][]ranked, (len(x)-1)/size+1)
	eachBlock(s, len(x), size, compare, func(i, lo, hi int) {
		var best []ranked // twice as many as needed, now and then
		for at := lo; at < hi; at++ {
			if len(best) >= k && len(best) < 2*k && compare(best[k-1].v, x[at]) <= 0 {
				continue
			}
			best = append(best, ranked{at, x[at]})
			if len(best) >= 2*k || len(best) == k {
				slices.SortFunc(best, order)
				best = best[:k]
			}
		}
		parts[i] = best
	})
	all := slices.Concat(parts...)
	boundary(func() { slices.SortFunc(all, order) })
	top := make([]T, k)
	for i := range top {
		top[i] = all[i].v
	}
	return top
}
