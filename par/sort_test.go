package par

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/thorough"
)

// inputs are orders that sorts are known to have trouble with.
var inputs = map[string]func(i, n int, r *rand.Rand) int{
	"random":     func(_, _ int, r *rand.Rand) int { return int(r.Uint64()) },
	"sorted":     func(i, _ int, _ *rand.Rand) int { return i },
	"reversed":   func(i, n int, _ *rand.Rand) int { return n - i },
	"equal":      func(int, int, *rand.Rand) int { return 7 },
	"organ pipe": func(i, n int, _ *rand.Rand) int { return min(i, n-i) },
	"few":        func(_, _ int, r *rand.Rand) int { return r.IntN(4) },
	"near":       func(i, _ int, r *rand.Rand) int { return i + r.IntN(10) },
	"one low":    func(i, n int, _ *rand.Rand) int { return (i + 1) % n },
	"small":      func(_, _ int, r *rand.Rand) int { return r.IntN(1000) - 500 },
	"skewed":     func(_, _ int, r *rand.Rand) int { return int(math.Exp(r.Float64() * 40)) },
	"high bits":  func(_, _ int, r *rand.Rand) int { return int(uint64(r.IntN(3)) << 60) },
	"mostly one": func(_, _ int, r *rand.Rand) int {
		if r.IntN(10) > 0 {
			return r.IntN(1 << 20)
		}
		return int(r.Uint64())
	},
}

var sortSizes = []int{0, 1, 2, 3, 30, 1025, 5000, 100_000}

// eachInput calls f with each input, and pools of several widths to sort it by.
func eachInput(t *testing.T, f func(t *testing.T, pools []*filch.Pool, x []int)) {
	seed := rand.Uint64()
	var pools []*filch.Pool
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		pools = append(pools, p)
	}
	for name, input := range inputs {
		for _, n := range sortSizes {
			switch {
			case race.Enabled:
				n = min(n, racetest.Fewer(1100, 5000))
			case thorough.Sampled():
				n = min(n, fewPartitioned+1) // which more than one partitions
			}
			r := rand.New(rand.NewPCG(seed, 0))
			x := make([]int, n)
			for i := range x {
				x[i] = input(i, n, r)
			}
			t.Run(fmt.Sprintf("%s/%d/seed=%d", name, n, seed), func(t *testing.T) { f(t, pools, x) })
		}
	}
}

func sortsAs[T cmp.Ordered](t *testing.T, pools []*filch.Pool, x []int, of func(v int) T) {
	t.Helper()
	values := make([]T, len(x))
	for i, v := range x {
		values[i] = of(v)
	}
	want := slices.Clone(values)
	slices.Sort(want)
	for _, p := range pools {
		y := slices.Clone(values)
		Sort(p, y)
		if !slices.EqualFunc(y, want, func(a, b T) bool { return cmp.Compare(a, b) == 0 }) {
			t.Errorf("%T is not sorted by %d workers", y, p.Workers())
		}
		if !IsSorted(p, y) {
			t.Errorf("%T is not said to be sorted by %d workers", y, p.Workers())
		}
	}
}

func TestEachTypeIsSortedLikeBySlices(t *testing.T) {
	t.Parallel()
	type own int16
	eachInput(t, func(t *testing.T, pools []*filch.Pool, x []int) {
		sortsAs(t, pools, x, func(v int) int { return v })
		sortsAs(t, pools, x, func(v int) uint64 { return uint64(v) })
		sortsAs(t, pools, x, func(v int) int32 { return int32(v) })
		sortsAs(t, pools, x, func(v int) own { return own(v) })
		sortsAs(t, pools, x, func(v int) int8 { return int8(v) })
		sortsAs(t, pools, x, func(v int) uint8 { return uint8(v) })
		sortsAs(t, pools, x, func(v int) float64 {
			switch v % 50 {
			case 0:
				return math.NaN()
			case 1:
				return math.Inf(1)
			case 2:
				return math.Inf(-1)
			case 3:
				return math.Copysign(0, float64(v))
			}
			return float64(v)
		})
		sortsAs(t, pools, x, func(v int) float32 { return float32(v) / 3 })
		sortsAs(t, pools, x, func(v int) string { return fmt.Sprint(v) })
		sortsAs(t, pools, x, func(v int) string { return "a prefix that all of them share: " + fmt.Sprint(v) })
		sortsAs(t, pools, x, func(v int) string { return strings.Repeat("a", v&15) })
		sortsAs(t, pools, x, func(v int) string { return strings.Repeat("\x00", v&15) })
	})
}

type pair struct{ key, at int }

