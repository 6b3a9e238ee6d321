package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/edge"
)

// maxAfter is for how many tasks one can wait.
const maxAfter = 1000

// Dependency is a task that another waits for: any [*Future], or a [TaskID].
type Dependency interface{ ID() string }

// TaskID is the ID of a task, as a [Dependency].
type TaskID string

// ID returns the ID as a string.
func (id TaskID) ID() string { return string(id) }

// After keeps the task at the servers until those of deps have ended, at most 1000, and then submits it. If one of them
// ends in any other way than with a result, the task is not run: it fails with a [*TaskError] that names the one, and
// is in the dead letters. So do those that wait for it.
//
// A dependency is known by its ID. It may be one that is submitted only later; as long as that does not happen,
// the task waits. It waits without end for a task with [NoResult], and for one whose outcome is no longer stored, as
// [WithResultsFor] says. Submit returns [ErrCycle] if the task would wait for itself, but for a way
// by several tasks and a batch, which it does not see. [Within] counts from when the
// dependencies have ended. A task that waits does not count for [WithQueueLimit] and [WithQueueBytes].
//
// A dependency costs three writes to the servers, and the task two more. To wait for many, use a [Batch].
func After(deps ...Dependency) SubmitOption {
	return func(s *submission) error {
		s.stored = "After"
		for i, d := range deps {
			if d == nil {
				return fmt.Errorf("cluster: After with a nil dependency, number %d", i)
			}
			if d.ID() == "" {
				return fmt.Errorf("cluster: After with a dependency, number %d, that has no ID, since it runs on this node: submit it without LocalFirst", i)
			}
			if f, ok := d.(interface{ hasNoResult() bool }); ok && f.hasNoResult() {
				return fmt.Errorf("cluster: After with the dependency %s, which has NoResult", d.ID())
			}
			id, err := newToken("ID of a dependency", d.ID())
			if err != nil {
				return err
			}
			s.after = append(s.after, id)
		}
		s.after = sorted(s.after)
		return nil
	}
}

// hasNoResult reports whether no outcome is stored.
func (f *Future[T]) hasNoResult() bool { return f.remote != nil && f.remote.noResult }

// waitingTask is a task that waits for others, as it is stored. It is stored under its ID, after the edges from it to
// those that it waits for, and these after the tally of them: so the task waits when all three are there, or not at all.
type waitingTask struct {
	Subject string      `json:"subject"`
	Header  nats.Header `json:"header"`
	Data    []byte      `json:"data,omitempty"`
	After   []token     `json:"after"`
}

// Keys of the bucket: of a task that waits, of the marker that it waits no longer, of the tally of those that it waits for, and of its edges.
func keyTask(id token) string  { return "task." + string(id) }
func keyGone(id token) string  { return "gone." + string(id) }
func keyMet(id token) string   { return "met." + string(id) }
func keyEdges(id token) string { return "edge." + string(id) + ".>" }
func keyEdge(id token, e edge.Edge, dep token) string {
	return fmt.Sprintf("edge.%s.%d.%s", string(id), e.Index, string(dep))
}

// storeAfter stores the message of a task until others have ended. known says that it, or a part of it, was there before.
//
// The same task may be released meanwhile, as when an answer was lost, or another process submits it: then what was stored of it
// before the marker is removed, and the rest, without a tally, would wait for ever. So it is stored once more if there is a marker that is
// newer than its tally.
func (n *Node) storeAfter(ctx context.Context, id token, m *nats.Msg, deps []token) (known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, submitWait) // less than after what sweepLeft finds it, and for what a marker is there
	defer cancel()
	for {
		var met uint64
		if err := n.ask(ctx, func(ctx context.Context) (err error) {
			var was bool
			met, was, err = n.storeMet(ctx, id, deps)
			known = known || was
			return err
		}, keyOf(n.names.after(), keyMet(id))); err != nil {
			return known, refused{err}
		}
		record, last, err := n.prepareAfter(ctx, id, m, deps)
		if err != nil {
			return known, refused{err}
		}
		if err := n.createKey(ctx, n.after, keyTask(id), record); err != nil {
			return known, err
		}
		gone, err := n.goneAt(ctx, id)
		if err != nil {
			return known, err
		}
		if gone < met {
			return known, n.settleEnded(ctx, id, deps, last)
		}
		known = true
	}
}

