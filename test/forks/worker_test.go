package forks

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// Forks that nobody asks for stay private, but for the reserve, and for what time earns.
func TestFewForksArePublishedUnasked(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		for name, fib := range map[string]func(s filch.Scope) int{
			"Func":  func(s filch.Scope) int { return rig.FibFunc.Call(s, 20) },
			"Chain": func(s filch.Scope) int { return rig.FibChain.Call(s, 20) },
			"Join":  func(s filch.Scope) (n int) { s.Do(func(w *filch.Worker) { n = rig.JoinFib(w, 20) }); return n },
		} {
			p, release := rig.Busy(workers)
			for quiet := 0; quiet < 3; {
				before, begin := p.Stats(), time.Now()
				if n := fib(p); n != 6765 {
					t.Errorf("fib(p): %s: %d", name, n)
				}
				most := 200 + int64(time.Since(begin)/(4*time.Microsecond)) // more or less the depth, and the reserve
				after := p.Stats()
				if after.Attempts != before.Attempts || after.Wakes != before.Wakes {
					continue // a worker that was still searching has asked
				}
				quiet++
				if n := after.Published - before.Published; n > most {
					t.Errorf("%s on one of %d workers: %d of 10,945 forks were published, more than %d, and nobody asked", name, workers, n, most)
				}
			}
			release()
			p.Close()
		}
	}
}

// A worker alone publishes nothing, asks nobody, and wakes nobody.
func TestOneWorkerIsAlone(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	rig.FibFunc.Call(p, 20)
	if s := p.Stats(); s.Published+s.Attempts+s.Wakes+s.Waits != 0 {
		t.Errorf("p.Stats(): %+v", s)
	}
}

// While a place is free, there is something public for a worker that comes.
func TestAFreePlaceFindsAFork(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	synctest.Test(t, func(t *testing.T) {
		const workers = 4
		p := filch.New(filch.WithWorkers(workers))
		if n := filch.NewFunc(naps(workers)).Call(p, 0); n != workers {
			t.Errorf("%d leaves", n)
		}
		synctest.Wait()
		if s := p.Stats(); s.Steals < workers-1 || s.Wakes < 1 || s.Wakes > workers {
			t.Errorf("p.Stats(): %+v", s)
		}
	})
}

// Demand is what is asked for and not public yet.
func TestDemandIsWhatIsAskedForAndNotPublicYet(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	alone := filch.New(filch.WithWorkers(1))
	alone.Do(func(w *filch.Worker) {
		if w.Demand() {
			t.Error("nobody is there to ask")
		}
		if w.Pool() != alone {
			t.Error("the worker is of another pool")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p, release := rig.Busy(2)
		synctest.Wait() // the worker that was woken last leaves, and asks for forks
		p.Do(func(w *filch.Worker) {
			if !w.Demand() {
				t.Error("nothing is public, for a worker that falls idle later")
			}
			w.Join(func(w *filch.Worker) {
				if w.Demand() {
					t.Error("a fork is public, and nobody searches")
				}
			}, rig.Nop)
		})
		release()
		p.Close()
	})
}
