package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/filch-go/filch/internal/thorough"
)

// same reports whether two numbers have the same bits, or are both NaN.
func same[T Number](a, b T) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	if isFloat[T]() {
		return math.Float64bits(float64(a)) == math.Float64bits(float64(b))
	}
	return a == b
}

// special are numbers that are easily got wrong.
func special[T Number](r *rand.Rand) T {
	var bits uint64
	switch sizeOf[T]() {
	case 4:
		bits = []uint64{0, 1 << 31, 1, 1<<31 | 1, 0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7fffffff, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0x33800000}[r.IntN(13)]
	case 8:
		bits = []uint64{0, 1 << 63, 1, 1<<63 | 1, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, math.MaxUint64, math.MaxInt64,
			0x7fefffffffffffff, 0xffefffffffffffff, 0x3ff << 52, 0x3ca << 52}[r.IntN(13)]
	default:
		bits = []uint64{0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff}[r.IntN(8)]
	}
	return *(*T)(unsafe.Pointer(&bits)) // the tests' machines are little-endian
}

// content gives x one of some kinds of content.
func content[T Number](x []T, r *rand.Rand) {
	how := r.IntN(6)
	for i := range x {
		switch {
		case how == 0, how == 1 && r.IntN(20) == 0:
			x[i] = special[T](r)
		case how == 2:
			x[i] = 0
			if isFloat[T]() && r.IntN(2) == 0 {
				x[i] = T(math.Copysign(0, -1))
			}
		case how == 3:
			x[i] = T(r.IntN(10))
		case isFloat[T]():
			x[i] = T(r.NormFloat64() * math.Pow(10, float64(r.IntN(30)-15)))
		default:
			x[i] = T(r.Uint64())
		}
	}
}

// check compares all functions with their twins and with plain loops, on x and limits.
func check[T Number](t *testing.T, x []T, lo, hi, before T) {
	t.Helper()
	fail := func(what string, got, want any) {
		t.Helper()
		t.Fatalf("%T: %s of %d elements: %v, and not %v: %v", x, what, len(x), got, want, x[:min(len(x), 100)])
	}
	n := len(x) / lanesOfSum[T]()
	if n > 0 {
		if got, want := sumGroups(x, n), sumGroupsInGo(x, n); !same(got, want) {
			fail("sumGroups", got, want)
		}
	}
	if !isFloat[T]() {
		var want T
		for _, v := range x {
			want += v
		}
		if got := Sum(x); got != want {
			fail("Sum", got, want)
		}
	}
	if len(x) > 0 {
		least, most := x[0], x[0]
		for _, v := range x {
			least, most = min(least, v), max(most, v)
		}
		if a, b := MinMax(x); !same(a, least) || !same(b, most) {
			fail("MinMax", [2]T{a, b}, [2]T{least, most})
		}
	}
	if got, want := CountBetween(x, lo, hi), countInGo(x, lo, hi); got != want {
		fail(fmt.Sprintf("CountBetween %v and %v", lo, hi), got, want)
	}
	want := slices.DeleteFunc(slices.Clone(x), func(v T) bool { return !(lo <= v && v <= hi) })
	dst := slices.Repeat([]T{77}, len(want)+1)
	FilterBetween(dst[:len(want)], x, lo, hi)
	if !slices.EqualFunc(dst[:len(want)], want, same) || dst[len(want)] != 77 {
		fail(fmt.Sprintf("FilterBetween %v and %v", lo, hi), dst, want)
	}
	checkScan(t, x, before)
}

func checkScan[T Number](t *testing.T, x []T, before T) {
	t.Helper()
	lanes := lanesOfScan[T]()
	n := len(x) / lanes
	if n > 0 {
		total := scanGroupsInGo(slices.Clone(x), x, n, before, false)
		if got := totalGroupsInGo(x, n); isFloat[T]() && !same(got, total) {
			t.Fatalf("%T: %d groups come to %v, and not %v", x, n, got, total)
		}
	}
	sum := Total(x)
	for _, exclusive := range []bool{false, true} {
		want := make([]T, len(x))
		all := inGo(want, x, before, exclusive)
		if !same(all, before+sum) {
			t.Fatalf("%T: Total of %d elements is %v, and not %v", x, len(x), before+sum, all)
		}
		run := PrefixSum[T]
		if exclusive {
			run = PrefixSumExclusive[T]
		}
		what := fmt.Sprintf("%T: %d elements, exclusive %v", x, len(x), exclusive)
		for _, far := range []bool{false, true} {
			dst := alignedRoom[T](len(x), far)
			dst[len(x)] = 77
			if got := run(dst[:len(x)], x, before, far); !same(got, all) {
				t.Fatalf("%s: they come to %v, and not %v", what, got, all)
			}
			if !slices.EqualFunc(dst[:len(x)], want, same) || dst[len(x)] != 77 {
				t.Fatalf("%s, far %v: %v, and not %v", what, far, dst, want)
			}
			inPlace := slices.Clone(x)
			if run(inPlace, inPlace, before, far); !slices.EqualFunc(inPlace, want, same) {
				t.Fatalf("%s, in place: %v, and not %v", what, inPlace, want)
			}
		}
	}
}

