package strands

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/strand"
)

// goroutinesMade returns how many goroutines the program has made.
func goroutinesMade() uint64 {
	made := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(made)
	return made[0].Value.Uint64()
}

// In the steady state, runs make no goroutine: those of a run are there for the next.
func TestRunsMakeNoGoroutine(t *testing.T) {
	racetest.Skip(t, "each strand has a goroutine of its own")
	const runs = 2000
	for way, opts := range ways {
		p := filch.New(filch.WithWorkers(1))
		strand.Run(p, func(s *strand.Strand) { fib(s, 10) }, opts...)
		before := goroutinesMade()
		for range runs {
			strand.Run(p, func(s *strand.Strand) { fib(s, 10) }, opts...)
		}
		if made := goroutinesMade() - before; made > runs { // some if the machine is away for long, and those of timers
			t.Errorf("%s: %d runs have made %d goroutines", way, runs, made)
		}
		p.Close()
	}
}

// awaitGoroutines waits until there are no more goroutines than before, which may take as long as a pool needs to rest.
func awaitGoroutines(t *testing.T, what string, before int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%s: %d goroutines, %d before", what, runtime.NumGoroutine(), before)
		}
	}
}

// A pool at rest has no goroutine, whatever has run; nor has one that was closed.
func TestAPoolAtRestHasNoGoroutine(t *testing.T) {
	for way, opts := range ways {
		for _, workers := range []int{1, 2, 8} {
			for _, idle := range []time.Duration{0, time.Millisecond} {
				what := fmt.Sprint(way, ", ", workers, " workers, idle for ", idle)
				before := runtime.NumGoroutine()
				p := filch.New(filch.WithWorkers(workers), filch.WithIdleTimeout(idle))
				for range 20 {
					strand.Run(p, func(s *strand.Strand) { fib(s, 12) }, opts...)
					_ = caught(func() { strand.Run(p, func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { panic(1) }) }, opts...) })
				}
				awaitGoroutines(t, what+", at rest", before)
				strand.Run(p, func(s *strand.Strand) { fib(s, 12) }, opts...)
				awaitGoroutines(t, what+", at rest again", before)
				strand.Run(p, func(s *strand.Strand) { fib(s, 12) }, opts...)
				p.Close()
				awaitGoroutines(t, what+", closed", before)
			}
		}
	}
}

// atHome is how many goroutines a pool keeps at most, for each of its workers.
const atHome = 32

// What is kept is bounded for each worker, and is not what has grown deep. WithIdleTimeout keeps it until Close.
func TestKeptGoroutinesAreBounded(t *testing.T) {
	racetest.Skip(t, "each strand has a goroutine of its own")
	before := runtime.NumGoroutine()
	p := filch.New(filch.WithWorkers(2), filch.WithIdleTimeout(time.Hour))
	var down func(s *strand.Strand, n int)
	down = func(s *strand.Strand, n int) {
		if n > 0 {
			s.Spawn(func(s *strand.Strand) { down(s, n-1) })
		}
	}
	most := before + 2*atHome + 2 + 2 // with workers, which are parked
	for range 3 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { strand.Run(p, func(s *strand.Strand) { down(s, 500) }, strand.Eager()) })
		}
		wg.Wait()
		awaitGoroutines(t, "after deep runs", most)
	}
	if now := runtime.NumGoroutine(); now < before+atHome {
		t.Errorf("only %d of %d goroutines are kept", now-before, 2*atHome)
	}
	p.Close()
	awaitGoroutines(t, "closed", before)

	p = filch.New(filch.WithWorkers(1), filch.WithIdleTimeout(time.Hour))
	defer p.Close()
	strand.Run(p, func(s *strand.Strand) { down(s, 10_000) })
	awaitGoroutines(t, "after deep plain calls", before+1) // the pump
}

// A pool that was used outside of a bubble may be used in one, and again outside: a goroutine of the one is none of the
// other. In the bubble time is virtual, and no goroutine is left there.
func TestAPoolInAndOutOfBubbles(t *testing.T) {
	for way, opts := range ways {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0)) // no worker from outside takes strands of the bubble
		naps := func(s *strand.Strand) {
			for range 4 {
				s.Spawn(func(*strand.Strand) { time.Sleep(100 * time.Millisecond) })
			}
		}
		for range 20 {
			strand.Run(p, func(s *strand.Strand) { fib(s, 12) }, opts...)
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				strand.Run(p, naps, opts...)
				if took := time.Since(began); took != 400*time.Millisecond {
					t.Fatalf("time.Since(began): %s: %v", way, took)
				}
			})
		}
		p.Close()
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			strand.Run(p, naps, opts...)
			synctest.Wait()
			if strings.Contains(stacks(), "strand.(*carrier).park") {
				t.Errorf("%s: a carrier is left", way)
			}
			p.Close()
		})
	}
}

// Close in a bubble ends what was kept outside.
func TestCloseInABubble(t *testing.T) {
	before := runtime.NumGoroutine()
	p := filch.New(filch.WithWorkers(1), filch.WithIdleTimeout(time.Hour))
	strand.Run(p, func(s *strand.Strand) { fib(s, 10) }, strand.Eager())
	synctest.Test(t, func(t *testing.T) { p.Close() })
	awaitGoroutines(t, "closed", before)
}

