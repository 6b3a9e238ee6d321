package par

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// What the authors of Philox list in kat_vectors of Random123.
func TestPhiloxIsThePublishedOne(t *testing.T) {
	for _, c := range [][5]uint64{
		{0, 0, 0, 0xca00a0459843d731, 0x66c24222c9a845b5},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64, 0x65b021d60cd8310f, 0x4d02f3222f86df20},
		{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x0a5e742c2997341c, 0xb0f883d38000de5d},
	} {
		if a, b := philox(c[0], c[1], c[2]); a != c[3] || b != c[4] {
			t.Errorf("philox(%#x, %#x, %#x) = %#x, %#x", c[0], c[1], c[2], a, b)
		}
	}
	r, zero := NewRand(0, 0), Rand{}
	for i, want := range []uint64{0xca00a0459843d731, 0x66c24222c9a845b5} {
		if v, w := r.Uint64(), zero.Uint64(); v != want || w != want {
			t.Errorf("number %d: %#x and %#x, not %#x", i, v, w, want)
		}
	}
	r = NewRand(7, -1)
	first := []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	for i := range 2 {
		if a, b := philox(uint64(i), math.MaxUint64, 7); first[2*i] != a || first[2*i+1] != b {
			t.Errorf("block %d of index -1 is %#x, %#x", i, first[2*i], first[2*i+1])
		}
	}
}

// The same numbers on any number of workers, and in a plain loop.
func TestRandDoesNotDependOnWorkers(t *testing.T) {
	const n = 20_000
	draw := func(i int) (v [3]int) {
		r := NewRand(42, i)
		for k := range v {
			v[k] = r.IntN(1000)
		}
		return v
	}
	want := make([][3]int, n)
	for i := range want {
		want[i] = draw(i)
	}
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		got := make([][3]int, n)
		For(p, n, func(i int) { got[i] = draw(i) })
		p.Close()
		equal(t, fmt.Sprint(workers, " workers"), got, want)
	}
}

// A copy goes on by itself from where the Rand was.
func TestRandIsAValue(t *testing.T) {
	r := NewRand(1, 2)
	r.Uint64()
	c := r
	a := []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	if b := []uint64{c.Uint64(), c.Uint64(), c.Uint64(), c.Uint64()}; !slices.Equal(a, b) {
		t.Errorf("%x, and of a copy %x", a, b)
	}
	std := rand.New(&c)
	if v, w := std.Uint64(), r.Uint64(); v != w {
		t.Errorf("as a Source %x, not %x", v, w)
	}
}

func TestRandAllocatesNothing(t *testing.T) {
	sum, i := 0.0, 0
	k := testing.AllocsPerRun(100, func() {
		r := NewRand(1, i)
		sum += r.Float64() + float64(r.IntN(10)) + float64(r.Uint64()>>60)
		i++
	})
	if k != 0 {
		t.Errorf("%v allocations", k)
	}
}

// chiSquare returns how far counts are from even, in standard deviations: for as many as these, chi square is
// about normal.
func chiSquare(counts []int) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	expected, sum := float64(n)/float64(len(counts)), 0.0
	for _, c := range counts {
		sum += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	free := float64(len(counts) - 1)
	return (sum - free) / math.Sqrt(2*free)
}

