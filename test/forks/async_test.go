package forks

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
)

// spread queues a tree of asyncs, and counts its nodes.
func spread(ran *atomic.Int64, depth, width int) rig.Step {
	return func(w *filch.Worker) {
		ran.Add(1)
		if depth == 0 {
			return
		}
		for range width {
			w.Async(spread(ran, depth-1, width))
		}
	}
}

// All asyncs of a Finish have run, once, when it returns, from any depth.
func TestFinishWaitsForAllAsyncs(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for range 20 {
			p.Do(func(w *filch.Worker) {
				var ran atomic.Int64
				w.Finish(spread(&ran, 4, 5))
				if n := ran.Load(); n != 781 {
					t.Errorf("%d workers: %d of 781 have run", workers, n)
				}
			})
		}
		rig.AtRest(t, p)
	}
}

// Each call of Do on a pool or a task waits for the asyncs in it, and one on a worker does not.
func TestEachDoOfAPoolOrTaskIsAFinish(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(2))
	for name, do := range map[string]func(f func(w *filch.Worker)){
		"Do":        p.Do,
		"TryDo":     func(f func(w *filch.Worker)) { p.TryDo(f) },
		"DoContext": func(f func(w *filch.Worker)) { p.DoContext(context.Background(), f) },
		"ScopeOf": func(f func(w *filch.Worker)) {
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				filch.ScopeOf(ctx).Do(f)
				return 0, nil
			}).Wait(context.Background())
		},
		"ScopeOf, a guest": func(f func(w *filch.Worker)) {
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				filch.ScopeOf(ctx).Do(func(*filch.Worker) { filch.ScopeOf(ctx).Do(f) })
				return 0, nil
			}).Wait(context.Background())
		},
		"Worker.Do inside": func(f func(w *filch.Worker)) { p.Do(func(w *filch.Worker) { w.Do(f) }) },
	} {
		var ran atomic.Int64
		do(spread(&ran, 3, 4))
		if n := ran.Load(); n != 85 {
			t.Errorf("%s: %d of 85 have run", name, n)
		}
	}
	one := filch.New(filch.WithWorkers(1))
	one.Do(func(w *filch.Worker) {
		ran := false
		w.Do(func(w *filch.Worker) { w.Async(func(*filch.Worker) { ran = true }) })
		if ran {
			t.Error("Worker.Do has waited")
		}
	})
	rig.AtRest(t, p)
	rig.AtRest(t, one)
}

// An async belongs to the innermost Finish, which waits for no other.
func TestAsyncBelongsToTheInnermostFinish(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	p := filch.New(filch.WithWorkers(1))
	var order []string
	note := func(s string) rig.Step { return func(*filch.Worker) { order = append(order, s) } }
	p.Do(func(w *filch.Worker) {
		w.Async(note("outer"))
		w.Finish(func(w *filch.Worker) {
			w.Async(func(w *filch.Worker) {
				w.Async(note("of inner"))
				w.Finish(func(w *filch.Worker) { w.Async(note("innermost")) })
			})
		})
		note("between")(w)
	})
	if want := []string{"innermost", "of inner", "between", "outer"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

// What a stolen async queues belongs to the Finish that the async came from.
func TestAsyncsOfAStolenAsyncAreWaitedFor(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		var ran atomic.Int64
		p.Do(func(w *filch.Worker) {
			w.Finish(func(w *filch.Worker) {
				stolen, queued := make(chan bool), make(chan bool)
				w.Async(func(w *filch.Worker) {
					close(stolen)
					for range 10 {
						w.Async(spread(&ran, 2, 3))
					}
					close(queued)
				})
				<-stolen
				<-queued
			})
			if n := ran.Load(); n != 130 {
				t.Errorf("%d of 130 have run", n)
			}
		})
		rig.AtRest(t, p)
		if s := p.Stats(); s.Steals == 0 {
			t.Errorf("nothing was stolen: %+v", s)
		}
	})
}