func TestSortsByCompareAreLikeThoseOfSlices(t *testing.T) {
	t.Parallel()
	eachInput(t, func(t *testing.T, pools []*filch.Pool, x []int) {
		want := slices.Clone(x)
		slices.Sort(want)
		pairs := make([]pair, len(x))
		for i, v := range x {
			pairs[i] = pair{v & 7, i}
		}
		stable := slices.Clone(pairs)
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		slices.SortStableFunc(stable, byKey)
		a, b := slices.Clone(stable[:len(stable)/3]), slices.Clone(stable[len(stable)/3:])
		for i := range a {
			a[i].at = 0
		}
		for i := range b {
			b[i].at = 1
		}
		if len(b) > 0 {
			b = slices.Insert(b, 0, pair{0, 1})[:len(b)]
			slices.SortStableFunc(b, byKey)
		}
		merged := slices.Concat(a, b)
		slices.SortStableFunc(merged, byKey)
		for _, p := range pools {
			y := slices.Clone(x)
			SortFunc(p, y, cmp.Compare[int])
			equal(t, fmt.Sprintf("SortFunc, %d workers", p.Workers()), y, want)
			sorted := slices.Clone(pairs)
			SortStableFunc(p, sorted, byKey)
			equal(t, fmt.Sprintf("SortStableFunc, %d workers", p.Workers()), sorted, stable)
			if !IsSortedFunc(p, sorted, byKey) {
				t.Errorf("not said to be sorted by %d workers", p.Workers())
			}
			dst := make([]pair, len(a)+len(b))
			MergeFunc(p, dst, a, b, byKey)
			equal(t, fmt.Sprintf("MergeFunc, %d workers", p.Workers()), dst, merged)
		}
	})
}

// If compare panics, all elements are still there.
func TestPanicInCompare(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		rounds, most := 40, 300_000
		if thorough.Sampled() {
			rounds, most = 16, 2*fewPartitioned
		}
		if race.Enabled {
			most = 20_000
		}
		for round := range rounds {
			n := min(most, []int{2, 100, 5000, 300_000}[round%4])
			for name, sort := range map[string]func(s filch.Scope, x []int, c func(a, b int) int){"SortFunc": SortFunc[int], "SortStableFunc": SortStableFunc[int]} {
				x := r.Perm(n)
				left := int64(r.Uint64N(uint64(float64(n)*math.Log2(float64(n))) + 1))
				var calls atomic.Int64
				func() {
					defer func() {
						if v := recover(); v != nil && v.(*filch.PanicError).Value != "bad" {
							t.Error("recover():", v)
						}
					}()
					sort(p, x, func(a, b int) int {
						if calls.Add(1) > left {
							panic("bad")
						}
						return cmp.Compare(a, b)
					})
				}()
				slices.Sort(x)
				for i, v := range x {
					if i != v {
						t.Fatalf("seed %d, %s, %d workers, panic after %d of %d elements: element %d is %d", seed, name, workers, left, n, i, v)
					}
				}
			}
		}
		p.Close()
	}
}

// Any bytes, as numbers of any width, come in the order of package slices.
func FuzzSort(f *testing.F) {
	p := filch.New(filch.WithWorkers(2))
	f.Cleanup(func() { p.Close() })
	f.Add([]byte("some bytes that are not in order"), uint16(3), uint8(7))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 1, 0, 0, 0, 0, 0, 0xf8, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x80}, uint16(2000), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, times uint16, step uint8) {
		if len(b) < 8 {
			return
		}
		// Repeated, with something changed each time, to be many.
		var x []uint64
		for i := range 1 + int(times)%6000 {
			at := i * 8 % (len(b) - 7)
			v := uint64(0)
			for k, c := range b[at : at+8] {
				v |= uint64(c) << (8 * k)
			}
			x = append(x, v+uint64(i)*uint64(step))
		}
		same(t, p, x, func(v uint64) uint64 { return v })
		same(t, p, x, func(v uint64) int64 { return int64(v) })
		same(t, p, x, func(v uint64) float64 { return math.Float64frombits(v) })
		same(t, p, x, func(v uint64) float32 { return math.Float32frombits(uint32(v)) })
		same(t, p, x, func(v uint64) int32 { return int32(v) })
		same(t, p, x, func(v uint64) uint16 { return uint16(v) })
		same(t, p, x, func(v uint64) string { return string(b[v%uint64(len(b)):]) })
		y := slices.Clone(x)
		SortFunc(p, y, cmp.Compare[uint64])
		want := slices.Clone(x)
		slices.Sort(want)
		if !slices.Equal(y, want) {
			t.Error("SortFunc")
		}
	})
}

func same[T cmp.Ordered](t *testing.T, p *filch.Pool, x []uint64, of func(v uint64) T) {
	t.Helper()
	sortsAs(t, []*filch.Pool{p}, Map(p, x, func(v uint64) int { return int(v) }), func(v int) T { return of(uint64(v)) })
}
