package cluster

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// canceled are the IDs of the tasks that were canceled in the last day, as far as this node has heard.
type canceled struct {
	mu  sync.Mutex
	ids map[token]time.Time // when that was, by the servers' clock
}

func (c *canceled) has(id token) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.ids[id]
	return ok
}

func (c *canceled) set(id token, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids[id] = at
}

func (c *canceled) remove(id token) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ids, id)
}

// forgetBefore forgets what was canceled before a time. The servers do not tell when they forget it.
func (c *canceled) forgetBefore(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.ids, func(_ token, at time.Time) bool { return at.Before(t) })
}

// isCanceled reports whether a task was canceled. If the node has heard so, it asks the servers: a task that is
// put back from the dead letters is not canceled any more, and may come before that is heard.
func (n *Node) isCanceled(ctx context.Context, id token) bool {
	if !n.canceled.has(id) {
		return false
	}
	_, _, err := n.surely(ctx, n.control, string(id))
	return !isNotFound(err)
}

// hearCanceled hears what is canceled, and waits until it knows what was canceled before.
func (n *Node) hearCanceled(ctx context.Context) error {
	return n.follow(ctx, n.control, []string{">"}, func(entry jetstream.KeyValueEntry) {
		id, err := parseToken("ID", entry.Key())
		switch {
		case err != nil: // nobody's task
		case entry.Operation() != jetstream.KeyValuePut:
			n.canceled.remove(id)
		default:
			n.canceled.set(id, entry.Created())
			n.running.cancelTask(id)
		}
	}, func() {}) // isCanceled asks the servers about each that was canceled before
}

// Cancel cancels the task of an ID. If it runs, its handler's context ends; if not, also if it is delayed, it will not run. Its
// outcome is [ErrCanceled], unless it has ended before: then Cancel does nothing. An ID that was never submitted is canceled for
// a day. With the permissions of a [Submitter], which may not write outcomes, Cancel takes two seconds, and the outcome is
// written when a node gets the task. If ctx ends before the servers have answered, Cancel returns its cause, and the task may be
// canceled all the same.
func (n *Node) Cancel(ctx context.Context, id string) error {
	t, err := newToken("ID", id)
	if err != nil {
		return err
	}
	return orEnd(ctx, func() error { return n.cancelTask(ctx, t) })
}

// cancelTask is Cancel. What follows from the end of the task it does to its end, also if ctx ends meanwhile.
func (n *Node) cancelTask(ctx context.Context, id token) error {
	if n.ctx.Err() != nil {
		return ErrClosed
	}
	if err := n.ask(ctx, func(ctx context.Context) error {
		_, err := n.control.Put(ctx, string(id), nil)
		return err
	}, keyOf(n.names.control(), string(id))); err != nil {
		return err
	}
	o := outcome{Status: statusCanceled, Node: n.node}
	err := n.ask(ctx, func(ctx context.Context) error {
		_, err := n.results.Create(ctx, string(id), o.bytes())
		return err
	}, keyOf(n.names.results(), string(id)))
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
	case err == nil:
		n.waiting.resolve(id, o, nil)
	case errors.Is(err, nats.ErrPermissionViolation):
		return nil // a submitter may not write outcomes: the node that gets the task writes it
	default:
		return err
	}
	return n.dropStored(ctx, id, o)
}

// dropStored removes a canceled task from where it is stored until it is due, or others have ended.
func (n *Node) dropStored(ctx context.Context, id token, o outcome) error {
	if err := n.dropLater(ctx, id, o); err != nil {
		return err
	}
	w, err := n.waitingTask(ctx, id)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := n.endedStored(w.Header, w.Data, o); err != nil {
		return err
	}
	return n.forgetWaiting(ctx, id)
}