// A Finish inside of what is stolen, a fork or an async, waits for its own asyncs.
func TestFinishInsideOfStolenWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		for name, steal := range map[string]func(w *filch.Worker, f rig.Step, begun chan bool){
			"fork": func(w *filch.Worker, f rig.Step, begun chan bool) { w.Join(func(*filch.Worker) { <-begun }, f) },
			"async": func(w *filch.Worker, f rig.Step, begun chan bool) {
				w.Finish(func(w *filch.Worker) { w.Async(f); <-begun })
			},
		} {
			begun := make(chan bool)
			p.Do(func(w *filch.Worker) {
				steal(w, func(w *filch.Worker) {
					close(begun)
					var ran atomic.Int64
					w.Finish(spread(&ran, 4, 4))
					if n := ran.Load(); n != 341 {
						t.Errorf("%s: %d of 341 have run", name, n)
					}
				}, begun)
			})
		}
		rig.AtRest(t, p)
	})
}

// What is forked needs a Finish of its own, whether another worker takes it or not, and works
// with one.
func TestAsyncInAForkNeedsAFinish(t *testing.T) {
	function := filch.NewFunc(func(f *filch.Frame[rig.Step, int], g rig.Step) int {
		if g == nil {
			return 0
		}
		g(f.Worker())
		return 1
	})
	forking := filch.NewFunc(func(f *filch.Frame[rig.Step, int], g rig.Step) int {
		if g == nil {
			return 0
		}
		return f.Join(f.Fork(nil)) + function.Call(f.Worker(), g)
	})
	chain := filch.NewChain(func(l *filch.Link[rig.Step, int], g rig.Step) int {
		g(l.Worker())
		return 1
	})
	for name, do := range map[string]func(w *filch.Worker, g rig.Step){
		"first of a Join":  func(w *filch.Worker, g rig.Step) { w.Join(g, rig.Nop) },
		"second of a Join": func(w *filch.Worker, g rig.Step) { w.Join(rig.Nop, g) },
		"Func":             func(w *filch.Worker, g rig.Step) { function.Call(w, g) },
		"Func in a Func":   func(w *filch.Worker, g rig.Step) { forking.Call(w, g) },
		"Chain":            func(w *filch.Worker, g rig.Step) { chain.Call(w, g) },
		"Do in a Func":     func(w *filch.Worker, g rig.Step) { function.Call(w, func(w *filch.Worker) { w.Do(g) }) },
		"loop": func(w *filch.Worker, g rig.Step) {
			par.ForScope(w, 2, func(s filch.Scope, i int) {
				if i == 1 {
					s.Do(g)
				}
			}, par.WithGrain(1))
		},
	} {
		for _, workers := range []int{1, 2} {
			p := filch.New(filch.WithWorkers(workers))
			ran := false
			call := func(g rig.Step) func() {
				return func() { p.Do(func(w *filch.Worker) { w.Finish(func(w *filch.Worker) { do(w, g) }) }) }
			}
			got := rig.Recovered(call(func(w *filch.Worker) { w.Async(rig.Nop) }))
			if !strings.Contains(got, "Async without a Finish") {
				t.Errorf("%s, %d workers: %q", name, workers, got)
			}
			got = rig.Recovered(call(func(w *filch.Worker) {
				w.Finish(func(w *filch.Worker) { w.Async(func(*filch.Worker) { ran = true }) })
				if !ran {
					t.Errorf("%s: Finish has not waited", name)
				}
			}))
			if got != "" || !ran {
				t.Errorf("%s, %d workers: %q with a Finish", name, workers, got)
			}
			rig.AtRest(t, p)
		}
	}
	p := filch.New(filch.WithWorkers(1))
	if got := rig.Recovered(func() { function.Call(p, func(w *filch.Worker) { w.Async(rig.Nop) }) }); !strings.Contains(got, "Async without a Finish") {
		t.Errorf("a Call without Do: %q", got)
	}
}

// The owner takes the newest async, and a thief the oldest.
func TestOwnerTakesTheNewestAsyncAndThievesTheOldest(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	const n = 20
	for _, c := range []struct {
		workers int
		first   func(i int) int
	}{
		{1, func(i int) int { return n - 1 - i }},
		{2, func(i int) int { return i }},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(c.workers))
			var order []int
			all := make(chan bool)
			p.Do(func(w *filch.Worker) {
				for i := range n {
					w.Async(func(*filch.Worker) {
						if order = append(order, i); len(order) == n {
							close(all)
						}
					})
				}
				for over := c.workers == 1; !over; runtime.Gosched() { // the thief has all of them
					select {
					case <-all:
						over = true
					default:
						w.Poll()
					}
				}
			})
			for i, got := range order {
				if got != c.first(i) {
					t.Fatalf("%d workers: %v", c.workers, order)
				}
			}
			<-all
			rig.AtRest(t, p)
		})
	}
}

