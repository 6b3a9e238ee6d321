package task

import (
	"slices"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

// Drain stops accepting tasks from outside, and ends a pause.
func (p *Pool) Drain() {
	p.Phase.CompareAndSwap(Open, Draining)
	p.Resume()
}

// Cancel ends all that can be ended.
func (p *Pool) Cancel() {
	p.Phase.Store(Cancelled)
	p.EndLife(ErrClosed)
	p.Resume()
	p.dropHeld()
	p.dropQueued()
	p.letAllGoOn()
	p.endMu.Lock()
	p.closeIfDone() // held tasks may have been the last
	p.endMu.Unlock()
}

// Close returns a channel that is closed when all is done. From now on only tasks may enter the pool.
func (p *Pool) Close() <-chan struct{} {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	if !p.closing {
		p.closing = true
		p.Engine.Tell(event.Event{Kind: event.Closed, Worker: -1, Other: -1})
	}
	end := p.end()
	p.Engine.Places.Close()
	p.Engine.Dismiss()
	p.closeIfDone()
	return end
}

// Done returns a channel that is closed when the pool was closed and all is done.
func (p *Pool) Done() <-chan struct{} {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	return p.end()
}

// end is Done for a caller that holds the lock.
func (p *Pool) end() chan struct{} {
	if p.closed == nil {
		p.closed = make(chan struct{})
	}
	return p.closed
}

// allLeft is called when the last place of a closed pool was given up. It reports whether the pool has ended.
func (p *Pool) allLeft() bool {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	return p.closeIfDone()
}

// closeIfDone ends the wait for the end, if all is done. The caller holds the lock.
func (p *Pool) closeIfDone() bool {
	// Held tasks are queued or refused under the lock that none takes, so they are seen here or there.
	if !p.closing || !p.held.none(p.endIfEmpty) {
		return p.Engine.Places.Load().Ended()
	}
	p.Engine.Tell(event.Event{Kind: event.Ended, Worker: -1, Other: -1})
	p.Phase.Store(Cancelled)
	p.EndLife(ErrClosed)
	p.Engine.EndLogical()
	p.Engine.EndStore()
	close(p.closed)
	return true
}

// endIfEmpty ends the pool if it is closed, no goroutine has a place or waits for one, and nothing is queued. It reports
// whether it did.
//
// It holds the locks of all queues while it inspects them, changes the word of places, and makes the queues refuse tasks. A
// push takes one of these locks: it comes before, and keeps the pool from ending until the task was taken, or after, and is
// refused. A task on its way between queues has a worker with a place. A worker made after the list of queues was loaded may
// have left an uninspected queue; the list has then changed.
func (p *Pool) endIfEmpty() (ended bool) {
	for again := true; again; {
		if s := p.Engine.Places.Load(); !s.AtRest() || s.Ended() {
			return false
		}
		all := p.Engine.Workers.Load()
		queues, queued := p.Queues(), 0
		for _, q := range slices.Backward(queues) { // the global one last, as where tasks spill
			queued += q.freeze()
		}
		again = p.Engine.Workers.Load() != all
		ended = !again && queued == 0 && p.Engine.Places.TryEnd()
		for _, q := range queues {
			q.thaw(ended)
		}
	}
	return ended
}

// dropQueued drops all queued tasks.
func (p *Pool) dropQueued() {
	done := false
	defer func() {
		if !done { // the observer did not return; still drop the others
			p.dropQueued()
		}
	}()
	for _, q := range p.Queues() {
		for {
			t, ok := q.Pop(false)
			if !ok {
				break
			}
			p.LeaveQueue()
			t.Body.Drop(p, ErrClosed)
		}
	}
	done = true
}

// Pause keeps queued tasks from starting, except those that a running task waits for.
func (p *Pool) Pause() {
	if p.Phase.Load() == Open {
		p.Paused.Store(true)
		p.letAllGoOn()
		if p.Phase.Load() != Open { // Shutdown may have come before the store
			p.Resume()
		}
	}
}

// Resume ends a Pause.
func (p *Pool) Resume() {
	if p.Paused.CompareAndSwap(true, false) {
		p.resumes.Add(1)
		p.Engine.MatchWork()
		p.urge()
		p.EnsureWatch()
	}
}

// Pauses returns a function that reports whether p has been paused ever since.
func (p *Pool) Pauses() (still func() bool) {
	before := p.resumes.Load()
	return func() bool { return p.Paused.Load() && p.resumes.Load() == before }
}

// Unfinished returns how many tasks run. If it returns 0 during a pause, no queued task begins until the pause ends.
//
// A worker checks for a pause under the lock of the queue that it takes a task from. A task that it takes despite the pause,
// it took before Unfinished first had that lock. By the second time, the task is counted: as moving from that queue to the
// worker, or as running there. Help takes tasks without such a worker:
//
//	(W70) count one more helper; then look for the pause.
//
// If Help sees no pause, that was before the pause, and so before
//
//	(R70) Unfinished loads the count of helpers; then that of tasks that have begun in place.
//
// A helper counts until it has counted its task as begun.
func (p *Pool) Unfinished() int {
	p.unfinished() // for its locks
	return int(max(0, p.unfinished()))
}

// unfinished is Unfinished while workers may still take tasks.
func (p *Pool) unfinished() (n int64) {
	var moving int32 // tasks taken out of a queue by workers, minus those they have brought to their own
	add := func(q *Queue) {
		q.mu.Lock()
		defer q.mu.Unlock()
		moving += q.moving
		if q.running != nil {
			n++
		}
	}
	p.Engine.Figures(
		func() { moving = p.retired.moving },
		func(w *engine.Worker) { add(&of(w).Own); n += int64(w.Hold.Load().Seated()) })
	add(&p.Global)
	c := &p.Totals
	n += int64(moving) + c.Helpers.Load() // (R70)
	return n + c.InPlace.Begun.Load() - c.InPlace.Ended.Load() + c.Left.Load()
}

// LeaveQueue makes room in a limited queue after a task was taken out of it.
func (p *Pool) LeaveQueue() {
	if p.Room != nil {
		p.leaveQueue()
	}
}

// leaveQueue is not inlined, to keep LeaveQueue small.
//
//go:noinline
func (p *Pool) leaveQueue() { p.Room.Leave() }

// MoreRoom lets waiters for room retry, since there may be more.
func (p *Pool) MoreRoom() {
	if p.Room != nil {
		p.Room.Next()
	}
}

// LeaveSlot returns the slot of a task that ran, or would have run, in s.
func (p *Pool) LeaveSlot(s Seat) {
	if p.Slots != nil && s.Slots&PoolSlot == 0 {
		p.leaveSlot()
	}
}

// leaveSlot is not inlined either.
//
//go:noinline
func (p *Pool) leaveSlot() { p.Slots.Leave() }

// Takers returns how many places could take a queued task at once.
func (p *Pool) Takers() int {
	if p.Paused.Load() {
		return 0
	}
	return max(0, p.Engine.Idlers())
}
