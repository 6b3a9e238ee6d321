package task

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/line"
)

// Room limits how many tasks wait in queues, beyond those that idle workers are
// about to take: a task gets room while fewer than limit are queued, or fewer than
// limit and as many as there are idle places.
//
// # Why no more than limit wait
//
// A worker that takes a task does
//
//	(W31) stop counting as idle; then leave the queue.
//
// A submitter does
//
//	load the count; (R31) load the idle places; then raise the count, by a
//	compare-and-swap that fails if a task has left meanwhile.
//
// So the worker of a task that had left when the count was loaded is not taken for
// idle. One that stops being idle after R31 has a task that the count still
// includes: for each worker that is no longer idle, one task less waits. Hence, when
// the count is raised, tasks that run and tasks that wait are at most the places and
// limit together. Other work may take an idle place; then a task that was to run at
// once waits.
//
// # Why no wake-up is lost
//
// A task that finds no room stands in line, then does
//
//	(R30) try again, and if that fails, wait for its turn.
//
// A task that leaves the queue does
//
//	(W30) lower the count; then give the first in line its turn.
//
// R30 fails only if a task is queued, since there is room for one at least. That task
// will leave, and then sees the line. So a task in line has a turn after each R30 that
// fails. If it gets room, it is queued itself, and will leave. If it does not, it
// stands at the front of the line, and its own R30 has failed. If it has room
// already, or has given up, it passes the turn on. So some task in line always has a
// turn to come. Room also grows when a worker falls idle, or places are added. That
// needs no turn of its own: both first take queued tasks, which leave. But one task
// that leaves may make room for several, so each that gets room passes the turn on if
// there is more.
type Room struct {
	limit int64
	idle  func() int // places that could take a task at once; nil if they do not count
	count roomCount  // submitters raise it, workers that take tasks out lower it

	mu   sync.Mutex
	line line.Line[*Latch]
}

// NewRoom returns a Room for limit tasks, and as many more as there are idle places,
// if idle is not nil.
func NewRoom(limit int, idle func() int) *Room { return &Room{limit: int64(limit), idle: idle} }

// roomCount is the word of a Room: how many have room, and how many have left, so that a
// step fails if one has left meanwhile.
type roomCount struct{ word atomic.Uint64 }

// A roomState is a value of the word.
type roomState uint64

const (
	oneLeft = 1 << 40
	maxRoom = oneLeft - 1
)

// taken returns how many have room.
func (s roomState) taken() int64 { return int64(s & maxRoom) }

func (s roomState) String() string {
	return fmt.Sprintf("{taken: %d, left: %d}", s.taken(), s/oneLeft)
}

func (c *roomCount) load() roomState { return roomState(c.word.Load()) }

// take counts one more that has room, unless the state is s no longer.
func (c *roomCount) take(s roomState) bool { return c.word.CompareAndSwap(uint64(s), uint64(s)+1) }

// enter counts one more that has room, whatever the state.
func (c *roomCount) enter() { c.word.Add(1) }

// leave counts one that had room.
func (c *roomCount) leave() {
	after := roomState(c.word.Add(oneLeft - 1)) // one less, which carries into those that have left
	mustBeSome(after)
}

// Take takes room for a task, if there is some.
func (r *Room) Take() bool {
	for {
		s := r.count.load()
		if !r.fits(s) {
			return false
		}
		if r.count.take(s) {
			return true
		}
	}
}

// Enter takes room whether there is some or not, for a task that nobody waits for room with. The
// bound above does not count such tasks. They leave as others do.
func (r *Room) Enter() { r.count.enter() }

// fits reports whether there is room for one more than in s.
func (r *Room) fits(s roomState) bool {
	n := s.taken()
	if r.idle != nil {
		n -= int64(r.idle()) // (R31)
	}
	return n < r.limit // the sum of limit and idle places might overflow
}

// Wait takes room when there is some, for a caller in the given seat. It gives up when ctx ends, or another of the
// contexts does.
func (r *Room) Wait(ctx context.Context, s Seat, others ...context.Context) error {
	t := &line.Turn[*Latch]{}
	stand := r.line.Add
	for {
		t.Of = &Latch{}
		r.mu.Lock()
		stand(t)
		r.mu.Unlock()
		if r.Take() { // (R30) room that was made before t stood in line
			if r.forget(t) || r.fits(r.count.load()) {
				r.Next()
			}
			return nil
		}
		if err := r.waitForTurn(t, ctx, s, others); err != nil {
			return err
		}
		stand = r.line.AddFirst
	}
}

// waitForTurn waits until it is t's turn. If it gives up, or a method of ctx panics, t
// leaves the line, and passes on a turn that has come meanwhile.
func (r *Room) waitForTurn(t *line.Turn[*Latch], ctx context.Context, s Seat, others []context.Context) (err error) {
	came := false
	defer func() {
		if !came && r.forget(t) {
			r.Next()
		}
	}()
	err = t.Of.waitFor(ctx, s, others)
	came = err == nil
	return err
}

// Leave makes room for another task.
func (r *Room) Leave() {
	r.count.leave() // (W30)
	r.Next()
}

// Next gives the first in line its turn.
func (r *Room) Next() {
	r.mu.Lock()
	t := r.line.Pop()
	r.mu.Unlock()
	if t != nil {
		t.Of.Release()
	}
}

// forget takes t out of the line, and reports whether it has had its turn already.
func (r *Room) forget(t *line.Turn[*Latch]) (late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.line.Remove(t)
}

// Waiting returns how many stand in line. A nil Room has none.
func (r *Room) Waiting() (n int) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for range r.line.All() {
		n++
	}
	return n
}

// Taken returns how many have room.
func (r *Room) Taken() int64 { return r.count.load().taken() }
