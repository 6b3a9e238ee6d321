package goroutine

import (
	"iter"
	"sync"
	"testing"
)

// A goroutine has one ID and one number while it lives, however its stack moves, and no other
// that lives has them.
func TestGoroutinesAreToldApart(t *testing.T) {
	const n = 100
	var mu sync.Mutex
	ids, numbers := map[uintptr]bool{}, map[uint64]bool{}
	var noted, all sync.WaitGroup
	noted.Add(n)
	for range n {
		all.Go(func() {
			id, number := ID(), Number()
			mu.Lock()
			ids[id], numbers[number] = true, true
			mu.Unlock()
			noted.Done()
			noted.Wait() // all live
			deep(1000, func() {
				if ID() != id || Number() != number {
					t.Errorf("%x and %d became %x and %d", id, number, ID(), Number())
				}
			})
		})
	}
	all.Wait()
	if len(ids) != n || len(numbers) != n || ids[0] || numbers[0] {
		t.Errorf("%d goroutines have %d IDs and %d numbers", n, len(ids), len(numbers))
	}
}

// deep calls f far down a stack, which grows.
func deep(n int, f func()) {
	var room [64]byte
	if n > 0 {
		deep(n-1, f)
	} else {
		f()
	}
	room[n%64]++
}

func TestNumberInATraceback(t *testing.T) {
	for text, want := range map[string]uint64{"goroutine 17 [running]:\n": 17, "goroutine 1": 1, "goroutine ": 0, "": 0, "goroutine x": 0} {
		if n := numberIn([]byte(text)); n != want {
			t.Errorf("numberIn([]byte(text)): %q: %d", text, n)
		}
	}
}

// A coroutine is told from other goroutines at any depth of its stack, and also if what it calls has made others.
func TestCoroutinesAreToldFromOtherGoroutines(t *testing.T) {
	for _, n := range []int{0, 1, 60, 61, 62, 63, 64, 10_000} {
		next, stop := iter.Pull(func(yield func(bool) bool) {
			deep(n, func() { yield(IsCoroutine()) })
		})
		if is, _ := next(); !is {
			t.Errorf("%d calls deep in a coroutine, IsCoroutine says that it is none", n)
		}
		stop()
		done := make(chan bool)
		go deep(n, func() { done <- IsCoroutine() })
		if <-done {
			t.Errorf("%d calls deep in a goroutine of go, IsCoroutine says that it is a coroutine", n)
		}
	}
}

func BenchmarkID(b *testing.B) {
	for b.Loop() {
		ID()
	}
}

func BenchmarkNumber(b *testing.B) {
	for b.Loop() {
		Number()
	}
}
