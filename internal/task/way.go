package task

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/policy"
)

// Workers are asked to yield for two reasons. In a pool by priority, a queued task is more urgent than what some worker runs,
// and no worker is idle:
//
//	(W14) push the Task, which notes its priority as the best one of the global
//	queue; then (R15) load the levels of the workers, and raise GiveWay on those that
//	run less urgent ones.
//
//	(W15) a worker notes the level of what it begins to run; then (R14) loads the
//	best of the global queue, and asks itself if that is more urgent.
//
// In the one order of these, either the pusher sees the level, or the worker sees the task. A worker that is asked checks
// again whether it must: as many yield as there are tasks of the best priority beyond those that idle workers are about to
// take.
//
// # Why not every push asks all workers
//
// Workers that run less urgent work and do not fork do not answer. If all are like that, each push would ask all of them
// again. So asked is a level such that all workers with less urgent work have been asked, or are being asked, and have not
// answered. A pusher does nothing more if the task is no more urgent than asked. Otherwise it does
//
//	(W16) note the level of the task in asked; then (R15).
//
// A worker keeps asked true, or resets it to none:
//
//   - After (W15), it does (R16) load asked, and asks itself if what it begins is less urgent than that.
//   - After it has lowered its demand from GiveWay, it resets asked to none, and then loads the best. No one else lowers the
//     demand from there.
//
// Take a pusher that stops at an asked that another pusher has written, and a worker that runs less urgent work than the
// task. If the worker's (R16) came before that was written, the other pusher sees the level at its (R15), and asks. If it
// came later, the worker has asked itself. Either way its demand is up until it answers. If that is after the pusher has
// loaded asked, the worker finds the task. If it is before, asked was reset to none since, and then written again: the same
// holds for the pusher that wrote it.
//
// Now and then a pusher scans all workers anyway, to lower least.
//
// In any pool, the stall watch asks when no queued task has started for the time of WithStallTimeout though no worker is
// blocked. Then one worker yields.
//
// Workers that yielded go on as soon as nothing is more urgent, or, if the watch has asked, as soon as a worker has done one
// of the tasks. Of equally urgent ones, the longest waiting goes first. When the pool is paused or closed, all go on at once,
// on extra slots if need be, because no task may come to free theirs. For the same reason none yields while more places are
// taken than there are.

// way lets a worker at fork-join work or in a loop yield its place to a queued task: a worker that checks its demand and
// finds GiveWay there lends its slot and waits, and another goroutine runs the task. So a task never runs on top of a stack
// that may hold a mutex. Guests of Do do not yield: no other goroutine may go on in their stead.
type way struct {
	wanted atomic.Bool  // the watch asks; a worker that yields clears it
	least  atomic.Int64 // no worker runs less urgent work; raised before that runs, lowered by scans of all workers
	asked  atomic.Int64 // all workers with less urgent work were asked; noPriority if none was; written by scans and answers, all load
	spared atomic.Int32 // pushes since a scan; pushers write and load
	n      atomic.Int32 // len(waiting); written under mu

	mu      sync.Mutex
	waiting []*Worker // the most urgent last, and of these the longest waiting
}

// SetLevel notes how urgent w's next work is: the priority it was queued by. It is for pools by priority.
func (w *Worker) SetLevel(level int64) {
	if w.Engine.Level.Load() == level {
		return
	}
	p := w.Pool
	p.way.raise(level)
	w.Engine.Level.Store(level)     // (W15)
	p.way.raise(level)              // again, for urge may have lowered it before it saw the level
	if p.way.asked.Load() < level { // (R16)
		w.Engine.Raise(engine.GiveWay)
	}
	if p.best.Load() < level && p.Engine.Idlers() <= 0 { // (R14)
		w.Engine.Raise(engine.GiveWay)
	}
}

// urge asks workers with less urgent work than a task in the global queue to yield, if no worker is idle.
func (p *Pool) urge() {
	if p.Order != ByPriority {
		return
	}
	best := p.best.Load()
	if best >= p.way.least.Load() || p.Engine.Idlers() > 0 || p.Paused.Load() {
		return
	}
	if best >= p.way.asked.Load() && p.way.spares(len(*p.Engine.Workers.Load())) {
		return
	}
	p.way.spared.Store(0)
	p.way.asked.Store(best) // (W16)
	least := int64(engine.Nothing)
	for _, w := range *p.Engine.Workers.Load() {
		level := w.Level.Load() // (R15)
		if least = max(least, level); level > best {
			w.Raise(engine.GiveWay)
		}
	}
	if old := p.way.least.Load(); least <= best && least < old {
		if p.way.least.CompareAndSwap(old, least) { // scan again: one may have begun meanwhile
			for _, w := range *p.Engine.Workers.Load() {
				p.way.raise(w.Level.Load())
			}
		}
	}
}

// spares reports whether it is too soon to scan all n workers again, if they were asked. On average a push scans the
// equivalent of 16.
func (y *way) spares(n int) bool { return int(y.spared.Add(1)) <= max(n/16, 8) }

