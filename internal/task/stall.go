package task

import (
	"runtime/metrics"
	"sync/atomic"
	"time"
	"weak"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
)

// A stallWatch adds places while tasks are queued and none starts because workers are blocked where the pool cannot see it:
// on a channel, a mutex, a WaitGroup. Otherwise, tasks that wait for tasks behind them would wait for ever. It checks four
// times per stall timeout, and ends when nothing is queued. It is a timer, not a goroutine, so that an idle pool has none.
// policy.Stall decides.
type stallWatch struct {
	pool   *Pool
	looked atomic.Int64 // time of the last check; the check writes, waking goroutines load
	queued int64        // when a task was queued

	policy policy.Stall // of the check
}

// EnsureWatch starts a watch for stalls, unless there is one, when no worker is left to take what is queued. It is called
// after each change that may cause this: a task was queued, a worker found work, a searching one left, or places were
// removed.
func (p *Pool) EnsureWatch() {
	if p.watch.Load() == nil {
		p.ensureWatch()
	}
}

func (p *Pool) ensureWatch() {
	if p.watches.Load() == nil {
		watch := p.ensureWatch
		p.watches.Store(&watch) // before checking the workers: one that takes a place after that check calls it in Found
	}
	if p.StallAfter > 0 && !p.Paused.Load() && p.Engine.Idlers() <= 0 && (p.mayHaveTasks() || p.way.n.Load() > 0) {
		w := &stallWatch{pool: p, policy: policy.Stall{After: int64(p.StallAfter)}}
		w.looked.Store(clock.Now())
		if p.watch.CompareAndSwap(nil, w) {
			o, _ := p.sight()
			w.queued = o.Now
			w.policy.Look(o)
			w.rest()
		}
	}
}

// shortest is the least time between two checks.
const shortest = 100 * time.Microsecond

// rest schedules the next check.
func (w *stallWatch) rest() {
	p := w.pool
	pause := max(p.StallAfter/4, shortest)
	if p.watch.Load() == w {
		p.soon.Store(clock.Now() + int64(pause))
	}
	time.AfterFunc(pause, lookUnlessGone(w))
}

// lookUnlessGone returns w.look, but does nothing if only the timer is left of the pool: what the watch waits for has
// goroutines, which refer to the pool.
func lookUnlessGone(w *stallWatch) func() {
	rest := weak.Make(w)
	return func() {
		if w := rest.Value(); w != nil {
			w.look()
		}
	}
}

// forgetLostWatch is called when a worker starts. In a testing/synctest bubble the clock stops at the end, and with it the
// watch; another must take over when the pool is used elsewhere.
func (p *Pool) forgetLostWatch() {
	if w := p.watch.Load(); w != nil {
		if late := clock.Now() - w.looked.Load(); late < 0 || late/10 > int64(p.StallAfter) {
			w.end()
		}
	}
}

// end takes the places back.
func (w *stallWatch) end() {
	p := w.pool
	if p.watch.Load() == w {
		p.soon.Store(0) // before another begins
	}
	if p.watch.CompareAndSwap(w, nil) {
		p.way.wanted.Store(false)
		p.Engine.SetExtra(0)
	}
}

func (w *stallWatch) look() {
	p := w.pool
	if p.watch.Load() != w {
		return
	}
	if p.Phase.Load() == Cancelled {
		w.end()
		return
	}
	if p.Paused.Load() {
		p.sight() // stamps tasks queued before
		w.end()
		p.EnsureWatch() // unless still needed
		return
	}
	o, queued := p.sight()
	queued += int(p.way.n.Load()) // they wait for a place too
	w.looked.Store(o.Now)
	if queued > 0 {
		w.queued = o.Now
	}
	extra, count := w.policy.Look(o)
	switch {
	case queued == 0 && (extra == 0 || (o.Now-w.queued)/10 > int64(p.StallAfter)):
		w.end()
		if _, queued = p.sight(); queued > 0 {
			p.EnsureWatch()
		}
		return
	case queued > 0 && count:
		extra = w.policy.Counted(o, p.Lost(o.Active))
	}
	p.setExtra(extra, o.Active)
	if p.watch.Load() != w { // it has ended meanwhile, and given its places back before
		p.Engine.SetExtra(0)
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

// setExtra sets the number of places beyond the pool's own.
func (p *Pool) setExtra(n, active int) {
	n = min(n, place.MaxCrowd)
	added := n - p.Engine.SetExtra(n)
	if added <= 0 {
		return
	}
	p.Totals.Stalls.Add(1)
	p.stalled(active, added)
	p.Engine.MatchWork()
}

// sight returns the policy's input, and how many tasks are queued.
func (p *Pool) sight() (o policy.Sight, queued int) {
	o.Now = clock.Now()
	for i, q := range p.Queues() {
		q.mu.Lock()
		q.stamp(o.Now)
		o.Started += q.taken + q.awaited + q.InPlace.Begun.Load() - q.InPlace.Direct.Load()
		n, _ := q.items.count(q)
		queued += n
		if i > 0 && q.taken != q.seen {
			o.Fresh++
		}
		q.seen = q.taken
		q.mu.Unlock()
	}
	o.Extra = p.Engine.Extra()
	o.Active = p.Engine.Counts(p.Engine.Places.Load()).Active
	o.Running = runningGoroutines()
	return o, queued
}

// Lost returns how many taken places do not serve queued tasks: those of workers that wait where the pool cannot see it, and
// of guests, which do not run tasks.
func (p *Pool) Lost(active int) int {
	held, lent := p.Engine.Fill()
	c := p.Engine.Census(Lends)
	return c.Waiting + max(0, c.Lending-lent) + max(0, active-held)
}

// runningGoroutines returns about how many goroutines, other than the caller, run, could run, or are in system calls.
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
