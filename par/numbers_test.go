package par

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/simd"
	"github.com/filch-go/filch/internal/thorough"
)

type (
	meters int32
	ratio  float64
)

// lengths are some at which what works on numbers goes another way.
var lengths = []int{0, 1, 2, 7, 8, 10, fewKept, fewKept + 1, 31, 32, 63, 64, 65, 1000, fastBlock, fastBlock + 1, scanBlock/8 - 1, scanBlock / 8, scanBlock/8 + 1, 3*scanBlock/8 + 5, 200_000}

// exactNumbers makes n numbers whose sums are exact.
func exactNumbers[T Number](n int) []T {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.IntN(100))
		if r.IntN(2) == 0 {
			x[i] = -x[i] // which wraps, if T has no sign
		}
	}
	return x
}

func testNumbers[T Number](t *testing.T, p *filch.Pool) {
	for _, n := range lengths {
		x := exactNumbers[T](n)
		what := fmt.Sprintf("%T, n=%d", x, n)
		var sum T
		inclusive, exclusive := make([]T, n), make([]T, n)
		between := []T{}
		lo, hi := T(3), T(50)
		for i, v := range x {
			exclusive[i] = 7 + sum
			sum += v
			inclusive[i] = sum
			if lo <= v && v <= hi {
				between = append(between, v)
			}
		}
		if got := Sum(p, x); got != sum {
			t.Errorf("%s: Sum %v, want %v", what, got, sum)
		}
		if n > 0 {
			least, most, ok := MinMax(p, x)
			if least != slices.Min(x) || most != slices.Max(x) || !ok {
				t.Errorf("%s: MinMax %v, %v, %v", what, least, most, ok)
			}
		}
		if got := CountBetween(p, x, lo, hi); got != len(between) {
			t.Errorf("%s: CountBetween %v, want %v", what, got, len(between))
		}
		equal(t, what+": FilterBetween", FilterBetween(p, x, lo, hi), between)
		dst := make([]T, n)
		PrefixSum(p, dst, x)
		equal(t, what+": PrefixSum", dst, inclusive)
		if got := PrefixSumExclusive(p, dst, x, 7); got != 7+sum {
			t.Errorf("%s: PrefixSumExclusive %v, want %v", what, got, 7+sum)
		}
		equal(t, what+": PrefixSumExclusive", dst, exclusive)
		copy(dst, x)
		PrefixSum(p, dst, dst)
		equal(t, what+": PrefixSum in place", dst, inclusive)
		PrefixSumExclusive(p, x, x, 7)
		equal(t, what+": PrefixSumExclusive in place", x, exclusive)
	}
}

func TestNumbersOfEachTypeAreAsInALoop(t *testing.T) {
	t.Parallel()
	for _, workers := range ifRace([]int{2}, []int{1, 2, 8}) {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		testNumbers[int](t, p)
		testNumbers[int8](t, p)
		testNumbers[int16](t, p)
		testNumbers[meters](t, p)
		testNumbers[int64](t, p)
		testNumbers[uint](t, p)
		testNumbers[uint8](t, p)
		testNumbers[uint16](t, p)
		testNumbers[uint32](t, p)
		testNumbers[uint64](t, p)
		testNumbers[uintptr](t, p)
		testNumbers[float64](t, p)
		testNumbers[ratio](t, p)
	}
}

// What is written around the caches is the same.
func TestWhatIsWrittenAroundTheCachesIsTheSame(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("takes 200 MB")
	}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	x := make([]uint64, farBytes/8+scanBlock)
	for i := range x {
		x[i] = uint64(i)
	}
	dst := make([]uint64, len(x)+1)
	for _, at := range []int{0, 1} { // also where it cannot be
		PrefixSum(p, dst[at:at+len(x)], x)
		for i, v := range dst[at : at+len(x)] {
			if i := uint64(i); v != i*(i+1)/2 {
				t.Fatalf("element %d is %d", i, v)
			}
		}
	}
}

