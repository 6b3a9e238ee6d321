package par

import (
	"slices"

	"github.com/filch-go/filch"
)

// GroupReduce reduces the elements of each key, without the groups that [GroupBy] makes: sums by city, or
// counts of words. For each key it begins with zero, and calls a = add(a, v) for the elements v that have the
// key. The result has each key that occurs, so it is empty and not nil if x is empty.
//
// x is cut into blocks. Each has a value for each key that it has, which begins with zero; in the end merge
// combines those of neighbouring blocks, the former as a. So add must count from zero: merge(a, add(zero, v))
// must come to add(a, v). Neither need be commutative, as elements and blocks are in their order in x. The
// blocks depend on the length of x alone, as in [MapReduce]. So the result is the same on any number of workers,
// even if merge is only nearly associative, like the addition of floating-point numbers.
//
// zero is used many times, so add must not change what it refers to. If A refers to memory, let zero be nil:
//
//	func(a *stats, v T) *stats {
//		if a == nil {
//			a = new(stats)
//		}
//		…
//	}
//
// Apart from that, add and merge may change their arguments and return them. key and add are called once for
// each element. Blocks are 64, or a few more; if x has less than 128 elements, each is one. With [WithGrain] they have n
// elements. While it runs, GroupReduce takes a map for each block and for the result, with some 100 bytes
// for each key that a block has. If each key occurs only once or twice, GroupBy takes less.
func GroupReduce[K comparable, T, A any](s filch.Scope, x []T, key func(v T) K, zero A, add func(a A, v T) A, merge func(a, b A) A, opts ...Option) map[K]A {
	check("GroupReduce", s)
	checkFunc("GroupReduce", key == nil || add == nil || merge == nil)
	c := configOf("GroupReduce", opts, grain)
	if len(x) == 0 {
		return map[K]A{}
	}
	size := max(1, len(x)/64)
	if c.grain > 0 {
		size = c.grain
	}
	blocks := make([]reduced[K, A], (len(x)-1)/size+1)
	var keys []K // of all blocks, and their values, where there is room for all sooner than for each
	var values []A
	if len(x) <= 1<<12 {
		keys, values = make([]K, len(x)), make([]A, len(x))
	}
	places := shelf[map[K]int]{fresh: func() map[K]int { return map[K]int{} }}
	runBlocks(s, len(x), size, add, toCount, func(b, lo, hi int) {
		r := &blocks[b]
		if keys != nil {
			r.keys, r.values = keys[lo:lo:hi], values[lo:lo:hi]
		}
		if hi-lo > fewKeys {
			r.at = places.take()
		}
		for _, v := range x[lo:hi] {
			i, known := r.find(key(v))
			if !known {
				r.values = append(r.values, zero)
			}
			r.values[i] = add(r.values[i], v)
		}
		if r.at != nil {
			clear(r.at)
			places.put(r.at)
			r.at = nil
		}
	})
	all := mergeGroups(s, blocks, merge)
	result := make(map[K]A, len(all.keys))
	for i, k := range all.keys {
		result[k] = all.values[i]
	}
	return result
}

// reduced is what some blocks come to.
type reduced[K comparable, A any] struct {
	keys   []K       // as they came
	values []A       // of each
	at     map[K]int // where a key is; nil if they are few
}

// fewKeys is how many keys are looked through sooner than found in a map.
const fewKeys = 8

// find returns where a key is. If it is not known it is added, and the caller adds its value.
func (r *reduced[K, A]) find(k K) (i int, known bool) {
	if r.at != nil {
		if i, known = r.at[k]; known {
			return i, true
		}
		r.at[k] = len(r.keys)
	} else if i = slices.Index(r.keys, k); i >= 0 {
		return i, true
	}
	r.keys = append(r.keys, k)
	return len(r.keys) - 1, false
}

// mergeGroups combines blocks from the left. The keys of one block are merged at the same time, if merge
// takes long.
func mergeGroups[K comparable, A any](s filch.Scope, blocks []reduced[K, A], merge func(a, b A) A) *reduced[K, A] {
	all := &blocks[0]
	all.at = make(map[K]int, len(all.keys))
	for i, k := range all.keys {
		all.at[k] = i
	}
	var pairs [][2]int
	var b reduced[K, A]
	mergePairs := func(lo, hi int) {
		for _, p := range pairs[lo:hi] {
			all.values[p[0]] = merge(all.values[p[0]], b.values[p[1]])
		}
	}
	for _, b = range blocks[1:] {
		pairs = pairs[:0]
		for j, k := range b.keys {
			if i, known := all.find(k); known {
				pairs = append(pairs, [2]int{i, j})
			} else {
				all.values = append(all.values, b.values[j])
			}
		}
		runLoop(s, len(pairs), merge, config{single: true}, mergePairs)
	}
	return all
}
