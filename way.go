package filch

import (
	"math"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/policy"
)

// setLevel notes how urgent what w is about to run is: the priority that it was
// queued by. It is for pools by priority.
func (w *Worker) setLevel(level int64) {
	if w.engine.Level.Load() == level {
		return
	}
	p := w.pool
	p.way.raise(level)
	w.engine.Level.Store(level)     // (W15)
	p.way.raise(level)              // again, for urge may have lowered it before it saw the level
	if p.way.asked.Load() < level { // (R16)
		w.engine.Raise(engine.GiveWay)
	}
	if p.tasks.best.Load() < level && p.engine.Idlers() <= 0 { // (R14)
		w.engine.Raise(engine.GiveWay)
	}
}

// urge asks workers to give way that run what is less urgent than a task in the
// global queue, if no worker is idle.
func (p *Pool) urge() {
	if p.order != ByPriority {
		return
	}
	best := p.tasks.best.Load()
	if best >= p.way.least.Load() || p.engine.Idlers() > 0 || p.paused.Load() {
		return
	}
	if best >= p.way.asked.Load() && p.way.spares(len(*p.engine.Workers.Load())) {
		return
	}
	p.way.spared.Store(0)
	p.way.asked.Store(best) // (W16)
	least := int64(engine.Nothing)
	for _, w := range *p.engine.Workers.Load() {
		level := w.Level.Load() // (R15)
		if least = max(least, level); level > best {
			w.Raise(engine.GiveWay)
		}
	}
	if old := p.way.least.Load(); least <= best && least < old {
		if p.way.least.CompareAndSwap(old, least) { // look again: one may have begun meanwhile
			for _, w := range *p.engine.Workers.Load() {
				p.way.raise(w.Level.Load())
			}
		}
	}
}

// spares reports whether it is too soon to look at all n workers again, if they were asked.
// On average that costs a push as much as a look at 16 of them.
func (y *way) spares(n int) bool { return int(y.spared.Add(1)) <= max(n/16, 8) }

// raise notes that some worker runs what has the given level.
func (y *way) raise(level int64) {
	for {
		least := y.least.Load()
		if level <= least || y.least.CompareAndSwap(least, level) {
			return
		}
	}
}

// mayGiveWay reports whether w, which is asked, should.
func (w *Worker) mayGiveWay() bool {
	p := w.pool
	if w.guest || p.paused.Load() || p.phase.Load() == cancelled || !w.engine.MayLend() {
		return false
	}
	best := p.tasks.best.Load()
	sight := policy.Way{ByPriority: p.order == ByPriority, Idle: p.engine.Idlers(), Best: best,
		Elsewhere: best == noPriority && p.laden.Load() != 0, Level: w.engine.Level.Load()}
	switch sight.GivesWay() {
	case policy.IfMany:
		return p.moreThanIdle()
	case policy.IfStalled:
		return p.way.wanted.CompareAndSwap(true, false)
	}
	return false
}

// giveWay is called when w finds that it is asked to, at a place where its forks are
// in order.
func (w *Worker) giveWay() {
	p := w.pool
	if !w.engine.LowerGiveWay() {
		return
	}
	if p.way.asked.Load() != noPriority {
		p.way.asked.Store(noPriority)
	}
	if !w.mayGiveWay() {
		return
	}
	w.engine.Suspend(func() {
		p.way.enter(w)
		if p.paused.Load() || p.phase.Load() == cancelled {
			p.letAllGoOn()
		}
	})
}

// enter puts w where passPlace and letOneGoOn find it.
func (y *way) enter(w *Worker) {
	y.mu.Lock()
	defer y.mu.Unlock()
	i := len(y.waiting)
	for i > 0 && y.waiting[i-1].engine.Level.Load() <= w.engine.Level.Load() {
		i--
	}
	y.waiting = append(y.waiting, nil)
	copy(y.waiting[i+1:], y.waiting[i:])
	y.waiting[i] = w
	y.n.Store(int32(len(y.waiting))) // (W10)
}

// leave removes and returns the first that waits if it is no less urgent than level,
// and take, which is called under the lock, reports true; else nil.
func (y *way) leave(level int64, take func() bool) *Worker {
	y.mu.Lock()
	defer y.mu.Unlock()
	n := len(y.waiting) - 1
	if n < 0 || y.waiting[n].engine.Level.Load() > level || !take() {
		return nil
	}
	w := y.waiting[n]
	y.waiting[n] = nil
	y.waiting = y.waiting[:n]
	y.n.Store(int32(n))
	return w
}

// goesOn returns a level such that workers that gave way for what is less urgent, or
// as urgent, may go on, and whether any may: with a turn, after a worker has done a
// task.
func (p *Pool) goesOn(turn bool) (level int64, ok bool) {
	switch best := p.tasks.best.Load(); {
	case p.paused.Load():
		return math.MaxInt64, true
	case p.order != ByPriority:
		return math.MaxInt64, turn || !p.mayHaveTasks()
	case turn:
		return best, true
	case best == noPriority:
		return best, p.laden.Load() <= 0
	default:
		return best - 1, best > engine.Nothing
	}
}

// mayPass reports whether a worker that has done a task should pass its place.
func (p *Pool) mayPass() bool {
	_, ok := p.goesOn(true)
	return ok
}

// passPlace gives w's place, when it has done a task, to one that gave way, if any may
// go on. The round of w has ended by then: without the place, nothing keeps Close from
// returning before the task is counted.
func (w *Worker) passPlace() {
	p := w.pool
	if level, ok := p.goesOn(true); ok && w.engine.Hold.Load().HasPlace() {
		if next := p.way.leave(level, w.engine.Hold.YieldPlace); next != nil {
			w.engine.Tell(event.PassedOn, &next.engine)
			next.engine.GoOn()
		}
	}
}

// letOneGoOn gives a free place to one that gave way, if any may go on, and reports
// whether it did.
func (p *Pool) letOneGoOn() bool {
	level, ok := p.goesOn(false)
	if !ok {
		return false
	}
	next := p.way.leave(level, p.engine.TakePlace)
	if next == nil {
		return false
	}
	next.engine.GoOn()
	return true
}

// ask makes one worker give way, for tasks of which none has started for long.
func (p *Pool) ask() {
	p.way.wanted.Store(true)
	for _, w := range *p.engine.Workers.Load() {
		w.Raise(engine.GiveWay)
	}
}

// letAllGoOn gives a place to each that gave way, an extra one if all are taken: the pool
// is paused or closed, so that no task is about to have it.
func (p *Pool) letAllGoOn() {
	for {
		w := p.way.leave(math.MaxInt64, func() bool { _ = p.engine.Places.Enter(); return true })
		if w == nil {
			return
		}
		w.engine.GoOn()
	}
}
