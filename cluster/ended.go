package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// insist stores what ends a task; README.md says what does. While the servers do not answer, or have no room, it calls store again, for as
// long as the node is up. It returns an error if they refuse it, if store returns a refused, or if the node is closed.
func (n *Node) insist(what string, id token, store func(context.Context) error) error {
	for wait, told := firstWait, false; ; wait, told = min(2*wait, serverWait), true {
		ctx, cancel := context.WithTimeout(n.ctx, wait)
		err := store(ctx)
		cancel()
		if err == nil || isRefused(err) || isRefusal(err) {
			return err
		}
		if !told {
			n.log.Warn("filch cluster: cannot store "+what+"; trying again", "node", n.node, "task", id, "error", n.explain(err))
		}
		select {
		case <-time.After(time.Second):
		case <-n.ctx.Done():
			return err
		}
	}
}

// isRefusal reports whether err says that the servers do not store a message, and would not do so later.
func isRefusal(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.Code < 500 && !isFull(err) && !isInProcess(err) || errors.Is(err, nats.ErrPermissionViolation)
}

// conclude ends a task: its outcome is stored, if anybody is to be told of it, and counts; then concluded does the rest.
func (n *Node) conclude(t *task, o outcome, remove func() error) error {
	own := o
	if t.from != "" {
		var err error
		if o, err = n.putOutcome(t.id, o); err != nil {
			return err
		}
	}
	if own.is(o) { // else it had ended before, or elsewhere
		n.counts.ended(o.Status)
	}
	return n.concluded(t, o, remove)
}

// concluded does what follows from an outcome that is stored: what depends on the task hears of it, remove removes its message, and its
// submitter is told. So an outcome that is told can be read, and a task whose message is gone has one.
func (n *Node) concluded(t *task, o outcome, remove func() error) error {
	ctx, cancel := context.WithTimeout(n.ctx, submitWait)
	defer cancel()
	if err := askServers(ctx, func(context.Context) error { return n.ended(t, o) }); err != nil {
		return err
	}
	if err := remove(); err != nil {
		return err
	}
	if t.from != "" {
		n.tellOutcome(t.asker(), t.id, o, nil)
	}
	return nil
}

// unended logs why a task has not ended, if err says so.
func (n *Node) unended(id token, err error) {
	if err != nil {
		n.log.Error("filch cluster: cannot end a task; it will be given to a node again", "node", n.node, "task", id, "error", err)
	}
}

// acknowledge removes the message of a task from its stream. The task may come again if that is not confirmed.
func (n *Node) acknowledge(id token, m *nats.Msg) error {
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	if err := m.AckSync(nats.Context(ctx)); err != nil {
		n.unconfirmed(id, err)
	}
	return nil
}

func (n *Node) unconfirmed(id token, err error) {
	n.log.Warn("filch cluster: an acknowledgment was not confirmed; the task may come again", "node", n.node, "task", id, "error", n.explain(err))
}

// ended does what follows from the end of a task: its unique key is free, its batch has one less to wait for, and
// those that wait for it are released or refused. It comes after its outcome is stored and before it is acknowledged:
// if it fails, or the node is lost meanwhile, the task comes again, is found to have ended, and ended is called again.
// So all that it does may be done twice.
func (n *Node) ended(t *task, o outcome) error {
	if err := n.giveBackKey(t.unique, t.id); err != nil {
		return err
	}
	if t.batch != "" {
		if err := n.endedInBatch(t.batch, t.number, o.Status != statusDone); err != nil {
			return err
		}
	}
	return n.settleWaiting(t.id, o)
}

// giveBackKey is disclaim for a task that has ended or is refused, whatever becomes of the call that has found so.
func (n *Node) giveBackKey(key, id token) error {
	ctx, cancel := n.asking()
	defer cancel()
	return n.disclaim(ctx, key, id)
}

// follows reports whether anything follows from the end of a task, as far as this node has heard.
func (n *Node) follows(t *task) bool {
	return t.unique != "" || t.batch != "" || n.edges.Awaited(t.id)
}

// endedStored does what follows from the end of a task that no node has fetched.
func (n *Node) endedStored(h nats.Header, data []byte, o outcome) error {
	t, err := parseTask("", h, data)
	if err != nil {
		return nil // nobody's task
	}
	return n.ended(t, o)
}
