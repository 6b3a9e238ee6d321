package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// State is where a task is in its life.
type State string

// States of a task.
const (
	StateDelayed  State = "delayed"      // it is due later, or no node has moved it into the stream yet
	StateAfter    State = "after"        // it waits for other tasks
	StateWaiting  State = "waiting"      // in the stream, and never failed
	StateRunning  State = "running"      // on a node
	StateRetry    State = "retry"        // in the stream, and has failed before
	StateDone     State = statusDone     // it has a result
	StateFailed   State = statusFailed   // for good: it is in the dead letters, or was, or will be
	StateCanceled State = statusCanceled // by Cancel
	StateDeadline State = statusDeadline // its time was over
)

// TaskInfo is what the cluster knows of a task. What is not known is zero.
type TaskInfo struct {
	ID       string    `json:"id"`
	State    State     `json:"state"`
	Handler  string    `json:"handler,omitempty"`  // name@version for one with a version
	Node     string    `json:"node,omitempty"`     // where it runs, has ended, or failed last
	Attempts int       `json:"attempts,omitempty"` // how often it was tried, with the one that runs
	Error    string    `json:"error,omitempty"`    // the last
	From     string    `json:"from,omitempty"`     // the node that has submitted it
	Key      string    `json:"key,omitempty"`
	Stored   time.Time `json:"stored,omitzero"` // when it came into the stream, or into the dead letters
	Codec    string    `json:"codec,omitempty"` // of what follows
	Argument []byte    `json:"argument,omitempty"`
	Result   []byte    `json:"result,omitempty"` // of a task that is done
}

// Show returns what the cluster knows of the task of an ID, or of the dead letter of a name, if no task has it as its ID. The
// error is [ErrUnknownTask] if it knows nothing, or nothing any more: outcomes are kept as [WithResultsFor] says, and a task with
// [NoResult] leaves none.
//
// A task that has ended costs one read. For another, all nodes are asked whether they run it, which takes half a
// second if none does, and then the stream is searched: first its newest 1,000 tasks, then from its beginning, by one request for each
// 1,000. If ctx ends before that does, the error says how many were read. A task of a node that does not answer is shown as one that waits.
func (n *Node) Show(ctx context.Context, id string) (TaskInfo, error) {
	t, err := newToken("ID", id)
	if err != nil {
		return TaskInfo{}, err
	}
	if n.ctx.Err() != nil {
		return TaskInfo{}, ErrClosed
	}
	for _, look := range []func(context.Context, token) (TaskInfo, error){n.showEnded, n.showHeld, n.showRunning, n.showDue, n.showStored, n.showEnded, n.showDead, n.showLetter} {
		if info, err := look(ctx, t); !errors.Is(err, ErrUnknownTask) {
			return info, err
		}
	}
	return TaskInfo{}, fmt.Errorf("%w: %s", ErrUnknownTask, id)
}

// showEnded shows a task that has an outcome.
func (n *Node) showEnded(ctx context.Context, id token) (TaskInfo, error) {
	o, err := n.getOutcome(ctx, id)
	if isNotFound(err) {
		return TaskInfo{}, ErrUnknownTask
	}
	if err != nil {
		return TaskInfo{}, fmt.Errorf("cluster: the outcome of %s: %w", id.text(), err)
	}
	t := TaskInfo{ID: id.text(), State: State(o.Status), Handler: o.Handler, Node: o.Node, Attempts: o.Attempts, Error: o.Error, Codec: o.Codec, Result: o.data}
	if t.State == StateFailed {
		if dead, err := n.showDead(ctx, id); err == nil {
			t.From, t.Key, t.Stored, t.Codec, t.Argument = dead.From, dead.Key, dead.Stored, dead.Codec, dead.Argument
		}
	}
	return t, nil
}

// showDead shows a task that is in the dead letters.
func (n *Node) showDead(ctx context.Context, id token) (TaskInfo, error) {
	s, err := n.streamOf(ctx, n.dead())
	if err != nil {
		return TaskInfo{}, err
	}
	l, err := n.letter(ctx, s, id)
	return deadInfo(l, err)
}

// showLetter shows the dead letter of a name.
func (n *Node) showLetter(ctx context.Context, name token) (TaskInfo, error) {
	s, err := n.streamOf(ctx, n.dead())
	if err != nil {
		return TaskInfo{}, err
	}
	l, err := n.namedLetter(ctx, s, name.text())
	return deadInfo(l, err)
}

// deadInfo is what a dead letter says, if there is one.
func deadInfo(l DeadLetter, err error) (TaskInfo, error) {
	if errors.Is(err, ErrNoDeadLetter) {
		return TaskInfo{}, ErrUnknownTask
	}
	return TaskInfo{
		ID: l.ID, State: StateFailed, Handler: l.Handler, Node: l.Node, Attempts: l.Attempts, Error: l.Reason,
		From: l.From, Key: l.Key, Stored: l.At, Codec: l.Codec, Argument: l.Argument,
	}, err
}