// inGo is what PrefixSum and PrefixSumExclusive are without assembly.
func inGo[T Number](dst, x []T, before T, exclusive bool) T {
	lanes := lanesOfScan[T]()
	n := len(x) / lanes
	sum := scanGroupsInGo(dst, x, n, before, exclusive)
	for i := n * lanes; i < len(x); i++ {
		if exclusive {
			dst[i] = before + sum
		}
		if sum += x[i]; !exclusive {
			dst[i] = before + sum
		}
	}
	return before + sum
}

// alignedRoom has room for n elements and one more, and begins at a multiple of 32 or not.
func alignedRoom[T Number](n int, aligned bool) []T {
	x := make([]T, n+40)
	for (uintptr(unsafe.Pointer(&x[0]))%32 == 0) != aligned {
		x = x[1:]
	}
	return x[:n+1]
}

func checkLengths[T Number](t *testing.T, r *rand.Rand) {
	for n := range 301 {
		for at := range 4 { // where in a vector it begins
			room := make([]T, at+n+4)
			content(room, r)
			x := room[at : at+n : at+n]
			pick := func() T {
				if n == 0 || r.IntN(3) == 0 {
					return special[T](r)
				}
				return x[r.IntN(n)]
			}
			a, b := pick(), pick()
			check(t, x, min(a, b), max(a, b), pick())
			check(t, x, a, b, 0)
			check(t, x, a, a, 0)
		}
	}
	for _, n := range []int{1023, 1024, 1025, 4096, 10_000} {
		x := make([]T, n)
		content(x, r)
		check(t, x, x[0], x[n-1], x[1])
	}
}

// Assembly, its twin, and plain loops come to the same bits.
func TestTwinsAreEqual(t *testing.T) {
	seeds := uint64(3)
	if thorough.Sampled() {
		seeds = 1
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		checkLengths[int8](t, r)
		checkLengths[int16](t, r)
		checkLengths[int32](t, r)
		checkLengths[int64](t, r)
		checkLengths[int](t, r)
		checkLengths[uint8](t, r)
		checkLengths[uint16](t, r)
		checkLengths[uint32](t, r)
		checkLengths[uint64](t, r)
		checkLengths[uintptr](t, r)
		checkLengths[float32](t, r)
		checkLengths[float64](t, r)
	}
}

func checkFill[T Bits](t *testing.T, v T) {
	t.Helper()
	for n := range 301 {
		for at := range 9 {
			x := make([]T, at+n+9)
			want := slices.Concat(x[:at], slices.Repeat([]T{v}, n), x[at+n:])
			if Fill(x[at:at+n], v); !slices.Equal(x, want) {
				t.Fatalf("%d elements from %d on: %v, and not %v", n, at, x, want)
			}
		}
	}
}

// As many elements are filled as there are, at any place.
func TestAsManyElementsAreFilledAsThereAre(t *testing.T) {
	checkFill[uint8](t, 0x9a)
	checkFill[uint16](t, 0x8001)
	checkFill[uint32](t, 0x80000001)
	checkFill[uint64](t, 0x8000000000000001)
}

// from makes numbers of the bytes of a fuzzer.
func from[T Number](b []byte, at int) []T {
	size := sizeOf[T]()
	x := make([]T, len(b)/size+at)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x[at:]))), len(b)/size*size), b)
	return x[at:]
}

func fuzz[T Number](t *testing.T, b []byte, at int) {
	x := from[T](b, at)
	var limits [3]T
	copy(limits[:], x[max(0, len(x)-3):])
	check(t, x, limits[0], limits[1], limits[2])
}

func FuzzTwins(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		b := make([]byte, 61*n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b, uint8(n))
	}
	f.Fuzz(func(t *testing.T, b []byte, offset uint8) {
		at := int(offset % 8)
		fuzz[int8](t, b, at)
		fuzz[int16](t, b, at)
		fuzz[int32](t, b, at)
		fuzz[int64](t, b, at)
		fuzz[uint8](t, b, at)
		fuzz[uint16](t, b, at)
		fuzz[uint32](t, b, at)
		fuzz[uint64](t, b, at)
		fuzz[float32](t, b, at)
		fuzz[float64](t, b, at)
	})
}

// The running sums of floating-point numbers are those of a plain loop, but for rounding.
func TestFloatScansAreSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 5000)
	for i := range x {
		x[i] = r.Float64()
	}
	dst := make([]float64, len(x))
	PrefixSum(dst, x, 1, false)
	sum := 1.0
	for i, v := range x {
		if sum += v; math.Abs(dst[i]-sum) > 1e-13*sum {
			t.Fatalf("element %d is %v, and not %v", i, dst[i], sum)
		}
		if i > 0 && dst[i] < dst[i-1] {
			t.Fatalf("elements that are not negative have a falling sum at %d", i)
		}
	}
	if got := Sum(x) + 1; math.Abs(got-sum) > 1e-13*sum {
		t.Errorf("Sum %v, and not %v", got, sum)
	}
}
