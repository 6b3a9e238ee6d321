package par

import (
	"cmp"
	"slices"

	"github.com/filch-go/filch"
)

const (
	valueBits = 12
	// mostValues is the maximum number of distinct values that are counted: more would fill the table, and radix sort
	// takes no longer.
	mostValues = 1 << (valueBits - 1)
)

// values counts how often each value occurs, in a hash table with open addressing. Values are distinguished by their
// bits.
type values[U bitsOf] struct {
	value    [1 << valueBits]U
	times    [1 << valueBits]int // 0: the entry is free
	distinct int
}

// at returns the entry of v, or a free one for it.
func (t *values[U]) at(v U) int {
	h := uint64(v) * 0x9e3779b97f4a7c15 >> (64 - valueBits)
	for t.value[h] != v && t.times[h] > 0 {
		h = (h + 1) % (1 << valueBits)
	}
	return int(h)
}

// add counts x. It ends early and returns false if there are too many values.
func (t *values[U]) add(x []U) bool {
	for _, v := range x {
		h := t.at(v)
		if t.times[h] == 0 && !t.insert(h, v) {
			return false
		}
		t.times[h]++
	}
	return true
}

// addRuns is add for an x of mostly long runs: it counts a run without checking the table again. For a million
// elements, 98 in 100 of one value, it took 0.3 of the time.
func (t *values[U]) addRuns(x []U) bool {
	for len(x) > 0 {
		v, n := x[0], 1
		for n < len(x) && x[n] == v {
			n++
		}
		h := t.at(v)
		if t.times[h] == 0 && !t.insert(h, v) {
			return false
		}
		t.times[h] += n
		x = x[n:]
	}
	return true
}

func (t *values[U]) insert(h int, v U) bool {
	if t.distinct == mostValues {
		return false
	}
	t.value[h] = v
	t.distinct++
	return true
}

// merge adds the counts of other, or returns false if there are too many values.
func (t *values[U]) merge(other *values[U]) bool {
	for i, n := range other.times {
		if n == 0 {
			continue
		}
		v := other.value[i]
		h := t.at(v)
		if t.times[h] == 0 && !t.insert(h, v) {
			return false
		}
		t.times[h] += n
	}
	return true
}

// several is a value, and how often it occurs.
type several[U bitsOf] struct {
	value U
	times int
	end   int // the number of elements that are no greater
}

// fill sets x to the values of all blocks, in order and NaNs first, or returns false if there are too many values.
func (t *tally[U]) fill(s filch.Scope) bool {
	all := t.tables.made[0]
	for _, v := range t.tables.made[1:] {
		if !all.merge(v) {
			return false
		}
	}
	var list []several[U]
	for i, n := range all.times {
		if n > 0 {
			list = append(list, several[U]{value: all.value[i], times: n})
		}
	}
	slices.SortFunc(list, func(a, b several[U]) int { return t.k.compare(a.value, b.value) })
	end := 0
	for i := range list {
		end += list[i].times
		list[i].end = end
	}
	runLoop(s, len(t.x), fillFew[U], config{}, func(lo, hi int) { fillFew(t.x, list, lo, hi) })
	return true
}

// fillFew sets x[lo:hi], which is not empty.
func fillFew[U bitsOf](x []U, list []several[U], lo, hi int) {
	i, _ := slices.BinarySearchFunc(list, lo+1, func(v several[U], at int) int { return v.end - at })
	for ; lo < hi; i++ {
		v, end := list[i].value, min(hi, list[i].end)
		for at := lo; at < end; at++ {
			x[at] = v
		}
		lo = end
	}
}

// compare is cmp.Compare for numbers with these bits.
func (k key[U]) compare(a, b U) int {
	if k.float && (k.isNaN(a) || k.isNaN(b)) {
		return bool2int(k.isNaN(b)) - bool2int(k.isNaN(a))
	}
	v := []U{a, b}
	k.toBits(v)
	return cmp.Compare(v[0], v[1])
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}
