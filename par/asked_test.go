package par

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/rig"
)

func TestIndicesAsksOnceForEachElement(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		for _, below := range []int{1, 2, 100} {
			x := ints(n, below, r)
			var want []int
			for i, v := range x {
				if v == 0 {
					want = append(want, i)
				}
			}
			calls := make([]atomic.Int32, n)
			equal(t, fmt.Sprintf("one of %d", below), Indices(s, n, func(i int) bool { calls[i].Add(1); return x[i] == 0 }), want)
			for i := range calls {
				if k := calls[i].Load(); k != 1 {
					t.Fatalf("%d calls for %d", k, i)
				}
			}
		}
		equal(t, "none", Indices(s, n, func(int) bool { return false }), nil)
	})
}

func TestCompactIsLikeThatOfSlices(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		for _, below := range []int{1, 2, 5, 1000} {
			x := ints(n, below, r)
			before, want := slices.Clone(x), slices.Compact(slices.Clone(x))
			equal(t, "Compact", Compact(s, x), want)
			equal(t, "x", x, before)
			texts := make([]string, n)
			for i, v := range x {
				texts[i] = fmt.Sprint(v)
			}
			equal(t, "Compact of strings", Compact(s, texts), slices.Compact(slices.Clone(texts)))
			// what is equal is not the same, so it matters which stays
			pairs := make([]pair, n)
			for i, v := range x {
				pairs[i] = pair{v, i}
			}
			var calls atomic.Int64
			got := CompactFunc(s, pairs, func(a, b pair) bool {
				if calls.Add(1); b.at != a.at+1 {
					t.Errorf("%d is compared with %d", a.at, b.at)
				}
				return a.key == b.key
			})
			if k := int(calls.Load()); k != max(n-1, 0) {
				t.Errorf("%d calls for %d elements", k, n)
			}
			equal(t, "CompactFunc", got, slices.CompactFunc(pairs, func(a, b pair) bool { return a.key == b.key }))
		}
	})
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	nan := math.NaN()
	if x := Compact(p, []float64{nan, nan, 0, math.Copysign(0, -1), 1}); len(x) != 4 {
		t.Errorf("NaN and zeros: %v", x)
	}
}

func TestMinByMaxBy(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		for _, below := range []int{1, 3, 1000} {
			pairs := make([]pair, n)
			for i := range pairs {
				pairs[i] = pair{r.IntN(below), i}
			}
			for name, c := range map[string]struct {
				by   func(key func(p pair) float64) (pair, bool)
				sign int
			}{
				"MinBy": {func(key func(p pair) float64) (pair, bool) { return MinBy(s, pairs, key) }, 1},
				"MaxBy": {func(key func(p pair) float64) (pair, bool) { return MaxBy(s, pairs, key) }, -1},
			} {
				for _, nan := range []int{-1, 0, n / 2, n - 1} { // which has NaN for a key
					plain := func(p pair) float64 {
						if p.at == nan {
							return math.NaN()
						}
						return float64(p.key)
					}
					var calls atomic.Int64
					got, ok := c.by(func(p pair) float64 { calls.Add(1); return plain(p) })
					if k := int(calls.Load()); k != n {
						t.Errorf("%s: %d calls for %d elements", name, k, n)
					}
					if n == 0 {
						if ok {
							t.Error(name, "of nothing")
						}
						continue
					}
					want := pairs[0]
					for _, p := range pairs {
						if c.sign*cmp.Compare(plain(p), plain(want)) < 0 {
							want = p
						}
					}
					if got != want || !ok {
						t.Errorf("%s, NaN at %d: %v, not %v", name, nan, got, want)
					}
				}
			}
		}
	})
}

func TestAnyRangeLooksEverywhereIfNothingIsThere(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, _ *rand.Rand) {
		for _, at := range []int{-1, 0, n / 2, n - 1} {
			var seen atomic.Int64
			got := AnyRange(s, n, func(lo, hi int) bool {
				if lo >= hi || lo < 0 || hi > n {
					t.Errorf("range %d, %d", lo, hi)
				}
				seen.Add(int64(hi - lo))
				return lo <= at && at < hi
			})
			if want := at >= 0 && at < n; got != want {
				t.Errorf("at %d: %v", at, got)
			}
			if at < 0 && int(seen.Load()) != n {
				t.Errorf("%d of %d were looked at", seen.Load(), n)
			}
		}
	})
}

// It stops soon: of a range without an end, only few are looked at.
func TestAnyRangeEnds(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for range 3 {
			if !AnyRange(p, math.MaxInt, func(lo, _ int) bool { return true }) {
				t.Error("not found")
			}
		}
		p.Close()
	}
}

// wide is a struct that nobody wants to copy.
type wide struct {
	v, doubled int
	_          [14]int
}

