package life

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

func TestDoFromManyGoroutines(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var wg sync.WaitGroup
		var wrong atomic.Int32
		for range racetest.Fewer(8, rig.Fewer(1000)) {
			wg.Go(func() {
				if rig.FibFunc.Call(p, 15)+rig.FibChain.Call(p, 15) != 1220 {
					wrong.Add(1)
				}
			})
		}
		wg.Wait()
		if wrong.Load() > 0 {
			t.Errorf("%d workers: %d wrong answers", workers, wrong.Load())
		}
	}
}

// All calls get under way at once, however few workers there are.
func TestDoStartsAtOnce(t *testing.T) {
	const callers = 1000
	p := filch.New(filch.WithWorkers(1))
	var in, out sync.WaitGroup
	in.Add(callers)
	for range callers {
		out.Go(func() {
			p.Do(func(*filch.Worker) { in.Done(); in.Wait() })
		})
	}
	out.Wait()
}

func TestDoInsideDo(t *testing.T) {
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		var nest func(depth int) int
		nest = func(depth int) (n int) {
			if depth == 0 {
				return rig.FibFunc.Call(p, 10)
			}
			p.Do(func(w *filch.Worker) {
				w.Do(func(w *filch.Worker) {
					a, b := filch.Join(w,
						func(*filch.Worker) int { return nest(depth - 1) },
						func(w *filch.Worker) int { return rig.FibChain.Call(w, 10) })
					n = a + b
				})
			})
			return n
		}
		if got := nest(20); got != 21*55 {
			t.Errorf("%d workers: %d", workers, got)
		}
	}
}

func TestPoolsNest(t *testing.T) {
	a, b := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(2))
	var ping func(w *filch.Worker, p, q *filch.Pool, depth int) int
	ping = func(w *filch.Worker, p, q *filch.Pool, depth int) (n int) {
		if depth == 0 {
			return 1
		}
		there := func(*filch.Worker) (n int) {
			q.Do(func(w *filch.Worker) { n = ping(w, q, p, depth-1) })
			return n
		}
		x, y := filch.Join(w, there, there)
		return x + y
	}
	a.Do(func(w *filch.Worker) {
		if n := ping(w, a, b, 10); n != 1<<10 {
			t.Errorf("%d leaves", n)
		}
	})
}

func TestCloseWaitsForCallsAndTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		ended := false
		go p.Do(func(w *filch.Worker) {
			w.Join(
				func(*filch.Worker) { time.Sleep(time.Second) },
				func(*filch.Worker) { time.Sleep(2 * time.Second) })
			ended = true
		})
		synctest.Wait()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := p.Close(); err != nil || !ended {
					t.Errorf("Close returned %v; the call had ended: %v", err, ended)
				}
			})
		}
		synctest.Wait()
		rig.MustPanic(t, "Do on a closed Pool", func() { p.Do(rig.Nop) })
		wg.Wait()
		rig.MustPanic(t, "Do on a closed Pool", func() { p.Do(rig.Nop) })
		rig.MustPanic(t, "Call on a closed Pool", func() { rig.FibFunc.Call(p, 1) })
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
		if err := filch.New().Close(); err != nil {
			t.Error("filch.New().Close():", err)
		}
	})
}

func TestDefaultPoolCannotBeClosed(t *testing.T) {
	if err := filch.Default().Close(); err == nil {
		t.Error("no error")
	}
	if got := rig.FibFunc.Call(filch.Default(), 10); got != 55 {
		t.Error("fibFunc.Call(filch.Default(), 10):", got)
	}
}

func TestOptionMisusePanics(t *testing.T) {
	rig.MustPanic(t, "WithWorkers(0)", func() { filch.New(filch.WithWorkers(0)) })
	rig.MustPanic(t, "WithWorkers(-3)", func() { filch.New(filch.WithWorkers(-3)) })
	rig.MustPanic(t, "WithWorkers(1073741824)", func() { filch.New(filch.WithWorkers(1 << 30)) })
	rig.MustPanic(t, "option 1 is nil", func() { filch.New(filch.WithWorkers(1), nil) })
}

func TestWorkersFollowGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := filch.New()
	if n := p.Stats().Workers; n != 1 {
		t.Errorf("%d workers at GOMAXPROCS 1", n)
	}
	for _, procs := range []int{3, 2, 5, 1} {
		runtime.GOMAXPROCS(procs)
		for start := time.Now(); p.Stats().Workers != procs; {
			rig.FibFunc.Call(p, 25)
			if time.Since(start) > time.Minute {
				t.Fatalf("%d workers at GOMAXPROCS %d", p.Stats().Workers, procs)
			}
		}
	}
	if n := filch.Default().Stats().Workers; n < 1 {
		t.Errorf("%d workers by default", n)
	}
}

