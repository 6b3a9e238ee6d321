package strands

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

// ways are the two ways to spawn.
var ways = map[string][]strand.Option{"lazy": nil, "eager": {strand.Eager()}}

// onPools runs f in both ways on pools of each size.
func onPools(t *testing.T, sizes []int, f func(t *testing.T, p *filch.Pool, opts []strand.Option)) {
	for way, opts := range ways {
		for _, workers := range sizes {
			t.Run(fmt.Sprintf("%s/workers=%d", way, workers), func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				defer p.Close()
				f(t, p, opts)
			})
		}
	}
}

// script is a random strand: steps are what it does, one after the other.
type script struct {
	id    int
	steps []act
}

type act struct {
	child *script // spawned, or called on the same strand if call is set
	call  bool
	sync  bool
}

func randomScript(rng *rand.Rand, ids *int, depth int) *script {
	p := &script{id: *ids}
	*ids++
	for range rng.IntN(5) {
		switch {
		case rng.IntN(4) == 0:
			p.steps = append(p.steps, act{sync: true})
		case depth > 0:
			p.steps = append(p.steps, act{child: randomScript(rng, ids, depth-1), call: rng.IntN(3) == 0})
		}
	}
	return p
}

// run runs p on s, and notes what happens on each strand.
func (p *script) run(s *strand.Strand, note func(s *strand.Strand, event string)) {
	note(s, fmt.Sprint("begin ", p.id))
	for i, st := range p.steps {
		switch {
		case st.sync:
			s.Sync()
		case st.call:
			st.child.run(s, note)
		default:
			s.Spawn(func(s *strand.Strand) { st.child.run(s, note) })
		}
		note(s, fmt.Sprint(p.id, " after ", i))
	}
	note(s, fmt.Sprint("end ", p.id))
}

// elision is run with calls in place of spawns.
func (p *script) elision(note func(event string)) {
	note(fmt.Sprint("begin ", p.id))
	for i, st := range p.steps {
		if st.child != nil {
			st.child.elision(note)
		}
		note(fmt.Sprint(p.id, " after ", i))
	}
	note(fmt.Sprint("end ", p.id))
}

// One worker runs a script in its serial order.
func TestOneWorkerGoesInSerialOrder(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	onPools(t, []int{1}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for seed := range uint64(300) {
			ids := 0
			script := randomScript(rand.New(rand.NewPCG(seed, 1)), &ids, 5)
			var want, got []string
			script.elision(func(e string) { want = append(want, e) })
			strand.Run(p, func(s *strand.Strand) { script.run(s, func(_ *strand.Strand, e string) { got = append(got, e) }) }, opts...)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d:\n%v\nand not\n%v", seed, got, want)
			}
		}
	})
}

// On several workers the same things happen, and each strand in its own order.
func TestOnSeveralWorkersTheSameThingsHappen(t *testing.T) {
	onPools(t, []int{2, 3, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for seed := range uint64(300) {
			ids := 0
			script := randomScript(rand.New(rand.NewPCG(seed, 2)), &ids, 6)
			var want, got []string
			script.elision(func(e string) { want = append(want, e) })
			var mu sync.Mutex
			strand.Run(p, func(s *strand.Strand) {
				script.run(s, func(_ *strand.Strand, e string) {
					if rand.IntN(20) == 0 {
						runtime.Gosched()
					}
					mu.Lock()
					defer mu.Unlock()
					got = append(got, e)
				})
			}, opts...)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d events and not %d", seed, len(got), len(want))
			}
		}
	})
}

func fib(s *strand.Strand, n int) int {
	if n < 2 {
		return n
	}
	var a int
	s.Spawn(func(s *strand.Strand) { a = fib(s, n-1) })
	b := fib(s, n-2)
	s.Sync()
	return a + b
}

func fibValue(s *strand.Strand, n int) int {
	if n < 2 {
		return n
	}
	a := strand.SpawnValue(s, func(s *strand.Strand) int { return fibValue(s, n-1) })
	b := fibValue(s, n-2)
	s.Sync()
	return a.Get() + b
}

func fibCall(s *strand.Strand, n int) int {
	if n < 2 {
		return n
	}
	a := strand.SpawnCall(s, fibCall, n-1)
	b := fibCall(s, n-2)
	s.Sync()
	return a.Get() + b
}

