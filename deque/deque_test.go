package deque

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/thorough"
)

// maker is a deque that must keep the contract, with indices that begin at start.
type maker[T any] struct {
	name string
	make func(start int64) (*Owner[T], *Thief[T])
}

func makersOf[T any]() []maker[T] {
	return []maker[T]{{"ChaseLev", newChaseLev[T]}, {"Hybrid", newHybrid[T]}, {"Mutex", newMutex[T]}}
}

var makers = makersOf[int]()

func eachDeque(t *testing.T, f func(t *testing.T, o *Owner[int], th *Thief[int])) {
	for _, m := range makers {
		for _, start := range []int64{0, math.MaxInt32 - 20, math.MaxUint32 - 20, 1 << 62} {
			t.Run(fmt.Sprintf("%s from %d", m.name, start), func(t *testing.T) {
				o, th := m.make(start)
				f(t, o, th)
			})
		}
	}
}

func wantPop(t *testing.T, o *Owner[int], want int) {
	t.Helper()
	if v, ok := o.Pop(); !ok || v != want {
		t.Fatalf("Pop() = %v, %v; want %v", v, ok, want)
	}
}

func wantSteal(t *testing.T, th *Thief[int], want int) {
	t.Helper()
	if v, r := th.Steal(); r != Success || v != want {
		t.Fatalf("Steal() = %v, %v; want %v", v, r, want)
	}
}

func wantEmpty(t *testing.T, o *Owner[int], th *Thief[int]) {
	t.Helper()
	if v, r := th.Steal(); r != Empty || v != 0 {
		t.Fatalf("Steal() = %v, %v from an empty deque", v, r)
	}
	if v, ok := o.Pop(); ok || v != 0 {
		t.Fatalf("Pop() = %v, %v from an empty deque", v, ok)
	}
	if o.Len() != 0 || th.Len() != 0 {
		t.Fatalf("Len() = %d, %d of an empty deque", o.Len(), th.Len())
	}
}

func TestOwnerIsLIFOThiefIsFIFO(t *testing.T) {
	eachDeque(t, func(t *testing.T, o *Owner[int], th *Thief[int]) {
		wantEmpty(t, o, th)
		for i := range 10 {
			o.Push(i)
		}
		if o.Len() != 10 || th.Len() != 10 {
			t.Fatalf("Len() = %d, %d; want 10", o.Len(), th.Len())
		}
		wantPop(t, o, 9)
		wantSteal(t, th, 0)
		wantSteal(t, th, 1)
		wantPop(t, o, 8)
		for i := 2; i < 8; i++ {
			wantSteal(t, th, i)
		}
		wantEmpty(t, o, th)
		o.Push(42)
		wantPop(t, o, 42)
		o.Push(43)
		wantSteal(t, th, 43)
		wantEmpty(t, o, th)
	})
}

// The values move round the ring many times without it growing.
func TestValuesMoveRoundARingThatDoesNotGrow(t *testing.T) {
	eachDeque(t, func(t *testing.T, o *Owner[int], th *Thief[int]) {
		next, oldest := 0, 0
		for range 1000 {
			for o.Len() < minRing-1 {
				o.Push(next)
				next++
			}
			for range minRing / 2 {
				wantSteal(t, th, oldest)
				oldest++
			}
		}
		if n := slots(o); n != minRing {
			t.Errorf("the ring has %d slots", n)
		}
	})
}

func TestGrowthAndShrinkKeepOrder(t *testing.T) {
	eachDeque(t, func(t *testing.T, o *Owner[int], th *Thief[int]) {
		const n = 10_000
		for i := range n {
			o.Push(i)
			if i%3 == 0 {
				wantSteal(t, th, i/3)
			}
		}
		stolen := (n + 2) / 3
		for i := n - 1; i >= stolen; i-- {
			wantPop(t, o, i)
		}
		wantEmpty(t, o, th)
		if n := slots(o); n != minRing {
			t.Errorf("the empty deque's ring has %d slots", n)
		}
	})
}

// After a burst that thieves have drained, the owner's next look gives the
// memory back.
func TestMemoryOfABurstIsGivenBack(t *testing.T) {
	eachDeque(t, func(t *testing.T, o *Owner[int], th *Thief[int]) {
		for i := range 100_000 {
			o.Push(i)
		}
		for i := range 100_000 {
			wantSteal(t, th, i)
		}
		wantEmpty(t, o, th)
		if n := slots(o); n != minRing {
			t.Errorf("the ring has %d slots", n)
		}
	})
}

