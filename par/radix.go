package par

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch"
)

// Sort sorts x, NaN first. Equal floating-point numbers and strings end up in any order. It takes as much memory as x,
// or 24 bytes for each string. Nearly sorted input takes a sixth of that of x if misplaced elements are spread evenly,
// and at most a third more than x. Input that is sorted, reversed or rotated, or has few distinct numbers, takes next
// to none.
//
// A few sorted or reversed runs are merged, and so is nearly sorted input. Few distinct numbers are counted. Other
// numbers are scattered by the highest eight bits that differ. Each part is then sorted by as many lower bits as
// distinguish most of its elements, eight at a time, and elements that are still equal by the remaining bits (radix
// sort, MSD then LSD). Strings are sorted by eight bytes at a time, from the first. Package slices sorts short inputs
// and parts.
func Sort[T cmp.Ordered](s filch.Scope, x []T) {
	check("Sort", s)
	switch {
	case len(x) <= fewScattered:
		slices.Sort(x)
	case len(x) <= fewSampled && isCalm(x):
		slices.Sort(x)
	case len(x) <= fewLooked:
		if !IsSorted(s, x) {
			sortFew(s, x)
		}
	case len(x) <= mostAtOnce[T]() && rises(x):
	case len(x) <= mostAtOnce[T]() && falls(x):
		exchange(x[:len(x)/2], x[len(x)-len(x)/2:])
	default:
		s.Do(func(w *filch.Worker) { sortMany(w, x) })
	}
}

// mostAtOnce is how many elements one worker checks for a single direction before another could join: numbers take a
// fifth of a nanosecond each, strings 3 or more.
func mostAtOnce[T cmp.Ordered]() int {
	if unsafe.Sizeof(*new(T)) > 8 {
		return 1 << 15
	}
	return 1 << 17
}

// isCalm reports, by a sample, whether package slices probably sorts x in few steps, because it has few distinct
// values, or long runs. For 1,500 to 3,000 elements with 4 values, the rest of Sort takes 5 times as long.
func isCalm[T cmp.Ordered](x []T) bool {
	const size = 32
	var sample [size]T
	turns := 0
	for i := range sample {
		p := x[i*(len(x)/size):]
		sample[i] = p[0]
		if (p[1] < p[0]) != (p[2] < p[1]) {
			turns++ // as do two of three in random order
		}
	}
	if turns <= size/8 && len(x) <= fewLooked {
		return true
	}
	slices.Sort(sample[:])
	distinct := len(slices.Compact(sample[:]))
	return distinct <= size/4 || distinct <= size*7/8 && len(x) <= fewLooked
}

// sortFew leaves inputs that package slices sorts fast to it.
func sortFew[T cmp.Ordered](s filch.Scope, x []T) {
	d, down := directionOf(x)
	if d == falling {
		slices.Reverse(x)
	} else if n := numbersOf(x); min(down, len(x)-down) <= len(x)/(2*mostOut) {
		slices.Sort(x)
	} else if n != nil {
		n.sortFew()
	} else {
		s.Do(func(w *filch.Worker) { sortStrings(w, as[T, string](x)) })
	}
}

func sortMany[T cmp.Ordered](w *filch.Worker, x []T) {
	n := numbersOf(x)
	if n == nil {
		texts := as[T, string](x)
		switch {
		case sortPattern(w, x, lookAt(w, x, nil)):
		case fewTexts(texts): // its partitions soon remove them
			SortFunc(w, texts, strings.Compare)
		case seems(texts, strings.Compare) == rising:
			mergeSort(w, texts, strings.Compare)
		default:
			sortStrings(w, texts)
		}
		return
	}
	if !sortPattern(w, x, lookAt(w, x, n.countWild)) {
		n.sort(w)
	}
}

// numbers are elements that can be sorted by their bits.
type numbers interface {
	sortFew()
	countWild(b, lo, hi int)
	sort(w *filch.Worker)
}