func TestPointersToElements(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		for _, opts := range [][]Option{nil, {WithGrain(1)}, {WithGrain(7)}, {WithGrain(n + 1)}} {
			x := make([]wide, n)
			for i := range x {
				x[i].v = r.IntN(1000)
			}
			EachPtr(s, x, func(i int, v *wide) {
				if v != &x[i] {
					t.Errorf("element %d is another one", i)
				}
				v.doubled += 2 * v.v
			}, opts...)
			got := MapPtr(s, x, func(v *wide) *wide { return v }, opts...)
			if len(got) != n {
				t.Fatalf("%d results", len(got))
			}
			for i := range x {
				if x[i].doubled != 2*x[i].v || got[i] != &x[i] {
					t.Fatalf("element %d: %v, %p", i, x[i], got[i])
				}
			}
		}
	})
}

// letters is a hash of letters in their order. They are joined associatively, but do not commute.
type letters struct{ hash, power uint64 }

func (a letters) add(b letters) letters { return letters{a.hash*b.power + b.hash, a.power * b.power} }

func TestGroupReduceIsLikeALoop(t *testing.T) {
	letter := func(v int) letters { return letters{uint64(v) + 7, 16777619} }
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		for _, below := range []int{1, 7, 40, math.MaxInt32} {
			x := ints(n, below, r)
			want := map[int]letters{}
			for i, v := range x {
				if _, ok := want[v]; !ok {
					want[v] = letters{0, 1}
				}
				want[v] = want[v].add(letter(v + i))
			}
			places := make([]pair, n)
			for i, v := range x {
				places[i] = pair{v, i}
			}
			for _, opts := range [][]Option{nil, {WithGrain(1)}, {WithGrain(100)}, {WithGrain(n + 1)}} {
				var keys, adds atomic.Int64
				got := GroupReduce(s, places, func(p pair) int { keys.Add(1); return p.key }, letters{0, 1},
					func(a letters, p pair) letters { adds.Add(1); return a.add(letter(p.key + p.at)) }, letters.add, opts...)
				if !maps.Equal(got, want) || got == nil {
					t.Errorf("%d keys, options %d: %d groups, not %d", below, len(opts), len(got), len(want))
				}
				if keys.Load() != int64(n) || adds.Load() != int64(n) {
					t.Errorf("%d and %d calls for %d elements", keys.Load(), adds.Load(), n)
				}
			}
		}
	})
}

// What is only nearly associative, and does not commute, comes to the same on any number of workers, whether
// functions take long or not; with blocks of one, it is that of a loop from the left.
func TestGroupReduceDoesNotDependOnWorkers(t *testing.T) {
	for _, n := range []int{5, 127, 128, 1000, 20_000} {
		x := ints(n, 10, rand.New(rand.NewPCG(1, 1)))
		letter := func(v int) string { return string(rune('a' + v)) }
		tree := func(a, b string) string { // of three letters, what was joined with what
			h := uint32(1)
			for _, c := range a + "," + b + ")" {
				h = h*16777619 ^ uint32(c)
			}
			return fmt.Sprint(h)
		}
		var first map[int]string
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers))
			for _, slow := range []bool{false, true} {
				got := GroupReduce(p, x, func(v int) int { return v }, "", func(a string, v int) string {
					if slow && v == 3 {
						for range 100 {
							runtime.Gosched()
						}
					}
					return tree(a, letter(v))
				}, tree)
				if first == nil {
					first = got
				}
				if !maps.Equal(got, first) {
					t.Errorf("%d elements, %d workers: %v, not %v", n, workers, got, first)
				}
			}
			got := GroupReduce(p, x, func(v int) int { return v & 1 }, "", func(_ string, v int) string { return letter(v) }, tree, WithGrain(1))
			want := map[int]string{}
			for _, v := range x {
				if old, ok := want[v&1]; ok {
					want[v&1] = tree(old, letter(v))
				} else {
					want[v&1] = letter(v)
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%d blocks of one: %v, not %v", n, got, want)
			}
			p.Close()
		}
	}
}

// Each NaN is a key of its own, as in a map.
func TestGroupReduceOfNaN(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{3, 30, 300} {
		x := make([]float64, n)
		for i := range x {
			if x[i] = float64(i % 3); i%3 == 0 {
				x[i] = math.NaN()
			}
		}
		m := GroupReduce(p, x, func(v float64) float64 { return v }, 0, func(a int, _ float64) int { return a + 1 }, add)
		if len(m) != n/3+2 || m[1] != n/3 || m[2] != n/3 {
			t.Errorf("of %d: %d keys, %d and %d", n, len(m), m[1], m[2])
		}
	}
}

