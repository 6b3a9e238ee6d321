package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
)

// rest keeps the lanes of a node from fetching while its pool takes no tasks, or begins none. There can be several reasons at once.
type rest struct {
	on atomic.Bool // there is a reason; written under mu

	mu      sync.Mutex
	reasons int
	over    chan struct{} // closed when the last reason is gone
	told    time.Time     // when it was last logged
}

// rejectedRest is how long a node fetches nothing after its pool has rejected a task: else it would get the same one again at once,
// as often as the servers can give it away.
const rejectedRest = time.Second

// begin adds a reason.
func (r *rest) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reasons++; r.reasons == 1 {
		r.over = make(chan struct{})
		r.on.Store(true)
	}
}

// end takes a reason away.
func (r *rest) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reasons--; r.reasons == 0 {
		close(r.over)
		r.on.Store(false)
	}
}

// rested waits until there is no reason not to fetch, or the pool is closed.
func (n *Node) rested(ctx context.Context) error {
	r := &n.rest
	for r.on.Load() {
		r.mu.Lock()
		over := r.over
		r.mu.Unlock()
		select {
		case <-over:
		case <-n.pool.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// tellRest logs why the node fetches nothing, at most once a minute.
func (n *Node) tellRest(why string) {
	r := &n.rest
	r.mu.Lock()
	now := time.Now()
	tell := now.Sub(r.told) >= newTrouble
	if tell {
		r.told = now
	}
	r.mu.Unlock()
	if tell {
		n.log.Warn("filch cluster: the node gives tasks back, and fetches none for now", "node", n.node, "since", why)
	}
}

// rejected gives a task back that the pool does not take. If the pool has no room, the node rests.
func (e *execution) rejected(err error) {
	n := e.node
	if errors.Is(err, filch.ErrQueueFull) {
		n.rest.begin()
		time.AfterFunc(rejectedRest, n.rest.end)
		n.tellRest("its pool rejects them")
	}
	e.dropped()
}

// hung gives a task back that the pool has not begun for as long as a handler may be silent. The pool still has what begins it: the node
// rests until that is called.
func (e *execution) hung() {
	n := e.node
	n.rest.begin() // before its place is free
	if !e.queued.hang() {
		n.rest.end()
		return
	}
	n.tellRest("its pool does not begin them")
	e.release()
	go e.settled(e.giveBack)
}
