package filch

import (
	"runtime/metrics"
	"time"
	"weak"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
)

// ensureWatch starts a watch for stalls, unless there is one, when no worker is left
// to take what is queued. It is called after each change that may make it so: a
// task was queued, a worker found something to do, a searching one left, or there
// are fewer places.
func (p *Pool) ensureWatch() {
	if p.stallAfter > 0 && !p.paused.Load() && p.stallWatch.Load() == nil && p.engine.Idlers() <= 0 && (p.mayHaveTasks() || p.way.n.Load() > 0) {
		w := &stallWatch{pool: p, policy: policy.Stall{After: int64(p.stallAfter)}}
		w.looked.Store(clock.Now())
		if p.stallWatch.CompareAndSwap(nil, w) {
			o, _ := p.sight()
			w.queued = o.Now
			w.policy.Look(o)
			w.rest()
		}
	}
}

// shortest is the least time between two looks.
const shortest = 100 * time.Microsecond

// rest lets some time pass until the next look.
func (w *stallWatch) rest() {
	p := w.pool
	pause := max(p.stallAfter/4, shortest)
	if p.stallWatch.Load() == w {
		p.soon.Store(clock.Now() + int64(pause))
	}
	time.AfterFunc(pause, lookUnlessGone(w))
}

// lookUnlessGone returns w.look, which does nothing if only the timer is left of the pool:
// what it waits for has goroutines, which refer to the pool.
func lookUnlessGone(w *stallWatch) func() {
	rest := weak.Make(w)
	return func() {
		if w := rest.Value(); w != nil {
			w.look()
		}
	}
}

// forgetLostWatch is called when a worker starts. In a bubble of testing/synctest
// the clock stops at the end, and with it the watch; another must take over when
// the pool is used elsewhere.
func (p *Pool) forgetLostWatch() {
	if w := p.stallWatch.Load(); w != nil {
		if late := clock.Now() - w.looked.Load(); late < 0 || late/10 > int64(p.stallAfter) {
			w.end()
		}
	}
}

// end takes back the places.
func (w *stallWatch) end() {
	p := w.pool
	if p.stallWatch.Load() == w {
		p.soon.Store(0) // before another begins
	}
	if p.stallWatch.CompareAndSwap(w, nil) {
		p.way.wanted.Store(false)
		p.engine.SetExtra(0)
	}
}

func (w *stallWatch) look() {
	p := w.pool
	if p.stallWatch.Load() != w {
		return
	}
	if p.phase.Load() == cancelled {
		w.end()
		return
	}
	if p.paused.Load() {
		p.sight() // notes the time of what was queued before
		w.end()
		p.ensureWatch() // unless it is so still
		return
	}
	o, queued := p.sight()
	queued += int(p.way.n.Load()) // they wait for a place as well
	w.looked.Store(o.Now)
	if queued > 0 {
		w.queued = o.Now
	}
	extra, count := w.policy.Look(o)
	switch {
	case queued == 0 && (extra == 0 || (o.Now-w.queued)/10 > int64(p.stallAfter)):
		w.end()
		if _, queued = p.sight(); queued > 0 {
			p.ensureWatch()
		}
		return
	case queued > 0 && count:
		extra = w.policy.Counted(o, p.lost(o.Active))
	}
	p.setExtra(extra, o.Active)
	if p.stallWatch.Load() != w { // it was ended meanwhile, and its places taken back before
		p.engine.SetExtra(0)
		return
	}
	switch stalled := w.policy.Stalled(o.Now); {
	case stalled && queued > 0 && extra <= o.Extra:
		p.ask()
	case !stalled && p.way.wanted.Load():
		p.way.wanted.Store(false)
	}
	w.rest()
}

// setExtra sets how many places there are beyond the pool's own.
func (p *Pool) setExtra(n, active int) {
	n = min(n, place.MaxCrowd)
	added := n - p.engine.SetExtra(n)
	if added <= 0 {
		return
	}
	p.ended.stalls.Add(1)
	if p.logger != nil {
		p.logger.Warn("filch: tasks are queued and none starts: workers are blocked; others take their places",
			"pool", p.name, "workers", p.engine.Size(), "active", active, "added", added)
	}
	p.engine.MatchWork()
}

// sight returns what the policy goes by, and how many tasks are queued.
func (p *Pool) sight() (o policy.Sight, queued int) {
	o.Now = clock.Now()
	for i, q := range p.queues() {
		q.mu.Lock()
		q.stamp(o.Now)
		o.Started += q.taken + q.inPlace.begun.Load() - q.inPlace.direct.Load()
		n, _ := q.count()
		queued += n
		if i > 0 && q.taken != q.seen {
			o.Fresh++
		}
		q.seen = q.taken
		q.mu.Unlock()
	}
	o.Extra = p.engine.Extra()
	o.Active = p.engine.Counts(p.engine.Places.Load()).Active
	o.Running = runningGoroutines()
	return o, queued
}

// lost returns how many of the places taken are of no use to what is queued: those of
// workers that wait out of the pool's sight, and of guests, which do not run tasks.
func (p *Pool) lost(active int) int {
	held, lent := p.engine.Fill()
	c := p.engine.Census(lends)
	return c.Waiting + max(0, c.Lending-lent) + max(0, active-held)
}

// runningGoroutines returns about how many goroutines run, could run, or are in
// system calls, but for the caller.
func runningGoroutines() int {
	samples := []metrics.Sample{
		{Name: "/sched/goroutines/running:goroutines"},
		{Name: "/sched/goroutines/runnable:goroutines"},
		{Name: "/sched/goroutines/not-in-go:goroutines"},
	}
	metrics.Read(samples)
	n := -1
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			n += int(s.Value.Uint64())
		}
	}
	return n
}

// lends reports whether a function gives up a place while it runs, if it can.
func lends(function string) bool {
	return function == atBlocking || function == atBlockingOf || function == atWait
}

// What stacks show of those.
var atBlocking, atBlockingOf, atWait = engine.NameOf(Blocking), engine.NameOf((*Worker).Blocking), engine.NameOf((*latch).wait)
