package forks

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

type cost int64
type seconds float64

// offer offers keys to b and to a plain variable, which keeps the first of the best.
func offerAll[K ~int | ~int64 | ~float64](t *testing.T, b *filch.Best[K, int], worst K, better func(a, b K) bool, keys []K) {
	t.Helper()
	if k, v, ok := b.Get(); b.Bound() != worst || k != worst || v != 0 || ok {
		t.Errorf("empty: %v; %v, %d, %t", b.Bound(), k, v, ok)
	}
	best, value, found := worst, 0, false
	for i, k := range keys {
		take := better(k, best)
		if take {
			best, value, found = k, i, true
		}
		if b.Offer(k, i) != take {
			t.Errorf("offer %d, of %v: %t", i, k, !take)
		}
		if k, v, ok := b.Get(); b.Bound() != best || k != best || v != value || ok != found {
			t.Errorf("after offer %d: %v; %v, %d, %t, not %v, %d, %t", i, b.Bound(), k, v, ok, best, value, found)
		}
	}
}

func less[K ~int | ~int64 | ~float64](a, b K) bool { return a < b }
func more[K ~int | ~int64 | ~float64](a, b K) bool { return a > b }

func TestBestKeepsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	ints := []int{0, 5, 5, -1, math.MaxInt, math.MinInt + 1, math.MinInt, math.MinInt}
	costs := []cost{math.MaxInt64, 7, math.MaxInt64 - 1, -7, 7, math.MinInt64, math.MaxInt64}
	times := []seconds{seconds(math.NaN()), seconds(math.Inf(1)), math.MaxFloat64, 0, -0.5, seconds(math.NaN()), math.SmallestNonzeroFloat64,
		-math.MaxFloat64, seconds(math.Inf(-1)), 3}
	for range 20 {
		r.Shuffle(len(ints), func(i, j int) { ints[i], ints[j] = ints[j], ints[i] })
		r.Shuffle(len(costs), func(i, j int) { costs[i], costs[j] = costs[j], costs[i] })
		r.Shuffle(len(times), func(i, j int) { times[i], times[j] = times[j], times[i] })
		offerAll(t, filch.NewLeast[int, int](nil), math.MaxInt, less, ints)
		offerAll(t, filch.NewGreatest[int, int](nil), math.MinInt, more, ints)
		offerAll(t, filch.NewLeast[cost, int](nil), math.MaxInt64, less, costs)
		offerAll(t, filch.NewGreatest[cost, int](nil), math.MinInt64, more, costs)
		offerAll(t, filch.NewLeast[seconds, int](nil), seconds(math.Inf(1)), less, times)
		offerAll(t, filch.NewGreatest[seconds, int](nil), seconds(math.Inf(-1)), more, times)
	}
}

// Of equal keys, the value that comes before the others is kept, whenever it is offered.
func TestBestBreaksTiesByOrder(t *testing.T) {
	words := []string{"pear", "fig", "plum", "apple", "kiwi", "date"}
	for _, p := range permutations(len(words)) {
		b := filch.NewGreatest[int, string](func(a, b string) bool { return a < b })
		for _, i := range p {
			b.Offer(len(words[i])/4, words[i]) // 0 or 1
		}
		if k, v, ok := b.Get(); k != 1 || v != "apple" || !ok {
			t.Fatalf("b.Get(): %v: %d, %q, %t", p, k, v, ok)
		}
	}
	b := filch.NewLeast[float64, int](func(a, b int) bool { return a < b })
	if b.Offer(math.Inf(1), -1) { // which comes before the zero value
		t.Error("it took what Bound is at first")
	}
	if !b.Offer(1, 5) || b.Offer(1, 5) || b.Offer(1, 6) || !b.Offer(1, 4) || b.Offer(2, 3) {
		t.Error(b.Get())
	}
}