// goneAt returns the revision of the marker that a task waits no longer, or 0.
func (n *Node) goneAt(ctx context.Context, id token) (revision uint64, err error) {
	subject := keyOf(n.names.after(), keyGone(id))
	err = n.ask(ctx, func(ctx context.Context) error {
		for {
			if revision, err = n.lastRevision(ctx, subject); !isConflict(err) {
				return err
			}
			if err := again(ctx); err != nil {
				return err
			}
		}
	}, subject)
	return revision, err
}

// prepareAfter stores for what a task waits that has a tally, and returns its record, with which it is stored, and the revision
// of its last edge.
func (n *Node) prepareAfter(ctx context.Context, id token, m *nats.Msg, deps []token) (record []byte, last uint64, err error) {
	if last, err = n.storeEdges(ctx, id, deps); err != nil {
		return nil, 0, err
	}
	if record, err = json.Marshal(waitingTask{Subject: m.Subject, Header: m.Header, Data: m.Data, After: deps}); err != nil {
		return nil, 0, err
	}
	if most := n.nc.MaxPayload() - headerRoom; int64(len(record)) > most {
		return nil, 0, errors.Join(fmt.Errorf("%w: the argument and the dependencies have %d bytes, and %d are allowed", ErrTooLarge, len(record), most), n.withdraw(ctx, id, deps))
	}
	return record, last, nil
}

// createKey stores a value, unless there is one or its marker. Create of the bucket would read which of the two it is, which a submitter may
// not.
func (n *Node) createKey(ctx context.Context, kv jetstream.KeyValue, key string, value []byte) error {
	m := createMsg(keyOf(kv.Bucket(), key), value)
	err := n.ask(ctx, func(ctx context.Context) error { _, err := n.js.PublishMsg(ctx, m); return err }, m.Subject)
	if isConflict(err) {
		return nil
	}
	return err
}

// createMsg is what asks the servers to store a message, unless there is one of the subject.
func createMsg(subject string, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: data, Header: nats.Header{jetstream.ExpectedLastSubjSeqHeader: {"0"}}}
}

// metWait is how long storeMet waits for a tally of other dependencies to be removed, as when its task is being released. A submitter may
// not read whether there is a task. It is less than firstWait.
const metWait = time.Second

// storeMet stores the tally of what a task waits for, and returns its revision. known says that it was there before. A task of that ID that
// waits for others is an error.
func (n *Node) storeMet(ctx context.Context, id token, deps []token) (met uint64, known bool, err error) {
	h := fnv.New64a()
	for _, d := range deps {
		h.Write([]byte(string(d) + "\n"))
	}
	want := tally{Size: len(deps), Of: strconv.FormatUint(h.Sum64(), 36)}
	for begin := time.Now(); ; {
		met, err := n.after.Create(ctx, keyMet(id), want.bytes())
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return met, false, err
		}
		value, revision, err := n.surely(ctx, n.after, keyMet(id)) // an older one can be of a task that was released
		if isNotFound(err) {
			continue // it has just been released
		}
		var have tally
		if err == nil {
			err = json.Unmarshal(value, &have)
		}
		if err == nil && (have.Of != want.Of || have.Size != want.Size) {
			if time.Since(begin) < metWait && again(ctx) == nil {
				continue
			}
			return 0, true, fmt.Errorf("cluster: the task %s waits already, and for others", id.text())
		}
		if err == nil {
			met, err = n.after.Update(ctx, keyMet(id), value, revision) // so that sweepLeft sees a change
		}
		if !isConflict(err) {
			return met, true, err
		}
	}
}

// storeEdges stores for which tasks a task waits, unless it would wait for itself, and returns the last edge's revision. Of tasks
// that close a cycle at the same time, the last one at least finds the edges of all.
func (n *Node) storeEdges(ctx context.Context, id token, deps []token) (last uint64, err error) {
	for i, d := range deps {
		key := keyEdge(id, edge.Edge{Index: i}, d)
		if err := n.ask(ctx, func(ctx context.Context) (err error) {
			last, err = n.after.Put(ctx, key, nil)
			return err
		}, keyOf(n.names.after(), key)); err != nil {
			return 0, err
		}
	}
	cycle, err := n.closesCycle(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("cluster: the servers do not tell who waits for whom: %w", err)
	}
	if cycle {
		return 0, errors.Join(fmt.Errorf("%w: %s", ErrCycle, id.text()), n.withdraw(ctx, id, deps))
	}
	return last, nil
}

