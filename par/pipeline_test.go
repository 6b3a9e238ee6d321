package par

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
)

// upTo returns 0 to n-1, and keeps in taken how many have been taken; at the end it stores -1.
func upTo(n int, taken *atomic.Int64) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer taken.Store(-1)
		for i := range n {
			taken.Store(int64(i + 1))
			if !yield(i) {
				return
			}
		}
	}
}

// Values come through all stages, in order; no stage has more than its width; no more are under
// way than may be.
func TestValuesComeThroughAllStagesInOrder(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, workers := range []int{1, 2, 8} {
		pool := filch.New(filch.WithWorkers(workers))
		for range 100 {
			n, inFlight, stages := r.IntN(100), 1+r.IntN(12), r.IntN(5)
			var taken, sunk atomic.Int64
			p := From(upTo(n, &taken))
			var widths []int
			for range stages {
				width, next := r.IntN(4), 0
				widths = append(widths, width)
				var inside atomic.Int32
				p = Stage(p, width, func(v int) (int, error) {
					if k := inside.Add(1); width > 0 && int(k) > width {
						t.Errorf("%d values in a stage of width %d", k, width)
					}
					if width == 1 {
						if v&0xffff != next {
							t.Errorf("value %d where %d is next", v&0xffff, next)
						}
						next++
					}
					runtime.Gosched()
					inside.Add(-1)
					return v + 1<<16, nil
				})
			}
			var got []int
			err := p.Run(pool, func(v int) error {
				if k := taken.Load(); k > sunk.Load()+int64(inFlight) {
					t.Errorf("%d values have been taken, and %d were through; %d are under way at most", k, sunk.Load(), inFlight)
				}
				got = append(got, v)
				sunk.Add(1)
				return nil
			}, InFlight(inFlight))
			if err != nil {
				t.Fatal("p.Run(pool, …, InFlight(inFlight)):", err)
			}
			if len(got) != n || !slices.IsSorted(got) || n > 0 && (got[0] != stages<<16 || got[n-1] != stages<<16+n-1) {
				t.Fatalf("seed %d, %d workers, widths %v, %d in flight: %d of %d: %v", seed, workers, widths, inFlight, len(got), n, got)
			}
			if taken.Load() != -1 {
				t.Error("the source was not ended")
			}
		}
		pool.Close()
	}
}

// The error is the serial program's, and so is what reached the sink.
func TestTheErrorOfAPipelineIsTheSerialOne(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, workers := range []int{1, 2, 8} {
		pool := filch.New(filch.WithWorkers(workers))
		for range 200 {
			const n, stages = 40, 3
			bad := map[int]int{} // the stage where a value fails
			for range 1 + r.IntN(4) {
				bad[r.IntN(n)] = r.IntN(stages + 1)
			}
			first := n
			for i := range bad {
				first = min(first, i)
			}
			fail := func(i, stage int) error {
				if at, ok := bad[i]; ok && at == stage {
					return fmt.Errorf("%d at %d", i, stage)
				}
				runtime.Gosched()
				return nil
			}
			var taken atomic.Int64
			p := From(upTo(n, &taken))
			for stage := range stages {
				p = Stage(p, r.IntN(4), func(v int) (int, error) { return v, fail(v, stage) })
			}
			sunk := 0
			err := p.Run(pool, func(v int) error {
				if v != sunk {
					t.Errorf("%d after %d", v, sunk)
				}
				if err := fail(v, stages); err != nil {
					return err
				}
				sunk++
				return nil
			}, InFlight(1+r.IntN(10)))
			if want := fmt.Sprintf("%d at %d", first, bad[first]); err == nil || err.Error() != want || sunk != first {
				t.Fatalf("seed %d, %d workers: error %v, not %s, after %d values", seed, workers, err, want, sunk)
			}
			if taken.Load() != -1 {
				t.Error("the source was not ended")
			}
		}
		pool.Close()
	}
}