// A pool of one worker publishes no asyncs.
func TestOneWorkerPublishesNoAsyncs(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	var ran atomic.Int64
	for range 100 {
		p.Do(spread(&ran, 5, 4))
	}
	if s := p.Stats(); s.Published != 0 || ran.Load() != 136500 {
		t.Errorf("%d were published; %d have run", s.Published, ran.Load())
	}
}

// Asyncs queue asyncs to any depth on a stack that stays small, also where each is stolen.
func TestDeepAsyncsNeedNoDeepStack(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		n := 300_000
		if race.Enabled {
			n = 30_000
		}
		p := filch.New(filch.WithWorkers(workers))
		var ran, deepest atomic.Int64
		var next func(w *filch.Worker)
		next = func(w *filch.Worker) {
			i := ran.Add(1)
			if i%100 == 0 {
				var pcs [1000]uintptr
				if d := int64(runtime.Callers(0, pcs[:])); d > deepest.Load() {
					deepest.Store(d)
				}
			}
			if i <= int64(n) {
				w.Async(next)
				w.Poll()
			}
			if i%64 == 0 { // lets thieves in on a single processor
				runtime.Gosched()
			}
		}
		p.Do(func(w *filch.Worker) {
			for range workers {
				w.Async(next)
			}
		})
		if d := deepest.Load(); d > 100 || ran.Load() < int64(n) {
			t.Errorf("%d workers: %d asyncs, %d frames deep", workers, ran.Load(), d)
		}
		rig.AtRest(t, p)
	}
}

// A thief that is helped goes on with something else when its own asyncs are done, and does
// not wait for those that were taken from it: each hop of a chain is stolen here, and the stack
// stays as it is.
func TestAsyncsThatAreAllStolenDoNotNest(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		deepest := 0
		var hop func(i int, before chan bool) rig.Step
		hop = func(i int, before chan bool) rig.Step {
			return func(w *filch.Worker) {
				close(before)
				var pcs [1000]uintptr
				deepest = max(deepest, runtime.Callers(0, pcs[:]))
				if i == 0 {
					return
				}
				begun := make(chan bool)
				w.Async(hop(i-1, begun))
				for {
					select {
					case <-begun:
						return
					default:
						w.Poll()
						runtime.Gosched()
					}
				}
			}
		}
		p.Do(hop(200, make(chan bool)))
		rig.AtRest(t, p)
		if s := p.Stats(); s.Steals < 200 || deepest > 100 {
			t.Errorf("%d steals, %d frames deep", s.Steals, deepest)
		}
	})
}

// A million asyncs may wait at a time, and run on all workers.
func TestAMillionAsyncsInOneFinish(t *testing.T) {
	n := 1_000_000
	if race.Enabled {
		n = 100_000
	}
	for _, workers := range []int{1, 3} {
		p := filch.New(filch.WithWorkers(workers))
		var ran atomic.Int64
		count := func(*filch.Worker) { ran.Add(1) }
		p.Do(func(w *filch.Worker) {
			for range n {
				w.Async(count)
			}
		})
		if got := ran.Load(); got != int64(n) {
			t.Errorf("%d workers: %d of %d have run", workers, got, n)
		}
		rig.AtRest(t, p)
	}
}

// A closure can be collected when it has run, while its Finish goes on: here and on a thief.
func TestAsyncsAreReleasedWhenTheyHaveRun(t *testing.T) {
	racetest.Skip(t, "it checks what is kept in memory")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		collected := func(begin func(f rig.Step)) bool {
			var gone *weak.Pointer[[1 << 16]byte]
			func() {
				big := new([1 << 16]byte)
				p := weak.Make(big)
				gone = &p
				begin(func(*filch.Worker) { big[0]++ })
			}()
			runtime.GC()
			return gone.Value() == nil
		}
		p.Do(func(w *filch.Worker) {
			stolen := make(chan bool)
			ok := collected(func(f rig.Step) {
				w.Async(func(w *filch.Worker) { f(w); close(stolen) })
				<-stolen
				synctest.Wait()
			})
			if !ok {
				t.Error("one that was stolen is kept")
			}
		})
		one := filch.New(filch.WithWorkers(1))
		one.Do(func(w *filch.Worker) {
			ok := collected(func(f rig.Step) {
				w.Finish(func(w *filch.Worker) { w.Async(f) })
			})
			if !ok {
				t.Error("one that its owner has run is kept")
			}
		})
		rig.AtRest(t, one)
		rig.AtRest(t, p)
	})
}