// fibs are fib by each function that spawns.
var fibs = []struct {
	name string
	f    func(s *strand.Strand, n int) int
}{{"Spawn", fib}, {"SpawnValue", fibValue}, {"SpawnCall", fibCall}}

func TestFibIsRightOnAnyNumberOfWorkers(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		n, want := 20, 6765
		if race.Enabled {
			n, want = 14, 377
		}
		for _, fib := range fibs {
			for range 10 {
				var got int
				strand.Run(p, func(s *strand.Strand) { got = fib.f(s, n) }, opts...)
				if got != want {
					t.Errorf("%s: fib of %d is %d", fib.name, n, got)
				}
			}
		}
	})
}

// text is a result with a pointer: it has memory of its own.
func TestValuesWithPointers(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		var join func(s *strand.Strand, n int) string
		join = func(s *strand.Strand, n int) string {
			if n == 0 {
				return "."
			}
			left := strand.SpawnCall(s, join, n-1)
			right := strand.SpawnValue(s, func(s *strand.Strand) []string { return []string{join(s, n-1)} })
			s.Sync()
			return left.Get() + strings.Join(right.Get(), "")
		}
		var got string
		strand.Run(p, func(s *strand.Strand) { got = join(s, 8) }, opts...)
		if got != strings.Repeat(".", 256) {
			t.Errorf("256 leaves that are appended in parallel give %q, not 256 dots", got)
		}
	})
}

// Strands that were spawned and have not ended are at most P times as many as in the serial program: counted
// from before the Spawn, as children that wait in a queue would count, too.
func TestNotMoreThanPTimesAsManyStrandsAreLive(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8, 64} {
		for _, depth := range []int{1, 3, 5} {
			var live, most atomic.Int64
			var node func(s *strand.Strand, depth int)
			node = func(s *strand.Strand, depth int) {
				defer live.Add(-1)
				if depth == 0 {
					time.Sleep(time.Millisecond)
					return
				}
				for range 4 {
					now := live.Add(1)
					for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
					}
					s.Spawn(func(s *strand.Strand) { node(s, depth-1) })
				}
				s.Sync()
			}
			live.Store(1)
			inBubble(t, workers, func(s *strand.Strand) { node(s, depth) }, strand.Eager())
			if bound := int64(workers * (depth + 1)); most.Load() > bound || workers == 1 && most.Load() < bound {
				t.Errorf("%d workers, depth %d: %d strands at a time, and not %d", workers, depth, most.Load(), bound)
			}
		}
	}
}

// Sleeping leaves are spread over all workers, as by any greedy scheduler: a loop that spawns k takes no longer than
// k/P of them.
func TestEagerLeavesAreSpread(t *testing.T) {
	racetest.Skip(t, "no continuation is stolen")
	const k = 640
	for _, depth := range []int{0, 100} {
		for _, workers := range []int{1, 2, 8, 64} {
			took := inBubble(t, workers, func(s *strand.Strand) {
				below(s, depth, func(s *strand.Strand) {
					for range k {
						s.Spawn(sleeps)
					}
				})
			}, strand.Eager())
			if took > (k/time.Duration(workers)+2)*time.Second {
				t.Errorf("%d workers, depth %d: %v", workers, depth, took)
			}
		}
	}
}

// In the lazy way a continuation hides behind one child at most, once another worker asks: the leaves of a loop are
// spread as well, at the root with one more for each worker. Below plain calls, what is asked for is seen at each eighth spawn at
// first, since they come fast down to there.
func TestLazyLeavesAreSpread(t *testing.T) {
	racetest.Skip(t, "no continuation is stolen")
	k := 640
	if race.Enabled {
		k = 160
	}
	for depth, more := range map[int]time.Duration{0: 3, 5: 10, 100: 10} {
		for _, workers := range []int{2, 8, 64} {
			took := inBubble(t, workers, func(s *strand.Strand) {
				below(s, depth, func(s *strand.Strand) {
					for range k {
						s.Spawn(sleeps)
					}
				})
			})
			if took > (time.Duration((k+workers-1)/workers)+more)*time.Second {
				t.Errorf("%d workers, depth %d: %v", workers, depth, took)
			}
		}
	}
}