// Several goroutines run strands at once, in a pool whose runs are kept.
func TestRunsAtOnce(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		var wg sync.WaitGroup
		var wrong atomic.Int64
		for range 5 {
			wg.Go(func() {
				for i := range 50 {
					var got int
					_ = caught(func() {
						strand.Run(p, func(s *strand.Strand) {
							got = fib(s, 12)
							if i%7 == 0 {
								panic(i)
							}
						}, opts...)
					})
					if got != 144 {
						wrong.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if wrong.Load() != 0 {
			t.Errorf("%d wrong results", wrong.Load())
		}
	})
}

// A run knows nothing of those before it on the same goroutines: not how they ended, nor their contexts.
func TestAKeptRunIsAsNew(t *testing.T) {
	onPools(t, []int{1, 2}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			err := strand.RunContext(ctx, p, func(s *strand.Strand) { cancel(); s.Spawn(func(*strand.Strand) {}) }, opts...)
			if err != context.Canceled {
				t.Errorf("strand.RunContext(ctx, p, …, opts): %v", err)
			}
			_ = caught(func() {
				strand.Run(p, func(s *strand.Strand) { panic(1) }, append(slices.Clip(opts), strand.Eager())...)
			})
			ctx, cancel = context.WithCancel(t.Context())
			if err := strand.RunContext(ctx, p, func(s *strand.Strand) { cancel() }, opts...); err != nil {
				t.Errorf("%v, but no function was dropped", err)
			}
			ran := 0
			strand.Run(p, func(s *strand.Strand) {
				if s.Context() != context.Background() {
					t.Error("it has the context of another run")
				}
				s.Spawn(func(*strand.Strand) { ran++ })
			}, opts...)
			a := spawnOf(p, opts, 7)
			b := spawnOf(p, opts, "seven")
			if ran != 1 || a != 7 || b != "seven" {
				t.Errorf("spawnOf(p, opts, 7): %d, %v, %v", ran, a, b)
			}
		}
	})
}

// spawnOf returns v as the result of a spawn.
func spawnOf[T any](p *filch.Pool, opts []strand.Option, v T) (got T) {
	strand.Run(p, func(s *strand.Strand) {
		r := strand.SpawnCall(s, func(_ *strand.Strand, v T) T { return v }, v)
		s.Sync()
		got = r.Get()
	}, opts...)
	return got
}

// Results of each run have room together, whatever those of the run before were.
func TestRoomForResultsOfEachRun(t *testing.T) {
	if race.Enabled {
		t.Skip("each result has memory of its own under the race detector")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	const n = 1000
	of := func() float64 {
		return testing.AllocsPerRun(10, func() {
			strand.Run(p, func(s *strand.Strand) {
				for i := range n {
					strand.SpawnCall(s, func(_ *strand.Strand, i int) int { return i }, i)
				}
			})
			strand.Run(p, func(s *strand.Strand) {
				for range n {
					strand.SpawnCall(s, func(*strand.Strand, int) float64 { return 1 }, 1)
				}
			})
		})
	}
	if allocs := of(); allocs > n/2 {
		t.Errorf("%v allocations for %d results", allocs, 2*n)
	}
}

// In the steady state a real spawn with an argument allocates nothing.
func TestRealSpawnsAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("nothing is used again under the race detector")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	const n = 5000
	allocs := testing.AllocsPerRun(5, func() {
		strand.Run(p, func(s *strand.Strand) {
			for range n {
				strand.SpawnCall(s, func(s *strand.Strand, i int) struct{} {
					strand.SpawnCall(s, func(*strand.Strand, int) struct{} { return struct{}{} }, i)
					return struct{}{}
				}, 1)
			}
		}, strand.Eager())
	})
	if allocs > n/2 {
		t.Errorf("%v allocations for %d spawns", allocs, 2*n)
	}
}

// stacks returns those of all goroutines, with their labels.
func stacks() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	return b.String()
}

//go:noinline
func labelledLeaf() (labels []string) {
	found := map[string]bool{}
	for stack := range strings.SplitSeq(stacks(), "\n\n") {
		if strings.Contains(stack, "strands.labelledLeaf+") {
			_, rest, _ := strings.Cut(stack, "# labels: ")
			line, _, _ := strings.Cut(rest, "\n")
			found[line] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Strands have the profiler labels of their run, and none of a run before it, nor those that a strand has left.
func TestLabelsOfRuns(t *testing.T) {
	racetest.Skip(t, "strands have the labels of the caller of RunContext")
	background := context.Background()
	apple := pprof.WithLabels(background, pprof.Labels("fruit", "apple"))
	pear := pprof.WithLabels(background, pprof.Labels("fruit", "pear"))
	onPools(t, []int{1, 2}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		depth := 0 // that grows: a run makes goroutines, too
		for range 3 {
			for want, run := range map[string]func(f func(s *strand.Strand)){
				"": func(f func(s *strand.Strand)) { strand.Run(p, f, opts...) },
				`{"fruit":"apple"}`: func(f func(s *strand.Strand)) {
					_ = p.DoContext(apple, func(w *filch.Worker) { strand.Run(w, f, opts...) })
				},
				`{"fruit":"pear"}`: func(f func(s *strand.Strand)) { _ = strand.RunContext(pear, p, f, opts...) },
			} {
				depth++
				run(func(s *strand.Strand) { leavesHave(t, s, want, depth) })
				pprof.SetGoroutineLabels(background)
			}
		}
	})
}

// leavesHave checks that strands so deep, one below the other, have the labels.
func leavesHave(t *testing.T, s *strand.Strand, want string, depth int) {
	if at := labelledLeaf(); !slices.Equal(at, []string{want}) {
		t.Errorf("%q and not %q", at, want)
	}
	if depth > 0 {
		s.Spawn(func(s *strand.Strand) { leavesHave(t, s, want, depth-1) })
		s.Sync()
		return
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("fruit", "plum")))
}