// Asyncs, and a Finish, allocate nothing but their closures.
func TestAsyncsDoNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	tree := func(w *filch.Worker) {
		for range 20 {
			w.Async(func(w *filch.Worker) {
				w.Finish(func(w *filch.Worker) {
					for range 20 {
						w.Async(rig.Nop)
					}
				})
			})
		}
	}
	p.Do(func(w *filch.Worker) {
		if n := testing.AllocsPerRun(100, func() { w.Finish(tree) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// While an async blocks, other workers run the asyncs that wait, those of outer Finishes too.
func TestBlockingInAnAsyncLetsTheOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		var others sync.WaitGroup
		others.Add(200)
		p.Do(func(w *filch.Worker) {
			for range 100 {
				w.Async(func(*filch.Worker) { others.Done() })
			}
			w.Finish(func(w *filch.Worker) {
				for range 100 {
					w.Async(func(*filch.Worker) { others.Done() })
				}
				w.Async(func(w *filch.Worker) { w.Blocking(others.Wait) })
			})
		})
		rig.AtRest(t, p)
	})
}

// A pool that is being closed waits for the asyncs of a Do, wherever they run.
func TestCloseWaitsForAsyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{1, 3} {
			p := filch.New(filch.WithWorkers(workers))
			var ran atomic.Int64
			in, closing := make(chan bool), make(chan bool)
			go p.Do(func(w *filch.Worker) {
				w.Async(spread(&ran, 3, 3))
				close(in)
				<-closing
				w.Async(spread(&ran, 3, 3))
			})
			<-in
			closed := make(chan bool)
			go func() { p.Close(); close(closed) }()
			synctest.Wait()
			close(closing)
			<-closed
			if n := ran.Load(); n != 80 {
				t.Errorf("%d workers: %d of 80 have run", workers, n)
			}
			if err := p.TryDo(rig.Nop); !errors.Is(err, filch.ErrClosed) {
				t.Errorf("then TryDo: %v", err)
			}
		}
	})
}

// Forks and loops may be used in asyncs, and a Finish in them.
func TestAsyncsForksAndLoopsCompose(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var ran atomic.Int64
		function := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n < 2 {
				f.Worker().Finish(spread(&ran, 1, 1))
				return n
			}
			var sum int
			h := f.Fork(n - 1)
			f.Worker().Finish(func(w *filch.Worker) {
				w.Async(func(w *filch.Worker) { sum = rig.FibChain.Call(w, n-2) })
				w.Async(func(w *filch.Worker) { par.For(w, 10, func(int) { ran.Add(1) }) })
			})
			return f.Join(h) + sum
		})
		for range 10 {
			ran.Store(0)
			if got := function.Call(p, 12); got != 144 {
				t.Errorf("%d workers: %d", workers, got)
			}
			p.Do(func(w *filch.Worker) {
				par.ForScope(w, 100, func(s filch.Scope, i int) {
					s.Do(func(w *filch.Worker) { w.Finish(spread(&ran, 2, 2)) })
				})
			})
			if n := ran.Load(); n != 11*10+2+700 {
				t.Errorf("%d workers: %d have run", workers, n)
			}
		}
		rig.AtRest(t, p)
	}
}

// A Frame from outside may fork in a Finish, before its asyncs, between them and after, if it
// joins there.
func TestForksAmongAsyncs(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var ran atomic.Int64
		function := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n < 2 {
				return n
			}
			sum := 0
			f.Worker().Finish(func(w *filch.Worker) {
				w.Async(spread(&ran, 1, 3))
				h := f.Fork(n - 1)
				w.Async(spread(&ran, 1, 3))
				sum = f.Call(n - 2)
				w.Async(spread(&ran, 1, 3))
				sum += f.Join(h)
				w.Async(spread(&ran, 1, 3))
			})
			return sum
		})
		for range 10 {
			ran.Store(0)
			if got, n := function.Call(p, 14), ran.Load(); got != 377 || n != 609*16 {
				t.Errorf("%d workers: %d, and %d asyncs have run", workers, got, n)
			}
		}
		rig.AtRest(t, p)
	}
}

