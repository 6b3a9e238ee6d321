package par

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/filch-go/filch"
)

// text is a string with eight of its bytes as a number of the same order.
type text struct {
	key uint64
	s   string
}

// fewTexts reports whether so many strings recur in a sample that x probably has few values.
func fewTexts(x []string) bool {
	const sample = 1 << 8
	r := rand.New(rand.NewPCG(uint64(len(x)), 0))
	seen := make(map[string]struct{}, sample)
	for range sample {
		seen[x[r.IntN(len(x))]] = struct{}{}
	}
	return len(seen) <= sample*15/16
}

// sortStrings sorts by eight bytes at a time.
func sortStrings(s filch.Scope, x []string) {
	s.Do(func(w *filch.Worker) {
		all := make([]text, len(x))
		skip := commonPrefix(0, len(x), func(i int) string { return x[i] })
		ForRange(w, len(x), func(lo, hi int) {
			for i, v := range x[lo:hi] {
				all[lo+i] = text{eight(v, skip), v}
			}
		})
		sortTexts(w, all, skip, 0)
		ForRange(w, len(x), func(lo, hi int) {
			for i := range all[lo:hi] {
				x[lo+i] = all[lo+i].s
			}
		})
	})
}

// commonPrefix returns the length of the common prefix of n strings, which is known to be at least from.
func commonPrefix(from, n int, at func(i int) string) int {
	p := at(0)[from:]
	for i := 1; i < n && p != ""; i++ {
		v := at(i)[from:]
		k := 0
		for k < min(len(p), len(v)) && p[k] == v[k] {
			k++
		}
		p = p[:k]
	}
	return from + len(p)
}

// eight returns eight bytes of v from skip on as a number, padded with zeros.
func eight(v string, skip int) (key uint64) {
	v = v[min(skip, len(v)):]
	if len(v) >= 8 {
		return uint64(v[7]) | uint64(v[6])<<8 | uint64(v[5])<<16 | uint64(v[4])<<24 |
			uint64(v[3])<<32 | uint64(v[2])<<40 | uint64(v[1])<<48 | uint64(v[0])<<56
	}
	for i := range len(v) {
		key |= uint64(v[i]) << (56 - 8*i)
	}
	return key
}

// sortTexts sorts texts that are equal up to skip, and whose key is the eight bytes that follow.
func sortTexts(s filch.Scope, x []text, skip, level int) {
	const few = 64
	if len(x) <= few {
		slices.SortFunc(x, func(a, b text) int {
			if a.key != b.key {
				return cmp.Compare(a.key, b.key)
			}
			return strings.Compare(a.s, b.s)
		})
		return
	}
	SortFunc(s, x, func(a, b text) int {
		if a.key < b.key {
			return -1
		}
		if a.key > b.key {
			return 1
		}
		return 0
	})
	// Texts of equal keys are found before any key changes.
	const size = 1 << 12
	parts := make([][][2]int, (len(x)-1)/size+1)
	runBlocks(s, len(x), size, sortTexts, asIs, func(i, lo, hi int) {
		for ; lo < hi && lo > 0 && x[lo].key == x[lo-1].key; lo++ { // their group begins in an earlier block
		}
		for lo < hi {
			end := lo + 1
			for end < len(x) && x[end].key == x[lo].key {
				end++
			}
			if end-lo > 1 {
				parts[i] = append(parts[i], [2]int{lo, end})
			}
			lo = end
		}
	})
	groups := slices.Concat(parts...)
	runLoopIn(s, len(groups), ties, config{single: true}, func(s filch.Scope, lo, hi int) {
		for _, g := range groups[lo:hi] {
			ties(s, x[g[0]:g[1]], skip+8, level)
		}
	})
}

// ties sorts texts that are equal up to skip, or end before it.
func ties(s filch.Scope, x []text, skip, level int) {
	const few, deep = 256, 16 // at that depth, most levels decide little
	if len(x) <= few || level == deep {
		slices.SortFunc(x, func(a, b text) int { return strings.Compare(a.s, b.s) })
		return
	}
	// Texts that have ended come first; their keys equal those of texts that continue with zeros.
	ended := 0
	for i, t := range x {
		if len(t.s) <= skip {
			x[i], x[ended] = x[ended], t
			ended++
		}
	}
	slices.SortFunc(x[:ended], func(a, b text) int { return len(a.s) - len(b.s) })
	rest := x[ended:]
	if len(rest) == 0 {
		return
	}
	skip = commonPrefix(skip, len(rest), func(i int) string { return rest[i].s })
	for i := range rest {
		rest[i].key = eight(rest[i].s, skip)
	}
	sortTexts(s, rest, skip, level+1)
}