// The first numbers of neighbouring indices, and of neighbouring seeds, are as good as random: bytes of all
// places are even, and so are pairs of bytes of neighbours; half of the bits of neighbours differ, and each
// bit does so in half of them. Seeds and indices are fixed, so these are facts, and no chance.
func TestNeighboursAreIndependent(t *testing.T) {
	const n = 1 << 16
	for name, first := range map[string]func(i int) uint64{
		"indices":         func(i int) uint64 { r := NewRand(1, i); return r.Uint64() },
		"indices, second": func(i int) uint64 { r := NewRand(1, i); r.Uint64(); return r.Uint64() },
		"indices, third":  func(i int) uint64 { r := NewRand(1, i); r.Uint64(); r.Uint64(); return r.Uint64() },
		"seeds":           func(i int) uint64 { r := NewRand(uint64(i), 1); return r.Uint64() },
		"far indices":     func(i int) uint64 { r := NewRand(math.MaxUint64, i<<15); return r.Uint64() },
	} {
		var places [8][256]int
		pairs := make([]int, 1<<10) // the highest five bits of neighbours
		var flips [64]int
		differ := 0
		before := first(-1)
		for i := range n {
			v := first(i)
			for k := range places {
				places[k][byte(v>>(8*k))]++
			}
			pairs[v>>59<<5|before>>59]++
			differ += bits.OnesCount64(v ^ before)
			for k := range flips {
				flips[k] += int(v^before) >> k & 1
			}
			before = v
		}
		for k := range places {
			if far := chiSquare(places[k][:]); math.Abs(far) > 4 {
				t.Errorf("%s: byte %d: chi square is %.1f deviations from what is expected", name, k, far)
			}
		}
		if far := chiSquare(pairs); math.Abs(far) > 4 {
			t.Errorf("%s: pairs: chi square is %.1f deviations from what is expected", name, far)
		}
		// A bit flips n/2 times, give or take half of the root of n; and 64 of them together.
		if far := (float64(differ) - 32*n) / (math.Sqrt(64*n) / 2); math.Abs(far) > 4 {
			t.Errorf("%s: %d bits of %d neighbours differ, %.1f deviations from half", name, differ, n, far)
		}
		for k, c := range flips {
			if far := (float64(c) - n/2) / (math.Sqrt(n) / 2); math.Abs(far) > 4.5 {
				t.Errorf("%s: bit %d differs %d times, %.1f deviations from half", name, k, c, far)
			}
		}
	}
}

// Numbers are even and in their range, and their mean and that of products of neighbours are as they should
// be.
func TestRandomNumbersAreEvenAndInTheirRange(t *testing.T) {
	const n = 1 << 16
	for _, below := range []int{1, 2, 3, 10, 1000, 1 << 10} {
		counts := make([]int, below)
		for i := range n {
			r := NewRand(3, i)
			counts[r.IntN(below)]++
		}
		if far := chiSquare(counts); below > 1 && math.Abs(far) > 4 || below == 1 && counts[0] != n {
			t.Errorf("IntN(%d): chi square is %.1f deviations from what is expected", below, far)
		}
	}
	most := 0
	for i := range 1000 {
		r := NewRand(3, i)
		v := r.IntN(math.MaxInt)
		if v < 0 || v >= math.MaxInt {
			t.Fatalf("IntN(%d) is %d", math.MaxInt, v)
		}
		most = max(most, v)
	}
	if most < math.MaxInt/100*99 {
		t.Errorf("the greatest of 1,000 is %d", most)
	}
	sum, product, before := 0.0, 0.0, 0.5
	for i := range n {
		r := NewRand(4, i)
		v := r.Float64()
		if v < 0 || v >= 1 {
			t.Fatalf("Float64 is %v", v)
		}
		sum, product, before = sum+v-0.5, product+(v-0.5)*(before-0.5), v
	}
	if far := sum / math.Sqrt(n/12.); math.Abs(far) > 4 {
		t.Errorf("the mean is %.1f deviations from a half", far)
	}
	if far := product / (math.Sqrt(n) / 12); math.Abs(far) > 4 {
		t.Errorf("neighbours correlate by %.1f deviations", far)
	}
	top := Rand{blocks: 1 << 63}
	for range 4 {
		if v := top.Float64(); v < 0 || v >= 1 {
			t.Error("top.Float64():", v)
		}
	}
	for _, bad := range []int{0, -1, math.MinInt} {
		r := NewRand(1, 1)
		if v := rig.Catch(func() { r.IntN(bad) }); v != fmt.Sprintf("par: Rand.IntN: n is %d, and must be at least 1", bad) {
			t.Error("rig.Catch(…):", v)
		}
	}
}

// What a number costs, beside one of PCG, which is made for each index as well or once for all.
func BenchmarkRand(b *testing.B) {
	sum := 0.0
	const n = 1 << 16
	b.Run("a Rand for each of 65536", func(b *testing.B) {
		for b.Loop() {
			for i := range n {
				r := NewRand(1, i)
				sum += r.Float64()
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
	})
	b.Run("a PCG for each of 65536", func(b *testing.B) {
		for b.Loop() {
			for i := range n {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				sum += r.Float64()
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
	})
	b.Run("numbers of a Rand", func(b *testing.B) {
		r := NewRand(1, 1)
		for b.Loop() {
			sum += r.Float64()
		}
	})
	b.Run("numbers of a PCG", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 1))
		for b.Loop() {
			sum += r.Float64()
		}
	})
	keep = sum
}