// A worker that waits for a fork, with asyncs in its deque that are younger, does not help: what
// it helps with could take the asyncs for its own.
func TestAJoinAmongAsyncsDoesNotHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		var in atomic.Pointer[filch.Worker] // that runs the fork
		begun := make(chan bool)
		spin := func(w *filch.Worker) {
			for range 3000 {
				w.Poll()
				runtime.Gosched()
			}
		}
		filch.NewFunc(func(f *filch.Frame[int, int], arg int) int {
			w := f.Worker()
			switch arg {
			case 0:
				w.Finish(func(w *filch.Worker) {
					h := f.Fork(1)
					<-begun
					for range 3 {
						w.Async(func(w *filch.Worker) {
							if in.Load() == w {
								t.Error("an async runs on top of a fork that it is no part of")
							}
						})
					}
					f.Join(h)
				})
			case 1:
				in.Store(w)
				close(begun)
				h := f.Fork(2)
				spin(w)
				f.Join(h)
				in.Store(nil)
			case 2:
				spin(w)
			}
			return 0
		}).Call(p, 0)
		rig.AtRest(t, p)
	})
}

// asyncPlaces are where an async may run: on the worker that queued it, or on a thief.
var asyncPlaces = []struct {
	name    string
	workers int
	async   func(w *filch.Worker, f rig.Step)
}{
	{"own", 1, func(w *filch.Worker, f rig.Step) { w.Async(f) }},
	{"stolen", 2, func(w *filch.Worker, f rig.Step) {
		begun := make(chan bool)
		w.Async(func(w *filch.Worker) { close(begun); f(w) })
		<-begun
	}},
	{"of a stolen one", 2, func(w *filch.Worker, f rig.Step) {
		begun := make(chan bool)
		w.Async(func(w *filch.Worker) { close(begun); w.Async(f) })
		<-begun
	}},
}

// A panic in an async ends the Finish, wrapped once, when nothing of it runs any more. What has
// not begun is dropped. The pool is none the worse.
func TestPanicInAnAsyncEndsTheFinish(t *testing.T) {
	for _, c := range asyncPlaces {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(c.workers))
				late := false
				r := rig.Catch(func() {
					p.Do(func(w *filch.Worker) {
						w.Async(func(*filch.Worker) { late = true })
						inner := rig.Catch(func() {
							w.Finish(func(w *filch.Worker) {
								c.async(w, func(*filch.Worker) { panic(rig.ErrBoom) })
								synctest.Wait()
								w.Async(func(*filch.Worker) {
									if c.workers > 1 {
										t.Error("an async has begun after the panic")
									}
								})
							})
							t.Error("Finish returned")
						})
						if err, ok := inner.(*filch.PanicError); !ok || !errors.Is(err, rig.ErrBoom) || !strings.Contains(string(err.Stack), "async_test.go") {
							t.Errorf("Finish ended with %v", inner)
						}
						panic(inner)
					})
				})
				err, ok := r.(*filch.PanicError)
				if !ok || err.Value != rig.ErrBoom {
					t.Errorf("Do ended with %v", r)
				}
				if late && c.workers == 1 {
					t.Error("an async of Do has begun after the panic")
				}
				mustBeWell(t, p)
			})
		})
	}
}

// A Finish that fails waits for what runs on other workers, and ends with the first failure.
func TestAFinishThatFailsWaitsForThieves(t *testing.T) {
	for _, first := range []string{"body", "owner", "thief"} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			begun, failed := make(chan bool), make(chan bool)
			over := false
			r := rig.Catch(func() {
				p.Do(func(w *filch.Worker) {
					w.Async(func(w *filch.Worker) {
						defer func() { over = true }()
						close(begun)
						if first != "thief" {
							<-failed
							synctest.Wait()                                      // the other has come to its boundary, and waits
							w.Finish(func(w *filch.Worker) { w.Async(rig.Nop) }) // does not belong to what failed
							panic("thief")
						}
						panic("thief")
					})
					<-begun
					switch first {
					case "thief":
						synctest.Wait()
						panic("body")
					case "body":
						defer close(failed)
						panic("body")
					}
					w.Async(func(*filch.Worker) {
						defer close(failed)
						panic("owner")
					})
				})
			})
			if err, ok := r.(*filch.PanicError); !ok || err.Value != first || !over {
				t.Errorf("%s: %v arrived; what was stolen has ended: %t", first, r, over)
			}
			mustBeWell(t, p)
		})
	}
}