// The leaves of a tree are spread: lazy, it takes at most twice as long as eager.
func TestLazyTreesAreSpread(t *testing.T) {
	var tree func(s *strand.Strand, depth int)
	tree = func(s *strand.Strand, depth int) {
		if depth == 0 {
			sleeps(s)
			return
		}
		s.Spawn(func(s *strand.Strand) { tree(s, depth-1) })
		tree(s, depth-1)
	}
	for _, workers := range []int{8, 64} {
		if thorough.Sampled() && workers > 8 {
			continue
		}
		took := inBubble(t, workers, func(s *strand.Strand) { tree(s, 10) })
		if share := 1024 / time.Duration(workers) * time.Second; took > 2*share {
			t.Errorf("%d workers: %v, of %v", workers, took, share)
		}
	}
}

func sleeps(*strand.Strand) { time.Sleep(time.Second) }

// inBubble returns what a run of f takes in virtual time.
func inBubble(t *testing.T, workers int, f func(s *strand.Strand), opts ...strand.Option) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		begin := time.Now()
		strand.Run(p, f, opts...)
		took = time.Since(begin)
	})
	return took
}

// below calls f below so many spawns.
func below(s *strand.Strand, depth int, f func(s *strand.Strand)) {
	if depth == 0 {
		f(s)
		return
	}
	s.Spawn(func(s *strand.Strand) { below(s, depth-1, f) })
}

// A panic of a child arrives at the Sync, when all children have ended; the first in the serial order counts.
func TestTheFirstPanicArrivesAtTheSync(t *testing.T) {
	boom := errors.New("boom")
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for range 20 {
			var after, synced bool
			err := caught(func() {
				strand.Run(p, func(s *strand.Strand) {
					s.Spawn(func(s *strand.Strand) {
						s.Spawn(func(*strand.Strand) { panic(boom) })
						s.Spawn(func(*strand.Strand) { panic("later") })
						s.Sync()
						t.Error("Sync returned after a panic")
					})
					after = true
					s.Sync()
					synced = true
				}, opts...)
			})
			var pe *filch.PanicError
			if !errors.As(err, &pe) || !errors.Is(err, boom) || !after || synced {
				t.Fatalf("a child panics with boom: Run panics with %v; what followed the spawn ran: %t; what followed the Sync: %t, not boom, true and false", err, after, synced)
			}
		}
	})
}

// caught returns what f panics with, as an error.
func caught(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err, _ = v.(error)
			if err == nil {
				err = fmt.Errorf("%v", v)
			}
		}
	}()
	f()
	return nil
}

// A function that panics itself waits for its children first.
func TestPanicWaitsForChildren(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for range 20 {
			var done atomic.Int64
			err := caught(func() {
				strand.Run(p, func(s *strand.Strand) {
					s.Spawn(func(s *strand.Strand) {
						for range 10 {
							s.Spawn(func(*strand.Strand) { runtime.Gosched(); done.Add(1) })
						}
						panic("now")
					})
				}, opts...)
			})
			if err == nil || done.Load() != 10 {
				t.Fatalf("%v after %d of 10 children", err, done.Load())
			}
		}
	})
}

// What recovers from the panic of its Sync goes on, and may spawn again.
func TestWhatRecoversFromItsSyncGoesOn(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for range 20 {
			var got int
			strand.Run(p, func(s *strand.Strand) {
				err := caught(func() {
					s.Spawn(func(*strand.Strand) { panic("first") })
					s.Sync()
				})
				if err == nil || !strings.Contains(err.Error(), "first") {
					t.Errorf("a Sync after a child that panics with first panics with %v", err)
				}
				got = fib(s, 15)
			}, opts...)
			if got != 610 {
				t.Fatalf("after a panic that was recovered, fib(15) is %d, not 610", got)
			}
		}
	})
}

// After a child has failed, the strand spawns nothing more before its Sync, if it can know of it.
func TestNothingIsSpawnedAfterAFailure(t *testing.T) {
	onPools(t, []int{1}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		later := false
		err := caught(func() {
			strand.Run(p, func(s *strand.Strand) {
				s.Spawn(func(*strand.Strand) { panic("first") })
				s.Spawn(func(*strand.Strand) { later = true })
			}, opts...)
		})
		if err == nil || later {
			t.Errorf("Run panics with %v, and what comes after it ran: %t; it should panic, and nothing come after", err, later)
		}
	})
}

