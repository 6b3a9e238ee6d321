package deque

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/race"
)

// A ring is used again: however many values come and go, in whichever way, none is made as long as
// there are few at a time.
func TestRingsAreUsedAgain(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	dst := make([]int, 20)
	for _, m := range makersOf[int]() {
		for name, cycle := range map[string]func(o *Owner[int], th *Thief[int]){
			"pop": func(o *Owner[int], th *Thief[int]) {
				for i := range 20 {
					o.Push(i)
				}
				for range 20 {
					o.Pop()
				}
			},
			"steal": func(o *Owner[int], th *Thief[int]) {
				for i := range 20 {
					o.Push(i)
				}
				for range 20 {
					th.Steal()
				}
			},
			"steal half, pop the rest": func(o *Owner[int], th *Thief[int]) {
				for i := range 20 {
					o.Push(i)
				}
				th.StealHalf(dst)
				for range 11 {
					o.Pop()
				}
			},
			"nothing": func(o *Owner[int], th *Thief[int]) {
				o.Pop()
				th.Steal()
			},
			"the last of all": func(o *Owner[int], th *Thief[int]) {
				for i := range 100 {
					o.Push(i)
					if i%2 == 0 {
						o.Pop()
					} else {
						th.Steal()
					}
				}
			},
		} {
			for _, burst := range []int{0, 1000} { // that the ring has grown for, and shrunk
				o, th := m.make(0)
				for i := range burst {
					o.Push(i)
				}
				for range burst {
					o.Pop()
				}
				if n := testing.AllocsPerRun(100, func() { cycle(o, th) }); n > 0 {
					t.Errorf("%s, %s, after %d: %v allocations", m.name, name, burst, n)
				}
				if n := slots(o); n != minRing {
					t.Errorf("%s, %s, after %d: %d slots", m.name, name, burst, n)
				}
			}
		}
	}
}

// A value that the owner pops leaves the ring as it is, also a large one, unless it is to shrink;
// and in the long run a ring with the last value popped, again and again, is not replaced.
func TestPopsKeepTheRing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, m := range makersOf[int]() {
		o, _ := m.make(0)
		for i := range 1000 {
			o.Push(i)
		}
		if n := testing.AllocsPerRun(100, func() { o.Pop() }); n > 0 {
			t.Errorf("%s: %v allocations", m.name, n)
		}
		o, _ = m.make(0)
		n := testing.AllocsPerRun(10, func() {
			for range 10 * minRing {
				o.Push(1)
				o.Pop()
			}
		})
		if n > 0 {
			t.Errorf("%s: %v allocations for the last value", m.name, n)
		}
	}
}

// While a thief reads, the owner of a full ring goes on with a new one, which is larger only if it
// is the values that fill it.
func TestARingForReaders(t *testing.T) {
	for _, c := range []struct{ stolen, want int }{{15, 2 * minRing}, {16, minRing}, {31, minRing}} {
		o, th := newChaseLev[int](0)
		for i := range minRing {
			o.Push(i)
		}
		for i := range c.stolen {
			wantSteal(t, th, i)
		}
		o.s.done.Add(-1) // one has not read it yet
		before := o.ring
		o.Push(minRing)
		if o.ring == before || slots(o) != c.want {
			t.Errorf("%d stolen: %d slots, not %d; another ring: %t", c.stolen, slots(o), c.want, o.ring != before)
		}
		for i := c.stolen; i <= minRing; i++ {
			wantSteal(t, th, i)
		}
	}
}

// A ring is as large as it must be, at each moment: it doubles when it is full, and is a quarter
// when an eighth is enough, but 32 slots at least.
func TestSizeOfTheRing(t *testing.T) {
	for _, m := range makersOf[int]() {
		for _, start := range []int64{0, 5, 1 << 40} {
			o, _ := m.make(start)
			spare := 0 // the hybrid's
			if _, is := o.instead.(*hybrid[int]); is {
				spare = 1
			}
			want := minRing
			for n := 1; n <= 3000; n++ {
				o.Push(n)
				for want < n+spare {
					want *= 2
				}
				if got := slots(o); got != want {
					t.Fatalf("%s: %d slots for %d values, not %d", m.name, got, n, want)
				}
			}
			for n := 2999; n >= 0; n-- {
				wantPop(t, o, n+1)
				if got := slots(o); got > minRing && n <= got/8 || got < minRing || n > 0 && got < min(want, 2*n) {
					t.Fatalf("%s: %d slots for %d values", m.name, got, n)
				}
			}
		}
	}
}