// A Goexit in an async ends the caller of Finish, when nothing of it runs any more.
func TestGoexitInAnAsyncEndsTheCaller(t *testing.T) {
	for _, c := range asyncPlaces {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(c.workers))
				returned, recovered := false, any(nil)
				done := make(chan bool)
				go func() {
					defer close(done)
					defer func() { recovered = recover() }()
					p.Do(func(w *filch.Worker) {
						w.Async(rig.Nop)
						w.Finish(func(w *filch.Worker) {
							c.async(w, func(*filch.Worker) { runtime.Goexit() })
						})
					})
					returned = true
				}()
				<-done
				if returned || recovered != nil {
					t.Errorf("returned: %v, recovered: %v", returned, recovered)
				}
				mustBeWell(t, p)
			})
		})
	}
}

// A worker that helps with an async of its own Finish, and is ended by it, still waits for the
// others.
func TestGoexitWhileHelpingWaitsForTheRest(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		over := false
		done := make(chan bool)
		go func() {
			defer close(done)
			p.Do(func(w *filch.Worker) {
				begun := make(chan bool)
				w.Async(func(w *filch.Worker) {
					close(begun)
					helped := make(chan bool)
					w.Async(func(*filch.Worker) { close(helped); runtime.Goexit() })
					for {
						select {
						case <-helped:
							synctest.Wait()
							over = true
							return
						default:
							w.Poll()
							runtime.Gosched()
						}
					}
				})
				<-begun
			})
			t.Error("Do returned")
		}()
		<-done
		if !over {
			t.Error("Do has not waited for the async that runs elsewhere")
		}
		mustBeWell(t, p)
	})
}

// A panic that is recovered below a Finish leaves the asyncs alone that were queued before it.
func TestARecoveredPanicLeavesTheAsyncs(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(1))
	ran := 0
	count := func(*filch.Worker) { ran++ }
	boom := func(w *filch.Worker) { w.Async(count); panic(rig.ErrBoom) }
	for _, do := range []func(f rig.Step){p.Do, func(f rig.Step) { p.Do(func(w *filch.Worker) { w.Finish(f) }) }} {
		ran = 0
		do(func(w *filch.Worker) {
			_ = rig.Catch(func() { w.Do(boom) })
			_ = rig.Catch(func() { boom(w) })
			_ = rig.Catch(func() { w.Join(func(*filch.Worker) { panic(rig.ErrBoom) }, rig.Nop) })
			_ = rig.Catch(func() { w.Finish(boom) })
		})
		if ran != 2 {
			t.Errorf("%d have run, not 2", ran)
		}
	}
}

// What runs on a worker that waits for a Finish is part of that Finish: so a mutex may be held
// around it that other asyncs lock.
func TestAMutexHeldAroundAFinish(t *testing.T) {
	n := 300
	if race.Enabled {
		n = 60
	}
	for _, workers := range []int{2, 4, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var ran atomic.Int64
		for range 5 {
			p.Do(func(w *filch.Worker) {
				mus := make([]sync.Mutex, 3)
				for i := range n {
					w.Async(func(w *filch.Worker) {
						w.Async(spread(&ran, 1, 1))
						mus[i%3].Lock()
						defer mus[i%3].Unlock()
						w.Finish(func(w *filch.Worker) {
							for range 20 {
								w.Async(func(w *filch.Worker) { rig.FibFunc.Call(w, 5); spread(&ran, 2, 2)(w) })
							}
						})
					})
				}
			})
		}
		if got, want := ran.Load(), int64(5*n*(2+140)); got != want {
			t.Errorf("%d workers: %d of %d have run", workers, got, want)
		}
		rig.AtRest(t, p)
	}
}

// An Async on a worker after its Do is told, and the next Do on that worker is none the worse.
func TestAsyncAfterDoIsTold(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	var leaked *filch.Worker
	p.Do(func(w *filch.Worker) { leaked = w })
	if got := rig.Recovered(func() { leaked.Async(rig.Nop) }); !strings.Contains(got, "after the call") {
		t.Errorf("recovered(…): %q", got)
	}
	rig.Recovered(func() { leaked.Do(rig.Nop) }) // which is told as well, if it is looked for
	var ran atomic.Int64
	p.Do(spread(&ran, 2, 2))
	if n := ran.Load(); n != 7 {
		t.Errorf("%d of 7 have run", n)
	}
}

