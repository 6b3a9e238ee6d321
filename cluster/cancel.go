package cluster

import (
	"context"
	"errors"
	"fmt"
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
// outcome is [ErrCanceled], unless it has ended before: then Cancel does nothing. The error is [ErrUnknownTask] for an ID of which the
// cluster knows nothing, or nothing any more; then nothing is stored.
//
// Cancel finds the task as [Node.Show] does, until ctx ends, unless this node has submitted it. With the permissions of a [Submitter],
// which may not look for the tasks of others, it takes some seconds; an ID that is not found is canceled for a day, and the outcome is
// written when a node gets the task. If ctx ends before the servers have answered, Cancel returns its cause, and the task may be
// canceled all the same.
func (n *Node) Cancel(ctx context.Context, id string) error {
	t, err := newToken("ID", id)
	if err != nil {
		return err
	}
	return n.cancelKnown(ctx, t, n.waiting.isStored(t))
}

// cancelKnown is Cancel. known says that the task is surely there, or was.
func (n *Node) cancelKnown(ctx context.Context, id token, known bool) error {
	if n.ctx.Err() != nil {
		return ErrClosed
	}
	if !known {
		if err := n.checkKnown(ctx, id); err != nil {
			return err
		}
	}
	return orEnd(ctx, func() error { return n.cancelTask(ctx, id) })
}

// checkKnown returns ErrUnknownTask if the cluster knows no task of an ID. A task goes from one place to the next, and is in the next before it is
// gone from the one before; so the places are looked at in this order, and the outcomes first because most are there.
func (n *Node) checkKnown(ctx context.Context, id token) error {
	for _, look := range []func(context.Context, token) error{n.seeOutcome, n.seeDelayed, n.seeWaiting, n.seeDue, n.seeStored, n.seeBatch, n.seeEnd} {
		err := look(ctx, id)
		switch {
		case err == nil, errors.Is(err, nats.ErrPermissionViolation): // a submitter sees no further
			return nil
		case !isNotFound(err) && !errors.Is(err, ErrUnknownTask):
			return causeOf(ctx, err)
		}
	}
	return fmt.Errorf("%w: %s", ErrUnknownTask, id.text())
}

// seeOutcome returns an error that isNotFound reports if a server knows no outcome of a task, as the following do for what they look at.
func (n *Node) seeOutcome(ctx context.Context, id token) error {
	return askServers(ctx, func(ctx context.Context) error { _, err := n.getOutcome(ctx, id); return err })
}

// seeDelayed looks for a task that is not due yet.
func (n *Node) seeDelayed(ctx context.Context, id token) error {
	return n.ask(ctx, func(ctx context.Context) error {
		for {
			last, err := n.lastRevision(ctx, n.laterOf(id))
			if err == nil && last == 0 {
				return jetstream.ErrKeyNotFound
			}
			if !isConflict(err) {
				return err
			}
			if err := again(ctx); err != nil {
				return err
			}
		}
	}, n.laterOf(id))
}

// seeWaiting looks for a task that waits for others.
func (n *Node) seeWaiting(ctx context.Context, id token) error {
	return n.ask(ctx, func(ctx context.Context) error { _, err := n.waitingTask(ctx, id); return err }, keyOf(n.names.after(), keyTask(id)))
}

// seeDue looks for a task that is due and was not moved yet.
func (n *Node) seeDue(ctx context.Context, id token) error {
	_, err := n.find(ctx, n.later(), n.dueOf(">"), id)
	return err
}

// seeStored looks for a task in the stream, where it stays while it runs.
func (n *Node) seeStored(ctx context.Context, id token) error {
	_, err := n.find(ctx, n.work(), n.workAll(), id)
	return err
}

// seeBatch looks for a batch.
func (n *Node) seeBatch(ctx context.Context, id token) error {
	return n.ask(ctx, func(ctx context.Context) error {
		_, _, err := n.get(ctx, n.batches, keyChunks(id))
		return err
	}, keyOf(n.names.batches(), keyChunks(id)))
}

// seeEnd is seeOutcome, and sure.
func (n *Node) seeEnd(ctx context.Context, id token) error {
	return n.ask(ctx, func(ctx context.Context) error {
		_, _, err := n.get(ctx, n.results, string(id))
		return err
	}, keyOf(n.names.results(), string(id)))
}

// cancelTask cancels a task that is known. What follows from its end it does to the end, also if ctx ends meanwhile.
func (n *Node) cancelTask(ctx context.Context, id token) error {
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
