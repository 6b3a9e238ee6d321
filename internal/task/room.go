package task

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/line"
)

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
// So if a task had left when the count was loaded, its worker is not counted as idle. A worker that stops being idle after
// R31 has a task that the count still includes: for each such worker, one task less waits. Hence, when the count is raised,
// running and waiting tasks are at most the places plus limit. Other work may take an idle place; then a task that was to run
// at once waits.
//
// # Why no wake-up is lost
//
// A task that finds no room enters the line, then does
//
//	(R30) try again, and if that fails, wait for its turn.
//
// A task that leaves the queue does
//
//	(W30) lower the count; then give the first in line its turn.
//
// R30 fails only if a task is queued, because there is room for at least one. That task will leave, and then sees the line.
// So a task in line gets a turn after each failed R30. If it gets room, it is queued itself, and will leave. If not, it is at
// the front of the line, and its own R30 has failed. If it has room already, or has given up, it passes the turn on. So some
// task in line always has a turn to come. Room also grows when a worker becomes idle, or places are added. That needs no turn
// of its own: both first take queued tasks, which leave. But one task that leaves may make room for several, so each task
// that gets room passes the turn on if there is more.

// Room limits how many tasks wait in queues, beyond those that idle workers are about to take: a task gets room while fewer
// than limit are queued, or fewer than limit plus the number of idle places.
type Room struct {
	limit int64
	idle  func() int // places that could take a task at once; nil if not counted
	count roomCount  // submitters raise it, workers that take tasks out lower it

	mu   sync.Mutex
	line line.Line[*Latch]
}

// NewRoom returns a Room for limit tasks, plus the number of idle places if idle is not nil.
func NewRoom(limit int, idle func() int) *Room { return &Room{limit: int64(limit), idle: idle} }

// roomCount is the word of a Room: how many have room, and how many have left, so that a step fails if one has left
// meanwhile.
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

// take counts one more task with room, unless the state is no longer s.
func (c *roomCount) take(s roomState) bool { return c.word.CompareAndSwap(uint64(s), uint64(s)+1) }

// enter counts one more task with room, whatever the state.
func (c *roomCount) enter() { c.word.Add(1) }

// leave counts one task less.
func (c *roomCount) leave() {
	after := roomState(c.word.Add(oneLeft - 1)) // one less, which carries into the number that have left
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

// Enter takes room, free or not, for a task for which no one can wait. The bound above does not count such tasks. They leave
// as others do.
func (r *Room) Enter() { r.count.enter() }

// fits reports whether there is room for one more than in s.
func (r *Room) fits(s roomState) bool {
	n := s.taken()
	if r.idle != nil {
		n -= int64(r.idle()) // (R31)
	}
	return n < r.limit // limit plus idle places might overflow
}

// Wait takes room when there is some, for a caller in the given seat. It gives up when ctx or another of the contexts ends.
func (r *Room) Wait(ctx context.Context, s Seat, others ...context.Context) error {
	t := &line.Turn[*Latch]{}
	stand := r.line.Add
	for {
		t.Of = &Latch{}
		r.mu.Lock()
		stand(t)
		r.mu.Unlock()
		if r.Take() { // (R30) room made before t entered the line
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

// waitForTurn waits for t's turn. If it gives up, or a method of ctx panics, t leaves the line, and passes on a turn that has
// come meanwhile.
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

// forget takes t out of the line, and reports whether it has already had its turn.
func (r *Room) forget(t *line.Turn[*Latch]) (late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.line.Remove(t)
}

// Waiting returns the length of the line. A nil Room has none.
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
