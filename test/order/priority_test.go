package order

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
)

func byPriority(workers int, opts ...filch.Option) *filch.Pool {
	return filch.New(append(opts, filch.WithWorkers(workers), filch.WithOrder(filch.ByPriority))...)
}

// A single worker runs all in order, whether it has the tasks or the global queue,
// but for each 61st task.
func TestPrioritiesHold(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	seed := rand.Uint64()
	for round := range 20 {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		n, levels := 1+rng.IntN(1000), 1000
		if round%2 == 0 {
			n, levels = 1+rng.IntN(59), 5 // all of them without a turn of the global queue
		}
		p := byPriority(1)
		p.Pause()
		type entry struct{ priority, id int }
		var got, want []entry
		submit := func(ctx context.Context, id int, opts ...filch.TaskOption) {
			e := entry{rng.IntN(levels) - levels/2, id}
			want = append(want, e)
			p.Go(ctx, func(context.Context) { got = append(got, e) }, append(opts, filch.AtPriority(e.priority))...)
		}
		outside := rng.IntN(4) == 0
		p.Go(context.Background(), func(ctx context.Context) {
			for id := range n {
				if outside && id%2 == 0 {
					submit(ctx, id, filch.Fair())
				} else {
					submit(ctx, id)
				}
			}
		})
		p.Resume()
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal("p.Shutdown(background):", err)
		}
		if len(got) != n {
			t.Fatalf("seed %d: %d of %d tasks", seed, len(got), n)
		}
		worse := 0
		for i := 1; i < n; i++ {
			if got[i].priority < got[i-1].priority {
				worse++
			}
		}
		if worse > n/60 {
			t.Errorf("seed %d, round %d: %d of %d tasks came before a more urgent one", seed, round, worse, n)
		}
		if n < 60 { // all the same queue: in the order they came in
			slices.SortStableFunc(want, func(a, b entry) int { return a.priority - b.priority })
			if !outside && !slices.Equal(got, want) {
				t.Errorf("seed %d, round %d: %v, want %v", seed, round, got, want)
			}
		}
	}
}

// What is global has its turn after 60 tasks of the worker's own, and not sooner;
// a turn that finds nothing counts anew.
func TestGlobalTasksHaveTheirTurn(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	p := byPriority(1)
	defer p.Close()
	var order []int
	note := func(n int) func(context.Context) { return func(context.Context) { order = append(order, n) } }
	p.Pause()
	p.Go(context.Background(), func(ctx context.Context) {
		for range 200 {
			p.Go(ctx, note(0))
		}
		for i := range 3 {
			p.Go(ctx, note(1+i), filch.AtPriority(5*i), filch.Fair()) // as urgent or less
		}
	})
	p.Resume()
	p.Shutdown(context.Background())
	for i, want := range []int{60, 121, 182} {
		if at := slices.Index(order, 1+i); at != want {
			t.Errorf("global task %d ran as number %d, not %d", i, at, want)
		}
	}
}

// What is urgent and comes from outside goes before what a worker has.
func TestUrgentTasksFromOutside(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	p := byPriority(1)
	var at int
	var ran int
	p.Go(context.Background(), func(ctx context.Context) {
		for i := range 10 {
			p.Go(ctx, func(context.Context) {
				if ran++; i == 4 {
					p.Go(ctx, func(context.Context) { at = ran }, filch.AtPriority(-1), filch.Fair())
				}
			})
		}
	})
	p.Shutdown(context.Background())
	if at != 5 {
		t.Errorf("it ran after %d tasks", at)
	}
}

// Tasks that wait grow more urgent, so that there is an end to what goes before them.
func TestTasksThatWaitGrowMoreUrgent(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	synctest.Test(t, func(t *testing.T) {
		p := byPriority(1, filch.WithAgeing(time.Second))
		p.Pause()
		var got []string
		submit := func(name string, priority int) {
			p.Go(context.Background(), func(context.Context) { got = append(got, name) }, filch.AtPriority(priority))
		}
		submit("5 at 0 s", 5)
		time.Sleep(3 * time.Second)
		submit("0 at 3 s", 0)
		time.Sleep(2 * time.Second)
		submit("0 at 5 s", 0)
		time.Sleep(time.Second)
		submit("0 at 6 s", 0)
		submit("-2 at 6 s", -2)
		p.Resume()
		p.Shutdown(context.Background())
		if want := []string{"0 at 3 s", "-2 at 6 s", "5 at 0 s", "0 at 5 s", "0 at 6 s"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

// A worker that always has urgent tasks of its own does not run one that is less so,
// unless tasks age.
func TestAgeingEndsStarvation(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	for _, ageing := range []bool{false, true} {
		var opts []filch.Option
		if ageing {
			opts = append(opts, filch.WithAgeing(time.Microsecond))
		}
		p := byPriority(1, opts...)
		var ran atomic.Bool
		begun := time.Now()
		var again func(ctx context.Context)
		n := 0
		again = func(ctx context.Context) {
			n++
			if !ran.Load() && (ageing && time.Since(begun) < time.Minute || n < 1000) {
				p.Go(ctx, again)
			}
		}
		var early bool
		p.Go(context.Background(), func(ctx context.Context) {
			p.Go(ctx, func(context.Context) {
				ran.Store(true)
				early = n < 1000
			}, filch.AtPriority(100))
			p.Go(ctx, again)
		})
		p.Shutdown(context.Background())
		switch {
		case ageing && time.Since(begun) > time.Minute:
			t.Error("a task starved")
		case !ageing && early:
			t.Errorf("a task ran after %d that were more urgent", n)
		}
	}
}

// Many workers, tasks of all priorities that submit others, and some from outside: each
// runs once, and idle workers help.
func TestPrioritiesOfManyWorkers(t *testing.T) {
	for _, workers := range []int{2, 8} {
		p := byPriority(workers)
		const roots, each = 200, 400
		var ran [roots * each]atomic.Int32
		var wg sync.WaitGroup
		wg.Go(func() {
			for r := range roots {
				p.Go(context.Background(), func(ctx context.Context) {
					for i := range each {
						p.Go(ctx, func(context.Context) { ran[r*each+i].Add(1) }, filch.AtPriority(i*r%1000-300))
					}
				}, filch.AtPriority(r%7))
			}
		})
		wg.Wait()
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal("p.Shutdown(background):", err)
		}
		for i := range ran {
			if n := ran[i].Load(); n != 1 {
				t.Fatalf("%d workers: task %d ran %d times", workers, i, n)
			}
		}
	}
}

// The tasks of one worker go to all.
func TestPrioritiesAreBalanced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := byPriority(8)
		begun := time.Now()
		p.Go(context.Background(), func(ctx context.Context) {
			for i := range 160 {
				p.Go(ctx, func(context.Context) { time.Sleep(time.Second) }, filch.AtPriority(i%5))
			}
		})
		p.Shutdown(context.Background())
		if d := time.Since(begun); d > 21*time.Second {
			t.Errorf("160 seconds of work took %v with 8 workers", d)
		}
	})
}

// Priorities cost no allocation.
func TestPrioritiesDoNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := byPriority(1)
	defer p.Close()
	p.Pause()
	nop := func(context.Context) {}
	if n := testing.AllocsPerRun(1000, func() { p.Go(context.Background(), nop, filch.AtPriority(1<<20), filch.Fair()) }); n > 0.5 {
		t.Errorf("%v allocations a task", n)
	}
}