// showHeld shows a task that is delayed, or waits for others.
func (n *Node) showHeld(ctx context.Context, id token) (TaskInfo, error) {
	raw, err := n.laterStream.GetLastMsgForSubject(ctx, n.laterOf(id))
	if err == nil {
		t := n.storedInfo(id, StateDelayed, n.workOfDue(header(raw.Header, headerScheduleTarget)), raw.Header, raw.Data)
		t.Stored = raw.Time
		return t, nil
	}
	if !errors.Is(err, jetstream.ErrMsgNotFound) {
		return TaskInfo{}, fmt.Errorf("cluster: looking for %s among the delayed: %w", id.text(), n.explain(err, api("STREAM.MSG.GET."+n.later())))
	}
	w, err := n.waitingTask(ctx, id)
	if isNotFound(err) {
		return TaskInfo{}, ErrUnknownTask
	}
	if err != nil {
		return TaskInfo{}, fmt.Errorf("cluster: looking for %s among those that wait for others: %w", id.text(), err)
	}
	return n.storedInfo(id, StateAfter, w.Subject, w.Header, w.Data), nil
}

// storedInfo is what the message of a task says.
func (n *Node) storedInfo(id token, s State, subject string, h nats.Header, data []byte) TaskInfo {
	t := TaskInfo{ID: id.text(), State: s, Handler: n.handlerOf(subject), From: header(h, headerFrom), Key: textOf(h, headerKey), Codec: header(h, headerCodec), Argument: data}
	if t.From == "" {
		t.From = header(h, headerBy)
	}
	return t
}

// askWait is how long a node waits for another to say that it runs a task.
const askWait = 500 * time.Millisecond

// holding is what a node answers that has a task.
type holding struct {
	Node, Handler, From, Key string // the key as a token
	Delivered                int
	Stored                   time.Time
}

// answer says which tasks the node has, if it is asked.
func (n *Node) answer() error {
	return n.hear(n.who(), func(m *nats.Msg) {
		id, err := parseToken("ID", string(m.Data))
		if err != nil {
			return
		}
		if h, ok := n.running.find(id); ok {
			data, _ := json.Marshal(h) // strings and numbers only
			_ = m.Respond(data)
		}
	})
}

// find returns what is to be said of a task, if it is here.
func (r *running) find(id token) (holding, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.tasks[id]
	if e == nil {
		return holding{}, false
	}
	return holding{Node: e.node.node, Handler: e.handler.name, From: e.by, Key: string(e.key), Delivered: e.delivered, Stored: e.stored}, true
}

// showRunning shows a task that a node says it has.
func (n *Node) showRunning(ctx context.Context, id token) (TaskInfo, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askWait, ErrUnknownTask)
	defer cancel()
	m, err := n.nc.RequestWithContext(ctx, n.who(), []byte(id))
	if errors.Is(err, nats.ErrNoResponders) || context.Cause(ctx) == ErrUnknownTask {
		if last := n.denied(n.who()); last != nil {
			return TaskInfo{}, fmt.Errorf("cluster: asking the nodes for %s: %w", id.text(), last)
		}
		return TaskInfo{}, ErrUnknownTask
	}
	var h holding
	if err == nil {
		err = json.Unmarshal(m.Data, &h)
	}
	if err != nil {
		return TaskInfo{}, fmt.Errorf("cluster: asking the nodes for %s: %w", id.text(), n.explain(err, n.who()))
	}
	key, _ := parseToken("key", h.Key) // none is "", and so is one that cannot be read
	t := TaskInfo{ID: id.text(), State: StateRunning, Handler: h.Handler, Node: h.Node, From: h.From, Key: key.text(), Stored: h.Stored, Attempts: h.Delivered}
	if try, err := n.getTry(ctx, id); err == nil {
		t.Attempts, t.Error = max(1, h.Delivered-try.Returned), try.Error
	}
	return t, nil
}

// showDue shows a task that is due and that no node has moved into the stream yet.
func (n *Node) showDue(ctx context.Context, id token) (TaskInfo, error) {
	raw, err := n.find(ctx, n.later(), n.dueOf(">"), id)
	if err != nil {
		return TaskInfo{}, err
	}
	t := n.storedInfo(id, StateDelayed, raw.Subject, raw.Header, raw.Data)
	t.Stored = raw.Time
	return t, nil
}

// showStored shows a task that is in the stream.
func (n *Node) showStored(ctx context.Context, id token) (TaskInfo, error) {
	raw, err := n.find(ctx, n.work(), n.workAll(), id)
	if err != nil {
		return TaskInfo{}, err
	}
	return n.stored(ctx, id, raw)
}

// stored shows a task of which the message is there.
func (n *Node) stored(ctx context.Context, id token, raw *jetstream.RawStreamMsg) (TaskInfo, error) {
	t := n.storedInfo(id, StateWaiting, raw.Subject, raw.Header, raw.Data)
	t.Stored = raw.Time
	try, err := n.getTry(ctx, id)
	if err != nil {
		return TaskInfo{}, fmt.Errorf("cluster: the attempts of %s: %w", id.text(), err)
	}
	if try.Error != "" {
		t.State, t.Error, t.Node, t.Attempts = StateRetry, try.Error, try.Node, try.Attempts
	}
	if try.Final == raw.Sequence { // and will be in the dead letters
		t.State = StateFailed
	}
	return t, nil
}
