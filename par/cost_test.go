package par

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
)

// How often the functions that are passed are called: what is told, and not much more.
func TestFunctionsAreCalledAsOftenAsTold(t *testing.T) {
	for _, workers := range []int{1, 4} {
		p := filch.New(filch.WithWorkers(workers))
		for _, n := range []int{1, 2, 100, 5000, 100_000} {
			if race.Enabled && n > racetest.Fewer(500, 5000) {
				continue
			}
			x := rand.New(rand.NewPCG(1, uint64(n))).Perm(n)
			up, down, same := make([]int, n), make([]int, n), make([]int, n)
			for i := range n {
				up[i], down[i] = i, n-i
			}
			var calls atomic.Int64
			compare := func(a, b int) int { calls.Add(1); return cmp.Compare(a, b) }
			op := func(a, b int) int { calls.Add(1); return a + b }
			each := func(v int) int { calls.Add(1); return v }
			yes := func(v int) bool { calls.Add(1); return v&1 == 0 }
			dst := make([]int, n)
			log := bits.Len(uint(n))
			for _, c := range []struct {
				name        string
				run         func()
				least, most int
			}{
				{"For", func() { For(p, n, func(int) { calls.Add(1) }) }, n, n},
				{"Map", func() { Map(p, x, each) }, n, n},
				{"Filter", func() { Filter(p, x, yes) }, n, n},
				{"Partition", func() { Partition(p, x, yes) }, n, n},
				{"Count", func() { Count(p, x, yes) }, n, n},
				{"Histogram", func() { Histogram(p, x, n+1, each) }, n, n},
				{"GroupBy", func() { GroupBy(p, x, each) }, n, n},
				{"Reduce", func() { Reduce(p, x, 0, op) }, n - 1, n - 1},
				{"MapReduce", func() { MapReduce(p, x, 0, each, add) }, n, n},
				{"Scan", func() { Scan(p, dst, x, op) }, n - 1, 2*n + 2*int(math.Sqrt(float64(n))) + 2},
				{"ScanExclusive", func() { ScanExclusive(p, dst, x, 0, op) }, n - 1, 2*n + 3*int(math.Sqrt(float64(n))) + 3},
				{"MinMaxFunc", func() { MinMaxFunc(p, x, compare) }, n - 1, 2 * n},
				{"All", func() { All(p, x, func(int) bool { calls.Add(1); return true }) }, n, n},
				{"IsSortedFunc", func() { IsSortedFunc(p, up, compare) }, n - 1, n - 1},
				{"MergeFunc", func() { MergeFunc(p, dst, up[:n/2], up[n/2:], compare) }, 0, n + 100*log},
				{"SortFunc, sorted", func() { SortFunc(p, slices.Clone(up), compare) }, n - 1, n + n/8 + 50},
				{"SortFunc, descending", func() { SortFunc(p, slices.Clone(down), compare) }, n - 1, 2*n + n/2 + 50},
				{"SortFunc, equal", func() { SortFunc(p, slices.Clone(same), compare) }, n - 1, n + n/8 + 50},
				{"SortFunc, random", func() { SortFunc(p, slices.Clone(x), compare) }, n - 1, 2*n*log + 50},
				{"SortStableFunc, sorted", func() { SortStableFunc(p, slices.Clone(up), compare) }, n - 1, n + n/8 + 50},
				{"SortStableFunc, descending", func() { SortStableFunc(p, slices.Clone(down), compare) }, n - 1, 2*n + n/2 + 50},
				{"SortStableFunc, equal", func() { SortStableFunc(p, slices.Clone(same), compare) }, n - 1, n + n/8 + 50},
				{"SortStableFunc, random", func() { SortStableFunc(p, slices.Clone(x), compare) }, n - 1, 2*n*log + 50},
				{"SmallestFunc", func() { SmallestFunc(p, x, min(n, 10), compare) }, 0, 3*n + 20_000*workers},
				{"SmallestFunc, equal", func() { SmallestFunc(p, same, min(n, 10), compare) }, 0, n + n/4 + 20_000*workers},
				{"SmallestFunc, descending", func() { SmallestFunc(p, down, min(n, n/20), compare) }, 0, 8*n*log + 50},
				{"IndexFunc", func() { IndexFunc(p, x, func(int) bool { calls.Add(1); return false }) }, n, n},
			} {
				for range 2 {
					calls.Store(0)
					c.run()
					if k := int(calls.Load()); k < c.least || k > c.most {
						t.Errorf("%s of %d on %d workers: %d calls, not %d to %d", c.name, n, workers, k, c.least, c.most)
					}
				}
			}
		}
		p.Close()
	}
}

