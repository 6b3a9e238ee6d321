package mistakes

import (
	"iter"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/goroutine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// stolen are ways to have other called by another worker while w waits for it in own.
var stolen = map[string]func(w *filch.Worker, own, other func()){
	"Join": func(w *filch.Worker, own, other func()) {
		w.Join(func(*filch.Worker) { own() }, func(*filch.Worker) { other() })
	},
	"Async": func(w *filch.Worker, own, other func()) {
		w.Finish(func(w *filch.Worker) {
			w.Async(func(*filch.Worker) { other() })
			own()
		})
	},
	"Frame.Fork": func(w *filch.Worker, own, other func()) {
		filch.NewFunc(func(f *filch.Frame[bool, bool], top bool) bool {
			if !top {
				other()
				return false
			}
			h := f.Fork(false)
			own()
			return f.Join(h)
		}).Call(w, true)
	},
	"Link.Fork": func(w *filch.Worker, own, other func()) {
		filch.NewChain(func(l *filch.Link[bool, bool], top bool) bool {
			if !top {
				other()
				return false
			}
			l.Fork(false)
			own()
			return l.Join()
		}).Call(w, true)
	},
}

// The worker of the function around it is the natural one to use in a fork, and the wrong one. It is told without checks, before
// anything is broken: the pool goes on.
func TestTheWorkerFromAroundAForkIsTold(t *testing.T) {
	if race.Enabled || !goroutine.Cheap {
		t.Skip("the race detector reports it; and it costs too much where nothing tells goroutines apart")
	}
	for op, use := range map[string]func(w *filch.Worker){
		"Worker.Join": func(w *filch.Worker) { w.Join(rig.Nop, rig.Nop) },
		"Join": func(w *filch.Worker) {
			filch.Join(w, func(*filch.Worker) int { return 1 }, func(*filch.Worker) int { return 2 })
		},
		"Worker.Finish":   func(w *filch.Worker) { w.Finish(rig.Nop) },
		"Worker.Do":       func(w *filch.Worker) { w.Do(rig.Nop) },
		"Worker.Blocking": func(w *filch.Worker) { w.Blocking(func() {}) },
		"Func.Call":       func(w *filch.Worker) { rig.FibFunc.Call(w, 3) },
		"Chain.Call":      func(w *filch.Worker) { rig.FibChain.Call(w, 3) },
	} {
		for way, fork := range stolen {
			p := filch.New(filch.WithWorkers(2))
			got := rig.Recovered(func() {
				p.Do(func(w *filch.Worker) {
					w.Join(rig.Nop, rig.Nop) // so that it knows its goroutine
					begun, ended := make(chan bool), make(chan bool)
					fork(w, func() { <-begun; <-ended }, func() {
						close(begun)
						defer close(ended)
						use(w)
					})
				})
			})
			want := "panic in filch: " + op + ": a Worker is used on another goroutine than the one that it was handed to; what is forked runs on any worker"
			if !strings.HasPrefix(got, want) || !strings.Contains(got, "\n\nused at\n\tgithub.com/filch-go/filch/test/mistakes.") {
				t.Errorf("%s, with the worker from around a stolen %s: %q, not %q and where", op, way, got, want)
			}
			if n := rig.FibFunc.Call(p, 10); n != 55 {
				t.Errorf("%s in %s: the next call on the pool returned %d, not 55", op, way, n)
			}
			p.Close()
		}
	}
}

// A coroutine is another goroutine, and runs while its caller waits. It may use the worker of that, however deep it is in its
// stack, and whatever is checked.
func TestACoroutineUsesTheWorkerOfItsCaller(t *testing.T) {
	for name, opts := range map[string][]filch.Option{"plain": nil, "with checks": {filch.WithChecks()}} {
		t.Run(name, func(t *testing.T) { coroutineUsesWorker(t, opts...) })
	}
}

func coroutineUsesWorker(t *testing.T, opts ...filch.Option) {
	p, ok := filch.New(append(opts, filch.WithWorkers(2))...), true
	defer p.Close()
	p.Do(func(w *filch.Worker) {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for ok = true; ok; {
				w.Join(rig.Nop, rig.Nop)
				ok = yield(rig.FibFunc.Call(w, 10))
			}
		})
		defer stop()
		for range 100 {
			w.Join(rig.Nop, rig.Nop)
			if n, _ := next(); n != 55 {
				t.Fatalf("in the coroutine, fib of 10 is %d", n)
			}
		}
	})
}

// A worker knows its goroutine again after the stack of that has moved, and at any depth.
func TestAWorkerIsKnownWhereItsStackHasMovedTo(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var sum func(w *filch.Worker, n int) int
	sum = func(w *filch.Worker, n int) int {
		var room [200]byte
		if n == 0 {
			return int(room[0])
		}
		a, b := filch.Join(w, func(w *filch.Worker) int { return sum(w, n-1) }, func(*filch.Worker) int { return 1 })
		return a + b + int(room[n%200])
	}
	for _, n := range []int{1, 3000, 2, 10_000, 1} {
		done := make(chan int)
		go p.Do(func(w *filch.Worker) { done <- sum(w, n) })
		if got := <-done; got != n {
			t.Errorf("%d deep: %d", n, got)
		}
	}
}
