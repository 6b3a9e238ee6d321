package par

import (
	"cmp"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/filch-go/filch"
)

// Sort sorts x, NaN first. Equal floating-point numbers and strings come in any order. While it
// runs, it takes as much memory as x, or 24 bytes for each string.
//
// Numbers are scattered by the highest eight bits that differ. Each part is then sorted by as
// many lower bits as distinguish most of them, eight at a time, and elements that are still equal
// by the rest (radix sort, MSD and then LSD). Strings are sorted by eight bytes at a time, from
// the first. A few elements are left to package slices.
func Sort[T cmp.Ordered](s filch.Scope, x []T) {
	check("Sort", s)
	if len(x) <= fewScattered {
		slices.Sort(x)
		return
	}
	if IsSorted(s, x) {
		return
	}
	if x[0] > x[len(x)-1] && holds(s, len(x)-1, descend[T], config{}, func(lo, hi int) bool { return descend(x[lo : hi+1]) }) {
		reverse(s, x)
		return
	}
	switch kind := reflect.TypeFor[T]().Kind(); kind {
	case reflect.String:
		sortStrings(s, as[T, string](x))
	case reflect.Float64:
		radixSort(s, as[T, uint64](x), floatKey(64, math.Float64bits(math.Inf(1))))
	case reflect.Float32:
		radixSort(s, as[T, uint32](x), floatKey(32, math.Float32bits(float32(math.Inf(1)))))
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		sortBytes(s, x, true)
	default:
		sortBytes(s, x, false)
	}
}

// descend reports whether no element of x is greater than the one before, and none is NaN.
func descend[T cmp.Ordered](x []T) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i] <= x[i-1]) {
			return false
		}
	}
	return true
}

