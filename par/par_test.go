package par

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/thorough"
)

// Tests allocate much and keep little, so a larger heap saves them a third of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

var sizes = []int{0, 1, 2, 3, 10, 63, 64, 65, 127, 1000, 4097, 20_000}

// everywhere calls f for pools of several widths, and sizes, twice: the second time what
// functions cost is known.
func everywhere(t *testing.T, f func(t *testing.T, s filch.Scope, n int, r *rand.Rand)) {
	seed := rand.Uint64()
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for _, n := range sizes {
			if race.Enabled && n > racetest.Fewer(500, 5000) || thorough.Sampled() && n > 2000 && workers != 2 {
				continue
			}
			t.Run(fmt.Sprintf("workers=%d/n=%d/seed=%d", workers, n, seed), func(t *testing.T) {
				for i := range costs {
					costs[i].of.Store(0)
				}
				for range 2 {
					f(t, p, n, rand.New(rand.NewPCG(seed, uint64(n))))
				}
				p.Do(func(w *filch.Worker) { f(t, w, n, rand.New(rand.NewPCG(seed, 1))) })
			})
		}
		p.Close()
	}
}

func ints(n, below int, r *rand.Rand) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = r.IntN(below)
	}
	return x
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s: %d elements, want %d; the first that differs is %d", what, len(got), len(want), i)
	}
}

func TestLoopsDoEachElementOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		for _, opts := range [][]Option{nil, {WithGrain(1)}, {WithGrain(7)}, {WithGrain(n + 1)}} {
			var once [5][]atomic.Int32
			for i := range once {
				once[i] = make([]atomic.Int32, n)
			}
			For(s, n, func(i int) { once[0][i].Add(1) }, opts...)
			ForRange(s, n, func(lo, hi int) {
				if lo >= hi {
					t.Errorf("empty range %d, %d", lo, hi)
				}
				for i := lo; i < hi; i++ {
					once[1][i].Add(1)
				}
			}, opts...)
			x := ints(n, 100, r)
			Each(s, x, func(i, v int) {
				if x[i] == v {
					once[2][i].Add(1)
				}
			}, opts...)
			if err := ForErr(s, n, func(i int) error { once[3][i].Add(1); return nil }, opts...); err != nil {
				t.Error("ForErr(s, n, …, opts):", err)
			}
			ForTiles(s, n, 1, func(x0, y0, x1, y1 int) {
				for x := x0; x < x1; x++ {
					once[4][x].Add(int32(y1 - y0))
				}
			}, opts...)
			for k := range once {
				for i := range once[k] {
					if c := once[k][i].Load(); c != 1 {
						t.Fatalf("loop %d: element %d was done %d times", k, i, c)
					}
				}
			}
		}
	})
}

func TestRangesAreOfTheGrain(t *testing.T) {
	for _, n := range []int{1, 9, 10, 11, 100, 1234} {
		synctest.Test(t, func(t *testing.T) { // so that the others have time to ask
			p := filch.New(filch.WithWorkers(8))
			defer p.Close()
			var others atomic.Int32
			ForRange(p, n, func(lo, hi int) {
				if lo%10 != 0 || hi != min(lo+10, n) {
					others.Add(1)
				}
				time.Sleep(time.Second)
			}, WithGrain(10))
			if k := others.Load(); k > 0 {
				t.Errorf("n=%d: %d ranges are not of ten", n, k)
			}
		})
	}
}

func TestTilesHaveEachPixelOnce(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	tiles := 0
	ForTiles(p, 10, 20, func(x0, y0, x1, y1 int) { tiles += (x1 - x0) * (y1 - y0) }, WithGrain(math.MaxInt))
	if tiles != 200 {
		t.Errorf("%d of 200 in one tile", tiles)
	}
	ranges := 0
	ForRange(p, math.MaxInt, func(lo, hi int) {
		if ranges++; lo < 0 || hi <= lo {
			t.Fatalf("range %d, %d", lo, hi)
		}
	}, WithGrain(math.MaxInt/2+1))
	if ranges != 2 {
		t.Errorf("%d ranges, not 2", ranges)
	}
	for _, d := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {64, 64}, {65, 129}, {300, 200}} {
		pixels := make([]atomic.Int32, d[0]*d[1])
		ForTiles(p, d[0], d[1], func(x0, y0, x1, y1 int) {
			for y := y0; y < y1; y++ {
				for x := x0; x < x1; x++ {
					pixels[y*d[0]+x].Add(1)
				}
			}
		})
		for i := range pixels {
			if c := pixels[i].Load(); c != 1 {
				t.Fatalf("%v: pixel %d was done %d times", d, i, c)
			}
		}
	}
}