// runtime.Goexit ends the caller of Run, wherever it is called, with all deferred calls made.
func TestGoexitEndsTheCallerOfRun(t *testing.T) {
	places := map[string]func(s *strand.Strand, exit func()){
		"root":       func(s *strand.Strand, exit func()) { exit() },
		"child":      func(s *strand.Strand, exit func()) { s.Spawn(func(*strand.Strand) { exit() }) },
		"last child": func(s *strand.Strand, exit func()) { fib(s, 10); s.Spawn(func(*strand.Strand) { exit() }) },
		"with children": func(s *strand.Strand, exit func()) {
			s.Spawn(func(s *strand.Strand) { s.Spawn(func(s *strand.Strand) { fib(s, 10) }); exit() })
		},
		"grandchild": func(s *strand.Strand, exit func()) {
			s.Spawn(func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { exit() }); fib(s, 8); s.Sync() })
			fib(s, 10)
		},
		"Do": func(s *strand.Strand, exit func()) {
			s.Spawn(func(s *strand.Strand) { s.Do(func(*filch.Worker) { exit() }) })
		},
		"loop": func(s *strand.Strand, exit func()) {
			s.Spawn(func(s *strand.Strand) { par.For(s, 100, func(i int) { exitAt(i, 50, exit) }) })
		},
		"Blocking": func(s *strand.Strand, exit func()) {
			s.Spawn(func(s *strand.Strand) { s.Blocking(exit) })
		},
	}
	for name, body := range places {
		onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
			for range 5 {
				returned, deferred := false, atomic.Int64{}
				var wg sync.WaitGroup
				wg.Go(func() {
					strand.Run(p, func(s *strand.Strand) {
						body(s, func() {
							defer deferred.Add(1)
							runtime.Goexit()
						})
					}, opts...)
					returned = true
				})
				wg.Wait()
				if returned || deferred.Load() != 1 {
					t.Fatalf("%s: returned %t, %d deferred calls", name, returned, deferred.Load())
				}
				var got int
				strand.Run(p, func(s *strand.Strand) { got = fib(s, 10) }, opts...)
				if got != 55 {
					t.Fatalf("%s: %d afterwards", name, got)
				}
			}
		})
	}
}

func exitAt(i, n int, exit func()) {
	if i == n {
		exit()
	}
}

// Loops, forks and further runs may be made in a strand.
func TestStrandsAreScopes(t *testing.T) {
	sum := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		h := f.Fork(n - 1)
		return f.Call(n-2) + f.Join(h)
	})
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		var total atomic.Int64
		strand.Run(p, func(s *strand.Strand) {
			for range 20 {
				s.Spawn(func(s *strand.Strand) {
					par.For(s, 1000, func(i int) { total.Add(1) })
					total.Add(int64(sum.Call(s, 10)))
					strand.Run(s, func(s *strand.Strand) { total.Add(int64(fib(s, 10))) }, opts...)
					s.Do(func(w *filch.Worker) {
						w.Finish(func(w *filch.Worker) { w.Async(func(*filch.Worker) { total.Add(1) }) })
					})
				})
			}
		}, opts...)
		if want := int64(20 * (1000 + 55 + 55 + 1)); total.Load() != want {
			t.Errorf("%d and not %d", total.Load(), want)
		}
	})
}

// Runs may be made in tasks, loops and forks.
func TestRunsInOtherWork(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		var total atomic.Int64
		one := func(s filch.Scope) { strand.Run(s, func(s *strand.Strand) { total.Add(int64(fib(s, 10))) }, opts...) }
		par.ForScope(p, 20, func(s filch.Scope, i int) { one(s) })
		g := p.Group(t.Context())
		for range 20 {
			g.Go(func(ctx context.Context) error { one(filch.ScopeOf(ctx)); return nil })
		}
		if err := g.Wait(); err != nil || total.Load() != 40*55 {
			t.Errorf("40 tasks that each run fib(10): they add up to %d and end with %v, not %d and nil", total.Load(), err, 40*55)
		}
	})
}