// What is found early ends the search early.
func TestSearchEndsEarly(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	const n = 1_000_000
	x := make([]int, n)
	x[1000] = 1
	var calls int
	is := func(v int) bool { calls++; return v == 1 }
	isNot := func(v int) bool { calls++; return v != 1 }
	for name, f := range map[string]func(){
		"IndexFunc":    func() { IndexFunc(p, x, is) },
		"IndexFuncAny": func() { IndexFuncAny(p, x, is) },
		"Any":          func() { Any(p, x, is) },
		"All":          func() { All(p, x, isNot) },
		"IsSortedFunc": func() {
			IsSortedFunc(p, x, func(a, b int) int { calls++; return cmp.Compare(a, b) })
		},
	} {
		for range 3 {
			calls = 0
			if f(); calls > n/2 {
				t.Errorf("%s: %d calls for what is at 1000", name, calls)
			}
		}
	}
}

// Functions take the memory that is told.
func TestFunctionsTakeTheMemoryThatIsTold(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	const n = 200_000 // of 8 bytes
	x, down, dst := make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		x[i], down[i] = i*7919%n, n-i
	}
	for _, c := range []struct {
		name string
		most int // bytes
		run  func()
	}{
		{"For", 10_000, func() { For(p, n, func(int) {}) }},
		{"MapInto", 10_000, func() { MapInto(p, dst, x, func(v int) int { return v }) }},
		{"Sum", 20_000, func() { Sum(p, x) }},
		{"Fill", 10_000, func() { Fill(p, dst, 1) }},
		{"Copy", 10_000, func() { Copy(p, dst, x) }},
		{"Count", 20_000, func() { Count(p, x, func(v int) bool { return v&1 == 0 }) }},
		{"Scan", 20_000 + 20*1000, func() { Scan(p, dst, x, add) }},
		{"PrefixSum", 10_000, func() { PrefixSum(p, dst, x) }},
		{"FilterBetween", 8*n/2 + 20_000, func() { FilterBetween(p, x, 0, n/2) }},
		{"Filter", 8*n/2 + n/2 + 50_000, func() { Filter(p, x, func(v int) bool { return v&1 == 0 }) }},
		{"Partition", 8*n + n/2 + 50_000, func() { Partition(p, x, func(v int) bool { return v&1 == 0 }) }},
		{"Histogram", 60_000, func() { Histogram(p, x, 100, func(v int) int { return v % 100 }) }},
		{"SmallestFunc", 700_000, func() { SmallestFunc(p, x, 1000, cmp.Compare[int]) }},
		{"SmallestFunc, descending", 700_000, func() { SmallestFunc(p, down, 1000, cmp.Compare[int]) }},
		{"Sort", 9*n + 300_000, func() { copy(dst, x); Sort(p, dst) }},
		{"SortFunc", 8*n/10 + 200_000, func() { copy(dst, x); SortFunc(p, dst, cmp.Compare[int]) }},
		{"SortStableFunc", 9*n + 200_000, func() { copy(dst, x); SortStableFunc(p, dst, cmp.Compare[int]) }},
		{"Merge", 20_000, func() { Merge(p, dst, x[:n/2], x[n/2:]) }},
		{"FromSeq", 300_000, func() { FromSeq(p, slices.Values(x), func(int) {}) }},
	} {
		c.run()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.run()
		runtime.ReadMemStats(&after)
		if k := after.TotalAlloc - before.TotalAlloc; k > uint64(c.most) {
			t.Errorf("%s of %d: %d bytes were allocated, more than %d", c.name, n, k, c.most)
		}
	}
}