// settleEnded settles those dependencies of a task that had ended before it was stored, or meanwhile. A node without
// places asks another to do so, since it may lack the permissions.
func (n *Node) settleEnded(ctx context.Context, id token, deps []token, last uint64) error {
	for i, d := range deps {
		var o outcome
		err := askServers(ctx, func(ctx context.Context) (err error) { o, err = n.getOutcome(ctx, d); return err })
		if isNotFound(err) {
			continue
		}
		if err == nil && n.config.places == 0 {
			err = n.nc.Publish(n.names.ended(), fmt.Appendf(nil, "%s %d", string(d), last))
		} else if err == nil {
			err = n.settle(id, d, edge.Edge{Index: i}, o)
		}
		if err != nil && !errors.Is(err, errNotStored) { // a node has released it meanwhile
			return err
		}
	}
	return nil
}

// waitingTask returns a task that waits for others, or errNotStored.
func (n *Node) waitingTask(ctx context.Context, id token) (waitingTask, error) {
	var w waitingTask
	value, _, err := n.get(ctx, n.after, keyTask(id))
	if isNotFound(err) {
		return w, errNotStored
	}
	if err != nil {
		return w, err
	}
	if json.Unmarshal(value, &w) != nil || !n.isWork(w.Subject) {
		return w, errNotStored // nobody's task
	}
	return w, nil
}

// withdraw removes what storeAfter has stored of a task that is refused. A node without places removes it key by key, for
// which the permissions of a submitter suffice, and which leaves a marker of each key for a minute.
func (n *Node) withdraw(ctx context.Context, id token, deps []token) error {
	if n.config.places > 0 {
		return n.forgetWaiting(ctx, id)
	}
	if _, err := n.markGone(ctx, id); err != nil {
		return err
	}
	var keys []string
	for i, d := range deps {
		keys = append(keys, keyEdge(id, edge.Edge{Index: i}, d))
	}
	for _, key := range append(keys, keyMet(id)) {
		if err := n.after.Purge(ctx, key, jetstream.PurgeTTL(markerTTL)); err != nil {
			return err
		}
	}
	return nil
}

// forgetWaiting removes a task that waits no longer, and then its edges and its tally, as far as they are older than a marker: the same
// task may be stored anew meanwhile, see storeAfter. All nodes forget the edges as they hear of the marker. By the tally, sweepLeft finds what
// was removed or stored in part.
func (n *Node) forgetWaiting(ctx context.Context, id token) error {
	if err := n.afterStream.Purge(ctx, jetstream.WithPurgeSubject(keyOf(n.names.after(), keyTask(id)))); err != nil {
		return err
	}
	revision, err := n.markGone(ctx, id)
	if err != nil {
		return err
	}
	return n.forgetBefore(ctx, id, revision)
}

// markGone says for a minute that a task waits no longer. The marker has a key of its own, and replaces nothing: what it replaced would be
// there again when its time is over and a server is killed, and who may not read the task takes a marker in its place for one.
func (n *Node) markGone(ctx context.Context, id token) (revision uint64, err error) {
	ack, err := n.js.PublishMsg(ctx, &nats.Msg{Subject: keyOf(n.names.after(), keyGone(id)), Header: nats.Header{
		"KV-Operation": {"PURGE"}, jetstream.MsgRollup: {jetstream.MsgRollupSubject}, jetstream.MsgTTLHeader: {markerTTL.String()},
	}})
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// forgetBefore removes the edges of a task, and then its tally and what was stored with it since forgetWaiting has removed the task, as far as
// they were stored before a revision of the bucket.
func (n *Node) forgetBefore(ctx context.Context, id token, revision uint64) error {
	for _, keys := range []string{keyEdges(id), "*." + string(id)} {
		subject := keyOf(n.names.after(), keys)
		if err := n.afterStream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(revision)); err != nil {
			return err
		}
	}
	return nil
}

// message returns the message of a task for the work stream.
func (w waitingTask) message() *nats.Msg {
	return &nats.Msg{Subject: w.Subject, Header: w.Header, Data: slices.Clone(w.Data)}
}
