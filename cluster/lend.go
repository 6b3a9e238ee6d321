package cluster

import (
	"context"
	"sync"
)

// lender is the place of an execution, which lends it while its handler waits for other tasks: they may need it. The
// handler may wait in several goroutines at once. The first lends the place, and the last takes one again.
type lender struct {
	mu      sync.Mutex
	waiting int
	lent    bool // the place is others'
	ended   bool // the handler has returned
}

// lend gives the place away until reclaim.
func (e *execution) lend() {
	e.place.mu.Lock()
	defer e.place.mu.Unlock()
	if e.place.waiting++; e.place.waiting == 1 && !e.place.lent && !e.place.ended {
		e.place.lent = true
		e.handler.put(1)
	}
}

// reclaim waits for a place, or for the end of ctx: then the handler goes on without, to its end.
func (e *execution) reclaim(ctx context.Context) {
	e.place.mu.Lock()
	e.place.waiting--
	again := e.place.waiting == 0 && e.place.lent && !e.place.ended
	e.place.mu.Unlock()
	if !again {
		return
	}
	if _, err := e.handler.take(ctx, Normal, 1); err != nil {
		return
	}
	e.place.mu.Lock()
	defer e.place.mu.Unlock()
	if e.place.ended || !e.place.lent || e.place.waiting > 0 {
		e.handler.put(1) // it is not needed any more, or another goroutine has one or waits again
		return
	}
	e.place.lent = false
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