// What is remembered of a function is what one element costs, also where blocks or chunks are
// counted.
func TestCostOfAnElement(t *testing.T) {
	racetest.Skip(t, "it checks what a loop costs")
	const n = 1000
	nap := func() { time.Sleep(time.Millisecond) }
	one := func(int) { nap() }
	mapped := func(v int) int { nap(); return v }
	counted := func(v int) bool { nap(); return true }
	reduced := func(v int) int { nap(); return v }
	grouped := func(v int) int { nap(); return 0 }
	ranged := func(lo, hi int) { time.Sleep(time.Duration(hi-lo) * time.Millisecond) }
	compared := func(a, b int) int { nap(); return a - b }
	combined := func(a, b int) int { nap(); return a + b }
	x := make([]int, n)
	for name, c := range map[string]struct {
		of   any
		kind kind
		run  func(p *filch.Pool)
	}{
		"For":          {one, asIs, func(p *filch.Pool) { For(p, n, one) }},
		"Map":          {mapped, asIs, func(p *filch.Pool) { Map(p, x, mapped) }},
		"ForRange":     {ranged, asIs, func(p *filch.Pool) { ForRange(p, n, ranged) }},
		"Count":        {counted, asIs, func(p *filch.Pool) { Count(p, x, counted) }},
		"MapReduce":    {reduced, asIs, func(p *filch.Pool) { MapReduce(p, x, 0, reduced, add) }},
		"Histogram":    {grouped, toCount, func(p *filch.Pool) { Histogram(p, x, 1, grouped) }},
		"IsSortedFunc": {compared, inRanges, func(p *filch.Pool) { IsSortedFunc(p, x, compared) }},
		"Scan":         {combined, asIs, func(p *filch.Pool) { Scan(p, x, x, combined) }},
	} {
		for _, workers := range []int{1, 4} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				for range 2 {
					c.run(p)
					if each := costOf(c.of, c.kind).known(); each < 250_000*ns || each > 2_100_000*ns {
						t.Errorf("%s on %d workers: an element of a millisecond is said to take %v", name, workers, time.Duration(each/ns))
					}
				}
				p.Close()
			})
		}
	}
}

// Merges are stable: of equal elements, those of a come first, in pieces as well. Zeros of floating
// point are equal, and can be told apart.
func TestMergeIsStable(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	type pair struct{ key, from int }
	for _, n := range []int{1, 2, 10, 1000, 50_000} {
		a, b := make([]float64, n), make([]float64, n/2+1)
		for i := range b {
			b[i] = math.Copysign(0, -1)
		}
		dst := make([]float64, len(a)+len(b))
		Merge(p, dst, a, b)
		for i, v := range dst {
			if math.Signbit(v) != (i >= n) {
				t.Fatalf("of %d equal elements of a and %d of b, %d is from the wrong one", len(a), len(b), i)
			}
		}
		x, y := make([]pair, n), make([]pair, n)
		for i := range n {
			x[i], y[i] = pair{i / 7, i}, pair{i / 7, n + i}
		}
		want := append(slices.Clone(x), y...)
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		slices.SortStableFunc(want, byKey)
		got := make([]pair, 2*n)
		MergeFunc(p, got, x, y, byKey)
		equal(t, fmt.Sprint("MergeFunc of ", n), got, want)
	}
	nan := math.NaN()
	for _, n := range []int{10, 5000} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(i), float64(i)
			if i < n/2 {
				a[i], b[i] = nan, nan
			}
		}
		dst := make([]float64, 2*n)
		if Merge(p, dst, a, b); !slices.IsSorted(dst) {
			t.Errorf("NaN is not first: %v", dst[:min(20, 2*n)])
		}
	}
}

// Tiles have sides of 64, or of n, but at the ends.
func TestSidesOfTiles(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for _, c := range []struct{ width, height, grain, side int }{{200, 130, 0, 64}, {64, 64, 0, 64}, {65, 1, 0, 64}, {10, 10, 3, 3}, {1, 100, 50, 50}} {
		var opts []Option
		if c.grain > 0 {
			opts = append(opts, WithGrain(c.grain))
		}
		tiles := 0
		ForTiles(p, c.width, c.height, func(x0, y0, x1, y1 int) {
			tiles++
			if x0%c.side != 0 || y0%c.side != 0 || x1 != min(x0+c.side, c.width) || y1 != min(y0+c.side, c.height) {
				t.Errorf("%+v: the tile %d %d %d %d", c, x0, y0, x1, y1)
			}
		}, opts...)
		if want := ((c.width + c.side - 1) / c.side) * ((c.height + c.side - 1) / c.side); tiles != want {
			t.Errorf("%+v: %d tiles, not %d", c, tiles, want)
		}
	}
}