// On P workers, k long elements take ⌈k/P⌉ times as long as one if they are no more than P,
// and little longer if they are. In virtual time, nothing but the order decides.
func TestLongElementsAreSpreadOverTheWorkers(t *testing.T) {
	for _, workers := range []int{2, 8} {
		for _, k := range []int{2, 8, 16, 64} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				defer p.Close()
				begin := time.Now()
				For(p, k, func(int) { time.Sleep(time.Second) })
				rounds := int(time.Since(begin) / time.Second)
				want := (k + workers - 1) / workers
				if rounds < want || want == 1 && rounds > 1 || rounds > want+2 {
					t.Errorf("%d workers, %d elements: %d rounds, not %d", workers, k, rounds, want)
				}
			})
		}
	}
}

// A function that took nothing so far, and then does, is not left to one worker.
func TestAFunctionThatBecomesDearIsNotLeftToOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(8))
		defer p.Close()
		var slow bool
		body := func(int) {
			if slow {
				time.Sleep(time.Second)
			}
		}
		costOf(body, asIs).learn(ns, 1)
		slow = true
		begin := time.Now()
		For(p, 9, body) // one alone, and eight together
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("9 elements of a second took %v with 8 workers", d)
		}
		slow = false
		for i := range 2 {
			costOf(body, asIs).each.Store(0)
			costOf(body, asIs).learn(ns, 1)
			slow = true
			begin = time.Now()
			For(p, 800*(1+i), body)
			if d := time.Since(begin); d > time.Duration(110*(1+i))*time.Second {
				t.Errorf("%d elements of a second took %v with 8 workers", 800*(1+i), d)
			}
		}
	})
}

func TestTheErrorOfTheFirstElementCounts(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		if n == 0 {
			return
		}
		bad := map[int]error{}
		lowest := n
		for range 3 {
			i := r.IntN(n)
			bad[i] = fmt.Errorf("element %d", i)
			lowest = min(lowest, i)
		}
		var ran atomic.Int64
		f := func(i int) error { ran.Add(1); return bad[i] }
		if err := ForErr(s, n, f); err != bad[lowest] {
			t.Errorf("%v, want %v", err, bad[lowest])
		}
		if ran.Load() < int64(lowest)+1 {
			t.Errorf("%d ran, though the first error is that of %d", ran.Load(), lowest)
		}
		ran.Store(0)
		err := ForErr(s, n, f, AllErrors())
		if ran.Load() != int64(n) {
			t.Errorf("%d of %d ran", ran.Load(), n)
		}
		var want []string
		for _, i := range sortedKeys(bad) {
			want = append(want, bad[i].Error())
		}
		if err.Error() != strings.Join(want, "\n") {
			t.Errorf("%v, want %v", err, want)
		}
		x := ints(n, 1<<30, r)
		got, err := MapErr(s, x, func(v int) (int, error) {
			if v < 1<<29 {
				return 0, errors.New("small")
			}
			return 2 * v, nil
		}, AllErrors())
		for i, v := range x {
			if v >= 1<<29 && got[i] != 2*v || v < 1<<29 && got[i] != 0 {
				t.Fatalf("element %d: %d, %v", i, got[i], err)
			}
		}
	})
}

func TestLoopsEndWithTheirContext(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	var ran atomic.Int64
	err := ForErr(p, math.MaxInt, func(i int) error {
		if ran.Add(1) == 1000 {
			cancel(why)
		}
		return nil
	}, WithContext(ctx))
	if err != why {
		t.Error("ForErr(p, math.MaxInt, …, WithContext(ctx)):", err)
	}
	if _, err := MapErr(p, make([]int, 10), func(int) (int, error) { return 0, nil }, WithContext(ctx)); err != why {
		t.Error("MapErr(p, make([]int, 10), …, WithContext(ctx)):", err)
	}
}

func TestReductionsAreLikeALoop(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		x := ints(n, 1000, r)
		sum, count, text := 0, 0, ""
		for _, v := range x {
			sum += v
			if v%3 == 0 {
				count++
			}
			text += string(rune('a' + v%26))
		}
		if got := Sum(s, x); got != sum {
			t.Errorf("Sum %d, want %d", got, sum)
		}
		if got := Reduce(s, x, 0, func(a, b int) int { return a + b }); got != sum {
			t.Errorf("Reduce %d, want %d", got, sum)
		}
		if got := Count(s, x, func(v int) bool { return v%3 == 0 }); got != count {
			t.Errorf("Count %d, want %d", got, count)
		}
		if got := CountRange(s, n, func(lo, hi int) (odd int) {
			if lo >= hi {
				t.Errorf("CountRange: the range [%d, %d)", lo, hi)
			}
			for _, v := range x[lo:hi] {
				odd += v & 1
			}
			return odd
		}); got != odds(x) {
			t.Errorf("CountRange %d, want %d", got, odds(x))
		}
		// not commutative
		if got := MapReduce(s, x, "", func(v int) string { return string(rune('a' + v%26)) }, func(a, b string) string { return a + b }); got != text {
			t.Error("MapReduce is out of order")
		}
		least, most, ok := MinMax(s, x)
		if n == 0 && ok || n > 0 && (least != slices.Min(x) || most != slices.Max(x) || !ok) {
			t.Errorf("MinMax %d, %d, %v", least, most, ok)
		}
		ages := make([]pair, n)
		for i, v := range x {
			ages[i] = pair{v % 10, i}
		}
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		young, old, ok := MinMaxFunc(s, ages, byKey)
		if n == 0 && ok || n > 0 && (young != slices.MinFunc(ages, byKey) || old != slices.MaxFunc(ages, byKey) || !ok) {
			t.Errorf("MinMaxFunc %v, %v, %v", young, old, ok)
		}
		join := func(a, b [2]int) [2]int {
			if a[1] != b[0] {
				t.Errorf("range %v before %v", a, b)
			}
			return [2]int{a[0], b[1]}
		}
		if got := ReduceRange(s, n, [2]int{}, func(lo, hi int) [2]int { return [2]int{lo, hi} }, join); got != [2]int{0, n} {
			t.Errorf("ReduceRange goes through %v of %d", got, n)
		}
	})
}

