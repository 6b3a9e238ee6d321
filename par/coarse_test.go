package par

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
)

// coarseWays are the functions of par that call another for each element, with k elements of a second.
var coarseWays = map[string]func(s filch.Scope, k int){
	"For":      func(s filch.Scope, k int) { For(s, k, func(int) { second() }) },
	"ForScope": func(s filch.Scope, k int) { ForScope(s, k, func(filch.Scope, int) { second() }) },
	"ForRange": func(s filch.Scope, k int) {
		ForRange(s, k, func(lo, hi int) { seconds(lo, hi) })
	},
	"For by a grain of 1": func(s filch.Scope, k int) { For(s, k, func(int) { second() }, WithGrain(1)) },
	"ForTiles":            func(s filch.Scope, k int) { ForTiles(s, k, 1, func(x0, y0, x1, y1 int) { second() }, WithGrain(1)) },
	"ForErr": func(s filch.Scope, k int) {
		_ = ForErr(s, k, func(int) error { second(); return nil })
	},
	"ForInit": func(s filch.Scope, k int) {
		ForInit(s, k, func() *int { return new(int) }, func(*int, int) { second() })
	},
	"Each":    func(s filch.Scope, k int) { Each(s, make([]int, k), func(int, int) { second() }) },
	"EachPtr": func(s filch.Scope, k int) { EachPtr(s, make([]int, k), func(int, *int) { second() }) },
	"Map":     func(s filch.Scope, k int) { Map(s, make([]int, k), func(v int) int { second(); return v }) },
	"MapInto": func(s filch.Scope, k int) {
		MapInto(s, make([]int, k), make([]int, k), func(v int) int { second(); return v })
	},
	"ForRangeInit": func(s filch.Scope, k int) {
		ForRangeInit(s, k, func() *int { return new(int) }, func(_ *int, lo, hi int) { seconds(lo, hi) })
	},
	"ReduceRange": func(s filch.Scope, k int) {
		ReduceRange(s, k, 0, func(lo, hi int) int { seconds(lo, hi); return 0 }, func(a, b int) int { return 0 }, WithGrain(1))
	},
	"CountRange": func(s filch.Scope, k int) { CountRange(s, k, func(lo, hi int) int { seconds(lo, hi); return 0 }) },
	"IndexRange": func(s filch.Scope, k int) { IndexRange(s, k, func(lo, hi int) int { seconds(lo, hi); return -1 }) },
	"AllRange":   func(s filch.Scope, k int) { AllRange(s, k, func(lo, hi int) bool { seconds(lo, hi); return true }) },
	"AnyRange":   func(s filch.Scope, k int) { AnyRange(s, k, func(lo, hi int) bool { seconds(lo, hi); return false }) },
	"Collect": func(s filch.Scope, k int) {
		Collect(s, k, func(lo, hi int, out []int) []int { seconds(lo, hi); return out })
	},
	"ReduceIntoRange": func(s filch.Scope, k int) {
		ReduceIntoRange(s, k, func() *int { return new(int) }, func(_ *int, lo, hi int) { seconds(lo, hi) }, func(into, from *int) {})
	},
	"MaxBy":  func(s filch.Scope, k int) { MaxBy(s, make([]int, k), func(v int) int { second(); return v }) },
	"MapPtr": func(s filch.Scope, k int) { MapPtr(s, make([]int, k), func(v *int) int { second(); return *v }) },
	"MapErr": func(s filch.Scope, k int) {
		_, _ = MapErr(s, make([]int, k), func(v int) (int, error) { second(); return v, nil })
	},
	"MapReduce": func(s filch.Scope, k int) {
		MapReduce(s, make([]int, k), 0, func(v int) int { second(); return v }, func(a, b int) int { return a + b })
	},
	"ReduceInto": func(s filch.Scope, k int) {
		ReduceInto(s, k, func() *int { return new(int) }, func(*int, int) { second() }, func(into, from *int) {})
	},
	"FlatMap": func(s filch.Scope, k int) {
		FlatMap(s, make([]int, k), func(v int, out []int) []int { second(); return append(out, v) })
	},
	"GroupReduce": func(s filch.Scope, k int) {
		GroupReduce(s, make([]int, k), func(int) int { second(); return 0 }, 0, func(a, v int) int { return a }, func(a, b int) int { return a })
	},
	"Histogram":    func(s filch.Scope, k int) { Histogram(s, make([]int, k), 1, func(int) int { second(); return 0 }) },
	"Count":        func(s filch.Scope, k int) { Count(s, make([]int, k), func(int) bool { second(); return true }) },
	"Any":          func(s filch.Scope, k int) { Any(s, make([]int, k), func(int) bool { second(); return false }) },
	"All":          func(s filch.Scope, k int) { All(s, make([]int, k), func(int) bool { second(); return true }) },
	"IndexFunc":    func(s filch.Scope, k int) { IndexFunc(s, make([]int, k), func(int) bool { second(); return false }) },
	"IndexFuncAny": func(s filch.Scope, k int) { IndexFuncAny(s, make([]int, k), func(int) bool { second(); return false }) },
	"Filter":       func(s filch.Scope, k int) { Filter(s, make([]int, k), func(int) bool { second(); return true }) },
	"Partition":    func(s filch.Scope, k int) { Partition(s, make([]int, k), func(int) bool { second(); return true }) },
	"Indices":      func(s filch.Scope, k int) { Indices(s, k, func(int) bool { second(); return true }) },
	"MinBy":        func(s filch.Scope, k int) { MinBy(s, make([]int, k), func(v int) int { second(); return v }) },
	"GroupBy":      func(s filch.Scope, k int) { GroupBy(s, make([]int, k), func(v int) int { second(); return v }) },
	"FromSeq": func(s filch.Scope, k int) {
		FromSeq(s, inOrder(k), func(int) { second() })
	},
	"MapSeq": func(s filch.Scope, k int) {
		for range MapSeq(s, inOrder(k), func(v int) int { second(); return v }) {
		}
	},
}

