package forks

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

func TestForksRunExactlyOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8, 64} {
		p := filch.New(filch.WithWorkers(workers))
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			var ran [1 << 12]atomic.Int32
			var split func(lo, hi int) rig.Step
			split = func(lo, hi int) rig.Step {
				return func(w *filch.Worker) {
					if hi-lo == 1 {
						ran[lo].Add(1)
						return
					}
					mid := (lo + hi) / 2
					both(w, split(lo, mid), split(mid, hi))
				}
			}
			for round := range int32(rig.Fewer(8)) {
				p.Do(split(0, len(ran)))
				for i := range ran {
					if n := ran[i].Load(); n != round+1 {
						t.Fatalf("%d workers, round %d: leaf %d ran %d times", workers, round, i, n)
					}
				}
			}
		})
	}
}

// Both arms must be at work at once: each waits for the other.
func TestTwoArmsOverlap(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
		for range 100 {
			ab, ba := make(chan bool), make(chan bool)
			both(p,
				func(*filch.Worker) { close(ab); <-ba },
				func(*filch.Worker) { close(ba); <-ab })
		}
	})
}

func TestOneWorkerRunsSerially(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	p := filch.New(filch.WithWorkers(1))
	rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
		var order []string
		add := func(s string) rig.Step { return func(*filch.Worker) { order = append(order, s) } }
		both(p,
			func(w *filch.Worker) { both(w, add("1"), add("2")) },
			func(w *filch.Worker) { both(w, add("3"), add("4")) })
		if got := strings.Join(order, " "); got != "1 2 3 4" {
			t.Errorf("ran %s", got)
		}
	})
}

func TestManyForksInOneFrame(t *testing.T) {
	sum := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 1000 {
			return n
		}
		hs := make([]filch.Fork, n)
		for i := range hs {
			hs[i] = f.Fork(i % 1000)
		}
		s := 0
		for i := len(hs) - 1; i >= 0; i-- {
			s += f.Join(hs[i])
		}
		return s
	})
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		if got := sum.Call(p, 100_000); got != 49_950_000 {
			t.Errorf("%d workers: %d", workers, got)
		}
	}
}

// Nested calls of several functions share a worker, and their forks stay in
// order of age.
func TestFunctionsNest(t *testing.T) {
	inner := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n <= 1 {
			return n
		}
		h := f.Fork(n / 2)
		a := f.Call(n - n/2)
		return a + f.Join(h)
	})
	middle := filch.NewChain(func(l *filch.Link[int, int], n int) int { return 0 })
	var middleBody func(l *filch.Link[int, int], n int) int
	middleBody = func(l *filch.Link[int, int], n int) int {
		if n <= 32 {
			return inner.Call(l.Worker(), n)
		}
		l.Fork(n / 2)
		a := middleBody(l.Next(), n-n/2)
		if l.TakeBack() {
			return a + middleBody(l, n/2)
		}
		return a + l.Join()
	}
	middle = filch.NewChain(middleBody)
	var outer func(w *filch.Worker, n int) int
	outer = func(w *filch.Worker, n int) int {
		if n <= 1024 {
			return middle.Call(w, n)
		}
		a, b := filch.Join(w,
			func(w *filch.Worker) int { return outer(w, n/2) },
			func(w *filch.Worker) int { return outer(w, n-n/2) })
		return a + b
	}
	n := racetest.Fewer(3000, 50_000)
	for _, workers := range []int{1, 2, 3, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for range racetest.Fewer(2, rig.Fewer(20)) {
			p.Do(func(w *filch.Worker) {
				if got := outer(w, n); got != n {
					t.Fatalf("%d workers: %d", workers, got)
				}
			})
		}
	}
}