// All elements are filled, whatever they are, and also around the caches.
func TestFillOfNumbers(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{1, 512, 513, 100_000} {
		testFill[int8](t, p, n, -3)
		testFill[uint16](t, p, n, 0x8001)
		testFill[meters](t, p, n, -5)
		testFill[ratio](t, p, n, ratio(math.Inf(-1)))
		testFill(t, p, n, -1.5)
		testFill(t, p, n, uintptr(7))
		testFill(t, p, n, true)
		testFill(t, p, n, "text")
		testFill(t, p, n, struct{}{})
		testFill(t, p, n, complex(1, 2))
		testFill(t, p, n, [3]int{1, 2, 3})
		testFill(t, p, n, new(int))
	}
	if !thorough.Sampled() && !race.Enabled {
		testFill(t, p, farBytes+1000, int8(5))
		testFill(t, p, farBytes/2+1000, uint16(0x8001))
		testFill(t, p, farBytes/4+1000, meters(-5))
		testFill(t, p, farBytes/8+1000, ratio(math.Inf(-1)))
		testFill(t, p, farBytes/16+1000, "text")
	}
}

func testFill[T comparable](t *testing.T, p *filch.Pool, n int, v T) {
	t.Helper()
	x := make([]T, n+1)
	Fill(p, x[1:], v)
	if i := slices.IndexFunc(x[1:], func(w T) bool { return w != v }); i >= 0 {
		t.Errorf("%T: element %d is %v", x, i, x[i+1])
	}
	var none T
	if x[0] != none {
		t.Errorf("%T: the element before is %v", x, x[0])
	}
}

// Least and greatest: NaN, and zeros, which have signs.
func TestMinMaxOfOddNumbers(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	minus := math.Copysign(0, -1)
	for _, n := range []int{1, 63, 64, 100, 10_000, 50_000} {
		for _, at := range []int{0, n / 2, n - 1} {
			x := make([]float64, n)
			x[at] = minus
			least, most, _ := MinMax(p, x)
			if !math.Signbit(least) || math.Signbit(most) != (n == 1) {
				t.Errorf("n=%d: -0 at %d: %v, %v", n, at, least, most)
			}
			x[at] = math.NaN()
			if least, most, _ := MinMax(p, x); least == least || most == most {
				t.Errorf("n=%d: NaN at %d: %v, %v", n, at, least, most)
			}
			if got := CountBetween(p, x, minus, 0); got != n-1 {
				t.Errorf("n=%d: %d zeros", n, got)
			}
			if got := CountBetween(p, x, math.NaN(), 0); got != 0 {
				t.Errorf("n=%d: %d between NaN and 0", n, got)
			}
			y := slices.Repeat([]string{"b"}, n)
			y[at] = "a"
			if least, most, _ := MinMax(p, y); least != "a" || most == "a" != (n == 1) {
				t.Errorf("MinMax(p, y): n=%d: %q, %q", n, least, most)
			}
		}
	}
}

// Running sums of floating-point numbers are the same on any number of workers, do not fall where
// nothing is negative, and are as long as they are exclusive those of one element before.
func TestFloatPrefixSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{100, 1000, scanBlock/8 + 1, 300_001} {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		var first []float64
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers))
			for range 3 {
				dst, exclusive := make([]float64, n), make([]float64, n)
				PrefixSum(p, dst, x)
				if first == nil {
					first = dst
				}
				equal(t, fmt.Sprintf("n=%d on %d workers", n, workers), dst, first)
				if all := PrefixSumExclusive(p, exclusive, x, 0); all != dst[n-1] {
					t.Errorf("n=%d: all is %v, and not %v", n, all, dst[n-1])
				}
				equal(t, fmt.Sprintf("exclusive, n=%d on %d workers", n, workers), exclusive[1:], dst[:n-1])
			}
			p.Close()
		}
		if !slices.IsSorted(first) {
			t.Errorf("n=%d: sums fall", n)
		}
		sum := 0.0
		for i, v := range x {
			if sum += v; math.Abs(first[i]-sum) > 1e-11*sum {
				t.Fatalf("n=%d: element %d is %v, and not %v", n, i, first[i], sum)
			}
		}
	}
}

// One worker calls an exact function once for each element.
func TestOneCallForAnElement(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	const n = 300_000
	var calls atomic.Int64
	x, dst := make([]uint16, n), make([]uint16, n)
	most := func(a, b uint16) uint16 { calls.Add(1); return max(a, b) }
	for range 2 {
		calls.Store(0)
		if Scan(p, dst, x, most); calls.Load() != n-1 {
			t.Errorf("Scan of %d elements: %d calls", n, calls.Load())
		}
		calls.Store(0)
		if ScanExclusive(p, dst, x, 0, most); calls.Load() != n {
			t.Errorf("ScanExclusive of %d elements: %d calls", n, calls.Load())
		}
	}
}