func second() { time.Sleep(time.Second) }

func seconds(lo, hi int) { time.Sleep(time.Duration(hi-lo) * time.Second) }

func inOrder(k int) iter.Seq[int] { return slices.Values(make([]int, k)) }

var fineFib = filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := f.Call(n - 2)
	return f.Join(h) + b
})

// coarseRounds returns how many seconds k elements of one take on so many workers. Those of a sequence are
// taken by batches, one after the other.
func coarseRounds(name string, k, workers int) (rounds int) {
	most := k
	if name == "FromSeq" || name == "MapSeq" {
		most = firstBatch
	}
	for ; k > 0; k -= most {
		rounds += (min(k, most) + workers - 1) / workers
	}
	return rounds
}

// On P workers, k elements of a second take ⌈k/P⌉ seconds, whether the workers have rested or fine forks have
// just used up what credit there was.
func TestCoarseElementsAfterFineForks(t *testing.T) {
	t.Parallel()
	long, before := os.Getenv("FILCH_LONG") != "", []int{0, 8}
	if long {
		before = append(before, 15)
	}
	for _, name := range slices.Sorted(maps.Keys(coarseWays)) {
		for _, fine := range before {
			t.Run(fmt.Sprintf("%s after fib %d", name, fine), func(t *testing.T) {
				step := 1
				if thorough.Sampled() {
					step = 6
				}
				for workers := 2; workers <= 8; workers += step {
					for k := 1; k <= 64; k++ {
						if !long && (k > 2*workers && k%11 != 4 || (k+workers)%ifRace(8, 4) != 0) {
							continue
						}
						want, rounds := coarseRounds(name, k, workers), time.Duration(0)
						synctest.Test(t, func(t *testing.T) {
							p := filch.New(filch.WithWorkers(workers))
							defer p.Close()
							p.Do(func(w *filch.Worker) {
								fineFib.Call(w, fine)
								begin := time.Now()
								coarseWays[name](w, k)
								rounds = time.Since(begin)
							})
						})
						if rounds != time.Duration(want)*time.Second {
							t.Errorf("%d elements on %d workers took %v, not %d s", k, workers, rounds, want)
						}
					}
				}
			})
		}
	}
}