// Arguments that are nil are told.
func TestNilAsyncsAreTold(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	p.Do(func(w *filch.Worker) {
		if got := rig.Recovered(func() { w.Async(nil) }); got != "filch: Async: f is nil" {
			t.Errorf("Async: %q", got)
		}
		if got := rig.Recovered(func() { w.Finish(nil) }); got != "filch: Finish: body is nil" {
			t.Errorf("Finish: %q", got)
		}
	})
}

// asyncStorm is a random computation of all that asyncs can be in.
type asyncStorm struct {
	t         *testing.T
	made, ran atomic.Int64  // of its own
	left      *atomic.Int64 // steps of all
	failing   bool
}

func (s *asyncStorm) step(seed uint64, depth int) rig.Step {
	s.made.Add(1)
	return func(w *filch.Worker) {
		s.ran.Add(1)
		s.do(w, rand.New(rand.NewPCG(seed, 1)), depth)
	}
}

func (s *asyncStorm) do(w *filch.Worker, r *rand.Rand, depth int) {
	for range r.IntN(6) {
		if s.left.Add(-1) < 0 {
			return
		}
		switch seed := r.Uint64(); r.IntN(9) {
		case 0, 1, 2, 3:
			w.Async(s.step(seed, depth))
		case 4:
			if depth > 20 {
				continue
			}
			inside := &asyncStorm{t: s.t, left: s.left, failing: s.failing}
			r := rig.Catch(func() { w.Finish(inside.step(seed, depth+1)) })
			switch {
			case r == nil && inside.made.Load() != inside.ran.Load():
				s.t.Errorf("a Finish has returned with %d asyncs made, and %d run", inside.made.Load(), inside.ran.Load())
			case r != nil && (!s.failing || !errors.Is(r.(error), rig.ErrBoom)):
				s.t.Errorf("a Finish has panicked: %v", r)
			}
		case 5:
			if depth > 20 {
				continue
			}
			two := func(seed uint64) rig.Step {
				return func(w *filch.Worker) {
					in := &asyncStorm{t: s.t, left: s.left}
					w.Finish(in.step(seed, depth+1))
					if in.made.Load() != in.ran.Load() {
						s.t.Errorf("in a fork: %d asyncs made, and %d run", in.made.Load(), in.ran.Load())
					}
				}
			}
			w.Join(two(seed), two(seed+1))
		case 6:
			if got := rig.FibFunc.Call(w, 8); got != 21 {
				s.t.Errorf("fib(8) = %d", got)
			}
		case 7:
			w.Blocking(runtime.Gosched)
		case 8:
			if s.failing && r.IntN(4) == 0 {
				panic(rig.ErrBoom)
			}
			runtime.Gosched()
		}
	}
}

// Whatever is done in asyncs, each runs once, and nothing is left. FILCH_SEED sets the seed.
func TestAsyncsAtRandomRunOnceEach(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv("FILCH_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal("strconv.ParseUint(s, 10, 64):", err)
		}
		seed = n
	}
	rounds := 200
	if race.Enabled || thorough.Sampled() {
		rounds = 60
	}
	for _, workers := range []int{1, 2, 4, 16} {
		p := filch.New(filch.WithWorkers(workers))
		for i := range rounds {
			s := &asyncStorm{t: t, left: &atomic.Int64{}, failing: i%2 == 1}
			s.left.Store(1000)
			round := seed + uint64(i)
			r := rig.Catch(func() { p.Do(s.step(round, 0)) })
			if s.failing && r != nil && errors.Is(r.(error), rig.ErrBoom) {
				r = nil
			} else if s.made.Load() != s.ran.Load() {
				t.Errorf("%d asyncs made, and %d run", s.made.Load(), s.ran.Load())
			}
			if r != nil {
				t.Errorf("Do has panicked: %v", r)
			}
			if t.Failed() {
				t.Fatalf("FILCH_SEED=%d, %d workers", round, workers)
			}
		}
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
		if s := p.Stats(); s.Active != 0 || s.Blocked != 0 {
			t.Errorf("FILCH_SEED=%d: %+v", seed, s)
		}
	}
}