func TestSearchesAreLikeALoop(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, _ *rand.Rand) {
		for _, want := range []int{-1, 0, n / 2, n - 1} {
			if want >= n || n == 0 {
				continue
			}
			y := make([]bool, n)
			if want >= 0 {
				y[want], y[n-1] = true, true
			}
			is := func(v bool) bool { return v }
			if got := IndexFunc(s, y, is); got != want {
				t.Errorf("IndexFunc %d, want %d", got, want)
			}
			if got := IndexRange(s, n, func(lo, hi int) int {
				if i := slices.Index(y[lo:hi], true); i >= 0 {
					return lo + i
				}
				return -1
			}); got != want {
				t.Errorf("IndexRange %d, want %d", got, want)
			}
			if got := AllRange(s, n, func(lo, hi int) bool { return !slices.Contains(y[lo:hi], true) }); got != (want < 0) {
				t.Errorf("AllRange %v", got)
			}
			if got := IndexFuncAny(s, y, is); got != want && (got < 0 || !y[got]) {
				t.Errorf("IndexFuncAny %d", got)
			}
			if got := Any(s, y, is); got != (want >= 0) {
				t.Errorf("Any %v", got)
			}
			if got := All(s, y, func(v bool) bool { return !v }); got != (want < 0) {
				t.Errorf("All %v", got)
			}
		}
		none := []int{}
		if !All(s, none, func(int) bool { return false }) || Any(s, none, func(int) bool { return true }) {
			t.Error("of none")
		}
	})
}

// The sum of floating-point numbers is the same with any number of workers, and as
// exact as sums in pairs are.
func TestFloatSumsDoNotDependOnTheWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 100, 200, 1000, 12345, 1_000_000} {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		exact := 0.0 // by Kahan
		c := 0.0
		for _, v := range x {
			y := v - c
			s := exact + y
			c = (s - exact) - y
			exact = s
		}
		var all, sums []float64
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers))
			for range 3 {
				scanned := make([]float64, n)
				Scan(p, scanned, x, func(a, b float64) float64 { return a + b })
				sums = append(sums, scanned[n-1])
				all = append(all, Sum(p, x), MapReduce(p, x, 0, func(v float64) float64 { return v }, func(a, b float64) float64 { return a + b }))
			}
			p.Close()
		}
		if slices.Min(sums) != slices.Max(sums) {
			t.Errorf("n=%d: scans end in %v", n, sums)
		}
		for i := range all {
			if all[i] != all[i%2] {
				t.Errorf("n=%d: %v and %v", n, all[i], all[i%2])
			}
		}
		if e := math.Abs(all[0]-exact) / exact; e > 1e-15*math.Log2(float64(n)+2) {
			t.Errorf("n=%d: error %g", n, e)
		}
	}
}

func TestScansAreLikeALoop(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		x := make([]string, n) // not commutative
		if n > 5000 {
			return // quadratic
		}
		for i := range x {
			x[i] = string(rune('a' + r.IntN(26)))
		}
		join := func(a, b string) string { return a + b }
		var inclusive, exclusive []string
		all := ">"
		for _, v := range x {
			exclusive = append(exclusive, all)
			all += v
			inclusive = append(inclusive, all[1:])
		}
		got := make([]string, n)
		Scan(s, got, x, join)
		equal(t, "Scan", got, inclusive)
		if total := ScanExclusive(s, got, x, ">", join); total != all {
			t.Errorf("ScanExclusive: total of %d bytes, want %d", len(total), len(all))
		}
		equal(t, "ScanExclusive", got, exclusive)
		y := slices.Clone(x)
		Scan(s, y, y, join)
		equal(t, "Scan in place", y, inclusive)
		copy(y, x)
		ScanExclusive(s, y, y, ">", join)
		equal(t, "ScanExclusive in place", y, exclusive)
	})
}