// What is known to take little, and takes long from some element on, comes to the same: the caller begins alone,
// and others go on.
func TestTheyGoOnWhereTheCallerStopped(t *testing.T) {
	for _, n := range []int{20, 100, 5000} {
		x := ints(n, 3, rand.New(rand.NewPCG(1, 1)))
		var want []int
		most := 0
		for i, v := range x {
			if v == 1 {
				want = append(want, i)
			}
			if v > x[most] {
				most = i
			}
		}
		for _, dear := range []int{1, 2, 17, 18} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(4))
				defer p.Close()
				var calls atomic.Int64
				wait := func() {
					if int(calls.Add(1)) == dear {
						time.Sleep(time.Second)
					}
				}
				again := func(f any, k kind) {
					costOf(f, k).each.Store(fastest)
					calls.Store(0)
				}
				is := func(i int) bool { wait(); return x[i] == 1 }
				again(is, asIs)
				equal(t, "Indices", Indices(p, n, is), want)
				same := func(a, b int) bool { wait(); return a == b }
				again(same, toCompare)
				equal(t, "CompactFunc", CompactFunc(p, x, same), slices.Compact(slices.Clone(x)))
				key := func(v pair) int { wait(); return v.key }
				pairs := make([]pair, n)
				for i, v := range x {
					pairs[i] = pair{v, i}
				}
				again(key, toRank)
				if got, _ := MaxBy(p, pairs, key); got.at != most {
					t.Errorf("MaxBy: %d, not %d", got.at, most)
				}
				count := func(a, _ int) int { wait(); return a + 1 }
				again(count, toCount)
				if got := GroupReduce(p, x, func(v int) int { return v }, 0, count, add); got[1] != len(want) {
					t.Errorf("GroupReduce: %d, not %d", got[1], len(want))
				}
				double := func(i int, v *pair) { wait(); v.key += 2 * x[i] }
				again(double, asIs)
				EachPtr(p, pairs, double)
				triple := func(v *pair) int { wait(); return v.key / 3 }
				again(triple, asIs)
				equal(t, "EachPtr, MapPtr", MapPtr(p, pairs, triple), x)
				var sum atomic.Int64
				line := func(at int64, _ []byte) error { wait(); sum.Add(at + 1); return nil }
				again(line, asIs)
				ForLines(p, strings.NewReader(strings.Repeat("\n", n)), line)
				if int(sum.Load()) != n*(n+1)/2 {
					t.Errorf("ForLines: %d", sum.Load())
				}
			})
		}
	}
}

// withCalls are functions that call f n times, or for CompactFunc and merge n-1 times.
var withCalls = map[string]func(s filch.Scope, n int, f func()){
	"Indices": func(s filch.Scope, n int, f func()) { Indices(s, n, func(int) bool { f(); return true }) },
	"CompactFunc": func(s filch.Scope, n int, f func()) {
		CompactFunc(s, make([]int, n), func(_, _ int) bool { f(); return true })
	},
	"MinBy": func(s filch.Scope, n int, f func()) { MinBy(s, make([]int, n), func(int) int { f(); return 1 }) },
	"MaxBy": func(s filch.Scope, n int, f func()) { MaxBy(s, make([]int, n), func(int) int { f(); return 1 }) },
	"AnyRange": func(s filch.Scope, n int, f func()) {
		AnyRange(s, n, func(lo, hi int) bool {
			for range hi - lo {
				f()
			}
			return false
		})
	},
	"EachPtr": func(s filch.Scope, n int, f func()) { EachPtr(s, make([]int, n), func(int, *int) { f() }) },
	"MapPtr":  func(s filch.Scope, n int, f func()) { MapPtr(s, make([]int, n), func(*int) int { f(); return 1 }) },
	"GroupReduce, key": func(s filch.Scope, n int, f func()) {
		GroupReduce(s, make([]int, n), func(int) int { f(); return 1 }, 0, add, add)
	},
	"GroupReduce, add": func(s filch.Scope, n int, f func()) {
		GroupReduce(s, make([]int, n), func(int) int { return 1 }, 0, func(_, _ int) int { f(); return 1 }, add)
	},
	"GroupReduce, merge": func(s filch.Scope, n int, f func()) {
		x := make([]int, 2*n)
		for i := range x {
			x[i] = i % n
		}
		GroupReduce(s, x, func(v int) int { return v }, 0, add, func(_, _ int) int { f(); return 1 }, WithGrain(n))
	},
	"ForLines": func(s filch.Scope, n int, f func()) {
		ForLines(s, strings.NewReader(strings.Repeat("\n", n)), func(int64, []byte) error { f(); return nil })
	},
	"ReduceLines": func(s filch.Scope, n int, f func()) {
		ReduceLines(s, strings.NewReader(strings.Repeat("\n", n)), 0, func(int64, []byte) (int, error) { f(); return 1, nil }, add, WithGrain(1))
	},
}