// Chunks have as many elements as WithGrain says, and start at multiples of that.
func TestChunksOfWithGrain(t *testing.T) {
	for _, workers := range []int{1, 4} {
		p := filch.New(filch.WithWorkers(workers))
		for _, n := range []int{1, 9, 10, 11, 1000, 1005} {
			var covered atomic.Int64
			ForRange(p, n, func(lo, hi int) {
				covered.Add(int64(hi - lo))
				if lo%10 != 0 || hi != min(lo+10, n) {
					t.Errorf("n=%d: the chunk [%d, %d)", n, lo, hi)
				}
			}, WithGrain(10))
			if covered.Load() != int64(n) {
				t.Errorf("n=%d: %d elements", n, covered.Load())
			}
		}
		p.Close()
	}
}

// A sequence is taken in batches of 32, then twice as many up to 4,096, as long as they take
// little; no more is taken than was said.
func TestBatchesGrowAsLongAsTheyTakeLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			conf  config
			nap   time.Duration
			sizes []int
		}{
			{config{}, 0, []int{32, 64, 128, 256, 512, 1024, 2048, 4096, 4096, 744}},
			{config{}, time.Millisecond, []int{32, 64, 128, 256, 512, 1024, 2048, 4096, 4096, 744}},
			{config{}, 2 * time.Millisecond, append(slices.Repeat([]int{32}, 406), 8)},
			{config{grain: 5000}, 0, []int{5000, 5000, 3000}},
		} {
			taken, next := 0, 0
			var sizes []int
			for batch := range batches(func(yield func(int) bool) {
				for i := range 13_000 {
					if taken++; !yield(i) {
						return
					}
				}
			}, c.conf) {
				sizes = append(sizes, len(batch))
				for _, v := range batch {
					if v != next {
						t.Fatalf("%d comes in place of %d", v, next)
					}
					next++
				}
				if taken != next {
					t.Errorf("%d values were taken, and %d passed on", taken, next)
				}
				time.Sleep(c.nap)
			}
			if !slices.Equal(sizes, c.sizes) {
				t.Errorf("%+v: batches of %v", c.conf, sizes)
			}
		}
	})
}

// Ranges take about ten microseconds, once it is known how long an element takes: one element each
// if that is more.
func TestLengthOfRanges(t *testing.T) {
	racetest.Skip(t, "it checks into how many pieces a loop is cut")
	for _, c := range []struct {
		each        time.Duration
		least, most int
	}{{time.Millisecond, 1, 1}, {10 * time.Microsecond, 1, 1}, {time.Microsecond, 8, 12}, {100 * time.Nanosecond, 80, 120}} {
		for _, workers := range []int{1, 2} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				const n = 20_000
				var mu sync.Mutex
				lengths := map[int]int{}
				for range 2 {
					ForRange(p, n, func(lo, hi int) {
						time.Sleep(time.Duration(hi-lo) * c.each)
						mu.Lock()
						lengths[hi-lo]++
						mu.Unlock()
					})
				}
				good, all := 0, 0
				for k, times := range lengths {
					if all += k * times; k >= c.least && k <= c.most {
						good += k * times
					}
				}
				if all != 2*n || good < all*9/10 {
					t.Errorf("%v each: %d of %d elements in ranges of %d to %d: %v", c.each, good, all, c.least, c.most, lengths)
				}
				p.Close()
			})
		}
	}
}

// Ranges of cheap elements begin at cache lines, but for those before the cost is known and those of what is left.
func TestRangesBeginAtLines(t *testing.T) {
	if race.Enabled {
		t.Skip("under the race detector elements are dear, so few go to a range")
	}
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		var odd, all atomic.Int64
		x := make([]byte, 1<<22)
		ForRange(p, len(x), func(lo, hi int) {
			if all.Add(1); lo%cacheLine != 0 {
				odd.Add(1)
			}
			for i := range x[lo:hi] {
				x[lo+i]++
			}
		})
		if n := odd.Load(); 4*n > all.Load()+40 {
			t.Errorf("%d workers: %d of %d ranges begin between two lines", workers, n, all.Load())
		}
		for i, v := range x {
			if v != 1 {
				t.Fatalf("%d workers: element %d was processed %d times", workers, i, v)
			}
		}
		p.Close()
	}
}