func TestCollectionsAreLikeALoop(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		x := ints(n, 50, r)
		var doubled, odd, even, unique []int
		seen := map[int]bool{}
		groups := map[int][]int{}
		histogram := make([]int, 7)
		for i, v := range x {
			x[i] = v + 100*i // so that they can be told apart
			v = x[i]
			doubled = append(doubled, 2*v)
			if v%2 == 1 {
				odd = append(odd, v)
			} else {
				even = append(even, v)
			}
			if !seen[v%100] {
				seen[v%100] = true
				unique = append(unique, v%100)
			}
			groups[v%7] = append(groups[v%7], v)
			histogram[v%7]++
		}
		double := func(v int) int { return 2 * v }
		equal(t, "Map", Map(s, x, double), doubled)
		y := slices.Clone(x)
		MapInto(s, y, y, double)
		equal(t, "MapInto", y, doubled)
		isOdd := func(v int) bool { return v%2 == 1 }
		equal(t, "Filter", Filter(s, x, isOdd), odd)
		a, b := Partition(s, x, isOdd)
		equal(t, "Partition", a, odd)
		equal(t, "Partition", b, even)
		equal(t, "Unique", Unique(s, Map(s, x, func(v int) int { return v % 100 })), unique)
		equal(t, "Histogram", Histogram(s, x, 7, func(v int) int { return v % 7 }), histogram)
		got := GroupBy(s, x, func(v int) int { return v % 7 })
		if len(got) != len(groups) {
			t.Errorf("%d groups, want %d", len(got), len(groups))
		}
		for k := range groups {
			equal(t, "GroupBy", got[k], groups[k])
		}
		Fill(s, y, 7)
		if i := slices.IndexFunc(y, func(v int) bool { return v != 7 }); i >= 0 {
			t.Errorf("Fill: element %d is %d", i, y[i])
		}
		if n > 1000 {
			long := make([]int16, 1_000_000)
			for range 3 {
				Fill(s, long, 3)
			}
			if i := slices.IndexFunc(long, func(v int16) bool { return v != 3 }); i >= 0 {
				t.Errorf("Fill: element %d of many is %d", i, long[i])
			}
		}
		if k := Copy(s, y, x[:n/2]); k != n/2 {
			t.Errorf("Copy: %d of %d", k, n/2)
		}
		equal(t, "Copy", y[:n/2], x[:n/2])
		ranks := Map(s, x, func(v int) int { return v % 100 })
		for _, k := range []int{0, 1, 10, n, n + 5} {
			sorted := slices.Clone(ranks)
			slices.Sort(sorted)
			equal(t, fmt.Sprint("Smallest ", k), Smallest(s, ranks, k), sorted[:min(k, n)])
			slices.Reverse(sorted)
			equal(t, fmt.Sprint("Largest ", k), Largest(s, ranks, k), sorted[:min(k, n)])
			byAge := func(a, b int) int { return a%100 - b%100 }
			stable := slices.Clone(x)
			slices.SortStableFunc(stable, byAge)
			equal(t, fmt.Sprint("SmallestFunc by age ", k), SmallestFunc(s, x, k, byAge), stable[:min(k, n)])
			stable = slices.Clone(x)
			slices.SortStableFunc(stable, func(a, b int) int { return byAge(b, a) })
			equal(t, fmt.Sprint("LargestFunc by age ", k), LargestFunc(s, x, k, byAge), stable[:min(k, n)])
		}
	})
}

// Shuffles are the same with any number of workers, and have all elements.
func TestShufflesDoNotDependOnTheWorkers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 100, fewDealt, fewDealt + 1, 2*fewDealt + 77} {
		var first []int
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers))
			x := make([]int, n)
			for i := range x {
				x[i] = i
			}
			Shuffle(p, x, 42)
			if first == nil {
				first = slices.Clone(x)
			}
			equal(t, fmt.Sprintf("n=%d, %d workers", n, workers), x, first)
			y := slices.Clone(x)
			slices.Sort(y)
			for i := range y {
				if y[i] != i {
					t.Fatalf("n=%d: element %d is missing", n, i)
				}
			}
			Shuffle(p, x, 43)
			if n > 10 && slices.Equal(x, first) {
				t.Error("the seed does not matter")
			}
			p.Close()
		}
	}
	// Where an element ends up is even: chi squared over 16 parts, 15 degrees of freedom.
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	const n = fewDealt + 1
	rounds := 400
	if race.Enabled {
		rounds = 50
	}
	var parts [16]float64
	x := make([]int, n)
	for seed := range uint64(rounds) {
		for i := range x {
			x[i] = i
		}
		Shuffle(p, x, seed)
		parts[16*slices.Index(x, 0)/n]++
	}
	chi := 0.0
	for _, k := range parts {
		mean := float64(rounds) / 16
		chi += (k - mean) * (k - mean) / mean
	}
	if chi > 50 {
		t.Errorf("chi squared %v: %v", chi, parts)
	}
}