func TestChainOfAMillionForks(t *testing.T) {
	racetest.Skip(t, "it makes too many forks")
	depth := 1_000_000
	if race.Enabled {
		depth = 100_000 // each takes ten times as long
	}
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 0
		}
		h := f.Fork(n - 1) // joined at once: the recursion goes through Join
		return f.Join(h) + 1
	})
	open := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n <= 0 {
			return 1
		}
		h := f.Fork(0) // open all the way down
		return f.Call(n-1) + f.Join(h)
	})
	var link func(l *filch.Link[int, int], n int) int
	link = func(l *filch.Link[int, int], n int) int {
		if n <= 0 {
			return 1
		}
		l.Fork(0)
		s := link(l.Next(), n-1)
		if l.TakeBack() {
			return s + link(l, 0)
		}
		return s + l.Join()
	}
	chain := filch.NewChain(link)
	n := depth
	if race.Enabled || runtime.GOARCH == "386" || thorough.Sampled() {
		n /= 10 // stack frames are larger, or the largest stack is smaller
	}
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		if got := fn.Call(p, n); got != n {
			t.Errorf("%d workers: %d joined forks, not %d", workers, got, n)
		}
		if got := open.Call(p, n); got != n+1 {
			t.Errorf("%d workers: %d open forks, not %d", workers, got, n+1)
		}
		if got := chain.Call(p, n); got != n+1 {
			t.Errorf("%d workers: %d links, not %d", workers, got, n+1)
		}
	}
}

func TestForkDoesNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("sync.Pool forgets at random under the race detector")
	}
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		rig.FibFunc.Call(p, 20)
		rig.FibChain.Call(p, 20)
		var n float64
		p.Do(func(w *filch.Worker) {
			n = testing.AllocsPerRun(100, func() {
				rig.FibFunc.Call(w, 20)
				rig.FibChain.Call(w, 20)
			})
		})
		if forks := 2 * (10946 - 1); n > float64(forks)/1000 {
			t.Errorf("%d workers: %v allocations for %d forks", workers, n, forks)
		}
	}
}

// The worker spins, then leaves; so each round begins with a wake-up.
func TestJoinOfTwoCoarseHalvesOverlapsOnARestingPool(t *testing.T) {
	rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			nap := func(*filch.Worker) { time.Sleep(5 * time.Millisecond) }
			for range 5 {
				start := time.Now()
				both(p, nap, nap)
				if d := time.Since(start); d > 5500*time.Microsecond {
					t.Errorf("took %v", d)
				}
				time.Sleep(time.Second)
			}
		})
	})
}

// Poll lets forks out of a leaf that is too long, but does not fork.
func TestPollAnswersDemand(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	done := make(chan bool)
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n > 0 {
			done <- true
			return 0
		}
		// The first fork is taken by the other worker, which then wants
		// another while this one only polls.
		a, b := f.Fork(1), f.Fork(1)
		for i := range 2 {
			poll.Patiently(t, "the other worker takes a fork of one that only polls", func() (bool, any) {
				select {
				case <-done:
					return true, nil
				default:
					f.Worker().Poll()
					return false, fmt.Sprintf("it has taken %d of 2", i)
				}
			})
		}
		f.Join(b)
		return f.Join(a)
	})
	p.Do(func(w *filch.Worker) { fn.Call(w, 0) })
}

// Many tasks lock a mutex around a join. If a worker waiting at a join ran just
// any work on top of its stack, it would sooner or later lock the mutex twice.
func TestMutexAroundJoin(t *testing.T) {
	for _, workers := range []int{2, 3, 8} {
		p := filch.New(filch.WithWorkers(workers))
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			var mu sync.Mutex
			total := 0
			var work func(depth int) rig.Step
			work = func(depth int) rig.Step {
				return func(w *filch.Worker) {
					if depth == 0 {
						mu.Lock()
						defer mu.Unlock()
						both(w, func(*filch.Worker) { runtime.Gosched() }, func(*filch.Worker) { total++ })
						return
					}
					both(w, work(depth-1), work(depth-1))
				}
			}
			p.Do(work(9))
			if total != 1<<9 {
				t.Errorf("%d workers: %d", workers, total)
			}
		})
	}
}

