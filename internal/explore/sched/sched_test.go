package sched

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// outcomes explores a program and returns the ends that it can come to.
func outcomes(t *testing.T, p func(r *Run) (end func() string), o Options) (map[string]bool, Result) {
	t.Helper()
	ends := map[string]bool{}
	res := Explore(func(r *Run) func() error {
		end := p(r)
		return func() error { ends[end()] = true; return nil }
	}, o)
	if res.Failure != nil {
		t.Fatal("Explore(…, o):", res.Failure)
	}
	if !res.Complete {
		t.Fatal("not complete")
	}
	return ends, res
}

// Store buffers would let both threads read 0; Go's atomics do not.
func TestNoStoreIsBuffered(t *testing.T) {
	p := func(r *Run) func() string {
		var x, y Int32
		var a, b int32
		r.Go(func() { x.Store(1); a = y.Load() })
		r.Go(func() { y.Store(1); b = x.Load() })
		return func() string { return fmt.Sprint(a, b) }
	}
	ends, _ := outcomes(t, p, Options{Preemptions: -1})
	if len(ends) != 3 || ends["0 0"] {
		t.Errorf("outcomes(t, p, …): %v", ends)
	}
	if ends, _ = outcomes(t, p, Options{Preemptions: 0}); len(ends) != 2 {
		t.Errorf("without preemptions: %v", ends)
	}
}

// Random programs come to the same ends with and without sleep sets; with them in
// fewer executions.
func TestSleepSetsLoseNothing(t *testing.T) {
	seed := rand.Uint64()
	fewer := 0
	for n := range 200 {
		program := func(r *Run) func() string {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			vars := make([]Int32, 3)
			var mu Mutex
			var seen [3]string
			threads := 2 + rng.IntN(2)
			for i := range threads {
				type step struct{ what, x int }
				var steps []step
				for range 1 + rng.IntN(5-threads) {
					steps = append(steps, step{rng.IntN(6), rng.IntN(len(vars))})
				}
				r.Go(func() {
					for _, s := range steps {
						x := &vars[s.x]
						switch s.what {
						case 0, 1:
							seen[i] += fmt.Sprint(x.Load())
						case 2:
							x.Store(int32(i + 1))
						case 3:
							seen[i] += fmt.Sprint(x.CompareAndSwap(0, int32(i+5)))
						case 4:
							mu.Lock()
							seen[i] += fmt.Sprint(x.Add(1))
							mu.Unlock()
						case 5:
							if mu.TryLock() {
								x.Store(9)
								mu.Unlock()
							}
						}
					}
				})
			}
			return func() string {
				return fmt.Sprint(seen, vars[0].Load(), vars[1].Load(), vars[2].Load())
			}
		}
		all, long := outcomes(t, program, Options{Preemptions: 1000})
		some, short := outcomes(t, program, Options{Preemptions: -1})
		if len(all) != len(some) {
			t.Errorf("seed %d, %d: %d ends without sleep sets, %d with them", seed, n, len(all), len(some))
		}
		if short.Executions < long.Executions {
			fewer++
		}
		if short.Executions > long.Executions {
			t.Errorf("seed %d, %d: %d executions without sleep sets, %d with them", seed, n, long.Executions, short.Executions)
		}
	}
	if fewer < 100 {
		t.Errorf("fewer executions in %d programs of 200", fewer)
	}
}

func wantFailure(t *testing.T, want string, p Program) {
	t.Helper()
	res := Explore(p, Options{Preemptions: -1})
	if res.Failure == nil || !strings.Contains(res.Failure.Message, want) || len(res.Failure.Trace) == 0 {
		t.Fatalf("%v, want %q", res.Failure, want)
	}
	again := Explore(p, Options{Preemptions: -1, Schedule: res.Failure.Schedule})
	if again.Failure == nil || again.Failure.Message != res.Failure.Message {
		t.Errorf("again: %v", again.Failure)
	}
}

func nothing() error { return nil }

func TestEachKindOfFailureIsFound(t *testing.T) {
	wantFailure(t, "deadlock", func(r *Run) func() error {
		var a, b Mutex
		x := 0
		r.Go(func() { a.Lock(); b.Lock(); x++; b.Unlock(); a.Unlock() })
		r.Go(func() { b.Lock(); a.Lock(); x++; a.Unlock(); b.Unlock() })
		return nothing
	})
	wantFailure(t, "data race", func(r *Run) func() error {
		var flag Bool
		var x int
		r.Go(func() { flag.Store(true); Plain(unsafe.Pointer(&x), true); x = 1 })
		r.Go(func() {
			if flag.Load() {
				Plain(unsafe.Pointer(&x), true)
				x = 2
			}
		})
		return nothing
	})
	wantFailure(t, "panic: runtime error: index out of range", func(r *Run) func() error {
		var x Int32
		r.Go(func() { x.Store(5) })
		r.Go(func() { _ = make([]int, 3)[x.Load()] })
		return nothing
	})
	wantFailure(t, "lost", func(r *Run) func() error {
		var x Int32
		add := func() { x.Store(x.Load() + 1) }
		r.Go(add)
		r.Go(add)
		return func() error {
			if x.Load() != 2 {
				return errors.New("lost")
			}
			return nil
		}
	})
	wantFailure(t, "no end", func(r *Run) func() error {
		var x Bool
		r.Go(func() {
			for !x.Load() {
			}
		})
		return nothing
	})
}