// One owner pushes and pops at random while thieves steal: every value comes
// out exactly once, and to one thief in the order it was pushed.
func TestEachValueIsTakenExactlyOnce(t *testing.T) {
	n := 300_000
	if thorough.Sampled() {
		n /= 10
	}
	for _, thieves := range []int{1, 2, 7} {
		for _, m := range makers {
			t.Run(fmt.Sprintf("%s with %d thieves", m.name, thieves), func(t *testing.T) {
				seed := rand.Uint64()
				rng := rand.New(rand.NewPCG(seed, 0))
				o, th := m.make(rng.Int64N(1 << 40))
				taken := make([][]int, thieves+1)
				done := make(chan bool)
				var wg sync.WaitGroup
				for i := range thieves {
					wg.Go(func() { taken[i] = robs(th, i, done) })
				}
				pop := func() {
					if v, ok := o.Pop(); ok {
						taken[thieves] = append(taken[thieves], v)
					}
				}
				for next := 0; next < n; {
					// Bursts make the ring grow and shrink while it is robbed.
					for range rng.IntN(1 << rng.IntN(12)) {
						o.Push(next)
						next++
					}
					for range rng.IntN(1 << rng.IntN(12)) {
						pop()
					}
					if rng.IntN(4) == 0 {
						runtime.Gosched()
					}
					n = max(n, next)
				}
				for o.Len() > 0 {
					pop()
				}
				close(done)
				wg.Wait()
				if s := o.s; s != nil && s.done.Load() != s.top.Load()-o.claims {
					t.Errorf("seed %d: %d values were stolen, and %d counted; no ring would be used again", seed, s.top.Load()-o.claims, s.done.Load())
				}
				checkTaken(t, seed, n, taken)
			})
		}
	}
}

// robs steals in all ways, beginning with one of them, until done is closed and nothing is there any more.
func robs(th *Thief[int], way int, done <-chan bool) (taken []int) {
	dst := make([]int, 10)
	for ; ; way++ {
		n, r := 1, Success
		switch way % 3 {
		case 0:
			dst[0], r = th.Steal()
		case 1:
			dst[0], r = th.TrySteal(time.Duration(way % 1000))
		case 2:
			n, r = th.StealHalf(dst)
		}
		if r == Success {
			taken = append(taken, dst[:n]...)
			continue
		}
		select {
		case <-done:
			if r == Empty {
				return taken
			}
		default:
			runtime.Gosched()
		}
	}
}

// checkTaken checks that n values were taken once each, by each thief in their order. The last of taken are the owner's.
func checkTaken(t *testing.T, seed uint64, n int, taken [][]int) {
	t.Helper()
	times := make([]int8, n)
	for i, vs := range taken {
		last := -1
		for _, v := range vs {
			times[v]++
			if i < len(taken)-1 && v < last {
				t.Fatalf("seed %d: thief %d got %d after %d", seed, i, v, last)
			}
			last = v
		}
	}
	for v, k := range times {
		if k != 1 {
			t.Fatalf("seed %d: value %d was taken %d times", seed, v, k)
		}
	}
}

// FuzzAgainstASlice compares with the simplest model there is.
func FuzzAgainstASlice(f *testing.F) {
	f.Add([]byte{0, 0, 1, 2, 0, 1})
	f.Add([]byte{200, 200, 200, 201, 202, 1, 1, 2, 2})
	f.Fuzz(func(t *testing.T, ops []byte) {
		for _, m := range makers {
			o, th := m.make(math.MaxUint32 - 7)
			var model []int
			next := 0
			push := func() {
				o.Push(next)
				model = append(model, next)
				next++
			}
			for _, op := range ops {
				switch op % 4 {
				case 0:
					push()
				case 1:
					v, ok := o.Pop()
					if ok != (len(model) > 0) || ok && v != model[len(model)-1] {
						t.Fatalf("%s: Pop() = %v, %v with %v", m.name, v, ok, model)
					}
					if ok {
						model = model[:len(model)-1]
					}
				case 2:
					v, r := th.Steal()
					if (r == Success) != (len(model) > 0) || r == Success && v != model[0] {
						t.Fatalf("%s: Steal() = %v, %v with %v", m.name, v, r, model)
					}
					if r == Success {
						model = model[1:]
					}
				case 3:
					for range op / 2 {
						push()
					}
				}
				if o.Len() != len(model) || th.Len() != len(model) {
					t.Fatalf("%s: Len() = %d, %d with %v", m.name, o.Len(), th.Len(), model)
				}
			}
		}
	})
}

// While the owner moves the values to another ring, nobody can tell how many
// there are; a thief must not be told that there are none.
func TestLenOfAFrozenDeque(t *testing.T) {
	o, th := NewChaseLev[int]()
	o.Push(1)
	b := o.s.bottom.Swap(frozen)
	if n := th.Len(); n != 1 {
		t.Errorf("Len %d", n)
	}
	o.s.bottom.Store(b)
}