// Work that a waiting worker does on top of its stack descends from what it
// waits for, so what is nested on one goroutine is never deeper than the
// recursion.
func TestNestingStaysWithinTheRecursion(t *testing.T) {
	const depth = 14
	for _, workers := range []int{2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			var nested sync.Map // worker -> how many calls are on its stack
			var worst atomic.Int64
			var work func(level int) rig.Step
			work = func(level int) rig.Step {
				return func(w *filch.Worker) {
					v, _ := nested.LoadOrStore(w, new(atomic.Int64))
					n := v.(*atomic.Int64)
					if d := n.Add(1); d > worst.Load() {
						worst.Store(d)
					}
					defer n.Add(-1)
					if level < depth {
						both(w, work(level+1), work(level+1))
					}
				}
			}
			for range rig.Fewer(5) {
				p.Do(work(0))
			}
			if worst.Load() > depth+1 {
				t.Errorf("%d workers: %d calls on one stack, in a recursion of %d", workers, worst.Load(), depth+1)
			}
		})
	}
}

func TestMisuseOfForksPanics(t *testing.T) {
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		body := func(f func(f *filch.Frame[int, int])) *filch.Func[int, int] {
			return filch.NewFunc(func(fr *filch.Frame[int, int], n int) int {
				if n == 0 {
					f(fr)
				}
				return n
			})
		}
		rig.MustPanic(t, "Join of fork 1 out of order: the newest open fork is 2", func() {
			body(func(f *filch.Frame[int, int]) { a := f.Fork(1); f.Fork(2); f.Join(a) }).Call(p, 0)
		})
		rig.MustPanic(t, "Join of fork 1 out of order: the newest open fork is 0", func() {
			body(func(f *filch.Frame[int, int]) { a := f.Fork(1); f.Join(a); f.Join(a) }).Call(p, 0)
		})
		rig.MustPanic(t, "out of order", func() {
			body(func(f *filch.Frame[int, int]) { f.Join(0) }).Call(p, 0)
		})
		rig.MustPanic(t, "2 of its forks not joined", func() {
			body(func(f *filch.Frame[int, int]) { f.Fork(1); f.Fork(1) }).Call(p, 0)
		})

		link := func(f func(l *filch.Link[int, int])) *filch.Chain[int, int] {
			return filch.NewChain(func(l *filch.Link[int, int], n int) int {
				if n == 0 {
					f(l)
				}
				return n
			})
		}
		join := func(l *filch.Link[int, int]) {
			if !l.TakeBack() {
				l.Join()
			}
		}
		rig.MustPanic(t, "Join on a Link without a fork", func() {
			link(func(l *filch.Link[int, int]) { join(l) }).Call(p, 0)
		})
		rig.MustPanic(t, "Join on a Link without a fork", func() {
			link(func(l *filch.Link[int, int]) { l.Fork(1); l.Fork(2); join(l); join(l) }).Call(p, 0)
		})
		rig.MustPanic(t, "fork", func() { // not joined, or out of order if it is public
			link(func(l *filch.Link[int, int]) { l.Fork(1); l.Next().Fork(2); join(l) }).Call(p, 0)
		})
		rig.MustPanic(t, "1 of its forks not joined", func() {
			link(func(l *filch.Link[int, int]) { l.Fork(1) }).Call(p, 0)
		})

		// The pool is as good as before.
		if got := rig.FibFunc.Call(p, 20); got != 6765 {
			t.Errorf("fib(20) = %d", got)
		}
	}
}

func TestNilArgumentsPanic(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	nop := func(*filch.Worker) {}
	rig.MustPanic(t, "NewFunc: body is nil", func() { filch.NewFunc[int, int](nil) })
	rig.MustPanic(t, "NewChain: body is nil", func() { filch.NewChain[int, int](nil) })
	rig.MustPanic(t, "Call: s is nil", func() { rig.FibFunc.Call(nil, 1) })
	rig.MustPanic(t, "Do: f is nil", func() { p.Do(nil) })
	p.Do(func(w *filch.Worker) {
		rig.MustPanic(t, "Do: f is nil", func() { w.Do(nil) })
		rig.MustPanic(t, "Join: a is nil", func() { w.Join(nil, nop) })
		rig.MustPanic(t, "Join: b is nil", func() { w.Join(nop, nil) })
		one := func(*filch.Worker) int { return 1 }
		rig.MustPanic(t, "Join: w is nil", func() { filch.Join(nil, one, one) })
		rig.MustPanic(t, "Join: a is nil", func() { filch.Join[int](w, nil, one) })
		rig.MustPanic(t, "Join: b is nil", func() { filch.Join[int, int](w, one, nil) })
	})
}

var errTest = errors.New("test error")