// as returns x as a slice of what has the same memory.
func as[T, U any](x []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// sortBytes sorts integers.
func sortBytes[T any](s filch.Scope, x []T, signed bool) {
	switch size := unsafe.Sizeof(x[0]); size {
	case 8:
		radixSort(s, as[T, uint64](x), intKey[uint64](64, signed))
	case 4:
		radixSort(s, as[T, uint32](x), intKey[uint32](32, signed))
	case 2:
		radixSort(s, as[T, uint16](x), intKey[uint16](16, signed))
	default:
		radixSort(s, as[T, uint8](x), intKey[uint8](8, signed))
	}
}

type bitsOf interface {
	uint8 | uint16 | uint32 | uint64
}

// key says what to change in a number so that its bits are in order, as those of unsigned
// integers are: flip is exclusive-or'd, and if float is set, all bits of negative numbers
// are flipped, and NaNs come first.
type key[U bitsOf] struct {
	flip     U
	float    bool
	infinity U
}

func intKey[U bitsOf](size uint, signed bool) (k key[U]) {
	if signed {
		k.flip = 1 << (size - 1)
	}
	return k
}

func floatKey[U bitsOf](size uint, infinity U) key[U] {
	return key[U]{float: true, flip: 1 << (size - 1), infinity: infinity}
}

// toBits makes unsigned integers of numbers, in the same order, and fromBits the numbers
// again.
func (k key[U]) toBits(x []U) {
	switch {
	case k.float:
		for i, v := range x {
			if v&k.flip != 0 {
				x[i] = ^v
			} else {
				x[i] = v | k.flip
			}
		}
	case k.flip != 0:
		for i := range x {
			x[i] ^= k.flip
		}
	}
}

func (k key[U]) fromBits(x []U) {
	if !k.float {
		k.toBits(x)
		return
	}
	for i, v := range x {
		if v&k.flip != 0 {
			x[i] = v &^ k.flip
		} else {
			x[i] = ^v
		}
	}
}

// inBits calls f for all of x, as bits, some at a time; x stays as it is.
func (k key[U]) inBits(x []U, f func(x []U)) {
	var some [512]U
	for len(x) > 0 {
		n := copy(some[:], x)
		k.toBits(some[:n])
		f(some[:n])
		x = x[n:]
	}
}

const (
	// digits is how many values a digit has: eight bits, so that a worker writes to as many
	// places at a time as the translation of addresses keeps up with.
	digits = 256
	// fewScattered is how many elements are left to package slices, and fewDigits those
	// that share the highest digit.
	fewScattered = 1 << 10
	fewDigits    = 1 << 6
)

func radixSort[U bitsOf](s filch.Scope, x []U, k key[U]) {
	if len(x) <= 1<<12 {
		if k.float {
			x = x[k.nansFirst(x):]
		}
		buf := slices.Clone(x)
		k.toBits(buf)
		sortDigits(x, buf, uint(8*unsafe.Sizeof(k.flip)))
		k.fromBits(x)
		return
	}
	s.Do(func(w *filch.Worker) {
		if k.float && Any(w, x, k.isNaN) {
			x = x[k.nansFirst(x):]
		}
		sortBits(w, x, make([]U, len(x)), k)
	})
}

func (k key[U]) isNaN(v U) bool { return v&^k.flip > k.infinity }

// nansFirst moves what is not a number to the front, and returns how many there are.
func (k key[U]) nansFirst(x []U) (n int) {
	for i, v := range x {
		if k.isNaN(v) {
			x[i], x[n] = x[n], v
			n++
		}
	}
	return n
}

// sortBits sorts x with the help of buf: by the highest eight bits that differ into buf, and what
// is equal in these, which fits into a cache if they are many, back into x. It goes through
// memory as rarely as it can: bits are made on the way, and the highest are counted at once, in case
// they are what differs.
func sortBits[U bitsOf](s filch.Scope, x, buf []U, k key[U]) {
	size := max(1<<13, (len(x)+63)/64)
	blocks := (len(x)-1)/size + 1
	differ, next := make([]U, blocks), make([][digits]int, blocks)
	shift := uint(8*unsafe.Sizeof(k.flip)) - 8
	count := func(b, lo, hi int) {
		n, d, first := &next[b], U(0), []U{x[0]}
		k.toBits(first)
		k.inBits(x[lo:hi], func(some []U) {
			for _, v := range some {
				d |= v ^ first[0]
				n[uint8(uint64(v)>>(shift&63))]++
			}
		})
		differ[b] = d
	}
	runBlocks(s, len(x), size, sortBits[U], asIs, count)
	all := U(0)
	for _, d := range differ {
		all |= d
	}
	if highest := uint(max(0, bits.Len64(uint64(all))-8)); highest != shift {
		shift = highest
		clear(next)
		runBlocks(s, len(x), size, sortBits[U], asIs, count)
	}
	var ends [digits]int
	at := 0
	for d := range digits {
		for b := range next {
			at, next[b][d] = at+next[b][d], at
		}
		ends[d] = at
	}
	runBlocks(s, len(x), size, sortBits[U], inRanges, func(b, lo, hi int) {
		n := &next[b]
		k.inBits(x[lo:hi], func(some []U) {
			for _, v := range some {
				d := uint8(uint64(v) >> (shift & 63))
				i := n[d]
				n[d] = i + 1
				buf[i] = v
			}
		})
	})
	runLoopIn(s, digits, sortDigits[U], config{grain: 1}, func(s filch.Scope, lo, hi int) {
		for d := lo; d < hi; d++ {
			first := 0
			if d > 0 {
				first = ends[d-1]
			}
			from, to := buf[first:ends[d]], x[first:ends[d]]
			if len(from) > max(len(x)/8, 1<<16) && shift > 0 { // most have these bits
				sortBits(s, from, to, key[U]{})
				copy(to, from)
			} else {
				sortDigits(to, from, shift)
			}
			k.fromBits(to)
		}
	})
}

// sortDigits moves from to to, sorted by so many of the lowest bits: by as many of the highest of
// these as tell most elements apart, one digit after the other (LSD radix sort), and then
// those that are equal in them by the others.
func sortDigits[U bitsOf](to, from []U, low uint) {
	if len(from) < fewDigits || low == 0 {
		copy(to, from)
		if low > 0 {
			slices.Sort(to)
		}
		return
	}
	passes, rest := (low+7)/8, uint(0)
	if enough := (uint(bits.Len(uint(len(from)))) + 13) / 8; enough+1 < passes {
		passes, rest = enough, low-8*enough
	}
	var counts [8][digits]uint32
	for _, v := range from {
		for p := range passes {
			counts[p%8][uint8(uint64(v)>>((rest+8*p)&63))]++
		}
	}
	src, dst := from, to
	for p := range passes {
		n, shift := &counts[p%8], rest+8*p
		at := uint32(0)
		same := false
		for d, c := range n {
			same = same || int(c) == len(from)
			n[d] = at
			at += c
		}
		if same {
			continue
		}
		for _, v := range src {
			d := uint8(uint64(v) >> (shift & 63))
			i := n[d]
			n[d] = i + 1
			dst[i] = v
		}
		src, dst = dst, src
	}
	if unsafe.SliceData(src) != unsafe.SliceData(to) {
		copy(to, src)
	}
	for lo := 0; rest > 0 && lo < len(to); {
		hi, v := lo+1, to[lo]>>rest
		for hi < len(to) && to[hi]>>rest == v {
			hi++
		}
		if hi > lo+1 {
			copy(from[lo:hi], to[lo:hi])
			sortDigits(to[lo:hi], from[lo:hi], rest)
		}
		lo = hi
	}
}

// text is a string with eight of its bytes as a number, in order.
type text struct {
	key uint64
	s   string
}

// sortStrings sorts by eight bytes, and what they do not decide by the next.
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

// commonPrefix returns how many bytes at the start all of n strings have in common, which
// are from at least.
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

// eight returns the bytes of v from skip on as a number, with zeros after the end.
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

// sortTexts sorts texts that are equal up to skip, and have the key of what follows.
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
	// Those of one key, which are found before any is given another.
	const size = 1 << 12
	parts := make([][][2]int, (len(x)-1)/size+1)
	runBlocks(s, len(x), size, sortTexts, asIs, func(i, lo, hi int) {
		for ; lo < hi && lo > 0 && x[lo].key == x[lo-1].key; lo++ { // they begin before
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

// ties sorts texts that are equal up to skip, or end before.
func ties(s filch.Scope, x []text, skip, level int) {
	const few, deep = 256, 16 // if there are so many levels, most decide little
	if len(x) <= few || level == deep {
		slices.SortFunc(x, func(a, b text) int { return strings.Compare(a.s, b.s) })
		return
	}
	// Those that have ended come first; among them are those with zeros that have not.
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
