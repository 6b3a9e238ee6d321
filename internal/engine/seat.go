package engine

import "github.com/filch-go/filch/internal/affinity"

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

// takeSeat pins the caller, which begins to fill w's place.
func (w *Worker) takeSeat() {
	if p := w.pool; p.Seats != nil {
		w.seat.Store(p.Seats.Take(p.Size()))
	}
}

// leaveSeat is called before the caller gives up its place and w, or ends.
func (w *Worker) leaveSeat() {
	if s := w.pool.Seats; s != nil {
		s.Leave(w.seat.Swap(nil))
	}
}

// LendSeat is called before the caller gives up its place, or passes it on.
func (w *Worker) LendSeat() {
	if s := w.pool.Seats; s != nil {
		s.Lend(w.seat.Load())
	}
}

// ReturnSeat is called when the caller has a place again.
func (w *Worker) ReturnSeat() {
	if s := w.pool.Seats; s != nil {
		s.Return(w.seat.Load())
	}
}

// Seat returns that of the goroutine that fills w's place, or nil.
func (w *Worker) Seat() *affinity.Seat {
	if w.pool.Seats == nil {
		return nil
	}
	return w.seat.Load()
}

// passSeat is called when the caller, which has the seat s, goes on with next: w may be another goroutine's.
func (w *Worker) passSeat(s *affinity.Seat, next *Worker) {
	if w.pool.Seats != nil {
		w.seat.CompareAndSwap(s, nil)
		next.seat.Store(s)
	}
}

// Processor returns the processor that the goroutine is pinned to which fills w's place, or -1 if there is none.
// It may be out of date.
func (w *Worker) Processor() int { return w.Seat().Processor() }