// numbersOf returns x as numbers, or nil for strings.
func numbersOf[T cmp.Ordered](x []T) numbers {
	signed := false
	switch reflect.TypeFor[T]().Kind() {
	case reflect.String:
		return nil
	case reflect.Float64:
		return &tally[uint64]{x: as[T, uint64](x), k: floatKey(64, math.Float64bits(math.Inf(1)))}
	case reflect.Float32:
		return &tally[uint32]{x: as[T, uint32](x), k: floatKey(32, math.Float32bits(float32(math.Inf(1))))}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		signed = true
	}
	switch unsafe.Sizeof(x[0]) {
	case 8:
		return &tally[uint64]{x: as[T, uint64](x), k: intKey[uint64](64, signed)}
	case 4:
		return &tally[uint32]{x: as[T, uint32](x), k: intKey[uint32](32, signed)}
	case 2:
		return &tally[uint16]{x: as[T, uint16](x), k: intKey[uint16](16, signed)}
	}
	return &tally[uint8]{x: as[T, uint8](x), k: intKey[uint8](8, signed)}
}

// as returns x as a slice of elements with the same memory.
func as[T, U any](x []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

type bitsOf interface {
	uint8 | uint16 | uint32 | uint64
}

// key says how to change a number so that its bits are in order, as those of unsigned integers are: flip is
// exclusive-or'd, and if float is set, all bits of negative numbers are flipped, and NaNs come first.
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

// toBits replaces numbers by unsigned integers in the same order. fromBits undoes it.
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

// inBits calls f for all of x as bits, a batch at a time; x is unchanged.
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
	// digits is the number of values of a digit. With eight bits, address translation keeps up with the positions that
	// a worker writes to at the same time.
	digits = 256
	// fewScattered is the number of elements left to package slices, and fewDigits the number left to it among those
	// that share the highest digit.
	fewScattered = 1 << 10
	fewDigits    = 1 << 6
	fewLooked    = 1 << 12 // up to which only a single direction is looked for
	fewSampled   = 1 << 13 // up to which a sample tells whether package slices is as fast
)

func (k key[U]) isNaN(v U) bool { return v&^k.flip > k.infinity }

// nansFirst moves NaNs to the front, and returns how many there are.
func (k key[U]) nansFirst(x []U) (n int) {
	for i, v := range x {
		if k.isNaN(v) {
			x[i], x[n] = x[n], v
			n++
		}
	}
	return n
}

// tally is what is known of the numbers of x before they are moved, by blocks as in look.
type tally[U bitsOf] struct {
	x      []U
	k      key[U]
	shift  uint // of the counted digit: the highest that differs, as far as known
	few    bool // values are counted instead, since there seem to be few
	runs   bool // and most elements have one of them
	size   int
	blocks []counted[U]
	looked sync.Once   // at a sample of x
	many   atomic.Bool // there are not few: any block's worker sets it, all read it
	// tables hold the counts of values. One table per block took as much memory as 100,000 numbers, and as long as
	// counting them.
	tables shelf[*values[U]]
}

// counted is what is known of a block. The worker that counts writes it.
type counted[U bitsOf] struct {
	done   bool
	differ U           // the bits in which some element differs from the first of x
	digits [digits]int // the count of each digit
}

func (t *tally[U]) sortFew() {
	x := t.x
	if t.k.float {
		x = x[t.k.nansFirst(x):]
	}
	buf := slices.Clone(x)
	t.k.toBits(buf)
	sortDigits(x, buf, t.bits())
	t.k.fromBits(x)
}

// bits returns the number of bits in an element.
func (t *tally[U]) bits() uint { return uint(8 * unsafe.Sizeof(t.k.flip)) }

// sample inspects some random elements, to decide what to count.
func (t *tally[U]) sample() {
	t.start()
	first, differ, n := t.first(), U(0), min(len(t.x)/16, 1<<10)
	r := rand.New(rand.NewPCG(uint64(len(t.x)), 0))
	var v values[U]
	one := make([]U, 1)
	for range n {
		one[0] = t.x[r.IntN(len(t.x))]
		v.add(one)
		t.k.toBits(one)
		differ |= one[0] ^ first
	}
	t.few = v.distinct <= min(n*3/4, len(t.x)/32)
	t.runs = slices.Max(v.times[:]) >= n*7/8
	t.shift = highest(differ)
}

