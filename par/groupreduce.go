package par

import (
	"slices"

	"github.com/filch-go/filch"
)

// GroupReduce reduces the elements of each key to one value, without making the groups of [GroupBy]: sums by city, or
// word counts. A key's value starts as zero, to which add adds its elements. The result has every key that occurs; it
// is not nil even if x is empty.
//
// x is cut into about 64 blocks, into single elements if it has fewer than 128, or with [WithGrain] into blocks of n
// elements. In each block, keys start with zero again; merge then combines the values of a key from the left. Elements
// keep their order, so add and merge need not be commutative, but merge(a, add(zero, v)) must equal add(a, v). The
// blocks depend only on the length of x and the grain, so the result is the same on any number of workers, even if this
// equality holds only nearly, as with floating-point sums.
//
// add and merge may change and return their arguments, except for memory that zero refers to. If A refers to memory,
// let zero be nil, and let add allocate it:
//
//	func(a *stats, v T) *stats {
//		if a == nil {
//			a = new(stats)
//		}
//		…
//	}
//
// key and add are called once for each element. Each NaN is a key of its own, as in a map. GroupReduce keeps the keys
// and values of each block, and a map for each worker and for the result, so it works best where keys recur within a
// block. With 64 keys of 100,000 int, one worker of an Intel Xeon ran at 0.6 of the speed of a loop with a map.
func GroupReduce[K comparable, T, A any](s filch.Scope, x []T, key func(v T) K, zero A, add func(a A, v T) A, merge func(a, b A) A, opts ...Option) map[K]A {
	check("GroupReduce", s)
	checkFunc("GroupReduce", key == nil || add == nil || merge == nil)
	c := configOf("GroupReduce", opts, ofLoops)
	if len(x) == 0 {
		return map[K]A{}
	}
	size := max(1, len(x)/64)
	if c.grain > 0 {
		size = c.grain
	}
	size = c.roundUp(size)
	c.kind = toCount
	blocks := make([]reduced[K, A], (len(x)-1)/size+1)
	var keys []K // with values, shared by all blocks: fewer allocations if x is short
	var values []A
	if len(x) <= fewGrouped {
		keys, values = make([]K, len(x)), make([]A, len(x))
	}
	places := shelf[map[K]int]{fresh: func() map[K]int { return map[K]int{} }}
	runBlocksAs(s, len(x), size, add, c, func(b, lo, hi int) {
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
	var result map[K]A
	boundary(func() { // a key may have no hash
		all := mergeGroups(s, blocks, merge, c.most)
		result = make(map[K]A, len(all.keys))
		for i, k := range all.keys {
			result[k] = all.values[i]
		}
	})
	return result
}

// reduced is the result of some blocks.
type reduced[K comparable, A any] struct {
	keys   []K       // in the order of first occurrence
	values []A       // of each
	at     map[K]int // the index of a key; nil if there are few
}

const (
	fewKeys    = 8       // faster to scan than to look up in a map
	fewGrouped = 1 << 12 // elements for which room is allocated at once, as if all keys were distinct
)

// find returns the index of a key. It adds an unknown key; the caller then adds its value.
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

// mergeGroups combines blocks from the left. It merges the keys of a block in parallel if merge is expensive.
func mergeGroups[K comparable, A any](s filch.Scope, blocks []reduced[K, A], merge func(a, b A) A, most int) *reduced[K, A] {
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
		runLoop(s, len(pairs), merge, config{single: true, most: most}, mergePairs)
	}
	return all
}