// A worker that is at a block holds no other up: what comes after it is totalled meanwhile, and
// written when it goes on.
func TestScanGoesOnBeyondABlock(t *testing.T) {
	for _, again := range []bool{false, true} {
		scanBeyondABlock(t, again)
	}
}

func scanBeyondABlock(t *testing.T, again bool) {
	const blocks = 10
	begun, goOn := make(chan struct{}), make(chan struct{})
	var written atomic.Int64
	dst := make([]int, blocks)
	p := plan[int]{n: blocks, size: 1, exact: true, again: again, op: add[int],
		total: func(lo, hi int) int { return 1 },
		write: func(lo, hi int, before int, any bool) int {
			if lo == 0 {
				close(begun)
				<-goOn
			}
			written.Add(1)
			dst[lo] = before + 1
			return dst[lo]
		}}
	f := p.begin(0, 0)
	slow, other := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
	defer slow.Close()
	defer other.Close()
	ended := make(chan struct{})
	go func() { f.step(slow); close(ended) }()
	<-begun
	for range blocks - 2 {
		f.step(other) // which does not wait
	}
	if n := written.Load(); !again && n != 0 {
		t.Errorf("%d blocks were written without those before them", n)
	} else if again && n != blocks-2 { // as soon as too many waited, the slow one's total was found, too
		t.Errorf("%d blocks were written while one was in the way", n)
	}
	close(goOn)
	<-ended
	f.step(other) // its own, and some that waited
	if n, left := int(written.Load()), len(f.left()); !again && n != 4 || n+left != blocks {
		t.Errorf("%d blocks are written, and %d left", n, left)
	}
	for _, i := range f.left() {
		f.finish(i)
	}
	for i, v := range dst {
		if v != i+1 {
			t.Errorf("block %d has %d before its end", i, v)
		}
	}
}

// A Scope of the caller's own may be of any type.
func TestScanWithAScopeThatIsNoKey(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	type scope struct {
		filch.Scope
		_ []int
	}
	x := []int{1, 2, 3}
	f := (&plan[int]{n: 3, size: 3, exact: true, op: add[int], write: func(lo, hi int, before int, any bool) int {
		return simd.PrefixSum(x, x, before, false)
	}}).begin(0, 0)
	if f.step(scope{Scope: p}); !slices.Equal(x, []int{1, 3, 6}) {
		t.Errorf("%v", x)
	}
}

// Buckets count all elements, be they there once or twice.
func TestHistogramOfManyBuckets(t *testing.T) {
	for _, workers := range []int{1, 3} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		for _, buckets := range []int{1, 100, mostTwice, mostTwice + 1, 100_000} {
			for _, n := range []int{0, 1, 3, 4, 5, 1000, racetest.Fewer(2003, 100_003)} {
				x, want := make([]int32, n), make([]int, buckets)
				for i := range x {
					x[i] = int32(i % 1000 * i % buckets)
					want[x[i]]++
				}
				for range 2 { // also where it is known what an element takes
					got := Histogram(p, x, buckets, func(v int32) int { return int(v) })
					equal(t, fmt.Sprintf("%d elements in %d buckets on %d workers", n, buckets, workers), got, want)
				}
			}
		}
	}
}

// A number that is no bucket is found at each place, and said.
func TestNotABucket(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for _, n := range []int{1, 4, 7, 10_000} {
		for at := max(0, n-8); at < n; at++ {
			for _, bad := range []int{-1, 3} {
				x := make([]int, n)
				x[at] = bad
				var err *filch.PanicError
				v := rig.Catch(func() { Histogram(p, x, 3, func(v int) int { return v }) })
				if e, ok := v.(error); !ok || !errors.As(e, &err) || err.Value != fmt.Sprintf("par: Histogram: bucket %d of 3", bad) {
					t.Errorf("bucket %d at %d of %d: %v", bad, at, n, v)
				}
			}
		}
	}
}