// raise notes that some worker runs work of the given level.
func (y *way) raise(level int64) {
	for {
		least := y.least.Load()
		if level <= least || y.least.CompareAndSwap(least, level) {
			return
		}
	}
}

// mayGiveWay reports whether w, which is asked to yield, should.
func (w *Worker) mayGiveWay() bool {
	p := w.Pool
	if w.Guest || p.Paused.Load() || p.Phase.Load() == Cancelled || !w.Engine.MayLend() {
		return false
	}
	best := p.best.Load()
	sight := policy.Way{ByPriority: p.Order == ByPriority, Idle: p.Engine.Idlers(), Best: best,
		Elsewhere: best == noPriority && p.laden.Load() != 0, Level: w.Engine.Level.Load()}
	switch sight.GivesWay() {
	case policy.IfMany:
		return p.moreThanIdle()
	case policy.IfStalled:
		return p.way.wanted.CompareAndSwap(true, false)
	}
	return false
}

// giveWay is called when w finds that it is asked to yield, where its forks are consistent.
func (w *Worker) giveWay() {
	p := w.Pool
	if !w.Engine.LowerGiveWay() {
		return
	}
	if p.way.asked.Load() != noPriority {
		p.way.asked.Store(noPriority)
	}
	if !w.mayGiveWay() {
		return
	}
	w.Engine.Suspend(func() {
		p.way.enter(w)
		if p.Paused.Load() || p.Phase.Load() == Cancelled {
			p.letAllGoOn()
		}
	})
}

// enter puts w where passPlace and letOneGoOn find it.
func (y *way) enter(w *Worker) {
	y.mu.Lock()
	defer y.mu.Unlock()
	i := len(y.waiting)
	for i > 0 && y.waiting[i-1].Engine.Level.Load() <= w.Engine.Level.Load() {
		i--
	}
	y.waiting = append(y.waiting, nil)
	copy(y.waiting[i+1:], y.waiting[i:])
	y.waiting[i] = w
	y.n.Store(int32(len(y.waiting))) // (W10)
}

// leave removes and returns the first waiting worker if it is no less urgent than level, and take, called under the lock,
// returns true; else nil.
func (y *way) leave(level int64, take func() bool) *Worker {
	y.mu.Lock()
	defer y.mu.Unlock()
	n := len(y.waiting) - 1
	if n < 0 || y.waiting[n].Engine.Level.Load() > level || !take() {
		return nil
	}
	w := y.waiting[n]
	y.waiting[n] = nil
	y.waiting = y.waiting[:n]
	y.n.Store(int32(n))
	return w
}

// goesOn returns a level, and whether workers that yielded and are at least that urgent may go on: with a turn, after a
// worker has done a task.
func (p *Pool) goesOn(turn bool) (level int64, ok bool) {
	switch best := p.best.Load(); {
	case p.Paused.Load():
		return math.MaxInt64, true
	case p.Order != ByPriority:
		return math.MaxInt64, turn || !p.mayHaveTasks()
	case turn:
		return best, true
	case best == noPriority:
		return best, p.laden.Load() <= 0
	default:
		return best - 1, best > engine.Nothing
	}
}

// mayPass reports whether a worker that has done a task should pass its place on.
func (p *Pool) mayPass() bool {
	_, ok := p.goesOn(true)
	return ok
}

// passPlace gives the place of w, which has done a Task, to a worker that yielded, if any may go on. The round of w has ended
// by then: without the place, nothing keeps Close from returning before the task is counted.
func (w *Worker) passPlace() {
	p := w.Pool
	if level, ok := p.goesOn(true); ok && w.Engine.Hold.Load().HasPlace() {
		if next := p.way.leave(level, w.Engine.Hold.YieldPlace); next != nil {
			w.Engine.LendSeat()
			w.Engine.Tell(event.PassedOn, &next.Engine)
			next.Engine.GoOn()
		}
	}
}

// letOneGoOn gives a free place to a worker that yielded, if any may go on, and reports whether it did.
func (p *Pool) letOneGoOn() bool {
	level, ok := p.goesOn(false)
	if !ok {
		return false
	}
	next := p.way.leave(level, p.Engine.TakePlace)
	if next == nil {
		return false
	}
	next.Engine.GoOn()
	return true
}

// ask makes one worker yield, for tasks of which none has started for long.
func (p *Pool) ask() {
	p.way.wanted.Store(true)
	for _, w := range *p.Engine.Workers.Load() {
		w.Raise(engine.GiveWay)
	}
}

// letAllGoOn gives a place to each worker that yielded, an extra one if all are taken: the pool is paused or closed, so no
// task is about to free one.
func (p *Pool) letAllGoOn() {
	for {
		w := p.way.leave(math.MaxInt64, func() bool { _ = p.Engine.Places.Enter(); return true })
		if w == nil {
			return
		}
		w.Engine.GoOn()
	}
}
