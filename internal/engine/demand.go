package engine

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/policy"
)

// HasUnmetDemand reports whether there is demand that the public forks do not meet. It is not
// inlined, so that what calls it is.
//
//go:noinline
func (w *Worker) HasUnmetDemand() bool {
	w.CheckUse()
	if atomic.LoadUint32(&w.Demand) == GiveWay {
		w.pool.source.GiveWay(w)
	}
	return atomic.LoadUint32(&w.Demand) == Hunger || w.own.Len() < w.credit.Keeps()
}

// The levels of demand.
const (
	None    = policy.NoDemand
	supply  = policy.Supply
	Hunger  = policy.Hunger
	GiveWay = policy.GiveWay
)

// Hungry reports whether another worker could start at once.
func (w *Worker) Hungry() bool { return atomic.LoadUint32(&w.Demand) == Hunger }

// Raise asks w to publish forks, or to give way. It is cheap to repeat. It must not
// overwrite a higher level that is raised meanwhile.
func (w *Worker) Raise(level uint32) {
	for {
		old := atomic.LoadUint32(&w.Demand)
		if old >= level || atomic.CompareAndSwapUint32(&w.Demand, old, level) {
			return
		}
	}
}

// LowerGiveWay lowers the demand from GiveWay, and reports false if it is not that.
func (w *Worker) LowerGiveWay() bool {
	return atomic.CompareAndSwapUint32(&w.Demand, GiveWay, Hunger)
}

// Answer meets demand by publishing forks, oldest first. It publishes as many as the
// worker has credit for. That costs little next to the work it has been doing, and
// serves workers that fall idle later. On hunger it publishes at least until as many
// forks are public as workers search and places are free.
//
//go:noinline
func (w *Worker) Answer() {
	w.CheckUse()
	p := w.pool
	if p == nil {
		panic("filch: Fork on a Frame after its function has returned: a Frame is for the call that gets it, and what that calls")
	}
	if w.IsLogical() {
		openChildren(w)
		return
	}
	if w.checked && atomic.LoadUint32(&w.Demand) == None { // only the check was asked for
		return
	}
	if atomic.LoadUint32(&w.Demand) == GiveWay {
		w.pool.source.GiveWay(w)
	}
	level := min(atomic.LoadUint32(&w.Demand), Hunger) // (R12); GiveWay that came since is for the next fork
	if w.pool.isAlone() && w.forget(level) {
		return
	}
	if w.fresh || w.unpaid == 0 { // else forks are owed, which cost no credit
		w.earn()
	}
	idle := 0
	if level == Hunger { // else it does not matter, and other workers write it
		// It comes first: what is stolen in between is published anew. In the other order, a small
		// tree on 8 workers took 6.4 us instead of 5.6.
		idle = p.Idlers()
	}
	public := w.own.Len()
	todo := w.credit.Answer(level, w.unpaid, public, idle)
	moved := w.publish(todo.Most)
	var next policy.Demand
	w.unpaid, next = w.credit.Answered(level, todo, moved)
	// If demand rises from supply to hunger meanwhile, it stays up. If it was
	// hunger, something was published, and Wake sees what has become free, or
	// nothing was, and it is raised again.
	if next != level { // else it stays up, for the next fork
		atomic.CompareAndSwapUint32(&w.Demand, level, None)
	}
	if moved > 0 && !p.held.Load() { // (R17)
		p.Wake() // (R10)
	}
	if next != None && next != level {
		w.Raise(next)
	}
}

// forget lowers demand of the given level where there is one place, and reports whether there still
// is. No worker would take what is published, unless w gives up its place, and then it publishes all
// that it has; see LendFor. Such demand is left from a goroutine that gave up a place beside w. Each
// fork that is taken back would raise it anew.
func (w *Worker) forget(level uint32) bool {
	// First it is lowered: a worker that comes with a second place raises it after that, or
	// is seen now.
	_ = atomic.CompareAndSwapUint32(&w.Demand, level, None)
	if w.pool.isAlone() {
		return true
	}
	w.Raise(level)
	return false
}

// isAlone reports whether there is one place.
func (p *Pool) isAlone() bool { return p.limit.Load()+p.extra.Load() == 1 }

// earn counts the credit.
func (w *Worker) earn() int {
	if w.fresh {
		w.fresh = false
		limit := int(w.pool.limit.Load())
		w.credit.Keep(limit - 1)
		return w.credit.Start(clock.Now(), limit)
	}
	return w.credit.Earn(clock.Now())
}

// publish moves up to n of the oldest private forks to the deque and returns
// how many it moved.
func (w *Worker) publish(n int) (moved int) {
	if w.Spans != nil { // what is measured runs on one worker
		return 0
	}
	shared := share(w)
	for moved < n && w.first < len(w.activations) {
		j := w.activations[w.first].Publish()
		switch {
		case j != nil:
			j.owner, j.level, j.with = w, w.Level.Load(), shared
			nameFork(w, j)
			w.tellOf(event.Published, nil, j) // before it can be stolen
			w.own.Push(j)                     // (W10)
			moved++
		case w.first < len(w.activations)-1:
			w.first++
		default:
			n = moved
		}
	}
	w.count.published += moved
	w.locateNowAndThen(moved, w.count.published)
	return moved
}
