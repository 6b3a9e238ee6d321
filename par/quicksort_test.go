package par

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
)

// What is too long for one worker to partition is sorted, in every order.
func TestSortFuncLong(t *testing.T) {
	n := 3*fewPartitioned + 1
	if race.Enabled || thorough.Sampled() {
		n = fewPartitioned + 1
	}
	seed := rand.Uint64()
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for name, input := range inputs {
			r := rand.New(rand.NewPCG(seed, 0))
			x := make([]int, n)
			for i := range x {
				x[i] = input(i, n, r)
			}
			want := slices.Clone(x)
			slices.Sort(want)
			SortFunc(p, x, cmp.Compare[int])
			if !slices.Equal(x, want) {
				t.Errorf("%s is not sorted with %d workers; seed %d", name, workers, seed)
			}
		}
		p.Close()
	}
}

// Those that are equal come in an order that depends on nothing but the input.
func TestSortFuncDoesNotDependOnWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := make([]pair, 2*fewPartitioned)
	for i := range x {
		x[i] = pair{r.IntN(1000), i}
	}
	var want []pair
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		y := slices.Clone(x)
		SortFunc(p, y, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
		p.Close()
		if want == nil {
			want = y
		}
		if !slices.Equal(y, want) {
			t.Errorf("another order with %d workers", workers)
		}
	}
}

// An adversary who decides what elements are as they are compared (McIlroy, "A killer
// adversary for quicksort", 1999) does not make it quadratic.
func TestAnAdversaryDoesNotMakeSortingQuadratic(t *testing.T) {
	const n = 30_000
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var (
		mu        sync.Mutex
		values    = make([]int, n)
		solid     int
		candidate int
		calls     int
	)
	const gas = n
	x := make([]int, n)
	for i := range x {
		x[i], values[i] = i, gas
	}
	SortFunc(p, x, func(a, b int) int {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if values[a] == gas && values[b] == gas {
			if a == candidate {
				values[a] = solid
			} else {
				values[b] = solid
			}
			solid++
		}
		if values[a] == gas {
			candidate = a
		} else if values[b] == gas {
			candidate = b
		}
		return cmp.Compare(values[a], values[b])
	})
	if most := 8 * n * bits.Len(n); calls > most {
		t.Errorf("%d calls of compare for %d elements, more than %d", calls, n, most)
	}
}

// With a compare that makes no sense it ends, and all elements are there.
func TestSortFuncWithoutOrder(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	seed := rand.Uint64()
	n := fewPartitioned + 1
	for name, compare := range map[string]func(i uint64) int{
		"at random": func(i uint64) int { return int(i*0x9e3779b97f4a7c15>>62) - 1 },
		"less":      func(uint64) int { return -1 },
		"more":      func(uint64) int { return 1 },
		"by turns":  func(i uint64) int { return int(i%2)*2 - 1 },
	} {
		var calls atomic.Uint64
		calls.Store(seed)
		x := make([]int, n)
		for i := range x {
			x[i] = i
		}
		SortFunc(p, x, func(int, int) int { return compare(calls.Add(1)) })
		slices.Sort(x)
		for i, v := range x {
			if i != v {
				t.Fatalf("%s, seed %d: element %d is lost", name, seed, i)
			}
		}
	}
}