func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// Offers at once: the bound only gets better, a pair belongs together, and the best is kept, with
// the same value in each run.
func TestBestOfManyWorkers(t *testing.T) {
	type pair struct{ key, by int64 }
	for range rig.Fewer(20) {
		b := filch.NewLeast[int64](func(a, b pair) bool { return a.by < b.by })
		var wg sync.WaitGroup
		for g := range int64(8) {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 1))
				last := int64(math.MaxInt64)
				for i := range int64(2000) {
					key := max(100, 5000-2*i+r.Int64N(500))
					b.Offer(key, pair{key, g})
					bound := b.Bound()
					k, v, ok := b.Get()
					if bound > last || bound > key || k > bound || v.key != k || !ok {
						t.Errorf("the bound is %d after %d; then the best is %d with %+v", bound, last, k, v)
						return
					}
					last = bound
				}
				b.Offer(100, pair{100, g})
			})
		}
		wg.Wait()
		if k, v, _ := b.Get(); k != 100 || v != (pair{100, 0}) {
			t.Errorf("b.Get(): %d, %+v", k, v)
		}
	}
}

// A search on any number of workers, that leaves out what cannot beat the bound, finds what a plain program finds:
// of the subsets with the greatest sum below a limit, the least as a number.
func TestBestOfASearch(t *testing.T) {
	type state struct {
		next, sum int
		taken     uint
	}
	for seed := range uint64(rig.Fewer(10)) {
		r := rand.New(rand.NewPCG(seed, 2))
		var items [14]int
		rest := [len(items) + 1]int{} // the sum from an item on
		for i := range items {
			items[i] = 1 + r.IntN(30)
		}
		for i := len(items) - 1; i >= 0; i-- {
			rest[i] = rest[i+1] + items[i]
		}
		limit := rest[0] * 2 / 3
		most, least := 0, uint(0)
		for set := range uint(1) << len(items) {
			sum := 0
			for i, v := range items {
				sum += v * int(set>>i&1)
			}
			if sum <= limit && sum > most {
				most, least = sum, set
			}
		}
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers))
			best := filch.NewGreatest[int](func(a, b uint) bool { return a < b })
			search := filch.NewFunc(func(f *filch.Frame[state, struct{}], s state) struct{} {
				if s.sum > limit || s.sum+rest[s.next] < best.Bound() {
					return struct{}{}
				}
				if s.next == len(items) {
					best.Offer(s.sum, s.taken)
					return struct{}{}
				}
				h := f.Fork(state{s.next + 1, s.sum, s.taken})
				f.Call(state{s.next + 1, s.sum + items[s.next], s.taken | 1<<s.next})
				return f.Join(h)
			})
			search.Call(p, state{})
			if sum, set, ok := best.Get(); sum != most || set != least || !ok {
				t.Errorf("seed %d, %d workers: %d by %b, not %d by %b", seed, workers, sum, set, most, least)
			}
		}
	}
}

// A panic in the order of values leaves a Best as it was.
func TestAPanicInTheOrderOfABest(t *testing.T) {
	b := filch.NewLeast[int](func(a, _ int) bool { panic("order") })
	b.Offer(1, 1)
	func() {
		defer func() { recover() }()
		b.Offer(1, 2)
		t.Error("no panic")
	}()
	if k, v, _ := b.Get(); k != 1 || v != 1 || !b.Offer(0, 3) {
		t.Error("b.Get():", k, v)
	}
}

func BenchmarkBest(b *testing.B) {
	best := filch.NewLeast[int, int](nil)
	best.Offer(1, 1)
	b.Run("Bound", func(b *testing.B) {
		for b.Loop() {
			if best.Bound() != 1 {
				b.Fatal()
			}
		}
	})
	b.Run("a worse offer", func(b *testing.B) {
		for b.Loop() {
			if best.Offer(2, 2) {
				b.Fatal()
			}
		}
	})
	b.Run("a better offer", func(b *testing.B) {
		n := 0
		for b.Loop() {
			if n--; !best.Offer(n, n) {
				b.Fatal()
			}
		}
	})
}
