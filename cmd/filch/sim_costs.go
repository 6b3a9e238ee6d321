package main

import (
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim"
)

// attemptTime is what a worker that searches takes for a look at the others, a turn of the engine's spin.
const attemptTime = 100

// poolCosts measures what a pool of two does between nodes, on this machine, as medians of so many rounds.
// A pair of arms forks one from a pool at rest, and then a pair from one whose other worker still searches:
//
//   - In the first, the owner publishes and wakes before it runs its own arm. In the second, it only publishes.
//   - In the second, the thief sees the fork within an attempt, and runs it after a steal. In the first, it is woken
//     before that.
func poolCosts(rounds int) (attempt int64, c sim.Costs) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var rest, search arms
	for range rounds {
		time.Sleep(rested)
		p.Do(func(w *filch.Worker) {
			rest.run(w)
			for begin := time.Now(); time.Since(begin) < 5*time.Microsecond; { // until the thief searches
			}
			search.run(w)
		})
	}
	if len(search.thief) == 0 {
		return attemptTime, sim.Costs{Wake: 50_000}
	}
	c.Publish = search.own()
	c.Waking = max(0, rest.own()-c.Publish)
	c.Steal = max(0, int64(median(search.thief))-c.Publish-attemptTime/2)
	c.Wake = max(0, int64(median(rest.thief))-c.Publish-c.Steal)
	return attemptTime, c
}

// rested is for how long a pool is left alone until its workers rest, and some may be spent on searching.
const rested = 5 * time.Millisecond

// arms is how long after a fork the owner, and a thief, have begun with their arms.
type arms struct{ owner, thief []time.Duration }

func (a *arms) own() int64 { return int64(median(a.owner)) }

// run forks one of two arms. It counts if a thief took it.
func (a *arms) run(w *filch.Worker) {
	var thief atomic.Int64
	begin := time.Now()
	var owner time.Duration
	w.Join(func(*filch.Worker) {
		owner = time.Since(begin)
		for thief.Load() == 0 && time.Since(begin) < rested {
		}
	}, func(other *filch.Worker) {
		if other != w {
			thief.Store(int64(time.Since(begin)))
		}
	})
	if t := thief.Load(); t > 0 {
		a.owner = append(a.owner, owner)
		a.thief = append(a.thief, time.Duration(t))
	}
}
