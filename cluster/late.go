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

// limit says how long a task may take from when it is released: hearReleased or lookReleased counts it from then. It returns false if that
// was said before, and for no time.
func (w *waiting) limit(r *remote, within time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.within > 0 && within > 0 {
		return false
	}
	r.within = within
	return within > 0
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

// lookReleased looks whether a task does not wait for others any more, for a node that hears of none: its time counts from when that is
// seen. The tally is removed last, without a marker. It returns whether it is to look again.
func (n *Node) lookReleased(ctx context.Context, id token) bool {
	r, within := n.waiting.limited(id)
	if r == nil || n.config.places > 0 {
		return false
	}
	found, err := n.namesIn(ctx, keyOf(n.names.after(), keyMet(id)))
	released := err == nil && len(found) == 0
	if released {
		n.endAfter(r, within)
	}
	return !released
}

// limited returns the future of a task whose time is said and does not count yet, or nil.
func (w *waiting) limited(id token) (r *remote, within time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.futures[id]; r != nil && r.within > 0 && r.late == nil {
		return r, r.within
	}
	return nil, 0
}

// hearReleased hears that a task does not wait for others any more: its time counts from then.
func (n *Node) hearReleased(entry jetstream.KeyValueEntry) {
	key, ok := strings.CutPrefix(entry.Key(), keyGone(""))
	if !ok {
		return
	}
	id, err := parseToken("ID", key)
	if err != nil {
		return
	}
	if r, within := n.waiting.limited(id); r != nil {
		n.endAfter(r, entry.Created().Add(within).Sub(n.clock.at(n.now())))
	}
}
