package deque

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/filch-go/filch/internal/race"
)

// slots returns how many slots the ring has.
func slots[T any](o *Owner[T]) int {
	switch d := o.instead.(type) {
	case *hybrid[T]:
		return len(d.slots.slots)
	case *mutexDeque[T]:
		return len(d.ring.slots)
	}
	return len(o.ring.slots)
}

// hybridOf returns what o is.
func hybridOf[T any](o *Owner[T]) *hybrid[T] { return o.instead.(*hybrid[T]) }

func TestNothingIsRetained(t *testing.T) {
	type big struct{ _ [1 << 10]byte }
	for _, m := range makersOf[*big]() {
		o, th := m.make(0)
		var weaks []weak.Pointer[big]
		for range 100 {
			b := new(big)
			weaks = append(weaks, weak.Make(b))
			o.Push(b)
		}
		half := make([]*big, 20)
		th.StealHalf(half)
		clear(half)
		for i := range 80 {
			if i%2 == 0 {
				th.Steal()
			} else {
				o.Pop()
			}
		}
		runtime.GC()
		runtime.GC()
		for i, w := range weaks {
			if w.Value() != nil {
				t.Fatalf("%s: value %d is still held", m.name, i)
			}
		}
		runtime.KeepAlive(o)
	}
}

func TestAnySizeOfValue(t *testing.T) {
	for _, m := range makersOf[struct{}]() {
		o, th := m.make(0)
		for range 100 {
			o.Push(struct{}{})
		}
		for range 50 {
			if _, ok := o.Pop(); !ok {
				t.Fatal("Pop failed")
			}
			if _, r := th.Steal(); r != Success {
				t.Fatal("th.Steal():", r)
			}
		}
		if _, ok := o.Pop(); ok {
			t.Fatal("Pop from an empty deque")
		}
	}
	type rich struct {
		s string
		p *int
		m map[string]int
		e any
		a [9]int
	}
	for _, m := range makersOf[rich]() {
		o, th := m.make(0)
		for i := range 100 {
			o.Push(rich{s: fmt.Sprint(i), p: &i, e: i, a: [9]int{8: i}})
		}
		v, _ := o.Pop()
		w, _ := th.Steal()
		if v.m != nil || v.s != "99" || *v.p != 99 || v.e != 99 || v.a[8] != 99 || w.s != "0" || w.a[8] != 0 {
			t.Errorf("%s: got %v and %v", m.name, v, w)
		}
	}
}

// 31 values fit without the ring growing, wherever it begins; the 32nd doubles
// it, and all stay in order.
func TestHybridGrowsWithThe32nd(t *testing.T) {
	for head := range minRing {
		o, th := newHybrid[int](0)
		for i := range head {
			o.Push(i)
			wantSteal(t, th, i)
		}
		for i := range minRing - 1 {
			o.Push(i)
		}
		if n := slots(o); n != minRing {
			t.Fatalf("head %d: %d slots for 31 values", head, n)
		}
		o.Push(minRing - 1)
		if n := slots(o); n != 2*minRing {
			t.Fatalf("head %d: %d slots for 32 values", head, n)
		}
		for i := range minRing / 2 {
			wantSteal(t, th, i)
		}
		for i := minRing - 1; i >= minRing/2; i-- {
			wantPop(t, o, i)
		}
		wantEmpty(t, o, th)
	}
}

// Without thieves and growth the owner takes no lock, also for the last value
// and when there is none.
func TestHybridTakesNoLock(t *testing.T) {
	o, _ := newHybrid[int](0)
	for round := range 1000 {
		n := 1 + round%(minRing-1)
		for i := range n {
			o.Push(i)
		}
		for i := n - 1; i >= 0; i-- {
			if o.Len() != i+1 {
				t.Fatalf("%d values, not %d", o.Len(), i+1)
			}
			wantPop(t, o, i)
		}
		if _, ok := o.Pop(); ok || o.Len() != 0 {
			t.Fatal("not empty")
		}
	}
	if n := hybridOf(o).mu.taken; n != 0 {
		t.Errorf("%d locks", n)
	}
}