// A panic arrives once, when nothing runs any more, wherever it comes from.
func TestAPanicInAPipelineArrivesOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		pool := filch.New(filch.WithWorkers(workers))
		for where := range 4 {
			for _, how := range []string{"panics", "goes"} {
				fail := func(v, at int) {
					if v != 17 || at != where {
						runtime.Gosched()
					} else if how == "panics" {
						panic("bad")
					} else {
						runtime.Goexit()
					}
				}
				var running, taken atomic.Int64
				ended := make(chan any)
				go func() {
					exited := true
					defer func() {
						if v := recover(); !exited || v != nil || how == "panics" {
							ended <- v
							return
						}
						ended <- "gone"
					}()
					p := Stage(Stage(From(func(yield func(int) bool) {
						upTo(100, &taken)(func(v int) bool { fail(v, 0); return yield(v) })
					}), 0, func(v int) (int, error) {
						running.Add(1)
						defer running.Add(-1)
						fail(v, 1)
						return v, nil
					}), 1, func(v int) (int, error) { fail(v, 2); return v, nil })
					p.Run(pool, func(v int) error { fail(v, 3); return nil })
					exited = false
				}()
				got := <-ended
				if err, ok := got.(*filch.PanicError); how == "panics" && (!ok || err.Value != "bad") || how == "goes" && got != "gone" {
					t.Errorf("%d workers, stage %d %s: %v", workers, where, how, got)
				}
				if running.Load() != 0 {
					t.Errorf("%d workers, stage %d %s: %d still run", workers, where, how, running.Load())
				}
				if taken.Load() != -1 {
					t.Errorf("%d workers, stage %d %s: the source was not ended", workers, where, how)
				}
			}
		}
		pool.Close()
	}
}

func TestAPipelineEndsWithItsContext(t *testing.T) {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var taken atomic.Int64
	sunk := 0
	err := Stage(From(upTo(1000, &taken)), 0, func(v int) (int, error) { return v, nil }).Run(pool, func(v int) error {
		if sunk++; sunk == 10 {
			cancel(why)
		}
		return nil
	}, WithContext(ctx))
	if err != why || sunk != 10 || taken.Load() != -1 {
		t.Errorf("%v after %d values", err, sunk)
	}
	if err := From(upTo(3, &taken)).Run(pool, func(int) error { return errors.New("sunk") }, WithContext(ctx)); err != why {
		t.Errorf("%v, with a context that has ended", err)
	}
}

// The stages of a pipeline overlap, and as many values are in one as its width allows.
func TestPipelineOverlaps(t *testing.T) {
	for _, c := range []struct{ workers, width, rounds int }{{1, 0, 80}, {8, 1, 21}, {8, 2, 21}, {8, 4, 21}, {4, 0, 21}} {
		synctest.Test(t, func(t *testing.T) {
			pool := filch.New(filch.WithWorkers(c.workers))
			defer pool.Close()
			var taken atomic.Int64
			step := func(v int) (int, error) { time.Sleep(time.Second); return v, nil }
			begin := time.Now()
			p := Stage(Stage(Stage(From(upTo(20, &taken)), c.width, step), 1, step), c.width, step)
			if err := p.Run(pool, func(int) error { time.Sleep(time.Second); return nil }, InFlight(16)); err != nil {
				t.Error("p.Run(pool, …, InFlight(16)):", err)
			}
			// A chain takes as long as its slowest stage, and the others for one value.
			if rounds := int(time.Since(begin) / time.Second); rounds > c.rounds+8 {
				t.Errorf("%d workers, width %d: %d rounds, some %d would do", c.workers, c.width, rounds, c.rounds)
			}
		})
	}
}

// As many values are under way as the pool's workers ask for, whatever the number of processors.
func TestPipelineOfManyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := filch.New(filch.WithWorkers(64))
		defer pool.Close()
		var taken atomic.Int64
		begin := time.Now()
		p := Stage(From(upTo(640, &taken)), 0, func(v int) (int, error) { time.Sleep(time.Second); return v, nil })
		if err := p.Run(pool, func(int) error { return nil }); err != nil {
			t.Error("p.Run(pool, …):", err)
		}
		if rounds := int(time.Since(begin) / time.Second); rounds > 20 {
			t.Errorf("%d rounds for 640 values with 64 workers", rounds)
		}
	})
}

