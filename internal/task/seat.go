package task

import "github.com/filch-go/filch/internal/event"

// A Seat is a worker in one round of tasks, as a task sees it. In a later round, the worker belongs to other tasks; see
// place.Hold. The zero Seat is for a task that no worker runs.
type Seat struct {
	Worker *Worker // nil if no worker runs the task
	Round  uint32
	Slots  Slots // that the task runs without
}

// Taken reports whether the worker is still in s's round.
func (s Seat) Taken() bool {
	return s.Worker != nil && s.Worker.Engine.Hold.Load().In(s.Round)
}

// SitDown lets the caller run a task on top of another with the seat s, and returns false if that is over. The caller may be
// another goroutine, which goes on when that task ends: then the end of the pool does not wait for the worker; see endRound.
func (s Seat) SitDown() bool {
	return s.Worker != nil && s.Worker.Engine.Hold.SitDown(s.Round)
}

// StandUp reverses SitDown.
func (s Seat) StandUp() {
	if p := s.Worker.Pool; !s.Worker.Engine.Hold.StandUp(s.Round) { // left behind
		p.Totals.Left.Add(-1)
		s.Worker.left.Add(-1)
		p.Engine.LeaveBlocked()
	}
}

// Lend gives the place of the task's worker to another worker while the task waits. It returns false if the task is over, or
// no worker runs it; otherwise Reclaim must follow.
func (s Seat) Lend() bool {
	w := s.Worker
	if w == nil {
		return false
	}
	w.Engine.LendSeat()
	lent, ok := w.Engine.Hold.LendPlace(s.Round)
	switch {
	case !ok:
		w.Engine.ReturnSeat()
		return false
	case lent:
		w.Engine.Tell(event.Lent, nil)
		w.Pool.Engine.Block()
	default: // another goroutine waits in the same task's name
		w.Pool.Engine.EnterBlocked()
	}
	w.lendTurn()
	return true
}

// Reclaim takes a place for the task's worker again, an extra one if all are taken: then the next worker to look for work
// gives up its own.
func (s Seat) Reclaim() {
	w := s.Worker
	if w.Engine.Hold.ReclaimPlace(s.Round) {
		w.Pool.Engine.Unblock()
		w.Engine.Tell(event.Resumed, nil)
	} else {
		w.Pool.Engine.LeaveBlocked()
	}
	w.Engine.ReturnSeat()
}
