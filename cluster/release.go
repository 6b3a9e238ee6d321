package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/edge"
	"github.com/filch-go/filch/cluster/internal/sweep"
)

// settleWaiting settles a task that has ended with those that wait for it.
func (n *Node) settleWaiting(dep token, o outcome) error {
	var errs []error
	for id, e := range n.edges.Waiting(dep) {
		switch err := n.settle(id, dep, e, o); {
		case err == nil:
			n.edges.Met(id, dep)
		case !errors.Is(err, errNotStored):
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// settle notes that a dependency of a task has ended, and releases the task if it was the last one, or refuses it.
// The write that completes the tally releases the task. If its node is lost before that is done, the dependency
// comes again, or a node finds it by sweepEdges; its mark is there then, the tally is complete, and it releases the task.
func (n *Node) settle(id, dep token, e edge.Edge, o outcome) error {
	if o.Status != statusDone {
		return n.refuseWaiting(id, dep, o)
	}
	t, wrote, err := n.note(n.after, keyMet(id), mark{index: e.Index})
	if isNotFound(err) {
		return errNotStored
	}
	if err != nil || !wrote || !t.complete() {
		return err
	}
	return n.release(id)
}

// release submits a task whose dependencies have all ended. Submitted twice, it is stored once. If the stream is full,
// it goes where tasks wait that are due, so that what it depends on can be acknowledged, and makes room.
func (n *Node) release(id token) error {
	ctx, cancel := n.asking()
	defer cancel()
	w, err := n.waitingTask(ctx, id)
	if err != nil {
		return err
	}
	m := w.message()
	if _, err = n.publishOnce(ctx, id, m); isFull(err) {
		m.Subject = n.dueOf(m.Subject)
		_, err = n.publishOnce(ctx, id, m)
	}
	if err != nil {
		return err
	}
	return n.forgetWaiting(ctx, id)
}

// publishOnce stores the message of a task that has waited at the servers, unless there is one of the ID or the task has ended,
// and says so. Another node may be storing it at the same time. A server that was started again knows the IDs of those messages
// that it has: not of tasks that have ended.
func (n *Node) publishOnce(ctx context.Context, id token, m *nats.Msg) (before bool, err error) {
	if header(m.Header, headerFrom) != "" {
		o, err := n.getOutcome(ctx, id)
		if err == nil && o.Status != statusCanceled { // of one that was canceled, the handler may still run
			return true, n.endedStored(m.Header, m.Data, o)
		}
		if err != nil && !isNotFound(err) {
			return false, err
		}
	}
	for {
		ack, err := n.js.PublishMsg(ctx, m)
		if !isInProcess(err) {
			return err == nil && ack.Duplicate, err
		}
		if again(ctx) != nil {
			return false, err
		}
	}
}

// refuseWaiting ends a task of which a dependency has not ended well, as one that has failed ends.
func (n *Node) refuseWaiting(id, dep token, o outcome) error {
	ctx, cancel := n.asking()
	defer cancel()
	w, err := n.waitingTask(ctx, id)
	if err != nil {
		return err
	}
	reason := fmt.Sprintf("its dependency %s ended as %s", dep.text(), o.Status)
	if o.Error != "" {
		reason = fmt.Sprintf("its dependency %s failed: %s", dep.text(), o.Error)
	}
	handler := n.handlerOf(w.Subject)
	if err := n.putDead(ctx, letter{handler: handler, id: id, msg: w.message(), reason: reason, counts: &n.counts.dead}); err != nil {
		return err
	}
	t, err := parseTask(handler, w.Header, w.Data)
	if err != nil {
		return errors.Join(err, n.forgetWaiting(ctx, id))
	}
	own := outcome{Status: statusFailed, Error: short(reason), Node: n.node, Handler: handler}
	return n.conclude(t, own, func() error { return n.forgetWaiting(ctx, id) })
}

// errNotStored says that a task that waits is not stored any more, or not yet: then it settles its dependencies itself.
var errNotStored = fmt.Errorf("cluster: a task that waits is not stored: %w", jetstream.ErrKeyNotFound)

// hearEnded settles dependencies for nodes that do not do so themselves. Each is told to one node. If that is lost,
// sweepEdges finds them.
func (n *Node) hearEnded() error {
	sub, err := n.nc.QueueSubscribe(n.names.ended(), "nodes", func(m *nats.Msg) {
		var stored string
		var revision uint64
		if _, err := fmt.Sscanf(string(m.Data), "%s %d", &stored, &revision); err != nil {
			return
		}
		dep, err := parseToken("ID", stored)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(n.ctx, firstWait)
		defer cancel()
		o, err := n.getOutcome(ctx, dep)
		if err == nil && n.edges.Until(ctx, revision) == nil {
			_ = n.settleWaiting(dep, o)
		}
	})
	if err == nil {
		context.AfterFunc(n.ctx, func() { _ = sub.Unsubscribe() })
	}
	return err
}

// sweepMostEdges is for how many tasks that others wait for sweepEdges asks at a time.
const sweepMostEdges = 200

// sweepEdges looks for tasks that have ended, and whose end has not released those that wait for them, since the node
// where they ended was lost, or had not yet heard of those.
func (n *Node) sweepEdges() {
	for _, dep := range n.edges.Older(n.clock.at(n.now()).Add(-sweep.Every), sweepMostEdges) {
		ctx, cancel := context.WithTimeout(n.ctx, serverWait)
		o, err := n.getOutcome(ctx, dep)
		cancel()
		if err == nil {
			err = n.settleWaiting(dep, o)
		}
		if err != nil && !isNotFound(err) {
			n.log.Warn("filch cluster: cannot look after tasks that wait for others; trying again", "node", n.node, "error", err)
			return
		}
	}
}

// sweepLeft removes what is left of tasks that are not stored, since a process has died as it stored or removed one.
// A tally without its task has to be there, unchanged, at two calls in a row: so no process is about to store the task.
func (n *Node) sweepLeft() {
	ctx, cancel := n.asking()
	defer cancel()
	prefix := keyOf(n.names.after(), "")
	info, err := n.afterStream.Info(ctx, jetstream.WithSubjectFilter(prefix+keyMet(anyToken)))
	if err != nil {
		return
	}
	tasks, err := n.afterStream.Info(ctx, jetstream.WithSubjectFilter(prefix+keyTask(anyToken)))
	if err != nil {
		return
	}
	before := n.leftovers
	n.leftovers = map[token]uint64{}
	for subject := range info.State.Subjects {
		id, err := parseToken("ID", strings.TrimPrefix(subject, prefix+keyMet("")))
		if err != nil || tasks.State.Subjects[prefix+keyTask(id)] > 0 {
			continue
		}
		if _, _, err := n.get(ctx, n.after, keyTask(id)); !isNotFound(err) {
			continue
		}
		_, revision, err := n.read(ctx, n.after, keyMet(id))
		if err != nil {
			continue
		}
		n.leftovers[id] = revision
		if before[id] == revision {
			_ = n.forgetBefore(ctx, id, info.State.LastSeq+1)
		}
	}
}