// There are no more goroutines than workers, and those that wait.
func TestAPipelineHasNoMoreGoroutinesThanWorkers(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) {
			pool := filch.New(filch.WithWorkers(workers))
			defer pool.Close()
			before, most := runtime.NumGoroutine(), 0
			numbers := func(yield func(int) bool) {
				for i := 0; i < 500 && yield(i); i++ {
					time.Sleep(2 * time.Millisecond)
				}
			}
			p := Stage(From(numbers), 0, func(v int) (int, error) { time.Sleep(time.Millisecond); return v, nil })
			if err := p.Run(pool, func(int) error { most = max(most, runtime.NumGoroutine()); return nil }); err != nil {
				t.Error("p.Run(pool, …):", err)
			}
			if most > before+2*workers+3 {
				t.Errorf("%d workers: %d goroutines, %d before", workers, most, before)
			}
		})
	}
}

// Pipelines within pipelines do not have more at work than the pool has workers, and one more
// each, since a place may be taken while a guest is on its way.
func TestPipelinesShareThePool(t *testing.T) {
	for _, workers := range []int{1, 2, 4, 8} {
		synctest.Test(t, func(t *testing.T) {
			pool := filch.New(filch.WithWorkers(workers))
			defer pool.Close()
			var running, most atomic.Int64
			step := func(v int) (int, error) {
				k := running.Add(1)
				for old := most.Load(); k > old && !most.CompareAndSwap(old, k); old = most.Load() {
				}
				time.Sleep(time.Second)
				running.Add(-1)
				return v, nil
			}
			var taken, inner atomic.Int64
			p := StageScope(From(upTo(40, &taken)), 0, func(s filch.Scope, v int) (int, error) {
				return v, Stage(From(upTo(20, &inner)), 0, step).Run(s, func(int) error { return nil })
			})
			begin := time.Now()
			if err := p.Run(pool, func(int) error { return nil }); err != nil {
				t.Error("p.Run(pool, …):", err)
			}
			if k := int(most.Load()); k > 2*workers+1 {
				t.Errorf("%d steps at once on %d workers", k, workers)
			}
			if rounds := int(time.Since(begin) / time.Second); rounds > 40*20/workers*3/2+20 {
				t.Errorf("%d rounds for 800 steps on %d workers", rounds, workers)
			}
		})
	}
}

// A pool that grows has more at work.
func TestPipelineInAPoolThatGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := filch.New(filch.WithWorkers(1))
		defer pool.Close()
		var taken atomic.Int64
		begin := time.Now()
		p := Stage(From(upTo(400, &taken)), 0, func(v int) (int, error) {
			if v == 8 {
				pool.Resize(8)
			}
			time.Sleep(time.Second)
			return v, nil
		})
		if err := p.Run(pool, func(int) error { return nil }, InFlight(64)); err != nil {
			t.Error("p.Run(pool, …, InFlight(64)):", err)
		}
		if rounds := int(time.Since(begin) / time.Second); rounds > 8+400/8+20 {
			t.Errorf("%d rounds for 400 values", rounds)
		}
	})
}

// One long step holds up what must come after it, and nothing else.
func TestPipelineLongStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := filch.New(filch.WithWorkers(3))
		defer pool.Close()
		var taken atomic.Int64
		begin := time.Now()
		p := Stage(From(upTo(200, &taken)), 0, func(v int) (int, error) {
			if v == 80 {
				time.Sleep(1000 * time.Second)
			}
			return v, nil
		})
		err := p.Run(pool, func(v int) error {
			if at := time.Since(begin); v < 80 && at > 81*time.Second {
				t.Errorf("value %d after %v", v, at)
			}
			time.Sleep(time.Second)
			return nil
		}, InFlight(100))
		if err != nil {
			t.Error("p.Run(pool, …, InFlight(100)):", err)
		}
	})
}

// If a context ends before all that comes before an error is through, it is the context's
// end that is told.
func TestPipelineContextBeforeAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := filch.New(filch.WithWorkers(8))
		defer pool.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var taken atomic.Int64
		p := Stage(From(upTo(8, &taken)), 0, func(v int) (int, error) {
			if v == 5 {
				return v, errors.New("five")
			}
			time.Sleep(time.Minute)
			return v, nil
		})
		sunk := 0
		if err := p.Run(pool, func(int) error { sunk++; return nil }, WithContext(ctx)); err != context.DeadlineExceeded || sunk > 0 {
			t.Errorf("%v after %d values", err, sunk)
		}
	})
}

