package par

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
)

// withLimits are all functions that take WithMaxWorkers, as loops over n elements that call f for each, or
// for some of them.
var withLimits = map[string]func(s filch.Scope, n int, f func(i int), opts ...Option){
	"For": func(s filch.Scope, n int, f func(i int), opts ...Option) { For(s, n, f, opts...) },
	"ForScope": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ForScope(s, n, func(_ filch.Scope, i int) { f(i) }, opts...)
	},
	"ForRange": func(s filch.Scope, n int, f func(i int), opts ...Option) { ForRange(s, n, ofRange(f), opts...) },
	"ForTiles": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ForTiles(s, 64*n, 1, func(x0, _, _, _ int) { f(x0 / 64) }, opts...)
	},
	"Each": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		Each(s, make([]int, n), func(i, _ int) { f(i) }, opts...)
	},
	"EachPtr": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		EachPtr(s, make([]int, n), func(i int, _ *int) { f(i) }, opts...)
	},
	"GroupReduce": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		GroupReduce(s, upToN(n), func(i int) int { f(i); return i }, 0, add, add, opts...)
	},
	"ReduceLines": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ReduceLines(s, lines(n), 0, func(at int64, b []byte) (int, error) { ofRange(f)(int(at)/8, (int(at)+len(b))/8); return 0, nil }, add, append([]Option{WithGrain(8)}, opts...)...)
	},
	"ForLines": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ForLines(s, lines(n), func(at int64, _ []byte) error { f(int(at) / 8); return nil }, opts...)
	},
	"MapPtr": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		MapPtr(s, upToN(n), func(i *int) int { f(*i); return 0 }, opts...)
	},
	"ForErr": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ForErr(s, n, func(i int) error { f(i); return nil }, opts...)
	},
	"Map": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		Map(s, upToN(n), func(i int) int { f(i); return i }, opts...)
	},
	"MapInto": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		MapInto(s, make([]int, n), upToN(n), func(i int) int { f(i); return i }, opts...)
	},
	"MapErr": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		MapErr(s, upToN(n), func(i int) (int, error) { f(i); return i, nil }, opts...)
	},
	"MapReduce": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		MapReduce(s, upToN(n), 0, func(i int) int { f(i); return i }, add, opts...)
	},
	"ReduceRange": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ReduceRange(s, n, 0, func(lo, hi int) int { ofRange(f)(lo, hi); return 0 }, add, opts...)
	},
	"MapSeq": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		for range MapSeq(s, slices.Values(upToN(n)), func(i int) int { f(i); return i }, opts...) {
		}
	},
	"FromSeq": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		FromSeq(s, slices.Values(upToN(n)), f, opts...)
	},
	"Pipeline.Run": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		Stage(From(slices.Values(upToN(n))), 0, func(i int) (int, error) { f(i); return i, nil }).Run(s, func(int) error { return nil }, opts...)
	},
	"ReduceInto": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ReduceInto(s, n, newInt, func(_ *int, i int) { f(i) }, mergeInt, opts...)
	},
	"ReduceIntoRange": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ReduceIntoRange(s, n, newInt, func(_ *int, lo, hi int) { ofRange(f)(lo, hi) }, mergeInt, opts...)
	},
	"ForInit": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ForInit(s, n, newInt, func(_ *int, i int) { f(i) }, opts...)
	},
	"ForRangeInit": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		ForRangeInit(s, n, newInt, func(_ *int, lo, hi int) { ofRange(f)(lo, hi) }, opts...)
	},
	"Collect": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		Collect(s, n, func(lo, hi int, out []int) []int { ofRange(f)(lo, hi); return out }, opts...)
	},
	"FlatMap": func(s filch.Scope, n int, f func(i int), opts ...Option) {
		FlatMap(s, upToN(n), func(i int, out []int) []int { f(i); return out }, opts...)
	},
}

func ofRange(f func(i int)) func(lo, hi int) {
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	}
}

func upToN(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// No more workers than WithMaxWorkers says run at once, and as many do if there is work.
func TestNoMoreWorkersRunThanMaxWorkersSays(t *testing.T) {
	for name, loop := range withLimits {
		for _, workers := range []int{2, 8} {
			for _, limit := range []int{1, 3, 100} {
				n := ifRace(12, 30)
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(filch.WithWorkers(workers))
					defer p.Close()
					for range 2 { // what it costs is not known at first
						var running, most, calls atomic.Int64
						loop(p, n, func(int) {
							calls.Add(1)
							now := running.Add(1)
							for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
							}
							time.Sleep(time.Second)
							running.Add(-1)
						}, WithMaxWorkers(limit))
						if calls.Load() != int64(n) || most.Load() != int64(min(workers, limit)) {
							t.Errorf("%s on %d workers: %d calls, and %d at once, with WithMaxWorkers(%d)", name, workers, calls.Load(), most.Load(), limit)
						}
					}
				})
			}
		}
	}
}

