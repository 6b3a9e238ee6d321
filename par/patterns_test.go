package par

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// patterns are orders that Sort looks for, and some that are almost like them.
var patterns = map[string]func(n int, r *rand.Rand) []int{
	"sorted":   each(func(i, n int) int { return i }),
	"reversed": each(func(i, n int) int { return n - i }),
	"rotated":  each(func(i, n int) int { return (i + n/3) % n }),
	"one low":  each(func(i, n int) int { return (i + 1) % n }),
	"one high": each(func(i, n int) int { return (i + n - 1) % n }),
	"nearly":   func(n int, r *rand.Rand) []int { return nearly(n, n/100, r) },
	"nearly reversed": func(n int, r *rand.Rand) []int {
		x := nearly(n, n/100, r)
		slices.Reverse(x)
		return x
	},
	"less nearly": func(n int, r *rand.Rand) []int { return nearly(n, n/12, r) },
	"appended": func(n int, r *rand.Rand) []int {
		x := nearly(n, 0, r)
		for i := n - n/100; i < n; i++ {
			x[i] = r.IntN(16 * n)
		}
		return x
	},
	"saw of 8":         each(func(i, n int) int { return i % (n/8 + 1) * (math.MaxInt32 / (n/8 + 1)) }),
	"saw of 30":        each(func(i, n int) int { return i % (n/30 + 1) }),
	"saw of 1000":      each(func(i, n int) int { return i % 1000 }),
	"falling saw":      each(func(i, n int) int { return -(i % (n/5 + 1)) }),
	"organ pipe":       each(func(i, n int) int { return min(i, n-i) }),
	"valley":           each(func(i, n int) int { return max(i, n-i) / 3 }),
	"falling plateaus": each(func(i, n int) int { return -i / 1500 }),
	"near":             func(n int, r *rand.Rand) []int { return each(func(i, _ int) int { return i + r.IntN(10) })(n, r) },
	"few": func(n int, r *rand.Rand) []int {
		return each(func(int, int) int { return int(r.Uint64N(7) * 0x1234567890abc) })(n, r)
	},
	"two": func(n int, r *rand.Rand) []int { return each(func(int, int) int { return r.IntN(2) })(n, r) },
	"most the same": func(n int, r *rand.Rand) []int {
		return each(func(int, int) int { return max(0, r.IntN(200)-180) })(n, r)
	},
	"few, then many": func(n int, r *rand.Rand) []int {
		return each(func(i, n int) int {
			if i > n*9/10 {
				return r.Int()
			}
			return r.IntN(5)
		})(n, r)
	},
	"sorted, then random": func(n int, r *rand.Rand) []int {
		return each(func(i, n int) int {
			if i > n/2 {
				return r.IntN(n)
			}
			return i
		})(n, r)
	},
}

func each(f func(i, n int) int) func(n int, r *rand.Rand) []int {
	return func(n int, _ *rand.Rand) []int {
		x := make([]int, n)
		for i := range x {
			x[i] = f(i, n)
		}
		return x
	}
}

func nearly(n, swaps int, r *rand.Rand) []int {
	x := each(func(i, _ int) int { return 16 * i })(n, r)
	for range swaps {
		i, j := r.IntN(n), r.IntN(n)
		x[i], x[j] = x[j], x[i]
	}
	return x
}

func sortsLikeSlices(t *testing.T, pools []*filch.Pool, x []int) {
	t.Helper()
	sortsAs(t, pools, x, func(v int) int { return v })
	sortsAs(t, pools, x, func(v int) uint64 { return uint64(v) })
	sortsAs(t, pools, x, func(v int) int32 { return int32(v) })
	sortsAs(t, pools, x, func(v int) uint16 { return uint16(v) })
	sortsAs(t, pools, x, func(v int) int8 { return int8(v) })
	sortsAs(t, pools, x, func(v int) float32 { return float32(v) - 1000 })
	sortsAs(t, pools, x, withNaN)
	sortsAs(t, pools, x, func(v int) float64 { return math.Copysign(float64(v&^1), float64(v&1)-0.5) }) // zeros of both signs
	sortsAs(t, pools, x, func(v int) string { return fmt.Sprintf("%020d", uint64(v)) })
	want, pairs := slices.Sorted(slices.Values(x)), make([]pair, len(x))
	for i, v := range x {
		pairs[i] = pair{v >> 2, i}
	}
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	stable := slices.Clone(pairs)
	slices.SortStableFunc(stable, byKey)
	for _, p := range pools {
		y, z := slices.Clone(x), slices.Clone(pairs)
		SortFunc(p, y, cmp.Compare[int])
		SortStableFunc(p, z, byKey)
		if !slices.Equal(y, want) || !slices.Equal(z, stable) {
			t.Errorf("not sorted by a function on %d workers", p.Workers())
		}
	}
}