// NaN differs from NaN, as keys of maps do.
func TestNaNIsAKeyOfItsOwn(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	x := make([]float64, 10_000)
	for i := range x {
		if x[i] = float64(i % 5); i%5 == 4 {
			x[i] = math.NaN()
		}
	}
	if n := len(Unique(p, x)); n != 4+2000 {
		t.Errorf("%d different elements", n)
	}
	groups, n := GroupBy(p, x, func(v float64) float64 { return v }), 0
	for k, g := range groups {
		n += len(g)
		if math.IsNaN(k) && len(g) != 1 || !math.IsNaN(k) && len(g) != 2000 {
			t.Errorf("%d in group %v", len(g), k)
		}
		if cap(g) != len(g) {
			t.Errorf("group %v has room in the next one", k)
		}
	}
	if len(groups) != 4+2000 || n != len(x) {
		t.Errorf("%d groups of %d elements", len(groups), n)
	}
}

func TestSequencesAreLikeSlices(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		x := ints(n, 1000, r)
		equal(t, "MapSeq", slices.Collect(MapSeq(s, slices.Values(x), func(v int) int { return v + 1 })),
			Map(s, x, func(v int) int { return v + 1 }))
		taken := 0
		counting := func(yield func(int) bool) {
			for _, v := range x {
				if taken++; !yield(v) {
					return
				}
			}
		}
		got := 0
		for range MapSeq(s, counting, func(v int) int { return v }, WithGrain(10)) {
			if got++; got == 5 {
				break
			}
		}
		if taken > 10 {
			t.Errorf("%d values were taken for %d", taken, got)
		}
		var sum atomic.Int64
		FromSeq(s, slices.Values(x), func(v int) { sum.Add(int64(v)) })
		if int(sum.Load()) != Sum(s, x) {
			t.Error("FromSeq: wrong sum")
		}
	})
}

// What a sequence has yielded, and what came of it, is not held any longer than the batch.
func TestSequencesRetainNothing(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	type big struct{ _ [1 << 10]byte }
	var values, results []weak.Pointer[big]
	seq := func(yield func(*big) bool) {
		for range 15 {
			v := new(big)
			values = append(values, weak.Make(v))
			if !yield(v) {
				return
			}
		}
	}
	check := func(what string, all []weak.Pointer[big]) {
		runtime.GC()
		for i, w := range all {
			if w.Value() != nil {
				t.Errorf("%s %d is held", what, i)
			}
		}
	}
	n := 0
	for r := range MapSeq(p, seq, func(*big) *big { return new(big) }, WithGrain(10)) {
		results = append(results, weak.Make(r))
		if n++; n == 12 { // the second batch is shorter
			check("value", values[:10])
			check("result", results[:10])
		}
	}
	values, n = nil, 0
	FromSeq(p, seq, func(*big) {
		if n++; n == 12 {
			check("value", values[:10])
		}
	}, WithGrain(10))
}

// A panic and a Goexit arrive at the caller, once, and nothing runs then.
func TestAPanicArrivesAtTheCallerOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		if n == 0 {
			return
		}
		bad := r.IntN(n)
		x := ints(n, 10, r)
		at := func(i int) {
			if i == bad {
				panic("bad")
			}
		}
		for name, f := range panicking(s, x, at) {
			func() {
				defer func() {
					err, ok := recover().(*filch.PanicError)
					if !ok || err.Value != "bad" {
						t.Errorf("%s: %v", name, err)
					}
				}()
				f()
				t.Errorf("%s returned", name)
			}()
		}
		if _, isWorker := s.(*filch.Worker); isWorker {
			return
		}
		done := make(chan bool)
		go func() {
			defer close(done)
			For(s, n, func(i int) {
				if i == bad {
					runtime.Goexit()
				}
			})
			t.Error("a Goexit was lost")
		}()
		<-done
	})
}