func TestARingShrinksOnceAnEighthIsEnough(t *testing.T) {
	for _, c := range [][3]int{ // values, slots, and what fits
		{0, 32, 32}, {32, 32, 32}, {0, 64, 32}, {1, 64, 32}, {8, 64, 32}, {9, 64, 64}, {16, 128, 32}, {17, 128, 128},
		{32, 256, 64}, {33, 256, 256}, {1, 1024, 256}, {128, 1024, 256}, {129, 1024, 1024}, {0, 1024, 32},
	} {
		if got := fits(c[0], c[1]); got != c[2] {
			t.Errorf("fits(%d, %d) = %d, not %d", c[0], c[1], got, c[2])
		}
	}
}

// Once the owner of a hybrid knows that it is empty, it takes no lock to find out again, and
// neither for Len.
func TestEmptyHybridIsKnown(t *testing.T) {
	o, th := newHybrid[int](0)
	for range 3 {
		o.Push(1)
		o.Push(2)
		wantSteal(t, th, 1)
		wantSteal(t, th, 2)
		before := hybridOf(o).mu.taken
		o.Pop()
		if n := hybridOf(o).mu.taken - before; n != 1 {
			t.Errorf("%d locks to find out that thieves have taken all", n)
		}
		for range 10 {
			if _, ok := o.Pop(); ok || o.Len() != 0 {
				t.Error("it is not empty")
			}
		}
		if n := hybridOf(o).mu.taken - before; n != 1 {
			t.Errorf("%d locks to find it out again", n)
		}
	}
}

// The owner of a hybrid looks under the lock before it says that there is nothing: a thief may
// have to take back what it has claimed.
func TestAClaimThatIsTakenBack(t *testing.T) {
	o, th := newHybrid[int](0)
	o.Push(1)
	h := hybridOf(o)
	if !h.isThere(0) {
		t.Error("it is there")
	}
	h.head.Store(1) // as if claimed
	before := h.mu.taken
	if o.Len(); h.mu.taken != before+1 {
		t.Errorf("%d locks to count what may be claimed", h.mu.taken-before)
	}
	h.head.Store(0)
	wantPop(t, o, 1)
	o.Push(2)
	wantSteal(t, th, 2)
	if _, ok := o.Pop(); ok || h.tail.Load() != h.next {
		t.Errorf("%t; thieves see the end at %d, and it is at %d", ok, h.tail.Load(), h.next)
	}
}

// Len is never negative, also while the owner has given up the last value and a thief has
// taken it.
func TestLenIsNeverNegative(t *testing.T) {
	c, th := newChaseLev[int](7)
	if c.s.bottom.Add(-1); th.Len() != 0 {
		t.Errorf("ChaseLev: %d values", th.Len())
	}
	h, th := newHybrid[int](7)
	if hybridOf(h).tail.Add(-1); th.Len() != 0 {
		t.Errorf("Hybrid: %d values", th.Len())
	}
}

// Who waits lets others run, so that those for whom it waits go on, also on one processor.
func TestTryStealLetsOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, begin := range map[string]func() (th *Thief[int], end func()){
		"ChaseLev": func() (*Thief[int], func()) {
			o, th := newChaseLev[int](0)
			o.Push(1)
			bottom := o.s.bottom.Swap(frozen)
			return th, func() { o.s.bottom.Store(bottom) }
		},
		"Hybrid": func() (*Thief[int], func()) {
			o, th := newHybrid[int](0)
			o.Push(1)
			hybridOf(o).mu.Lock()
			return th, hybridOf(o).mu.Unlock
		},
	} {
		th, end := begin()
		go func() {
			for range 3000 { // each as long as a time slice, if nobody gives it up
				runtime.Gosched()
			}
			end()
		}()
		if v, r := th.TrySteal(10 * time.Second); r != Success || v != 1 {
			t.Errorf("th.TrySteal(10 * time.Second): %s: %v, %v", name, v, r)
		}
	}
}