// No more leaves run at once than there are workers, also when waiting ones
// give up their places and take them back; but for a moment, when one has passed
// its place on while it helped, and finds that its own wait is over. It cannot
// wait for a free place then: all others might be blocked on a mutex that it
// holds.
func TestNoMoreRunThanWorkers(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	waits := int64(0)
	for _, workers := range []int{1, 2, 3, 8} {
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				var now, most, ran atomic.Int32
				rng := rand.New(rand.NewPCG(1, uint64(workers)))
				var work func(depth int, nap time.Duration) rig.Step
				work = func(depth int, nap time.Duration) rig.Step {
					a, b := time.Duration(rng.Int64N(1e7)), time.Duration(rng.Int64N(1e6))
					if depth == 0 {
						return func(*filch.Worker) {
							n := now.Add(1)
							most.Store(max(most.Load(), n))
							ran.Add(1)
							time.Sleep(nap)
							now.Add(-1)
						}
					}
					first, second := work(depth-1, a), work(depth-1, b)
					return func(w *filch.Worker) { both(w, first, second) }
				}
				p.Do(work(8, 0))
				if most.Load() > int32(workers+workers/2) || ran.Load() != 1<<8 {
					t.Errorf("%d workers: %d of %d leaves at once", workers, most.Load(), ran.Load())
				}
				waits += p.Stats().Waits
			})
		})
	}
	if waits == 0 {
		t.Error("nobody blocked: the test shows nothing")
	}
}

// A pool at rest has no goroutines, and the memory of a crowd of callers is
// forgotten.
func TestRestingPoolHasNoGoroutines(t *testing.T) {
	p := filch.New(filch.WithWorkers(8))
	var wg sync.WaitGroup
	for range racetest.Fewer(8, rig.Fewer(1000)) {
		wg.Go(func() { rig.FibFunc.Call(p, racetest.Fewer(12, 18)) })
	}
	wg.Wait()
	resting := func() bool {
		s := p.Stats()
		return s.Active == 0 && s.Searching == 0 && s.Blocked == 0
	}
	var b strings.Builder
	poll.Patiently(t, "a pool at rest has no goroutine", func() (bool, any) {
		b.Reset()
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		return resting() && !strings.Contains(b.String(), "engine.(*Worker).run"), p.Stats()
	})
}

// Bursts of work, with rests of random length between them in which workers
// leave, spin or are on their way: a lost wake-up makes an arm wait for ever
// for the other.
func TestNoWakeupIsLost(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, workers := range []int{2, 3, 8} {
		p := filch.New(filch.WithWorkers(workers))
		rounds := 0
		for start := time.Now(); time.Since(start) < rig.StressTime()/3; rounds++ {
			arms := 2 + rng.IntN(workers-1)
			var in sync.WaitGroup
			in.Add(arms)
			met := make(chan bool)
			go func() {
				in.Wait()
				close(met)
			}()
			watchdog := time.AfterFunc(time.Minute, func() {
				var b strings.Builder
				pprof.Lookup("goroutine").WriteTo(&b, 2)
				panic(fmt.Sprintf("seed %d, %d workers, round %d: %d arms have not met in a minute; %+v\n%s",
					seed, workers, rounds, arms, p.Stats(), b.String()))
			})
			both := rig.Forms[rng.IntN(len(rig.Forms))].Both
			var spread func(n int) rig.Step
			spread = func(n int) rig.Step {
				return func(w *filch.Worker) {
					if n == 1 {
						in.Done()
						<-met
						return
					}
					both(w, spread(n/2), spread(n-n/2))
				}
			}
			p.Do(spread(arms))
			watchdog.Stop()
			for range rng.IntN(1 << rng.IntN(14)) {
				if rng.IntN(64) == 0 {
					runtime.Gosched()
				}
			}
		}
		t.Logf("%d workers: %d rounds, %+v", workers, rounds, p.Stats())
	}
}

// A bit of everything at once, from several goroutines.
func TestForksAtRandomLoseNoLeaf(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var wg sync.WaitGroup
		for i := range uint64(4) {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, i))
				for start := time.Now(); time.Since(start) < rig.StressTime()/3; {
					both := rig.Forms[rng.IntN(len(rig.Forms))].Both
					var work func(rng *rand.Rand, depth int) func(w *filch.Worker) int
					work = func(rng *rand.Rand, depth int) func(w *filch.Worker) int {
						r1, r2 := rand.New(rand.NewPCG(rng.Uint64(), 1)), rand.New(rand.NewPCG(rng.Uint64(), 2))
						return func(w *filch.Worker) (n int) {
							switch {
							case depth == 0:
								for range r1.IntN(100) {
									runtime.Gosched()
								}
								return 1
							case r1.IntN(50) == 0:
								rig.Catch(func() {
									both(w, rig.Nop, func(*filch.Worker) { panic("b") })
								})
							case r1.IntN(50) == 0:
								p.Do(func(w *filch.Worker) { n = work(r2, depth)(w) })
								return n
							}
							var x, y int
							both(w,
								func(w *filch.Worker) { x = work(r1, depth-1)(w) },
								func(w *filch.Worker) { y = work(r2, depth-1)(w) })
							return x + y
						}
					}
					depth := rng.IntN(10)
					p.Do(func(w *filch.Worker) {
						if n := work(rng, depth)(w); n != 1<<depth {
							t.Errorf("seed %d, %d workers: %d leaves, not %d", seed, workers, n, 1<<depth)
						}
					})
				}
			})
		}
		wg.Wait()
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
	}
}