// A panic of the source when it is stopped is a PanicError, too.
func TestPipelinePanicAtTheEnd(t *testing.T) {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	defer func() {
		if err, ok := recover().(*filch.PanicError); !ok || err.Value != "bad" {
			t.Error(err)
		}
	}()
	err := From(func(yield func(int) bool) {
		defer func() { panic("bad") }()
		for yield(1) {
		}
	}).Run(pool, func(int) error { return errors.New("enough") })
	t.Error("From(…).Run(pool, …):", err)
}

// Stacks do not grow with the source.
func TestStacksDoNotGrowWithTheSource(t *testing.T) {
	n := 100_000
	if race.Enabled || thorough.Sampled() {
		n = 5000
	}
	pool := filch.New(filch.WithWorkers(4))
	defer pool.Close()
	var taken atomic.Int64
	var deepest atomic.Int64
	p := Stage(Stage(From(upTo(n, &taken)), 0, func(v int) (int, error) {
		if v%64 == 0 {
			runtime.Gosched()
		}
		return v, nil
	}), 2, func(v int) (int, error) {
		var stack [300]uintptr
		k := int64(runtime.Callers(0, stack[:]))
		for old := deepest.Load(); k > old && !deepest.CompareAndSwap(old, k); old = deepest.Load() {
		}
		return v, nil
	})
	if err := p.Run(pool, func(int) error { return nil }, InFlight(8)); err != nil {
		t.Error("p.Run(pool, …, InFlight(8)):", err)
	}
	if deepest.Load() > 100 {
		t.Errorf("%d frames", deepest.Load())
	}
}

// A pipeline runs again, and inside a stage of another one.
func TestAPipelineRunsAgain(t *testing.T) {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	var taken atomic.Int64
	inner := Stage(From(slices.Values([]int{1, 2, 3})), 0, func(v int) (int, error) { return v * v, nil })
	outer := Stage(From(upTo(20, &taken)), 0, func(v int) (int, error) {
		sum := 0
		err := inner.Run(pool, func(w int) error { sum += w; return nil })
		return v + sum, err
	})
	for range 2 {
		next := 14
		if err := outer.Run(pool, func(v int) error {
			if v != next {
				t.Errorf("%d, not %d", v, next)
			}
			next++
			return nil
		}); err != nil || next != 34 {
			t.Error("outer.Run(pool, …):", err, next)
		}
	}
}

// Nothing is allocated for a value.
func TestAPipelineAllocatesNothingForAValue(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	if affinity.InUse() {
		t.Skip("a pool has pinned its workers: each value costs a goroutine")
	}
	pool := filch.New(filch.WithWorkers(1))
	defer pool.Close()
	allocs := func(n int) float64 {
		return testing.AllocsPerRun(5, func() {
			var taken atomic.Int64
			Stage(From(upTo(n, &taken)), 0, func(v int) (int, error) { return v, nil }).Run(pool, func(int) error { return nil })
		})
	}
	if few, many := allocs(100), allocs(10_000); many > few+20 {
		t.Errorf("%v allocations for 10,000 values, %v for 100", many, few)
	}
}

func BenchmarkPipeline(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			pool := filch.New(filch.WithWorkers(workers))
			defer pool.Close()
			const n = 10_000
			for b.Loop() {
				var taken atomic.Int64
				Stage(From(upTo(n, &taken)), 0, func(v int) (int, error) { return v, nil }).Run(pool, func(int) error { return nil })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
		})
	}
}

// When Run returns, its guests have given back their worker slots: what comes next finds all of them free.
func TestGuestsOfAPipelineAreGoneWhenRunReturns(t *testing.T) {
	p := filch.New(filch.WithWorkers(8))
	defer p.Close()
	for range ifRace(500, 2000) {
		busy := Stage(From(slices.Values(upToN(16))), 0, func(i int) (int, error) { runtime.Gosched(); return i, nil })
		if err := busy.Run(p, func(int) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if idle := p.Idle(); idle != 8 {
			t.Fatalf("after Run, %d of 8 workers are idle", idle)
		}
	}
}