func (t *tally[U]) start() {
	t.size = lookSize(len(t.x))
	t.tables.fresh = func() *values[U] { return new(values[U]) }
	t.blocks = make([]counted[U], (len(t.x)-1)/t.size+1)
	t.shift = t.bits() - 8
}

// first returns the bits of the first element.
func (t *tally[U]) first() U {
	v := []U{t.x[0]}
	t.k.toBits(v)
	return v[0]
}

// highest returns the shift of the highest digit that differs.
func highest[U bitsOf](differ U) uint { return uint(max(0, bits.Len64(uint64(differ))-8)) }

// countWild is count for a disordered block. The first one triggers the sample: for a million elements in order,
// sampling would take a tenth of the time.
func (t *tally[U]) countWild(b, lo, hi int) {
	t.looked.Do(t.sample)
	t.count(b, lo, hi)
}

func (t *tally[U]) count(b, lo, hi int) {
	c := &t.blocks[b]
	if t.few {
		if t.many.Load() {
			return
		}
		v := t.tables.take()
		if t.runs {
			c.done = v.addRuns(t.x[lo:hi])
		} else {
			c.done = v.add(t.x[lo:hi])
		}
		if !c.done {
			t.many.Store(true)
		}
		t.tables.put(v)
		return
	}
	first, d, shift := t.first(), U(0), t.shift&63
	n := &c.digits
	clear(n[:])
	t.k.inBits(t.x[lo:hi], func(some []U) {
		for _, v := range some {
			d |= v ^ first
			n[uint8(uint64(v)>>shift)]++
		}
	})
	c.differ, c.done = d, true
}

// countAll counts the blocks that have not been counted.
func (t *tally[U]) countAll(s filch.Scope) {
	runBlocks(s, len(t.x), t.size, sortBits[U], asIs, func(b, lo, hi int) {
		if !t.blocks[b].done {
			t.count(b, lo, hi)
		}
	})
}

func (t *tally[U]) clear() {
	for b := range t.blocks {
		t.blocks[b].done = false
	}
}

func (t *tally[U]) sort(w *filch.Worker) {
	t.looked.Do(t.sample)
	if t.few {
		if t.countAll(w); !t.many.Load() && t.fill(w) {
			return
		}
		t.few = false
		t.clear()
	}
	if t.k.float && Any(w, t.x, t.k.isNaN) {
		if t.x = t.x[t.k.nansFirst(t.x):]; len(t.x) == 0 {
			return
		}
		t.start()
	}
	sortBits(w, t, make([]U, len(t.x)))
}

// sortBits sorts with the help of buf: by the highest eight bits that differ into buf, and then each group, which fits
// into a cache if there are many, back into x. To pass over memory rarely, it makes bits on the way, and counts the
// digit that differs in a sample, in case that is the highest that does.
func sortBits[U bitsOf](s filch.Scope, t *tally[U], buf []U) {
	x, k := t.x, t.k
	t.countAll(s)
	all := U(0)
	for b := range t.blocks {
		all |= t.blocks[b].differ
	}
	if shift := highest(all); shift != t.shift {
		t.shift = shift
		t.clear()
		t.countAll(s)
	}
	shift := t.shift
	var ends [digits]int
	at := 0
	for d := range digits {
		for b := range t.blocks {
			n := &t.blocks[b].digits[d]
			at, *n = at+*n, at
		}
		ends[d] = at
	}
	runBlocks(s, len(x), t.size, sortBits[U], inRanges, func(b, lo, hi int) {
		n := &t.blocks[b].digits
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
				t := &tally[U]{x: from}
				t.start()
				sortBits(s, t, to)
				copy(to, from)
			} else {
				sortDigits(to, from, shift)
			}
			k.fromBits(to)
		}
	})
}

// sortDigits sorts from into to by the low lowest bits: first by as many of the highest of these as tell most elements
// apart, digit by digit (LSD radix sort), and then elements that are equal in them by the others.
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
