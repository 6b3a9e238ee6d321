package engine

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/affinity"
)

// The goroutines that fill places may be pinned to processors; see package affinity. Each has a seat while it is in
// the pool. It gives up its processor before its place, and takes one after its place, so that a goroutine that
// fills a free place finds a free processor, if there are as many as places. A guest has none.
//
// A worker leads to the seat of the goroutine that fills its place. Other goroutines may have the worker as well, in a task's
// name, so a seat looks at each step whether the caller is its own: see Seat.Lend.

// Seats are *affinity.Seats. It is an interface, so that only programs that pin workers carry what that takes.
type Seats interface {
	Take(workers int) *affinity.Seat
	Leave(t *affinity.Seat)
	Lend(t *affinity.Seat)
	Return(t *affinity.Seat)
}

// seating is how the goroutine that fills the place of a worker is pinned.
type seating struct {
	seats Seats // of the pool, or nil
	seat  atomic.Pointer[affinity.Seat]
}

// takeSeat pins the caller, which begins to fill the place, in a pool with that many workers.
func (s *seating) takeSeat(workers int) {
	if s.seats != nil {
		s.seat.Store(s.seats.Take(workers))
	}
}

// leaveSeat is called before the caller gives up its place and the worker, or ends.
func (s *seating) leaveSeat() {
	if s.seats != nil {
		s.seats.Leave(s.seat.Swap(nil))
	}
}

// LendSeat is called before the caller gives up its place, or passes it on.
func (s *seating) LendSeat() {
	if s.seats != nil {
		s.seats.Lend(s.seat.Load())
	}
}

// ReturnSeat is called when the caller has a place again.
func (s *seating) ReturnSeat() {
	if s.seats != nil {
		s.seats.Return(s.seat.Load())
	}
}

// Seat returns that of the goroutine that fills the place, or nil.
func (s *seating) Seat() *affinity.Seat {
	if s.seats == nil {
		return nil
	}
	return s.seat.Load()
}

// passSeat is called when the caller, which has the seat of, goes on with another worker: this one may be another goroutine's.
func (s *seating) passSeat(of *affinity.Seat, to *seating) {
	if s.seats != nil {
		s.seat.CompareAndSwap(of, nil)
		to.seat.Store(of)
	}
}

// Processor returns the processor that the goroutine is pinned to which fills the place, or -1 if there is none.
// It may be out of date.
func (s *seating) Processor() int { return s.Seat().Processor() }