// While another has the lock, TrySteal comes back with nothing, and with 0 at
// once.
func TestTryStealDoesNotWait(t *testing.T) {
	for _, m := range makersOf[int]() {
		o, th := m.make(0)
		o.Push(1)
		var mu *lock
		switch d := o.instead.(type) {
		case *hybrid[int]:
			mu = &d.mu
		case *mutexDeque[int]:
			mu = &d.mu
		default:
			continue
		}
		mu.Lock()
		for _, timeout := range []time.Duration{0, time.Microsecond, time.Millisecond} {
			if v, r := th.TrySteal(timeout); r != Retry || v != 0 {
				t.Errorf("%s: TrySteal(%v) = %v, %v under a lock", m.name, timeout, v, r)
			}
		}
		time.AfterFunc(time.Millisecond, mu.Unlock)
		if v, r := th.TrySteal(time.Hour); r != Success || v != 1 {
			t.Errorf("%s: TrySteal = %v, %v after the lock", m.name, v, r)
		}
		if _, r := th.TrySteal(0); r != Empty {
			t.Errorf("%s: TrySteal = %v from an empty deque", m.name, r)
		}
	}
}

func TestStealHalfTakesTheOldestHalf(t *testing.T) {
	for _, m := range makersOf[int]() {
		for n := range 70 {
			for _, room := range []int{1, 5, 100} {
				o, th := m.make(0)
				for i := range n {
					o.Push(i)
				}
				dst := make([]int, room)
				got, r := th.StealHalf(dst)
				want := make([]int, min((n+1)/2, room))
				for i := range want {
					want[i] = i
				}
				if !slices.Equal(dst[:got], want) || (r == Success) != (n > 0) || r == Retry || o.Len() != n-got {
					t.Fatalf("%s: StealHalf of %d to %d gives %v, %v and leaves %d", m.name, n, room, dst[:got], r, o.Len())
				}
			}
		}
	}
}

func TestMistakesOfThievesPanic(t *testing.T) {
	for _, m := range makersOf[int]() {
		_, th := m.make(0)
		for want, f := range map[string]func(){
			"deque: TrySteal(-1ns): the timeout must not be negative": func() { th.TrySteal(-1) },
			"deque: StealHalf: dst is empty":                          func() { th.StealHalf(nil) },
		} {
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("%s: panic %v, want %v", m.name, got, want)
					}
				}()
				f()
			}()
		}
	}
}

// Two goroutines that both use the Owner are a mistake, and the race detector
// says so, whether or not they meet.
func TestASecondOwnerIsDetected(t *testing.T) {
	const env = "DEQUE_TEST_OWNERS"
	uses := map[string]func(o *Owner[int]){
		"Push": func(o *Owner[int]) { o.Push(1) },
		"Pop":  func(o *Owner[int]) { o.Pop() },
		"Len":  func(o *Owner[int]) { o.Len() },
	}
	if name, use, ok := strings.Cut(os.Getenv(env), " "); ok {
		for _, m := range makersOf[int]() {
			if m.name == name {
				o, _ := m.make(0)
				done := make(chan bool)
				go func() { uses[use](o); done <- true }()
				uses[use](o)
				<-done
			}
		}
		return
	}
	if !race.Enabled {
		t.Skip("needs the race detector")
	}
	for _, m := range makersOf[int]() {
		for use := range uses {
			cmd := exec.Command(os.Args[0], "-test.run=^TestASecondOwnerIsDetected$")
			cmd.Env = append(os.Environ(), env+"="+m.name+" "+use)
			if b, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(b, []byte("DATA RACE")) {
				t.Errorf("cmd.CombinedOutput(): %s, %s: %v\n%s", m.name, use, err, b)
			}
		}
	}
}

// What one goroutine writes is on cache lines of its own, whatever the size of a
// pointer.
var (
	_ [unsafe.Sizeof(Owner[int]{}) - line]byte
	_ [line - unsafe.Sizeof(Owner[int]{})]byte
	_ [unsafe.Offsetof(shared[int]{}.done) - unsafe.Offsetof(shared[int]{}.top) - line]byte
	_ [unsafe.Offsetof(shared[int]{}.bottom) - unsafe.Offsetof(shared[int]{}.done) - line]byte
	_ [unsafe.Sizeof(shared[int]{}) - unsafe.Offsetof(shared[int]{}.bottom) - line]byte
	_ [unsafe.Offsetof(hybrid[int]{}.tail) - unsafe.Offsetof(hybrid[int]{}.ring) - line]byte
	_ [unsafe.Offsetof(hybrid[int]{}.slots) - unsafe.Offsetof(hybrid[int]{}.tail) - line]byte
)
