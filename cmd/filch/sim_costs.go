package main

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim"
)

// attemptTime is what a worker that searches takes for a look at the others, a turn of the engine's spin.
const attemptTime = 100

// poolCosts measures what a pool of two does between nodes, on this machine, as medians of so many rounds.
// A pair of arms forks one on a pool at rest, and then a pair on one whose other worker still searches. A pair on a pool
// of one worker tells what the clock and a private fork take.
//
//   - In the first, the owner publishes and wakes before it runs its own arm. In the second, it only publishes.
//   - In the second, the thief sees the fork within an attempt, and runs it after a steal. In the first, it is woken
//     before that.
func poolCosts(rounds int) (attempt int64, c sim.Costs) {
	p, one := filch.New(filch.WithWorkers(2)), filch.New(filch.WithWorkers(1))
	defer p.Close()
	defer one.Close()
	var alone, rest, search arms
	for range rounds {
		one.Do(func(w *filch.Worker) { alone.run(w) })
		runtime.GC() // as before each run that is measured
		time.Sleep(rested)
		p.Do(func(w *filch.Worker) {
			rest.run(w)
			var met arms
			for range 16 { // until the thief, which searches less where it finds nothing, has seen that it is worthwhile
				for begin := time.Now(); time.Since(begin) < 5*time.Microsecond; { // until it searches
				}
				if met.run(w); len(met.thief) == 0 {
					break // none comes
				}
			}
			if n := len(met.thief); n > 0 {
				search.owner, search.thief = append(search.owner, met.owner[n-1]), append(search.thief, met.thief[n-1])
			}
		})
	}
	if len(rest.thief) == 0 || len(search.thief) == 0 {
		return attemptTime, sim.Costs{Wake: 50_000} // no thief came in time
	}
	owner, thief := func(a arms) int64 { return int64(median(a.owner)) }, func(a arms) int64 { return int64(median(a.thief)) }
	c.Publish = max(0, owner(search)-owner(alone))
	c.Waking = max(0, owner(rest)-owner(search))
	c.Steal = max(0, thief(search)-owner(search)-attemptTime/2)
	c.Wake = max(0, thief(rest)-thief(search))
	return attemptTime, c
}

// rested is for how long a pool is left alone until its workers rest, and some may be spent on searching.
const rested = 5 * time.Millisecond

// arms is how long after a fork its owner, and the thief, have begun with their arms.
type arms struct{ owner, thief []time.Duration }

// run forks one of two arms. With more than one worker, it counts if a thief took it.
func (a *arms) run(w *filch.Worker) {
	var thief atomic.Int64
	alone := w.Pool().Workers() == 1
	var owner time.Duration
	begin := time.Now()
	w.Join(func(*filch.Worker) {
		owner = time.Since(begin)
		for !alone && thief.Load() == 0 && time.Since(begin) < rested {
		}
	}, func(other *filch.Worker) {
		if other != w {
			thief.Store(int64(time.Since(begin)))
		}
	})
	t := thief.Load()
	if t > 0 {
		a.thief = append(a.thief, time.Duration(t))
	}
	if t > 0 || alone {
		a.owner = append(a.owner, owner)
	}
}
