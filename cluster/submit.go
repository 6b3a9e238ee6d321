package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/filch-go/filch"
)

// Submit submits a task to the handler of a name, with in as its argument.
//
// Submit returns when the servers have confirmed that the task is stored. From then on it runs at least once, on any node
// that has the handler, whatever becomes of this process; ctx counts only for Submit. With [LocalFirst], or a handler
// [WithLocalFirst], the task runs in this node's pool if it can, and is not stored.
//
// Submit waits for the servers, and with [filch.Block] for room in the stream, until ctx ends, but at most 30 s if
// ctx has no deadline. When an error says that the servers did not confirm, the task may be stored all the same.
// To be sure that it is there once, submit it again with the same [ID].
//
// Errors are [ErrUnknownHandler], [ErrTooLarge], [ErrQueueFull], [ErrClosed], those of the codec, of options, and of
// the servers. Submit panics if an argument is nil.
func Submit[In, Out any](ctx context.Context, n *Node, handler string, in In, opts ...SubmitOption) (*Future[Out], error) {
	if ctx == nil || n == nil {
		panic("cluster: Submit with a nil argument")
	}
	s, err := newSubmission(opts)
	if err != nil {
		return nil, err
	}
	if n.looking.Err() != nil {
		return nil, ErrClosed
	}
	if s.stored == "" {
		f, err := tryLocal[In, Out](ctx, n, versioned(handler, s.version), in, s)
		switch {
		case err != nil:
			return nil, err
		case f != nil:
			return &Future[Out]{n: n, local: f}, nil
		}
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, submitWait)
		defer cancel()
	}
	t, subject, err := n.newTask(ctx, handler, in, s)
	if err != nil {
		return nil, err
	}
	r, err := n.submit(ctx, t, subject, s)
	if err != nil {
		return nil, err
	}
	return &Future[Out]{n: n, remote: r}, nil
}

// tryLocal runs a task here if it, or its handler, is to be local first, and this node has the handler and room for it.
func tryLocal[In, Out any](ctx context.Context, n *Node, name string, in In, s submission) (*filch.Future[Out], error) {
	h := n.handler(name)
	if h == nil || !s.local && !h.localFirst {
		return nil, nil
	}
	if h.retries {
		return nil, fmt.Errorf("cluster: LocalFirst for the handler %s, which has WithRetry: what runs locally is not tried again", name)
	}
	if h.limit > 0 || h.nodeLimit > 0 || n.config.places == 0 {
		return nil, nil
	}
	f, ok := h.local.(func(context.Context, In) (Out, error))
	if !ok {
		return nil, nil
	}
	if s.within > 0 {
		f = untilDeadline(f, n.now().Add(s.within))
	}
	return submitLocal(ctx, n, f, in), nil
}

// untilDeadline returns f with a context that ends at a time.
func untilDeadline[In, Out any](f func(context.Context, In) (Out, error), at time.Time) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (none Out, _ error) {
		ctx, cancel := context.WithDeadlineCause(ctx, at, ErrDeadline)
		defer cancel()
		if ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		out, err := f(ctx, in)
		if context.Cause(ctx) == ErrDeadline { // as a stored task ends
			return none, ErrDeadline
		}
		return out, err
	}
}

// newTask returns a task of a handler, and its subject in the work stream.
func (n *Node) newTask(ctx context.Context, handler string, in any, s submission) (*task, string, error) {
	codec := n.codecs[0]
	data, err := codec.Marshal(in)
	if err != nil {
		return nil, "", fmt.Errorf("cluster: the argument %T cannot be written by the codec %s: %w", in, codec.Name(), err)
	}
	if err := checkName("name of the handler", handler); err != nil {
		return nil, "", err
	}
	if err := n.checkSize("argument", data); err != nil {
		return nil, "", err
	}
	name := versioned(handler, s.version)
	lane, err := n.laneFor(ctx, name, s)
	if err != nil {
		return nil, "", err
	}
	t := &task{id: s.id, handler: name, codec: codec.Name(), by: n.node, key: s.key, time: s.within, data: data}
	return t, n.workOf(name, lane), nil
}