// panicking are calls for x that panic, with at for each element where there is an index.
func panicking(s filch.Scope, x []int, at func(i int)) map[string]func() {
	n := len(x)
	return map[string]func(){
		"For": func() { For(s, n, at) },
		"Reduce": func() { // at the last of its calls
			var calls atomic.Int64
			Reduce(s, x, 0, func(a, b int) int {
				if calls.Add(1) == int64(n)-1 {
					panic("bad")
				}
				return a + b
			})
			panic(&filch.PanicError{Value: "bad"}) // there is none for one element
		},
		"Scan":        func() { Scan(s, x, x, func(_, _ int) int { panic("bad") }); panic(&filch.PanicError{Value: "bad"}) },
		"ScanEx":      func() { ScanExclusive(s, x, x, 0, func(_, _ int) int { panic("bad") }) },
		"ForErr":      func() { ForErr(s, n, func(i int) error { at(i); return nil }) },
		"Each":        func() { Each(s, x, func(i, _ int) { at(i) }) },
		"IndexFunc":   func() { IndexFunc(s, x, func(int) bool { panic("bad") }) },
		"Filter":      func() { Filter(s, x, func(int) bool { panic("bad") }) },
		"Map":         func() { Map(s, x, func(int) int { panic("bad") }) },
		"Count":       func() { Count(s, x, func(int) bool { panic("bad") }) },
		"GroupBy":     func() { GroupBy(s, x, func(int) int { panic("bad") }) },
		"CountRange":  func() { CountRange(s, n, func(lo, hi int) int { panic("bad") }) },
		"IndexRange":  func() { IndexRange(s, n, func(lo, hi int) int { panic("bad") }) },
		"AllRange":    func() { AllRange(s, n, func(lo, hi int) bool { panic("bad") }) },
		"Partition":   func() { Partition(s, x, func(int) bool { panic("bad") }) },
		"Histogram":   func() { Histogram(s, x, 3, func(int) int { panic("bad") }) },
		"MapReduce":   func() { MapReduce(s, x, 0, func(int) int { panic("bad") }, add) },
		"ReduceRange": func() { ReduceRange(s, n, 0, func(lo, hi int) int { at(lo); panic("bad") }, add) },
		"MapErr":      func() { MapErr(s, x, func(int) (int, error) { panic("bad") }) },
		"ForScope":    func() { ForScope(s, n, func(_ filch.Scope, i int) { at(i) }) },
		"ForRange":    func() { ForRange(s, n, func(lo, hi int) { panic("bad") }) },
		"ForTiles":    func() { ForTiles(s, n, 3, func(_, _, _, _ int) { panic("bad") }) },
		"FromSeq":     func() { FromSeq(s, slices.Values(x), func(int) { panic("bad") }) },
		"MapSeq": func() {
			for range MapSeq(s, slices.Values(x), func(int) int { panic("bad") }) {
			}
		},
		"LargestFunc": func() {
			LargestFunc(s, x, 1+n/20, func(_, _ int) int { panic("bad") })
			panic(&filch.PanicError{Value: "bad"}) // one is in order
		},
		"MinMaxFunc": func() {
			MinMaxFunc(s, x, func(_, _ int) int { panic("bad") })
			panic(&filch.PanicError{Value: "bad"})
		},
		"MergeFunc": func() {
			MergeFunc(s, make([]int, 2*n), x, x, func(_, _ int) int { panic("bad") })
		},
	}
}

// Small inputs do not allocate for each element, and loops as good as nothing.
func TestSmallInputsAllocateAsGoodAsNothing(t *testing.T) {
	racetest.Skip(t, "it checks what a loop costs")
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{100, 100_000} {
		x := make([]int, n)
		yes := func(v int) bool { return v >= 0 }
		for name, f := range map[string]func(){
			"For":           func() { For(p, n, func(i int) { x[i] = i }) },
			"ForScope":      func() { ForScope(p, n, func(_ filch.Scope, i int) { x[i] = i }) },
			"ForErr":        func() { ForErr(p, n, func(i int) error { return nil }) },
			"Each":          func() { Each(p, x, func(i, v int) {}) },
			"MapInto":       func() { MapInto(p, x, x, func(v int) int { return v + 1 }) },
			"Sum":           func() { Sum(p, x) },
			"Reduce":        func() { Reduce(p, x, 0, add) },
			"ReduceRange":   func() { ReduceRange(p, n, 0, func(lo, hi int) int { return hi }, add) },
			"MinMaxFunc":    func() { MinMaxFunc(p, x, cmp.Compare[int]) },
			"Count":         func() { Count(p, x, yes) },
			"IndexFunc":     func() { IndexFunc(p, x, func(v int) bool { return v < 0 }) },
			"Scan":          func() { Scan(p, x, x, func(a, b int) int { return a }) },
			"ScanExclusive": func() { ScanExclusive(p, x, x, 0, func(a, b int) int { return a }) },
			"Filter":        func() { Filter(p, x, yes) },
			"Partition":     func() { Partition(p, x, yes) },
			"Histogram":     func() { Histogram(p, x, 3, func(v int) int { return v & 1 }) },
			"Smallest":      func() { Smallest(p, x, 3) },
			"Largest":       func() { Largest(p, x, 3) },
			"Fill":          func() { Fill(p, x, 1) },
			"IsSorted":      func() { IsSorted(p, x) },
		} {
			f()
			if k := testing.AllocsPerRun(20, f); k > float64(30+n/1000) {
				t.Errorf("%s of %d: %v allocations", name, n, k)
			}
		}
	}
}

