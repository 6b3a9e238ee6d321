package strands

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/strand"
)

// What a function defers may panic while runtime.Goexit ends it: then the run ends by that panic.
func TestAPanicInAnExit(t *testing.T) {
	fails := func(*strand.Strand) { panic("late") }
	for name, f := range map[string]func(s *strand.Strand){
		"panic": func(*strand.Strand) {
			defer panic("late")
			runtime.Goexit()
		},
		"Sync": func(s *strand.Strand) {
			defer s.Sync()
			s.Spawn(fails)
			runtime.Goexit()
		},
		"Sync of a deferred Spawn": func(s *strand.Strand) {
			defer s.Sync()
			defer s.Spawn(fails)
			runtime.Goexit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
				for where, f := range map[string]func(s *strand.Strand){
					"root":       f,
					"child":      func(s *strand.Strand) { s.Spawn(f) },
					"grandchild": func(s *strand.Strand) { s.Spawn(func(s *strand.Strand) { s.Spawn(f); fib(s, 8) }) },
				} {
					if how := ends(func() { strand.Run(p, f, opts...) }); !isOutcome(how, "late") {
						t.Errorf("ends(…): %s: %q", where, how)
					}
				}
				strand.Run(p, func(s *strand.Strand) { fib(s, 10) }, opts...)
			})
		})
	}
}

// What exits under Measure leaves nothing to later runs.
func TestRunsAfterAnExitUnderMeasure(t *testing.T) {
	for _, f := range []func(s *strand.Strand){
		func(*strand.Strand) { runtime.Goexit() },
		func(s *strand.Strand) { s.Spawn(func(*strand.Strand) { runtime.Goexit() }) },
	} {
		for range 10 {
			if how := ends(func() { strand.Measure(f) }); how != exited {
				t.Errorf("ends(…): %q", how)
			}
		}
	}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var nest func(s *strand.Strand, depth int)
	nest = func(s *strand.Strand, depth int) { // with all that earlier runs have left for later ones
		if fib(s, 5); depth > 0 {
			strand.Run(s, func(s *strand.Strand) { nest(s, depth-1) }, strand.Eager())
		}
	}
	strand.Run(p, func(s *strand.Strand) { nest(s, 50) })
}

// A fork of a strand may exit on the worker that waits for the run: that exits when all strands have ended.
func TestAForkThatExitsOnTheWaitingWorker(t *testing.T) {
	racetest.Skip(t, "a child runs while its parent waits")
	for range 20 {
		synctest.Test(t, func(t *testing.T) { // which panics if a goroutine is left
			p := filch.New(filch.WithWorkers(2))
			defer p.Close()
			over := false
			how := ends(func() {
				stolen, forked := make(chan bool), make(chan bool)
				strand.Run(p, func(s *strand.Strand) {
					s.Spawn(func(*strand.Strand) { <-stolen })
					close(stolen) // on the other worker
					defer func() { over = true }()
					s.Do(func(w *filch.Worker) {
						w.Join(func(*filch.Worker) { <-forked; time.Sleep(time.Second) },
							func(*filch.Worker) { close(forked); runtime.Goexit() })
					})
				}, strand.Eager())
			})
			if how != exited || !over {
				t.Errorf("%q, over %t", how, over)
			}
		})
	}
}

// A combination that calls runtime.Goexit ends its strand, also where that panics.
func TestACombinationThatExits(t *testing.T) {
	racetest.Skip(t, "a child runs while its parent waits")
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for range 10 {
		for _, fail := range []func(){func() {}, oops, runtime.Goexit} {
			bad := strand.NewReducer(func() int { return 0 }, func(int, int) int { runtime.Goexit(); return 0 })
			f := func(s *strand.Strand) {
				begun := make(chan bool)
				s.Spawn(func(s *strand.Strand) { *bad.View(s)++; <-begun })
				*bad.View(s)++ // on another worker
				close(begun)
				fail()
			}
			for _, f := range []func(s *strand.Strand){f, func(s *strand.Strand) { s.Spawn(f) }} {
				if how := ends(func() { strand.Run(p, f, strand.Eager()) }); how != exited {
					t.Fatalf("ends(…): %q", how)
				}
			}
		}
	}
}

// After the end of a strand its Values may be read, however it has ended.
func TestValuesOfAStrandThatFails(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for _, fail := range []func(){oops, runtime.Goexit} {
			var a, b *strand.Value[int]
			how := ends(func() {
				strand.Run(p, func(s *strand.Strand) {
					s.Spawn(func(s *strand.Strand) {
						a = strand.SpawnCall(s, fibCall, 7)
						fail()
					})
					b = strand.SpawnCall(s, fibCall, 6)
					fail()
				}, opts...)
			})
			if how == "" || a.Get() != 13 || b != nil && b.Get() != 8 && b.Get() != 0 {
				t.Errorf("ends(…): %q, %d", how, a.Get())
			}
		}
	})
}

// A pool with checks tells of a Strand on another goroutine, and where it was used before by the right one.
func TestChecksSeeAStrandOnAnotherGoroutine(t *testing.T) {
	racetest.Skip(t, "each strand has a goroutine and a list of its own")
	p := filch.New(filch.WithWorkers(2), filch.WithChecks())
	defer p.Close()
	nop := func(*strand.Strand) {}
	for op, use := range map[string]func(s *strand.Strand){
		"strand.Strand.Spawn":    func(s *strand.Strand) { s.Spawn(nop) },
		"strand.SpawnValue":      func(s *strand.Strand) { strand.SpawnValue(s, func(*strand.Strand) int { return 1 }) },
		"strand.SpawnCall":       func(s *strand.Strand) { strand.SpawnCall(s, fibCall, 1) },
		"strand.Strand.Do":       func(s *strand.Strand) { s.Do(func(*filch.Worker) {}) },
		"strand.Strand.Blocking": func(s *strand.Strand) { s.Blocking(func() {}) },
		"strand.Strand.Poll":     func(s *strand.Strand) { s.Poll() },
		"strand.Strand.Context":  func(s *strand.Strand) { s.Context() },
	} {
		for way, opts := range ways {
			strand.Run(p, func(s *strand.Strand) {
				deep(s, 10, func(s *strand.Strand) {
					use(s)
					var err error
					var other sync.WaitGroup
					other.Go(func() { err = caught(func() { use(s) }) })
					other.Wait()
					if err == nil || !strings.Contains(err.Error(), op+": a Strand is used on another goroutine than the one that it was handed to; spawn in place of go") {
						t.Errorf("%s: %v and not of %s", way, err, op)
					}
					use(s)
				})
			}, opts...)
		}
	}
}

// deep calls f that many spawns below s, where most are plain calls.
func deep(s *strand.Strand, depth int, f func(s *strand.Strand)) {
	if depth == 0 {
		f(s)
		return
	}
	s.Spawn(func(s *strand.Strand) { deep(s, depth-1, f) })
}