// submit stores a task, and returns what waits for its outcome.
func (n *Node) submit(ctx context.Context, t *task, subject string, s submission) (*remote, error) {
	if t.id == "" {
		t.id = encode(nuid.Next())
	}
	if s.noResult {
		r := &remote{id: t.id, noResult: true, promise: filch.NewPromise[outcome](n.pool)}
		r.promise.Complete(outcome{}, ErrNoResult)
		_, err := n.store(ctx, t.id, t.message(subject), s)
		if err == nil {
			r.stored.Store(true)
			n.counts.submitted.Add(1)
		}
		return r, err
	}
	t.from, t.secret = n.node, n.secret
	if s.id != "" {
		var o outcome
		err := askServers(ctx, func(ctx context.Context) (err error) { o, err = n.getOutcome(ctx, t.id); return err })
		if err == nil {
			r := &remote{id: t.id, promise: filch.NewPromise[outcome](n.pool)}
			r.promise.Complete(o, nil)
			return r, nil
		}
	}
	r := n.waiting.add(n, t.id)
	limited := len(s.after) > 0 && n.config.places > 0 && n.waiting.limit(r, s.within)
	known, err := n.store(ctx, t.id, t.message(subject), s)
	first := !known || s.id == "" // else what another says of its time counts
	if limited && (!first || err != nil) {
		n.waiting.limit(r, 0)
	}
	if err != nil {
		n.waiting.remove(r)
		return nil, err
	}
	r.stored.Store(true)
	looks := first && len(s.after) > 0 && n.config.places == 0 && n.waiting.limit(r, s.within) // from when the task is stored
	if known || looks {
		n.lookLater(r, firstLook)
	}
	if first && len(s.after) == 0 {
		n.endInTime(r, s)
	}
	n.counts.submitted.Add(1)
	return r, nil
}

// store stores the message of a task, if its unique key is free. known says that a task of its ID was there already: its outcome may be
// told to another node.
func (n *Node) store(ctx context.Context, id token, m *nats.Msg, s submission) (known bool, err error) {
	s.setUnique(m)
	key, err := n.claimFor(ctx, id, m)
	if err != nil {
		return false, err
	}
	if s.id == "" {
		key.created = true // though an answer was lost: nobody else has the ID
	}
	var r receipt
	store := func() (err error) {
		r, err = n.storeMessage(ctx, id, m, s)
		return err
	}
	if s.batch != nil {
		err = s.batch.add(ctx, m, store)
	} else {
		err = store()
	}
	if key.created && (isRefused(err) || err == nil && r.before && !r.lost) { // a task of the ID that was there has a key by itself, or has ended
		err = errors.Join(err, orEnd(ctx, func() error { return n.unclaim(key) }))
	}
	return r.before, err
}

// storeMessage stores the message of a task where its options say, unless it is known to be there.
func (n *Node) storeMessage(ctx context.Context, id token, m *nats.Msg, s submission) (receipt, error) {
	if len(s.after) > 0 {
		known, err := n.storeAfter(ctx, id, m, s.after)
		return receipt{before: known, lost: known}, err // of what was there in part, this call may have stored the rest
	}
	if at, later := n.due(s); later {
		return n.storeLater(ctx, id, m, at)
	}
	return n.publish(ctx, m)
}

// laneFor returns the lane of a task, or the reason why the handler does not take it.
func (n *Node) laneFor(ctx context.Context, name string, s submission) (string, error) {
	shape, err := n.shapeOf(ctx, name)
	switch {
	case err != nil:
		return "", err
	case s.key != "" && shape.partitions == 0:
		return "", fmt.Errorf("cluster: the handler %s takes no keys: it needs WithKeys", name)
	case s.key != "" && s.leveled:
		return "", errors.New("cluster: a task has both a key and a level")
	case s.key != "":
		f := fnv.New32a()
		f.Write([]byte(s.key))
		return laneOfPartition(int(f.Sum32() % uint32(shape.partitions))), nil
	case shape.limited && s.leveled:
		return "", fmt.Errorf("cluster: the handler %s has a limit, and so its tasks have no levels", name)
	}
	return laneOfLevel(s.level), nil
}