// Blocking gives the place away: another strand of the only worker can end what it waits for.
func TestBlockingGivesThePlaceAway(t *testing.T) {
	for way, opts := range ways {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			defer p.Close()
			begin := time.Now()
			strand.Run(p, func(s *strand.Strand) {
				for range 8 {
					s.Spawn(func(s *strand.Strand) { s.Blocking(func() { time.Sleep(time.Second) }) })
				}
			}, append(opts, strand.Eager())...)
			if took := time.Since(begin); took > 2*time.Second {
				t.Errorf("%s: eight that block for a second took %v", way, took)
			}
		})
	}
}

// A Sync under a lock blocks nobody for ever: what the strand waits for is under way.
func TestSyncUnderALock(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		var mu sync.Mutex
		total := 0
		strand.Run(p, func(s *strand.Strand) {
			for range 200 {
				s.Spawn(func(s *strand.Strand) {
					mu.Lock()
					defer mu.Unlock()
					s.Spawn(func(s *strand.Strand) { fib(s, 6) })
					s.Spawn(func(s *strand.Strand) { runtime.Gosched() })
					s.Sync()
					total++
				})
			}
		}, opts...)
		if total != 200 {
			t.Errorf("200 children count %d", total)
		}
	})
}

// Spawns may be nested deeply: a million plain calls, and a hundred thousand coroutines.
func TestSpawnsMayBeNestedDeeply(t *testing.T) {
	for way, opts := range ways {
		for workers, n := range map[int]int{1: map[string]int{"lazy": 1_000_000, "eager": 100_000}[way], 2: 10_000} {
			if thorough.Sampled() || strconv.IntSize == 32 || race.Enabled {
				n = 10_000
			}
			p := filch.New(filch.WithWorkers(workers))
			var depth int
			var down func(s *strand.Strand, n int)
			down = func(s *strand.Strand, n int) {
				if n > 0 {
					s.Spawn(func(s *strand.Strand) { down(s, n-1) })
					s.Sync()
					depth++
				}
			}
			strand.Run(p, func(s *strand.Strand) { down(s, n) }, opts...)
			if depth != n {
				t.Errorf("%s: a chain of %d spawns is %d deep", way, n, depth)
			}
			p.Close()
		}
	}
}

// A guest may be locked to its thread.
func TestAGuestMayBeLockedToItsThread(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range 20 {
			var got int
			strand.Run(p, func(s *strand.Strand) { got = fib(s, 15) }, opts...)
			if got != 610 {
				t.Fatalf("fib(15) is %d, not 610", got)
			}
			p.Do(func(w *filch.Worker) { // helps with a run of another
				w.Join(func(w *filch.Worker) { strand.Run(w, func(s *strand.Strand) { fib(s, 10) }, opts...) },
					func(w *filch.Worker) { strand.Run(w, func(s *strand.Strand) { fib(s, 10) }, opts...) })
			})
		}
	})
}

// A run leaves no goroutine behind.
func TestNoGoroutineIsLeft(t *testing.T) {
	for way, opts := range ways {
		synctest.Test(t, func(t *testing.T) { // which panics if one is left
			p := filch.New(filch.WithWorkers(4))
			defer p.Close()
			before := runtime.NumGoroutine()
			for range 50 {
				strand.Run(p, func(s *strand.Strand) { fib(s, 12) }, opts...)
			}
			synctest.Wait()
			time.Sleep(time.Hour) // workers rest
			if now := runtime.NumGoroutine(); now > before+5 {
				t.Errorf("%s: %d goroutines, %d before", way, now, before)
			}
		})
	}
}