func withNaN(v int) float64 {
	if v%97 == 3 {
		return math.Copysign(math.NaN(), float64(v%2)-0.5)
	}
	return float64(v)
}

// Each pattern is sorted, of any length, as any type.
func TestEachPatternIsSorted(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	var pools []*filch.Pool
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		pools = append(pools, p)
	}
	for name, pattern := range patterns {
		r := rand.New(rand.NewPCG(seed, 0))
		sizes := []int{1024, 1025, 4096, 4097, 8193, 20_000, 100_001}
		if race.Enabled {
			sizes = racetest.Fewer([]int{1025}, []int{1025, 4097, 20_000})
		} else if thorough.Sampled() {
			sizes = []int{1025, 4097, 20_000}
		}
		for range ifRace(1, 6) {
			sizes = append(sizes, r.IntN(5001))
		}
		for _, n := range sizes {
			x := pattern(n, r)
			t.Run(fmt.Sprintf("%s/%d/seed=%d", name, n, seed), func(t *testing.T) { sortsLikeSlices(t, pools, x) })
		}
	}
}

// What one pass tells is enough for these: few runs, or few elements out of place.
func TestPatternsAreFound(t *testing.T) {
	const n = 200_000
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, name := range []string{"sorted", "reversed", "rotated", "one low", "one high", "nearly", "nearly reversed", "appended", "saw of 8", "falling saw", "organ pipe", "valley", "falling plateaus"} {
		x := patterns[name](n, rand.New(rand.NewPCG(1, 1)))
		want := slices.Sorted(slices.Values(x))
		var found bool
		p.Do(func(w *filch.Worker) { found = sortPattern(w, x, lookAt(w, x, nil)) })
		if !found {
			t.Errorf("%s is not found", name)
		} else {
			equal(t, name, x, want)
		}
	}
}

// Few values are counted, what is rotated is reversed in place, and what is nearly sorted is merged in
// place: none takes memory for all.
func TestPatternsInPlace(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates as well")
	}
	const n = 1_000_000
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	y := make([]int, n)
	for _, name := range []string{"sorted", "reversed", "rotated", "one low", "one high"} {
		x := patterns[name](n, rand.New(rand.NewPCG(1, 1)))
		if got := allocated(func() { copy(y, x); Sort(p, y) }); got > n/16 {
			t.Errorf("Sort, %s: %v bytes for %d elements", name, got, n)
		}
		if got := allocated(func() { copy(y, x); SortFunc(p, y, cmp.Compare[int]) }); got > n {
			t.Errorf("SortFunc, %s: %v bytes for %d elements", name, got, n)
		}
	}
	for _, name := range []string{"nearly", "nearly reversed"} {
		x := patterns[name](n, rand.New(rand.NewPCG(1, 1)))
		if got := allocated(func() { copy(y, x); Sort(p, y) }); got > 8*n/5 {
			t.Errorf("Sort, %s: %v bytes for %d elements", name, got, n)
		}
	}
	for _, values := range []int{2, 7, 1000} {
		x := Map(p, y, func(v int) int { return int(uint64(v*7919%values) * 0x9e3779b97f4a7c15) })
		if got := allocated(func() { copy(y, x); Sort(p, y) }); got > n {
			t.Errorf("Sort, %d values: %v bytes for %d elements", values, got, n)
		}
	}
}

