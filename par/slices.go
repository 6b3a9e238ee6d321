package par

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/filch-go/filch"
)

// Map returns f of each element of x, in order. With a tiny f, it runs at about 0.44 of the speed of a plain loop on
// each worker, not counting the allocation, and a [ForRange] that sets dst[lo:hi] at 1.0.
func Map[T, R any](s filch.Scope, x []T, f func(v T) R, opts ...Option) []R {
	check("Map", s)
	checkFunc("Map", f == nil)
	dst := make([]R, len(x))
	mapInto(s, dst, x, f, configOf("Map", opts, ofLoops))
	return dst
}

// MapInto sets dst[i] to f of x[i]. dst must be as long as x, and may be x but not overlap it otherwise. A tiny f costs
// as much as in [Map].
func MapInto[T, R any](s filch.Scope, dst []R, x []T, f func(v T) R, opts ...Option) {
	check("MapInto", s)
	checkFunc("MapInto", f == nil)
	checkLengths("MapInto", len(dst), len(x))
	mapInto(s, dst, x, f, configOf("MapInto", opts, ofLoops))
}

func mapInto[T, R any](s filch.Scope, dst []R, x []T, f func(v T) R, c config) {
	if len(x) <= 1 {
		if len(x) == 1 {
			boundary(func() { dst[0] = f(x[0]) })
		}
		return
	}
	b := mapBody[T, R]{dst, x, f}
	c.single = true
	if from := runSerial(s, len(x), f, &c, b.run); from < len(x) { // as in For
		runAdaptive(s, from, len(x), f, c, b.run)
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

// MapErr returns f of each element of x, and the error of the first that fails; see [ForErr]. With an error, the slice
// has the results of the calls that succeeded. On a closed pool the error is [filch.ErrClosed], unless x is empty.
func MapErr[T, R any](s filch.Scope, x []T, f func(v T) (R, error), opts ...Option) ([]R, error) {
	check("MapErr", s)
	checkFunc("MapErr", f == nil)
	dst := make([]R, len(x))
	c := configOf("MapErr", opts, ofLoops|errorsToo|untilDone)
	if len(x) == 0 {
		return dst, nil
	}
	from, first := someErr(s, len(x), f, c, func(i int) error { return mapOne(dst, x, f, i) })
	if from == len(x) {
		return dst, first.err(c.all)
	}
	return dst, restErr(s, from, len(x), f, c, func(i int) error { return mapOne(dst, x, f, i) }, first)
}

func mapOne[T, R any](dst []R, x []T, f func(v T) (R, error), i int) error {
	v, err := f(x[i])
	if err == nil {
		dst[i] = v
	}
	return err
}

// Fill sets all elements of x to v. One goroutine fills up to 64 KiB. From 64 MiB on, writes of numbers bypass the
// caches, as in [Copy].
func Fill[T any](s filch.Scope, x []T, v T) {
	check("Fill", s)
	size := int(max(unsafe.Sizeof(v), 1))
	if len(x) <= fewFilled/size {
		fill(x, v)
		return
	}
	run := fill[T]
	if len(x) > farBytes/size {
		run = fillerOf[T]()
	}
	runLoop(s, len(x), Fill[T], config{}, func(lo, hi int) { run(x[lo:hi], v) })
}

// fewFilled is the number of bytes that are filled before another worker could join.
const fewFilled = 64 << 10

func fill[T any](x []T, v T) {
	n := min(len(x), 16)
	for i := range x[:n] {
		x[i] = v
	}
	for n < len(x) {
		n += copy(x[n:], x[:min(n, 1<<12)])
	}
}

// Copy copies min(len(dst), len(x)) elements of x to dst, and returns that number. The slices must not overlap. One
// goroutine copies up to 256 KiB.
func Copy[T any](s filch.Scope, dst, x []T) int {
	check("Copy", s)
	n := min(len(dst), len(x))
	size := int(max(unsafe.Sizeof(*new(T)), 1))
	if n <= fewCopied/size {
		return copy(dst, x)
	}
	var c config
	if n > farBytes/size {
		c.grain = 4 << 20 / size // long enough for copy to bypass the caches
	}
	runLoop(s, n, Copy[T], c, func(lo, hi int) { copy(dst[lo:hi], x[lo:hi]) })
	return n
}

// fewCopied is the number of bytes that are copied before another worker could join: at 48 GB/s, in 5 µs.
const fewCopied = 256 << 10

// Filter returns the elements of x for which f holds, in order. It calls f once for each. While it runs, it takes two
// bits for each element, and a byte more for each of fewer than 4,096 elements. To select numbers between two others,
// [FilterBetween] calls no function.
func Filter[T any](s filch.Scope, x []T, f func(v T) bool) []T {
	check("Filter", s)
	checkFunc("Filter", f == nil)
	var kept []T
	from := runSerial(s, len(x), f, &config{}, func(lo, hi int) {
		for _, v := range x[lo:hi] {
			if f(v) {
				kept = append(kept, v)
			}
		}
	})
	if x = x[from:]; len(x) == 0 {
		return kept
	}
	chosen := choose(s, x, f)
	done := len(kept)
	kept = slices.Grow(kept, chosen.n)[:done+chosen.n]
	gather(s, kept[done:], x, chosen)
	return kept
}

// Partition returns the elements of x for which f holds, and the others, both in order. It calls f once for each. It
// takes as much memory as [Filter].
func Partition[T any](s filch.Scope, x []T, f func(v T) bool) (yes, no []T) {
	check("Partition", s)
	checkFunc("Partition", f == nil)
	from := runSerial(s, len(x), f, &config{}, func(lo, hi int) {
		for _, v := range x[lo:hi] {
			if f(v) {
				yes = append(yes, v)
			} else {
				no = append(no, v)
			}
		}
	})
	if x = x[from:]; len(x) == 0 {
		return yes, no
	}
	chosen := choose(s, x, f)
	yes, no = slices.Grow(yes, chosen.n), slices.Grow(no, len(x)-chosen.n)
	gather(s, yes[len(yes):len(yes)+chosen.n], x, chosen)
	for i := range chosen.words {
		chosen.words[i] = ^chosen.words[i]
		chosen.before[i] = 64*i - chosen.before[i]
	}
	gather(s, no[len(no):len(no)+len(x)-chosen.n], x, chosen)
	return yes[:len(yes)+chosen.n], no[:len(no)+len(x)-chosen.n]
}

// choice has a bit for each element, set if it was chosen, and for each word of bits the number chosen before it.
type choice struct {
	words  []uint64
	before []int
	n      int
}

func newChoice(n int) choice {
	words := n/64 + 1
	return choice{words: make([]uint64, words), before: make([]int, words)}
}

// count counts the chosen elements.
func (c *choice) count() {
	for i, word := range c.words {
		c.before[i] = c.n
		c.n += bits.OnesCount64(word)
	}
}

func choose[T any](s filch.Scope, x []T, f func(v T) bool) choice {
	c := newChoice(len(x))
	if len(x) < 1<<12 { // they may be expensive, so one by one
		yes := make([]bool, len(x))
		mapInto(s, yes, x, f, config{})
		for i, y := range yes {
			if y {
				c.words[i/64] |= 1 << (i % 64)
			}
		}
	} else {
		runBlocks(s, len(x), 64, f, asIs, func(i, lo, hi int) {
			word := uint64(0)
			for k, v := range x[lo:hi] {
				if f(v) {
					word |= 1 << k
				}
			}
			c.words[i] = word
		})
	}
	c.count()
	return c
}

// gather copies the chosen elements to dst.
func gather[T any](s filch.Scope, dst, x []T, c choice) {
	runBlocks(s, len(x), 64, gather[T], asIs, func(i, lo, hi int) {
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

// fewDealt is the number of elements that one worker shuffles, as long as they fit into its cache.
const fewDealt = 1 << 17

// Shuffle puts x into a random order that depends only on the seed and the length of x. Every order is equally likely,
// as far as the generator (PCG) allows. It deals elements to piles at random, and shuffles the piles (Rao 1961,
// Sandelius 1962). It takes as much memory as x, and a byte for each element. One worker shuffles up to 131,072
// elements.
func Shuffle[T any](s filch.Scope, x []T, seed uint64) {
	check("Shuffle", s)
	const pile = fewDealt / 8
	n := len(x)
	if n <= fewDealt {
		boundary(func() { shuffle(x, seed, 0) })
		return
	}
	piles := min(256, 1<<(bits.Len(uint(n/pile))-1)) // a power of two, for random bits
	size := max(pile, n/64)
	blocks := (n-1)/size + 1
	to := make([]uint8, n)
	counts := make([][256]int, blocks)
	runBlocks(s, n, size, Shuffle[T], asIs, func(i, lo, hi int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)+1<<32))
		random := uint64(0)
		for k := lo; k < hi; k++ {
			if (k-lo)%8 == 0 {
				random = r.Uint64()
			}
			to[k] = uint8(random) & uint8(piles-1)
			random >>= 8
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
	runBlocks(s, n, size, Shuffle[T], asIs, func(i, lo, hi int) {
		for k := lo; k < hi; k++ {
			c := &counts[i][to[k]]
			dealt[*c] = x[k]
			*c++
		}
	})
	runLoop(s, piles, shuffle[T], config{grain: 1}, func(lo, hi int) {
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