// The context of a run ends what is not begun.
func TestTheContextEndsWhatIsNotBegun(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		ran := atomic.Int64{}
		err := strand.RunContext(ctx, p, func(s *strand.Strand) {
			if s.Context() != ctx {
				t.Error("another context")
			}
			for i := range 100 {
				s.Spawn(func(*strand.Strand) { ran.Add(1) })
				if i == 49 {
					cancel(why)
				}
			}
			a := strand.SpawnCall(s, fibCall, 10)
			b := strand.SpawnValue(s, func(s *strand.Strand) int { return 1 })
			s.Sync()
			if a.Get() != 0 || b.Get() != 0 {
				t.Errorf("after the context has ended, what is spawned has the values %d and %d, not 0", a.Get(), b.Get())
			}
		}, opts...)
		if !errors.Is(err, why) || ran.Load() != 50 {
			t.Errorf("%v after %d", err, ran.Load())
		}
		if err := strand.RunContext(ctx, p, func(*strand.Strand) { t.Error("called") }, opts...); !errors.Is(err, why) {
			t.Errorf("RunContext with a context that has ended returns %v, not %v", err, why)
		}
		if err := strand.RunContext(t.Context(), p, func(s *strand.Strand) { fib(s, 10) }, opts...); err != nil {
			t.Errorf("RunContext of fib(10) returns %v", err)
		}
	})
}

// Mistakes panic, and say what is wrong.
func TestMisuseOfStrands(t *testing.T) {
	var s0 strand.Strand
	one := filch.New(filch.WithWorkers(1))
	defer one.Close()
	closed := filch.New()
	closed.Close()
	nop := func(*strand.Strand) {}
	for want, f := range map[string]func(s *strand.Strand){
		"Run: s is nil":                 func(*strand.Strand) { strand.Run(nil, nop) },
		"Run: f is nil":                 func(*strand.Strand) { strand.Run(one, nil) },
		"Run: an option is nil":         func(*strand.Strand) { strand.Run(one, nop, nil) },
		"RunContext: ctx is nil":        func(*strand.Strand) { var none context.Context; _ = strand.RunContext(none, one, nop) },
		"Do on a closed Pool":           func(*strand.Strand) { strand.Run(closed, nop) },
		"Spawn: f is nil":               func(s *strand.Strand) { s.Spawn(nil) },
		"SpawnValue: f is nil":          func(s *strand.Strand) { strand.SpawnValue[int](s, nil) },
		"SpawnCall: f is nil":           func(s *strand.Strand) { strand.SpawnCall[int, int](s, nil, 1) },
		"Do: f is nil":                  func(s *strand.Strand) { s.Do(nil) },
		"Blocking: f is nil":            func(s *strand.Strand) { s.Blocking(nil) },
		"Spawn: the Strand is nil":      func(*strand.Strand) { s0.Spawn(nop) },
		"SpawnValue: the Strand is nil": func(*strand.Strand) { strand.SpawnValue(nil, func(*strand.Strand) int { return 1 }) },
		"SpawnCall: the Strand is nil":  func(*strand.Strand) { strand.SpawnCall(&s0, func(*strand.Strand, int) int { return 1 }, 1) },
		"Get: the Value is nil":         func(*strand.Strand) { var v *strand.Value[int]; v.Get() },
		"Spawn: the Strand is that":     func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { s.Spawn(nop) }); s.Sync() },
		"Do: the Strand is that":        func(s *strand.Strand) { s.Do(func(*filch.Worker) { s.Do(func(*filch.Worker) {}) }) },
		"Poll: the Strand is that":      func(s *strand.Strand) { s.Blocking(func() { s.Poll() }) },
	} {
		for way, opts := range ways {
			var err error
			strand.Run(one, func(s *strand.Strand) { err = caught(func() { f(s) }) }, opts...)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v and not %q", way, err, want)
			}
		}
	}
	var kept *strand.Strand
	strand.Run(one, func(s *strand.Strand) { kept = s })
	if err := caught(func() { kept.Spawn(nop) }); err == nil || !strings.Contains(err.Error(), "that of another function") {
		t.Errorf("after the run: %v", err)
	}
}

// A pool with checks takes strands as any other.
func TestAPoolWithChecksTakesStrands(t *testing.T) {
	for way, opts := range ways {
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers), filch.WithChecks())
			for range 5 {
				var got int
				strand.Run(p, func(s *strand.Strand) {
					got = fib(s, 12)
					par.For(s, 10, func(int) {})
					s.Spawn(func(s *strand.Strand) {
						s.Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) {}, func(*filch.Worker) {}) })
					})
				}, opts...)
				if got != 144 {
					t.Errorf("%s: fib(12) is %d, not 144", way, got)
				}
			}
			p.Close()
		}
	}
}