// Patterns take few comparisons.
func TestPatternsTakeFewComparisons(t *testing.T) {
	const n = 100_000
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for name, most := range map[string]struct{ unstable, stable float64 }{ // for each element
		"rotated": {1.01, 1.01}, "one low": {1.01, 1.01}, "one high": {1.01, 1.01}, "organ pipe": {2.01, 2.01},
		"saw of 8": {4.05, 4.05}, "nearly": {2.9, 2.9}, "near": {2.8, 2.8}, "few": {3.8, 10},
		"nearly reversed": {2.9, 99}, "appended": {1.4, 1.4}, "two": {1.6, 9},
	} {
		var calls atomic.Int64
		compare := func(a, b int) int { calls.Add(1); return cmp.Compare(a, b) }
		for of, c := range map[string]struct {
			sort func(x []int)
			most float64
		}{
			"SortFunc":       {func(x []int) { SortFunc(p, x, compare) }, most.unstable},
			"SortStableFunc": {func(x []int) { SortStableFunc(p, x, compare) }, most.stable},
		} {
			calls.Store(0)
			c.sort(patterns[name](n, rand.New(rand.NewPCG(1, 1))))
			if k := float64(calls.Load()) / n; k > c.most {
				t.Errorf("%s, %s: %.2f calls for each element, more than %v", of, name, k, c.most)
			}
		}
	}
}

// What overlaps little is merged in place, and if compare panics meanwhile, nothing is lost.
func TestWhatOverlapsLittleIsMergedInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		x, mid := make([]int, 2+r.IntN(20)), 0
		for i := range x {
			x[i] = r.IntN(20)
		}
		mid = 1 + r.IntN(len(x)-1)
		slices.Sort(x[:mid])
		slices.Sort(x[mid:])
		want := slices.Sorted(slices.Values(x))
		for left := 0; ; left++ {
			y, calls := slices.Clone(x), 0
			v := rig.Catch(func() {
				mergeMiddle(y, make([]int, mid), mid, func(a, b int) int {
					if calls++; calls > left {
						panic("bad")
					}
					return cmp.Compare(a, b)
				})
			})
			if v != nil {
				slices.Sort(y)
			}
			equal(t, fmt.Sprint("after ", left, " calls"), y, want)
			if v == nil {
				break
			}
		}
	}
}

// Whatever the order of a few elements, their runs are in one direction each, and merging them is
// stable.
func TestRunsAreInOneDirectionAndMergeStably(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	p.Do(func(w *filch.Worker) {
		for n := 2; n <= 8; n++ {
			for code := range int(math.Pow(3, float64(n))) {
				x, keys := make([]pair, n), make([]int, n)
				for i := range x {
					x[i], keys[i] = pair{code % 3, i}, code%3
					code /= 3
				}
				want := slices.Clone(x)
				slices.SortStableFunc(want, byKey)
				runs, _ := runsOfFunc(w, x, byKey)
				at := 0
				for _, r := range runs {
					ok := slices.IsSortedFunc(x[r.lo:r.hi], byKey)
					if r.down {
						ok = !slices.ContainsFunc(x[r.lo+1:r.hi], func(v pair) bool { return v.key >= x[v.at-1].key })
					}
					if !ok || r.lo != at || r.hi <= r.lo {
						t.Fatalf("make([]pair, n): %v: %v", x, runs)
					}
					at = r.hi
				}
				if at != n {
					t.Fatalf("make([]pair, n): %v: %v", x, runs)
				}
				mergeRuns(w, x, runs, byKey, merge)
				equal(t, "by compare", x, want)
				y := slices.Clone(keys)
				mergeRuns(w, y, runsOf(y, []direction{mixed}), cmp.Compare[int], mergeOrdered[int])
				slices.Sort(keys)
				equal(t, "by themselves", y, keys)
			}
		}
	})
}

// What is kept of blocks is in order, and with what is taken out it is everything.
func TestWhatIsKeptAndTakenOutIsEverything(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		x := make([]int, 1+r.IntN(24))
		for i := range x {
			if x[i] = i; r.IntN(3) == 0 {
				x[i] = r.IntN(len(x))
			}
		}
		want := slices.Sorted(slices.Values(x))
		blocks := 1 + r.IntN(len(x))
		kept, out := make([][]int, blocks), make([][]int, blocks+1)
		for b := range blocks {
			kept[b], out[b] = takeOut(x[b*len(x)/blocks:(b+1)*len(x)/blocks], nil)
			if !slices.IsSorted(kept[b]) {
				t.Fatalf("%v is kept", kept[b])
			}
		}
		if !fit(kept, &out[blocks], len(x)) || !slices.IsSorted(slices.Concat(kept...)) {
			t.Fatalf("%v do not fit", kept)
		}
		few := slices.Concat(out...)
		slices.Sort(few)
		p.Do(func(w *filch.Worker) { mergeBack(w, x, kept, few) })
		equal(t, "merged", x, want)
	}
}

