package strands

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

// workerOf returns the worker that s is on.
func workerOf(s *strand.Strand) (on *filch.Worker) {
	s.Do(func(w *filch.Worker) { on = w })
	return on
}

// A Sync that waits gives its worker to other work. The strand goes on with the worker of the child that ends last.
func TestASyncThatWaitsFreesItsWorker(t *testing.T) {
	racetest.Skip(t, "a child runs while its parent waits")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		begin := time.Now()
		var task time.Duration
		strand.Run(p, func(s *strand.Strand) {
			first := workerOf(s)
			var last, thief *filch.Worker
			s.Spawn(func(s *strand.Strand) {
				last = workerOf(s)
				time.Sleep(time.Second) // the rest of the parent is stolen, and waits
				done := make(chan bool)
				if err := p.Go(t.Context(), func(context.Context) { task = time.Since(begin); close(done) }); err != nil {
					t.Error("p.Go(t.Context(), …):", err)
				}
				<-done // keeps its own place
			})
			thief = workerOf(s)
			s.Sync()
			if after := workerOf(s); first != last || thief == last || after != last {
				t.Errorf("began on %p, the child on %p, the rest on %p, after the Sync on %p", first, last, thief, after)
			}
		}, strand.Eager())
		if task != time.Second {
			t.Errorf("a task has run after %v", task)
		}
	})
}

// t.FailNow ends the test as failed from wherever it is called, with nothing after it: in a process of its own, so that
// this one need not fail.
func TestFailNowInStrands(t *testing.T) {
	nop := func(*strand.Strand) {}
	places := map[string]func(s *strand.Strand, fail func()){
		"first":  func(_ *strand.Strand, fail func()) { fail() },
		"child":  func(s *strand.Strand, fail func()) { s.Spawn(func(*strand.Strand) { fail() }) },
		"beside": func(s *strand.Strand, fail func()) { s.Spawn(nop); fail() },
		"value": func(s *strand.Strand, fail func()) {
			strand.SpawnValue(s, func(*strand.Strand) int { fail(); return 1 })
		},
		"grandchild": func(s *strand.Strand, fail func()) { below(s, 3, func(*strand.Strand) { fail() }) },
		"deferred":   func(s *strand.Strand, fail func()) { defer fail(); s.Spawn(nop) },
		"Do":         func(s *strand.Strand, fail func()) { s.Do(func(*filch.Worker) { fail() }) },
		"Blocking":   func(s *strand.Strand, fail func()) { s.Blocking(fail) },
		"loop":       func(s *strand.Strand, fail func()) { par.For(s, 9, func(i int) { exitAt(i, 5, fail) }) },
		"run":        func(s *strand.Strand, fail func()) { strand.Run(s, func(*strand.Strand) { fail() }) },
	}
	const env = "FILCH_TEST_FAILNOW"
	if os.Getenv(env) != "" {
		for name, place := range places {
			onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
				strand.Run(p, func(s *strand.Strand) { place(s, t.FailNow); s.Sync() }, opts...)
				t.Log(name, "went on")
			})
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFailNowInStrands$", "-test.v", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), env+"=1")
	b, err := cmd.CombinedOutput()
	out := string(b)
	if n := strings.Count(out, "    --- FAIL: TestFailNowInStrands/"); err == nil || n != 6*len(places) ||
		strings.Contains(out, "went on") || strings.Contains(out, "panic") {
		t.Errorf("%d of %d have failed: %v\n%s", n, 6*len(places), err, out)
	}
}

// Strands on several workers make no more views than there are runs and steals, and share no Holder.
func TestViewsOfStrandsAreMadeForSteals(t *testing.T) {
	racetest.Skip(t, "each strand has its views")
	const runs = 100
	for way, opts := range ways {
		for _, workers := range []int{1, 2, 8} {
			p := filch.New(filch.WithWorkers(workers), filch.WithBusyPoll())
			var made, ran, shared atomic.Int64
			sum := strand.NewReducer(func() int64 { made.Add(1); return 0 }, func(a, b int64) int64 { return a + b })
			scratch := strand.NewHolder(func() int64 { return 0 })
			var tree func(s *strand.Strand, depth int)
			tree = func(s *strand.Strand, depth int) {
				me := ran.Add(1)
				*sum.View(s)++
				v := scratch.View(s)
				*v = me
				runtime.Gosched()
				if *v != me {
					shared.Add(1)
				}
				for range depth {
					s.Spawn(func(s *strand.Strand) { tree(s, depth-1) })
				}
			}
			for range runs {
				strand.Run(p, func(s *strand.Strand) { tree(s, 4) }, opts...)
			}
			p.Close() // now its figures are exact
			steals := p.Stats().Steals
			t.Logf("%s, %d workers: %d steals, %d views", way, workers, steals, made.Load())
			if made.Load() > runs+steals || sum.Value() != ran.Load() || shared.Load() != 0 {
				t.Errorf("%s, %d workers: %d views of %d runs and %d steals; %d of %d; %d shared",
					way, workers, made.Load(), runs, steals, sum.Value(), ran.Load(), shared.Load())
			}
		}
	}
}

// Continuations that nobody has asked for when they were spawned are offered while the child runs: by its Poll, once a
// worker is free, and by its Blocking at once.
func TestContinuationsAreOfferedMeanwhile(t *testing.T) {
	racetest.Skip(t, "a child runs while its parent waits")
	for name, offers := range map[string]func(s *strand.Strand){
		"Poll": func(s *strand.Strand) {
			for range 10 {
				time.Sleep(time.Second)
				s.Poll()
			}
		},
		"Blocking": func(s *strand.Strand) { s.Blocking(func() { time.Sleep(time.Second) }) },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			defer p.Close()
			begun := make(chan bool)
			if err := p.Go(t.Context(), func(context.Context) { close(begun); time.Sleep(5 * time.Second) }); err != nil {
				t.Fatal("p.Go(t.Context(), …):", err)
			}
			<-begun
			const n = 200
			var rests atomic.Int64 // of parents, that have begun
			strand.Run(p, func(s *strand.Strand) {
				nest(s, n, &rests, func(s *strand.Strand) {
					offers(s)
					if got := rests.Load(); got != n {
						t.Errorf("%s: of %d parents, the rest of %d has begun", name, n, got)
					}
				})
			}, strand.Eager())
		})
	}
}

// nest calls f below n spawns, and counts the parents that go on.
func nest(s *strand.Strand, n int, rests *atomic.Int64, f func(s *strand.Strand)) {
	if n == 0 {
		f(s)
		return
	}
	s.Spawn(func(s *strand.Strand) { nest(s, n-1, rests, f) })
	rests.Add(1)
}
