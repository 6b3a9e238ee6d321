package cluster

import (
	"context"
	"sync"
)

// lender is the place of an execution and its slot among the unsettled, which it lends while its handler waits for other
// tasks: they may need them. The handler may wait in several goroutines at once. The first lends the place, and the last takes one again.
type lender struct {
	mu      sync.Mutex
	waiting int
	back    int  // goroutines that have waited, and wait for a place
	lent    bool // the place and the slot are others'
	ended   bool // the handler has returned
}

// lend gives the place and the slot away until reclaim.
func (e *execution) lend() {
	e.place.mu.Lock()
	defer e.place.mu.Unlock()
	if e.place.waiting++; e.place.waiting == 1 && !e.place.lent && !e.place.ended {
		e.place.lent = true
		e.handler.put(1)
		e.node.slots.Put(1)
	}
}

// reclaim waits for a place and a slot, or for the end of ctx: then the handler goes on without, to its end.
func (e *execution) reclaim(ctx context.Context) {
	e.place.mu.Lock()
	e.place.waiting--
	again := e.place.waiting == 0 && e.place.lent && !e.place.ended
	if again {
		e.place.back++
	}
	e.place.mu.Unlock()
	if !again {
		return
	}
	defer e.isBack()
	if _, err := e.handler.take(ctx, Normal, 1); err != nil {
		return
	}
	if _, err := e.node.slots.Take(ctx, Normal, 1); err != nil {
		e.handler.put(1)
		return
	}
	e.place.mu.Lock()
	defer e.place.mu.Unlock()
	if e.place.ended || !e.place.lent || e.place.waiting > 0 {
		e.handler.put(1) // it is not needed any more, or another goroutine has one or waits again
		e.node.slots.Put(1)
		return
	}
	e.place.lent = false
}

// isBack says that a goroutine of the handler goes on, with a place or without.
func (e *execution) isBack() {
	e.place.mu.Lock()
	defer e.place.mu.Unlock()
	e.place.back--
}

// waits reports whether the handler waits for other tasks, for room, or for its place, or has ended. It is not silent then: what it waits
// for is looked after where that is, and its node itself waits for the servers to store its end.
func (e *execution) waits() bool {
	e.place.mu.Lock()
	defer e.place.mu.Unlock()
	return e.place.waiting > 0 || e.place.back > 0 || e.place.ended
}

// release gives the place back for good.
func (e *execution) release() {
	e.place.mu.Lock()
	defer e.place.mu.Unlock()
	e.place.ended = true
	if !e.place.lent {
		e.handler.put(1)
	}
}

// leave says that the task is acknowledged or given back, or is left to its AckWait. Its handler has ended, or was not called.
func (e *execution) leave() {
	e.place.mu.Lock()
	lent := e.place.lent
	e.place.mu.Unlock()
	if lent {
		e.lane.left()
		return
	}
	e.lane.settled()
}