// Few elements that take long are shared, and so is a merge that takes long.
func TestFewThatTakeLongAreShared(t *testing.T) {
	for name, run := range withCalls {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(8))
			defer p.Close()
			begin := time.Now()
			run(p, 64, func() { time.Sleep(time.Second) })
			if rounds := int(time.Since(begin) / time.Second); rounds > 16 {
				t.Errorf("%s: %d rounds for 64 elements on 8 workers", name, rounds)
			}
		})
	}
}

// A panic and a Goexit arrive at the caller when no function of the call runs any more, and the pool is as it was.
func TestTheyEndWithAPanicOrAGoexit(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for name, run := range withCalls {
			for _, n := range []int{2, 100, 5000} {
				for _, in := range []string{"a Pool", "a Worker"} {
					var calls, running atomic.Int64
					do := func(s filch.Scope, end func()) {
						calls.Store(0)
						run(s, n, func() {
							running.Add(1)
							defer running.Add(-1)
							if calls.Add(1) == int64(n)/2 {
								end()
							}
						})
					}
					begin := func(end func()) {
						if in == "a Pool" {
							do(p, end)
						} else {
							p.Do(func(w *filch.Worker) { do(w, end) })
						}
					}
					err, ok := rig.Catch(func() { begin(rig.Bad) }).(*filch.PanicError)
					if !ok || err.Value != "bad" || running.Load() != 0 {
						t.Errorf("%s of %d on %s of %d workers: %v", name, n, in, workers, err)
					}
					exited := make(chan bool)
					go func() {
						defer close(exited)
						begin(runtime.Goexit)
						t.Errorf("%s of %d on %s of %d workers: a Goexit was lost", name, n, in, workers)
					}()
					<-exited
					if running.Load() != 0 {
						t.Errorf("%s of %d: a function runs", name, n)
					}
					begin(func() {})
				}
			}
		}
		p.Close()
	}
}

// Large structs of which one field is read, by a loop, by copies and by pointers.
func BenchmarkEachPtr(b *testing.B) {
	const n = 100_000
	x := make([]wide, n)
	pools := []*filch.Pool{filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(2))}
	defer pools[0].Close()
	defer pools[1].Close()
	dst := make([]int, n)
	programs := []func(){func() {
		for i := range x {
			dst[i] = x[i].v
		}
	}}
	for _, p := range pools {
		programs = append(programs, func() { Each(p, x, func(i int, v wide) { dst[i] = v.v }) },
			func() { EachPtr(p, x, func(i int, v *wide) { dst[i] = v.v }) })
	}
	benchmarkBeside(b, []string{"Each-1", "EachPtr-1", "Each-2", "EachPtr-2"}, programs...)
}

// One index of eight that is kept, by a loop and by Indices.
func BenchmarkIndices(b *testing.B) {
	const n = 1_000_000
	x := ints(n, 8, rand.New(rand.NewPCG(1, 1)))
	programs := []func(){func() {
		var kept []int
		for i, v := range x {
			if v == 0 {
				kept = append(kept, i)
			}
		}
		keep = kept
	}}
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		programs = append(programs, func() { keep = Indices(p, n, func(i int) bool { return x[i] == 0 }) })
	}
	benchmarkBeside(b, []string{"Indices-1", "Indices-2"}, programs...)
}

// benchmarkBeside tells how many times as fast as the first the other programs are, which have these names: by
// the least of each, in turn.
func benchmarkBeside(b *testing.B, names []string, programs ...func()) {
	took := make([]float64, len(programs))
	for b.Loop() {
		for i, run := range programs {
			begin := clock.Now()
			run()
			if t := float64(clock.Now() - begin); t < took[i] || took[i] == 0 {
				took[i] = t
			}
		}
	}
	b.ReportMetric(took[0]/1e6, "serial-ms")
	for i, name := range names {
		b.ReportMetric(took[0]/took[i+1], name)
	}
	b.ReportMetric(0, "ns/op")
}

// The element with the least key, by a loop and by MinBy.
func BenchmarkMinBy(b *testing.B) {
	const n = 1_000_000
	x := ints(n, n, rand.New(rand.NewPCG(1, 1)))
	sink := 0
	programs := []func(){func() {
		least, key := x[0], -x[0]
		for _, v := range x {
			if k := -v; k < key {
				least, key = v, k
			}
		}
		sink += least
	}}
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		programs = append(programs, func() {
			least, _ := MinBy(p, x, func(v int) int { return -v })
			sink += least
		})
	}
	benchmarkBeside(b, []string{"MinBy-1", "MinBy-2"}, programs...)
}