// What is handed over by an atomic store is no race, and a thread that yields
// lets the one it waits for go first.
func TestWhatIsHandedOverIsNoRace(t *testing.T) {
	res := Explore(func(r *Run) func() error {
		var flag Bool
		x := 0
		r.Go(func() { Plain(unsafe.Pointer(&x), true); x = 1; flag.Store(true) })
		r.Go(func() {
			for !flag.Load() {
				Gosched()
			}
			Plain(unsafe.Pointer(&x), true)
			if x != 1 {
				r.Fail("x is %d", x)
			}
		})
		return nothing
	}, Options{Preemptions: -1})
	if res.Failure != nil || !res.Complete {
		t.Errorf("Explore(…): %+v", res)
	}
}

// A coroutine goes on in any thread, in the order that something else gives, and in one at a time.
func TestACoroutineGoesOnInAnyThread(t *testing.T) {
	program := func(ordered bool) Program {
		return func(r *Run) func() error {
			var mu Mutex
			var inside Int32
			var next func() (int, bool)
			var stop func()
			sum := 0
			for range 2 {
				r.Go(func() {
					if ordered {
						mu.Lock()
						defer mu.Unlock()
					}
					if next == nil {
						next, stop = Pull(func(yield func(int) bool) {
							for i := 1; inside.Add(1) > 0 && yield(i); i++ {
							}
							sum += 10
						})
					}
					v, _ := next()
					if sum += v; inside.Load() == 2 {
						stop()
						if _, ok := next(); ok {
							r.Fail("it goes on after its end")
						}
					}
				})
			}
			return func() error {
				if sum != 13 || r.Coroutines() != 0 {
					return fmt.Errorf("%d, %d left", sum, r.Coroutines())
				}
				return nil
			}
		}
	}
	if res := Explore(program(true), Options{Preemptions: -1}); res.Failure != nil || !res.Complete {
		t.Error("Explore(program(true), …):", res.Failure)
	}
	if res := Explore(program(false), Options{Preemptions: -1}); res.Failure == nil || !strings.Contains(res.Failure.Message, "data race") {
		t.Errorf("without a lock: %v", res.Failure)
	}
}

// runtime.Goexit ends a thread and nothing else. In a coroutine it ends what has resumed that as well, and what
// stops one that waits in a deferred call.
func TestGoexitEndsAThreadAndNothingElse(t *testing.T) {
	program := func(fails bool) Program {
		return func(r *Run) func() error {
			var x Int32
			deferred := 0
			r.Go(func() {
				defer func() { deferred++ }()
				next, stop := Pull(func(yield func(int) bool) {
					defer func() { deferred += 10 }()
					defer yield(2)
					yield(1)
					x.Add(1)
					runtime.Goexit()
				})
				for range 2 {
					next()
				}
				Go(func() {
					defer func() { deferred += 100 }()
					stop()
					r.Fail("stop returns")
				})
				Go(func() {
					defer func() { deferred += 1000 }()
					next, _ := Pull(func(func(int) bool) { runtime.Goexit() })
					next()
					r.Fail("next returns")
				})
				x.Add(1)
				if fails {
					r.Fail("as it should")
				}
				runtime.Goexit()
			})
			r.Go(func() { x.Add(1) })
			return func() error {
				if deferred != 1111 || x.Load() != 3 || r.Coroutines() != 0 {
					return fmt.Errorf("%d, %d, %d left", deferred, x.Load(), r.Coroutines())
				}
				return nil
			}
		}
	}
	if res := Explore(program(false), Options{Preemptions: -1}); res.Failure != nil || !res.Complete {
		t.Error("Explore(program(false), …):", res.Failure)
	}
	if res := Explore(program(true), Options{Preemptions: -1}); res.Failure == nil || res.Failure.Message != "as it should" {
		t.Error("Explore(program(true), …):", res.Failure)
	}
}

// What Next receives was sent before, and it sees the end of the channel.
func TestNextReceivesWhatWasSent(t *testing.T) {
	ends, _ := outcomes(t, func(r *Run) func() string {
		ch := make(chan int, 1)
		var got []int
		x := 0
		r.Go(func() {
			Writes(&x)
			Send(ch, 7)
			Close(ch)
		})
		r.Go(func() {
			for v, ok := Next(ch); ok; v, ok = Next(ch) {
				Reads(&x)
				got = append(got, v)
			}
		})
		return func() string { return fmt.Sprint(got) }
	}, Options{Preemptions: -1})
	if len(ends) != 1 || !ends["[7]"] {
		t.Errorf("outcomes(…): %v", ends)
	}
}