// The limit holds for what combines results as well.
func TestMaxWorkersOfCombinations(t *testing.T) {
	for _, limit := range []int{1, 3} {
		var running, most atomic.Int64
		slow := func(a, b int) int {
			now := running.Add(1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return a + b
		}
		for name, run := range map[string]func(s filch.Scope, opts ...Option) int{
			"Reduce": func(s filch.Scope, opts ...Option) int { return Reduce(s, upToN(50), 0, slow, opts...) },
			"ReduceRange": func(s filch.Scope, opts ...Option) int {
				return ReduceRange(s, 50, 0, func(lo, hi int) int { return lo }, slow, opts...)
			},
			"ReduceInto": func(s filch.Scope, opts ...Option) int {
				return *ReduceInto(s, 50, newInt, func(st *int, i int) { *st = slow(*st, i) }, func(into, from *int) { *into = slow(*into, *from) }, opts...)
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(8))
				defer p.Close()
				most.Store(0)
				if sum := run(p, WithMaxWorkers(limit)); sum != 49*50/2 || most.Load() != int64(limit) {
					t.Errorf("%s: %d, with %d at once and not %d", name, sum, most.Load(), limit)
				}
			})
		}
	}
}

// With one worker, elements come in their order, on the caller's goroutine.
func TestOneWorkerGoesInOrder(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	for name, loop := range withLimits {
		for _, n := range []int{1, 2, 100, 3000} {
			for _, more := range [][]Option{nil, {WithGrain(1)}} {
				if more != nil && (name == "Pipeline.Run" || name == "ForTiles") {
					continue
				}
				var order []int // without a lock: the race detector would tell
				loop(p, n, func(i int) { order = append(order, i) }, append(more, WithMaxWorkers(1))...)
				equal(t, name, order, upToN(n))
			}
		}
	}
}

// Calls inside of a limited loop are not limited by it.
func TestMaxWorkersIsOfOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(4))
		defer p.Close()
		begin := time.Now()
		ForScope(p, 2, func(s filch.Scope, _ int) {
			ForScope(s, 8, func(filch.Scope, int) { time.Sleep(time.Second) }, WithGrain(1))
		}, WithMaxWorkers(1))
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("two loops of eight seconds in turn on four workers took %v", took)
		}
	})
}

// A worker that is through makes room for another.
func TestMaxWorkersMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(8))
		defer p.Close()
		begin := time.Now()
		For(p, 64, func(i int) {
			if i >= 32 { // half takes long
				time.Sleep(time.Second)
			}
		}, WithMaxWorkers(4), WithGrain(1))
		if took := time.Since(begin); took > 12*time.Second {
			t.Errorf("32 s of work for four workers at a time took %v", took)
		}
	})
}

// Ranges begin at multiples of what WithAlign says, and all is done once.
func TestRangesBeginAtMultiplesOfWhatWithAlignSays(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, _ *rand.Rand) {
		for _, align := range []int{1, 7, 1000, math.MaxInt} {
			for _, grain := range []int{0, 10, math.MaxInt} {
				opts := []Option{WithAlign(align)}
				if grain > 0 {
					opts = append(opts, WithGrain(grain))
				}
				var mu sync.Mutex
				var done []int
				ranges := func(lo, hi int) {
					if lo%align != 0 || hi <= lo || hi != n && hi%align != 0 {
						t.Errorf("align %d, grain %d: a range from %d to %d", align, grain, lo, hi)
					}
					if want := min(n-lo, longest(grain, align)); grain > 0 && hi-lo != want {
						t.Errorf("align %d, grain %d: a range of %d, not %d", align, grain, hi-lo, want)
					}
					mu.Lock()
					defer mu.Unlock()
					for i := lo; i < hi; i++ {
						done = append(done, i)
					}
				}
				check := func(name string) {
					slices.Sort(done)
					equal(t, name, done, upToN(n))
					done = nil
				}
				ForRange(s, n, ranges, opts...)
				check("ForRange")
				ForRangeInit(s, n, newInt, func(_ *int, lo, hi int) { ranges(lo, hi) }, opts...)
				check("ForRangeInit")
				ReduceIntoRange(s, n, newInt, func(_ *int, lo, hi int) { ranges(lo, hi) }, mergeInt, opts...)
				check("ReduceIntoRange")
				ReduceRange(s, n, 0, func(lo, hi int) int { ranges(lo, hi); return 0 }, add, opts...)
				check("ReduceRange")
				Collect(s, n, func(lo, hi int, out []int) []int { ranges(lo, hi); return out }, opts...)
				check("Collect")
			}
		}
	})
}