func TestMisuseIsToldByFunctionAndArgument(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for want, f := range map[string]func(){
		"par: For: s is nil":                               func() { For(nil, 1, func(int) {}) },
		"par: Each: s is nil":                              func() { Each((*filch.Pool)(nil), []int{1}, func(int, int) {}) },
		"par: For: n is -1, which is negative":             func() { For(p, -1, func(int) {}) },
		"par: For: the function is nil":                    func() { For(p, 1, nil) },
		"par: For: option 0 is nil":                        func() { For(p, 1, func(int) {}, nil) },
		"par: WithGrain(0): a chunk must have an element":  func() { WithGrain(0) },
		"par: For: there is nothing for WithContext to do": func() { For(p, 1, func(int) {}, WithContext(context.Background())) },
		"par: Map: there is nothing for AllErrors to do":   func() { Map(p, []int{1}, func(int) int { return 0 }, AllErrors()) },
		"par: ForErr: there is nothing for InFlight to do": func() { ForErr(p, 1, func(int) error { return nil }, InFlight(2)) },
		"par: Pipeline.Run: there is nothing for WithGrain to do": func() {
			From(slices.Values([]int{1})).Run(p, func(int) error { return nil }, WithGrain(2))
		},
		"par: InFlight(0): the number of values must be from 1 to 1000000": func() { InFlight(0) },
		"par: From: the function is nil":                                   func() { From[int](nil) },
		"par: Stage: the function is nil":                                  func() { Stage[int, int](From(slices.Values([]int{1})), 1, nil) },
		"par: Stage: width is -1, which is negative":                       func() { Stage(From(slices.Values([]int{1})), -1, func(int) (int, error) { return 0, nil }) },
		"par: Stage: the Pipeline is not from From or Stage":               func() { Stage(nil, 1, func(int) (int, error) { return 0, nil }) },
		"par: Pipeline.Run: the Pipeline is not from From or Stage":        func() { new(Pipeline[int]).Run(p, func(int) error { return nil }) },
		"par: Pipeline.Run: s is nil":                                      func() { From(slices.Values([]int{1})).Run(nil, func(int) error { return nil }) },
		"par: Pipeline.Run: the function is nil":                           func() { From(slices.Values([]int{1})).Run(p, nil) },
		"par: ReduceRange: n is -1, which is negative": func() {
			ReduceRange(p, -1, 0, func(lo, hi int) int { return 0 }, func(a, b int) int { return 0 })
		},
		"par: MinMaxFunc: the function is nil":             func() { MinMaxFunc(p, []int{1}, nil) },
		"par: WithContext: ctx is nil":                     func() { var none context.Context; WithContext(none) },
		"par: MapInto: dst has 1 elements, and x 2":        func() { MapInto(p, make([]int, 1), make([]int, 2), func(int) int { return 0 }) },
		"par: Scan: dst has 1 elements, and x 2":           func() { Scan(p, make([]int, 1), make([]int, 2), func(a, b int) int { return 0 }) },
		"par: Histogram: buckets is -1, which is negative": func() { Histogram(p, []int{1}, -1, func(int) int { return 0 }) },
		"par: ForTiles: height is -1, which is negative":   func() { ForTiles(p, 1, -1, func(_, _, _, _ int) {}) },
		"par: Smallest: k is -1, which is negative":        func() { Smallest(p, []int{1}, -1) },
		"par: Largest: k is -1, which is negative":         func() { Largest(p, []int{1}, -1) },
		"par: SmallestFunc: k is -1, which is negative":    func() { SmallestFunc(p, []int{1}, -1, cmp.Compare[int]) },
		"par: LargestFunc: k is -1, which is negative":     func() { LargestFunc(p, []int{1}, -1, cmp.Compare[int]) },
		"par: WalkDir: fsys is nil":                        func() { WalkDir(p, nil, ".", func(string, fsDirEntry, error) error { return nil }) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

// The same for those that go through blocks, or keep partial results: elements that become dear
// after they were known to take nothing.
func TestCostChangesInBlocks(t *testing.T) {
	const n = 80
	for name, run := range map[string]func(p *filch.Pool, x []int, wait func()){
		"Reduce": func(p *filch.Pool, x []int, wait func()) {
			Reduce(p, x, 0, func(a, b int) int { wait(); return a + b })
		},
		"MapReduce": func(p *filch.Pool, x []int, wait func()) {
			MapReduce(p, x, 0, func(v int) int { wait(); return v }, add)
		},
		"ReduceRange": func(p *filch.Pool, x []int, wait func()) {
			ReduceRange(p, len(x), 0, func(lo, hi int) int { wait(); return lo }, add)
		},
		"Count":     func(p *filch.Pool, x []int, wait func()) { Count(p, x, func(v int) bool { wait(); return true }) },
		"Filter":    func(p *filch.Pool, x []int, wait func()) { Filter(p, x, func(v int) bool { wait(); return true }) },
		"Partition": func(p *filch.Pool, x []int, wait func()) { Partition(p, x, func(v int) bool { wait(); return true }) },
		"Histogram": func(p *filch.Pool, x []int, wait func()) {
			Histogram(p, x, 3, func(v int) int { wait(); return v % 3 })
		},
		"GroupBy":   func(p *filch.Pool, x []int, wait func()) { GroupBy(p, x, func(v int) int { wait(); return v % 3 }) },
		"Scan":      func(p *filch.Pool, x []int, wait func()) { Scan(p, x, x, func(a, b int) int { wait(); return a + b }) },
		"ForScope":  func(p *filch.Pool, x []int, wait func()) { ForScope(p, len(x), func(filch.Scope, int) { wait() }) },
		"IndexFunc": func(p *filch.Pool, x []int, wait func()) { IndexFunc(p, x, func(int) bool { wait(); return false }) },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(8))
			defer p.Close()
			slow := false
			wait := func() {
				if slow {
					time.Sleep(time.Second)
				}
			}
			x := make([]int, n)
			for range 3 {
				run(p, x, wait)
			}
			known := func(each int64) {
				for i := range costs {
					if costs[i].each.Load() > 0 {
						costs[i].each.Store(each)
					}
				}
			}
			known(ns) // as cheap as can be
			defer known(0)
			slow = true
			begin := time.Now()
			run(p, x, wait)
			most := 2*n/8 + 3 // 10 rounds, if all goes well
			if name == "Scan" {
				most = 3 * n / 4 // the first block, then totals of blocks, what is before each, and all again
			}
			if rounds := int(time.Since(begin) / time.Second); rounds > most {
				t.Errorf("%s: %d rounds for %d elements on 8 workers", name, rounds, n)
			}
		})
	}
}

