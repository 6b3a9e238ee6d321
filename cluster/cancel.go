package cluster

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// canceled are the IDs of the tasks that were canceled in the last day, as far as this node has heard.
type canceled struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (c *canceled) has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[id]
}

func (c *canceled) set(id string, on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if on {
		c.ids[id] = true
	} else {
		delete(c.ids, id)
	}
}

// isCanceled reports whether a task was canceled. If the node has heard so, it asks the servers: a task that is
// put back from the dead letters is not canceled any more, and may come before that is heard.
func (n *Node) isCanceled(ctx context.Context, id string) bool {
	if !n.canceled.has(id) {
		return false
	}
	_, err := n.control.Get(ctx, id)
	return !isNotFound(err)
}

// watchCanceled hears what is canceled, and waits until it knows what was canceled before.
func (n *Node) watchCanceled(ctx context.Context) error {
	w, err := n.control.WatchAll(n.ctx, jetstream.MetaOnly())
	if err != nil {
		return n.explain(err, api("CONSUMER.CREATE."+streamOf(n.names.control())+".>"))
	}
	heard := make(chan struct{})
	n.loops.Go(func() {
		defer w.Stop()
		for {
			select {
			case entry, ok := <-w.Updates():
				if !ok {
					return
				}
				if entry == nil {
					close(heard)
					continue
				}
				on := entry.Operation() == jetstream.KeyValuePut
				n.canceled.set(entry.Key(), on)
				if on {
					n.running.cancelTask(entry.Key())
				}
			case <-n.ctx.Done():
				return
			}
		}
	})
	select {
	case <-heard:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel cancels the task of an ID. If it runs, its handler's context ends; if not, also if it is delayed, it will not run. Its outcome is
// [ErrCanceled], unless it has ended before: then Cancel does nothing. An ID that was never submitted is
// canceled for a day. With the permissions of a [Submitter], which may not write outcomes, Cancel takes two seconds, and the outcome is
// written when a node gets the task.
func (n *Node) Cancel(ctx context.Context, id string) error {
	if err := checkName("ID", id); err != nil {
		return err
	}
	if n.ctx.Err() != nil {
		return ErrClosed
	}
	if _, err := n.control.Put(ctx, id, nil); err != nil {
		return n.explain(err, keyOf(n.names.control(), id))
	}
	o := outcome{Status: statusCanceled, Node: n.node}
	attempt, done := context.WithTimeout(ctx, firstWait)
	defer done()
	_, err := n.results.Create(attempt, id, o.bytes())
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
	case err == nil:
		n.waiting.resolve(id, o, nil)
	case errors.Is(n.explain(err, keyOf(n.names.results(), id)), nats.ErrPermissionViolation):
		return nil // a submitter may not write outcomes: the node that gets the task writes it
	default:
		return err
	}
	return n.dropStored(ctx, id, o)
}

// dropStored removes a canceled task from where it is stored until it is due, or others have ended.
func (n *Node) dropStored(ctx context.Context, id string, o outcome) error {
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