// longest is how many elements a chunk has.
func longest(grain, align int) int {
	if r := grain % align; r > 0 {
		if grain > math.MaxInt-(align-r) {
			return math.MaxInt / align * align
		}
		grain += align - r
	}
	return grain
}

// The other functions do all once with WithAlign, too, and no two workers are in one block.
func TestAlignOfElements(t *testing.T) {
	const align = 8
	for name, loop := range withLimits {
		if slices.Contains([]string{"ForTiles", "MapSeq", "FromSeq", "Pipeline.Run", "ReduceLines", "ForLines"}, name) {
			continue
		}
		for _, n := range []int{1, 7, 8, 9, 100, 1001} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(4))
				defer p.Close()
				next := make([]atomic.Int32, n/align+1) // of each block, which element comes
				loop(p, n, func(i int) {
					if !next[i/align].CompareAndSwap(int32(i%align), int32(i%align)+1) {
						t.Errorf("%s of %d: element %d is not the next of its block", name, n, i)
					}
					time.Sleep(time.Second)
				}, WithAlign(align))
				for b := range next {
					if k := int(next[b].Load()); k != min(align, n-b*align) {
						t.Errorf("%s of %d: %d elements of block %d", name, n, k, b)
					}
				}
			})
		}
	}
}

// With WithAlign, errors are those of a loop, and what comes after the first is not begun.
func TestAlignOfErrors(t *testing.T) {
	errs := make([]error, 1000)
	for i := range errs {
		errs[i] = errors.New("error")
	}
	for _, workers := range []int{1, 4} {
		p := filch.New(filch.WithWorkers(workers))
		for _, first := range []int{0, 1, 7, 8, 100, 999} {
			for range 3 {
				var after atomic.Int32
				err := ForErr(p, len(errs), func(i int) error {
					if i > first {
						after.Add(1)
					}
					if i < first {
						return nil
					}
					return errs[i]
				}, WithAlign(8))
				if err != errs[first] {
					t.Errorf("the first is %d: another error", first)
				}
				if workers == 1 && after.Load() > 0 {
					t.Errorf("%d calls after an error", after.Load())
				}
			}
		}
		p.Close()
	}
}

// Lengths near the greatest int.
func TestLimitsOfNumbers(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, c := range []struct{ n, align, ranges int }{{math.MaxInt, math.MaxInt, 1}, {math.MaxInt, math.MaxInt - 1, 2}, {math.MaxInt, math.MaxInt/2 + 1, 2}, {math.MaxInt, math.MaxInt / 3, 4}} {
		var ranges, all atomic.Int64
		ForRange(p, c.n, func(lo, hi int) {
			if hi <= lo {
				t.Errorf("range %d, %d", lo, hi)
			}
			ranges.Add(1)
			all.Add(int64(hi - lo))
		}, WithAlign(c.align), WithGrain(1))
		if int(ranges.Load()) != c.ranges || int(all.Load()) != c.n {
			t.Errorf("%+v: %d ranges, %d elements", c, ranges.Load(), all.Load())
		}
	}
	for _, align := range []int{2, 3, 7, 1 << 20, math.MaxInt / 2, math.MaxInt - 1, math.MaxInt} {
		for _, n := range []int{0, 1, 2, 100, math.MaxInt/2 + 1, math.MaxInt - 1, math.MaxInt} {
			c := config{align: align}
			if k := c.roundUp(n); k != longest(n, align) || k < 0 || k%align != 0 {
				t.Errorf("%d, aligned to %d, is %d", n, align, k)
			}
			if b := c.blocks(n); n > 0 && (c.element(b-1, n) >= n || c.element(b, n) != n) {
				t.Errorf("%d in %d blocks of %d", n, b, align)
			}
		}
	}
}

// lines are n lines of eight bytes.
func lines(n int) io.Reader { return strings.NewReader(strings.Repeat("1234567\n", n)) }

// The caller of Run takes a place again only if one is free.
func TestPipelineTakesNoPlaceTooMany(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(8))
			defer p.Close()
			var running, most atomic.Int64
			withLimits["Pipeline.Run"](p, 30, func(int) {
				now := running.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				time.Sleep(time.Second)
				running.Add(-1)
			})
			if most.Load() > 8 {
				t.Fatalf("%d at once on 8 workers", most.Load())
			}
		})
	}
}