// While the owner moves to another ring, TrySteal waits, as long as it is told to.
func TestTryStealWaitsOutAMove(t *testing.T) {
	o, th := newChaseLev[int](0)
	o.Push(1)
	bottom := o.s.bottom.Load()
	o.s.bottom.Store(frozen) // as in a move
	for _, timeout := range []time.Duration{0, time.Millisecond} {
		if _, r := th.TrySteal(timeout); r != Retry {
			t.Errorf("TrySteal(%v) in a move: %v", timeout, r)
		}
	}
	if _, r := th.Steal(); r != Retry {
		t.Errorf("Steal in a move: %v", r)
	}
	var dst [2]int
	if n, r := th.StealHalf(dst[:]); n != 0 || r != Retry {
		t.Errorf("StealHalf in a move: %d, %v", n, r)
	}
	go func() {
		runtime.Gosched()
		o.s.bottom.Store(bottom)
	}()
	if v, r := th.TrySteal(time.Hour); r != Success || v != 1 {
		t.Errorf("TrySteal after a move: %v, %v", v, r)
	}
	if _, r := th.TrySteal(time.Hour); r != Empty {
		t.Errorf("TrySteal of an empty deque: %v", r)
	}
}

// With a timeout, a thief that waits for a lock gets it when it is free, and counts.
func TestAThiefWithATimeoutGetsTheLockWhenItIsFree(t *testing.T) {
	var l lock
	if !l.lockWithin(0) || l.taken != 1 {
		t.Error("a free lock was not taken")
	}
	if l.lockWithin(0) || l.lockWithin(time.Millisecond) || l.taken != 1 {
		t.Error("it was taken twice")
	}
	l.Unlock()
	if !l.lockWithin(forever) || l.taken != 2 {
		t.Error("a free lock was not taken")
	}
	l.Unlock()
	if !l.lockWithin(time.Hour) || l.taken != 3 {
		t.Error("a free lock was not taken")
	}
	l.Unlock()
}

// Len is exact where nobody else is at the deque.
func TestLenIsExact(t *testing.T) {
	eachDeque(t, func(t *testing.T, o *Owner[int], th *Thief[int]) {
		for n := range 100 {
			if o.Len() != n || th.Len() != n {
				t.Fatalf("%d values: %d for the owner, %d for thieves", n, o.Len(), th.Len())
			}
			o.Push(n)
		}
		for n := 100; n > 0; n-- {
			if o.Len() != n || th.Len() != n {
				t.Fatalf("%d values: %d for the owner, %d for thieves", n, o.Len(), th.Len())
			}
			if n%2 == 0 {
				o.Pop()
			} else {
				th.Steal()
			}
		}
		if o.Len() != 0 || th.Len() != 0 {
			t.Errorf("empty: %d and %d", o.Len(), th.Len())
		}
	})
}

// StealHalf is a success if it has got anything, also when the owner or another thief comes in
// between. The values are so large that there is time for that.
func TestStealHalfAmongOthers(t *testing.T) {
	type slow [256]int
	for _, m := range makersOf[slow]() {
		o, th := m.make(0)
		var round atomic.Int32
		var thieves sync.WaitGroup
		const rounds = 5000
		for range 2 {
			thieves.Go(func() {
				dst := make([]slow, 8)
				for round.Load() < rounds {
					n, r := th.StealHalf(dst)
					if (n > 0) != (r == Success) {
						t.Errorf("%s: %d values, and %v", m.name, n, r)
						return
					}
					if n == 0 {
						runtime.Gosched() // for the owner may have no other processor
					}
				}
			})
		}
		for i := range rounds {
			for range 3 {
				o.Push(slow{})
			}
			if i%2 == 0 {
				runtime.Gosched()
			}
			for o.Len() > 0 {
				if i%4 > 1 {
					o.Pop()
				}
				runtime.Gosched()
			}
			round.Add(1)
		}
		thieves.Wait()
	}
}