// Elements that suddenly take long are shared, though what came before them took nothing.
func TestElementsThatSuddenlyTakeLongAreShared(t *testing.T) {
	for _, c := range []struct{ cheap, most int }{{0, 9}, {1, 20}, {10, 80}, {100, 80}, {100_000, 80}} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(8))
			defer p.Close()
			const dear = 64 * 8
			begin := time.Now()
			For(p, c.cheap+dear, func(i int) {
				if i >= c.cheap {
					time.Sleep(time.Second)
				}
			})
			if rounds := int(time.Since(begin) / time.Second); rounds > dear/8+c.most {
				t.Errorf("%d dear elements after %d that took nothing: %d rounds on 8 workers", dear, c.cheap, rounds)
			}
		})
	}
}

// A panic arrives when nothing of the call runs any more.
func TestNothingRunsAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(8))
		defer p.Close()
		var running, panics atomic.Int32
		func() {
			defer func() {
				if recover() != nil {
					panics.Add(1)
				}
				if n := running.Load(); n > 0 {
					t.Errorf("%d elements run", n)
				}
			}()
			For(p, 100, func(i int) {
				running.Add(1)
				defer running.Add(-1)
				time.Sleep(time.Duration(1+i%7) * time.Second)
				if i%10 == 3 {
					panic(i)
				}
			})
		}()
		if panics.Load() != 1 {
			t.Errorf("%d panics", panics.Load())
		}
	})
}

// With chunks of one, as many as there can be are halved all the same.
func TestGrainOfAll(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var calls atomic.Int64
	err := ForErr(p, math.MaxInt, func(i int) error {
		if i == 5 || i < 0 || calls.Add(1) > 1_000_000 {
			return fmt.Errorf("%d", i)
		}
		return nil
	}, WithGrain(1))
	if err == nil || err.Error() != "5" {
		t.Error("ForErr(p, math.MaxInt, …, WithGrain(1)):", err)
	}
}

// After an error or a panic, no elements are begun but those that are under way.
func TestNoMoreAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		var begun atomic.Int32
		err := ForErr(p, 200, func(i int) error {
			begun.Add(1)
			time.Sleep(time.Second)
			return errors.New("bad")
		}, WithGrain(100))
		if err == nil || begun.Load() > 2 {
			t.Errorf("%v, and %d elements", err, begun.Load())
		}
	})
}

// What op takes long is combined in parallel, in a tree.
func TestWhatTakesLongIsCombinedInATree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(8))
		defer p.Close()
		x := make([]int, 64)
		for i := range x {
			x[i] = i
		}
		begin := time.Now()
		got := MapReduce(p, x, 0, func(v int) int { return v }, func(a, b int) int { time.Sleep(time.Second); return a + b })
		if got != 63*64/2 {
			t.Errorf("the sum is %d", got)
		}
		if rounds := int(time.Since(begin) / time.Second); rounds > 16 { // 4+2+1+1+1+1, if all goes well
			t.Errorf("%d rounds for a tree of 64 on 8 workers", rounds)
		}
	})
}

// Where nobody else is, a loop is halved a few times, and not for each chunk.
func TestALoopIsHalvedAFewTimesIfNobodyAsks(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	synctest.Test(t, func(t *testing.T) { // a chunk for each element
		for range 3 {
			before := p.Stats().Published
			For(p, 10_000, func(int) { time.Sleep(time.Millisecond) })
			if n := p.Stats().Published - before; n > 40 {
				t.Errorf("%d of 10,000 elements were offered to nobody", n)
			}
		}
	})
}

// In a body of ForScope, the Scope leads to the Worker, however small the loop is. With one place, what is queued runs while a body waits for it.
func TestABodyOfForScopeMayBlock(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	defer p.Close()
	for _, n := range []int{1, 2, 10} {
		poll.End(t, fmt.Sprintf("a loop of %d, whose body blocks until a task has run, on one worker", n), func() {
			ForScope(p, n, func(s filch.Scope, i int) {
				s.Do(func(w *filch.Worker) {
					ran := make(chan bool)
					p.Go(context.Background(), func(context.Context) { close(ran) })
					w.Blocking(func() { <-ran })
				})
			}, WithGrain(1))
		})
	}
}

func odds(x []int) (n int) {
	for _, v := range x {
		n += v & 1
	}
	return n
}
