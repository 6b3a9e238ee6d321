package cluster

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// lateFor is how long after the time of a task its Future waits for the node that runs it: that may have ended it in time, and
// not told so yet.
const lateFor = 200 * time.Millisecond

// deadline returns when the time of a task is over, by the servers' clock.
func (e *execution) deadline() time.Time {
	from := e.stored
	if !e.since.IsZero() {
		from = e.since
	}
	return from.Add(e.time)
}

// limit says how long a task may take from when it is released: hearReleased counts it from then. It returns false if that was said before.
func (w *waiting) limit(r *remote, within time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.within > 0 && within > 0 {
		return false
	}
	r.within = within
	return true
}

// endAfter ends the Future of a task after a time, unless the task has ended.
func (n *Node) endAfter(r *remote, left time.Duration) {
	w := &n.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.futures[r.id] == r && r.late == nil {
		r.late = time.AfterFunc(left+lateFor, func() { n.endLate(r) })
	}
}

// endLate ends the Future of a task whose time is over. No node may be there to end the task: the one that gets it does so.
func (n *Node) endLate(r *remote) {
	ctx, cancel := context.WithTimeout(n.ctx, firstWait)
	defer cancel()
	o, err := n.getOutcome(ctx, r.id)
	if err != nil {
		o, err = outcome{}, ErrDeadline
	}
	n.waiting.complete(r, o, err)
}

// endInTime ends the Future of a task that was stored just now when its time is over.
func (n *Node) endInTime(r *remote, s submission) {
	if s.within == 0 {
		return
	}
	left := s.within
	if at, later := n.due(s); later {
		left += at.Sub(n.clock.at(n.now()))
	}
	n.endAfter(r, left)
}

// hearReleased hears that a task does not wait for others any more: its time counts from then.
func (n *Node) hearReleased(entry jetstream.KeyValueEntry) {
	key, ok := strings.CutPrefix(entry.Key(), keyTask(""))
	if !ok || entry.Operation() == jetstream.KeyValuePut {
		return
	}
	id, err := parseToken("ID", key)
	if err != nil {
		return
	}
	n.waiting.mu.Lock()
	r := n.waiting.futures[id]
	limited := r != nil && r.within > 0
	n.waiting.mu.Unlock()
	if limited {
		n.endAfter(r, entry.Created().Add(r.within).Sub(n.clock.at(n.now())))
	}
}