// What is set aside, and what stays, is all of a part. Only what stays is where the part goes to.
func TestWhatIsSetAsideAndWhatStaysIsAllOfAPart(t *testing.T) {
	for size := range 6 {
		for at := -8; at <= 8; at++ {
			for n := range 9 {
				x := make([]int, 6+8+9)
				part := x[8:][:size]
				for i := range part {
					part[i] = i + 1
				}
				want := slices.Clone(part)
				saved, kept := setAside(part, at, n)
				for i := range x {
					if to := 8 + at; i < to || i >= to+n { // where others write
						x[i] = -1
					}
				}
				equal(t, fmt.Sprintf("%d, %d of %d", size, n, at), slices.Concat(saved[0], kept, saved[1]), want)
			}
		}
	}
}

// If too much is out of place, all elements are still there.
func TestNearlyGivesUp(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	const n = 50_000
	for _, swaps := range []int{n / 50, n / 20, n / 16, n / 14, n / 12} {
		for seed := range uint64(10) {
			x := nearly(n, swaps, rand.New(rand.NewPCG(seed, 1)))
			if seed%2 == 1 { // in order within each block, but not as blocks
				x = slices.Concat(x[n/2:], x[:n/2])
			}
			want := slices.Sorted(slices.Values(x))
			var found bool
			p.Do(func(w *filch.Worker) { found = sortNearly(w, x) })
			if !found {
				slices.Sort(x)
			}
			equal(t, fmt.Sprint(swaps, " swaps, seed ", seed), x, want)
		}
	}
}

// If compare panics while runs or what overlaps are merged, all elements are still there.
func TestPanicInPatterns(t *testing.T) {
	t.Parallel()
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	const n = 20_000
	r := rand.New(rand.NewPCG(1, 1))
	for name, pattern := range patterns {
		for of, sort := range map[string]func(s filch.Scope, x []int, c func(a, b int) int){"SortFunc": SortFunc[int], "SortStableFunc": SortStableFunc[int]} {
			for range ifRace(3, 12) {
				x := pattern(n, r)
				want := slices.Sorted(slices.Values(x))
				left := r.Int64N(8 * n)
				var calls atomic.Int64
				func() {
					defer func() { recover() }()
					sort(p, x, func(a, b int) int {
						if calls.Add(1) > left {
							panic("bad")
						}
						return cmp.Compare(a, b)
					})
				}()
				slices.Sort(x)
				if !slices.Equal(x, want) {
					t.Fatalf("%s, %s, after %d calls: elements are lost", of, name, left)
				}
			}
		}
	}
}

// Any sequence of rising, falling, equal and random parts is sorted as any type.
func FuzzPatterns(f *testing.F) {
	p := filch.New(filch.WithWorkers(2))
	f.Cleanup(func() { p.Close() })
	f.Add([]byte{0, 200, 1, 100, 2, 30, 3, 5}, uint8(3))
	f.Add([]byte{0, 255, 0, 255}, uint8(20))
	f.Add([]byte{4, 255, 4, 255, 1, 1}, uint8(9))
	f.Fuzz(func(t *testing.T, parts []byte, times uint8) {
		r := rand.New(rand.NewPCG(uint64(len(parts)), uint64(times)))
		x := []int{}
		for i := 0; i+1 < len(parts) && len(x) < 20_000; i += 2 {
			begin := r.IntN(1000)
			for j := range int(parts[i+1]) * int(times) {
				v := begin
				switch parts[i] % 5 {
				case 0:
					v += j
				case 1:
					v -= j
				case 2:
				case 3:
					v = int(r.Uint64())
				case 4:
					v += 16 * j
					if r.IntN(100) == 0 {
						v = r.IntN(16 * 5000)
					}
				}
				x = append(x, v)
			}
		}
		sortsLikeSlices(t, []*filch.Pool{p}, x)
	})
}

// ifRace returns the first under the race detector, where all takes ten times as long, and else the second, as
// in the long form of .ci/run.
func ifRace[T any](raced, normal T) T {
	if race.Enabled && os.Getenv("FILCH_LONG") == "" {
		return raced
	}
	return normal
}
