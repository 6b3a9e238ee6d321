package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// DeadLetter is a task that has failed for good, or a message in the stream that no node could read as a task.
type DeadLetter struct {
	ID       string    `json:"id"`       // of its task; Name, if the message does not say
	Name     string    `json:"name"`     // "letter-7" of the seventh that was stored: of this letter alone
	Handler  string    `json:"handler"`  // name@version for one with a version
	Reason   string    `json:"reason"`   // the last error
	Attempts int       `json:"attempts"` // how often it was tried; 0 for what was no task
	Node     string    `json:"node"`     // which made it a dead letter
	From     string    `json:"from,omitempty"`
	Key      string    `json:"key,omitempty"`
	At       time.Time `json:"at"` // when it was made one, by the servers' clock
	Codec    string    `json:"codec"`
	Argument []byte    `json:"argument"` // as the codec has written it

	seq uint64
	msg *nats.Msg // as it was in the stream of tasks
}

// letterPrefix is what the name of a dead letter begins with; its sequence in the stream follows.
const letterPrefix = "letter-"

// letterNumber returns the sequence in the name of a dead letter, or 0 if text is none.
func letterNumber(text string) uint64 {
	digits, ok := strings.CutPrefix(text, letterPrefix)
	seq, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || strconv.FormatUint(seq, 10) != digits {
		return 0
	}
	return seq
}

// letterOf reads a stored dead letter. Any message is one: what cannot be read is empty.
func (n *Node) letterOf(raw *jetstream.RawStreamMsg) DeadLetter {
	h := raw.Header
	l := DeadLetter{
		ID: textOf(h, headerID), Reason: header(h, headerReason), Node: header(h, headerNode), Key: textOf(h, headerKey),
		From: header(h, headerFrom), Codec: header(h, headerCodec), At: raw.Time, Argument: raw.Data, seq: raw.Sequence,
	}
	if l.From == "" {
		l.From = header(h, headerBy)
	}
	l.Attempts, _ = strconv.Atoi(header(h, headerAttempts))
	l.Handler = n.handlerOf(raw.Subject)
	l.Name = letterPrefix + strconv.FormatUint(raw.Sequence, 10)
	if l.ID == "" || raw.Subject != n.deadOf(l.Handler, encode(l.ID)) { // no node has written it, or nobody finds it by that ID
		l.ID = l.Name
	}
	l.msg = &nats.Msg{Subject: header(h, headerSubject), Header: maps.Clone(h), Data: raw.Data}
	return l
}

// Dead ranges over the dead letters of a handler, the oldest first, or over all if handler is "". handler is a name, or
// name@version. Each costs a request. An error ends the range.
func (n *Node) Dead(ctx context.Context, handler string) iter.Seq2[DeadLetter, error] {
	return func(yield func(DeadLetter, error) bool) {
		subject := n.deadAll()
		if handler != "" {
			if err := checkHandler(handler); err != nil {
				yield(DeadLetter{}, err)
				return
			}
			subject = n.deadOf(handler, anyToken)
		}
		s, err := n.streamOf(ctx, n.dead())
		if err != nil {
			yield(DeadLetter{}, err)
			return
		}
		for seq := uint64(1); ; {
			raw, err := s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject))
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				return
			}
			if err != nil {
				yield(DeadLetter{}, fmt.Errorf("cluster: the dead letters: %w", n.explain(err, api("STREAM.MSG.GET."+n.dead()))))
				return
			}
			if !yield(n.letterOf(raw), nil) {
				return
			}
			seq = raw.Sequence + 1
		}
	}
}

// letter returns the dead letter of an ID, the newest if there are several.
func (n *Node) letter(ctx context.Context, s jetstream.Stream, id token) (DeadLetter, error) {
	raw, err := s.GetLastMsgForSubject(ctx, n.deadOf("*", id))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return DeadLetter{}, fmt.Errorf("%w: %s", ErrNoDeadLetter, id.text())
	}
	if err != nil {
		return DeadLetter{}, fmt.Errorf("cluster: the dead letter %s: %w", id.text(), n.explain(err, api("STREAM.MSG.GET."+n.dead())))
	}
	return n.letterOf(raw), nil
}

// namedLetter returns the dead letter of a name.
func (n *Node) namedLetter(ctx context.Context, s jetstream.Stream, name string) (DeadLetter, error) {
	seq := letterNumber(name)
	if seq == 0 {
		return DeadLetter{}, fmt.Errorf("%w: %s", ErrNoDeadLetter, name)
	}
	raw, err := s.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return DeadLetter{}, fmt.Errorf("%w: %s", ErrNoDeadLetter, name)
	}
	if err != nil {
		return DeadLetter{}, fmt.Errorf("cluster: the dead letter %s: %w", name, n.explain(err, api("STREAM.MSG.GET."+n.dead())))
	}
	return n.letterOf(raw), nil
}

// Requeue puts dead letters back into their lanes, by the IDs of their tasks, with attempts anew: the failed outcome is
// forgotten, and so is a request to cancel. One whose task was put back already is [ErrNoDeadLetter]; of one whose unique key
// another task has, as [Unique] says, the error is a [*NotUniqueError], and it stays. What fails for one ID does not keep the
// others from being put back; the error has all that failed.
//
// Of several letters of an ID, it puts back the newest. In the place of an ID there can be the Name of a letter, which is looked
// for if no letter has it as its ID.
//
// If the process ends in the midst, or the servers do not answer, Requeue can be called again: a letter that was put back
// in the last two minutes is not put back again, but only removed. Submit of the same [ID] before the task has ended may store
// it a second time.
func (n *Node) Requeue(ctx context.Context, ids ...string) error {
	return n.eachLetter(ctx, ids, n.requeue)
}

// DeleteDead removes dead letters, by the IDs of their tasks or by their names, as [Node.Requeue] finds them. Their outcomes
// stay. What fails for one ID does not keep the others from being removed; the error has all that failed, [ErrNoDeadLetter] among
// them.
func (n *Node) DeleteDead(ctx context.Context, ids ...string) error {
	return n.eachLetter(ctx, ids, func(context.Context, DeadLetter) error { return nil })
}

// eachLetter calls f with each dead letter, and removes it if f returns no error.
func (n *Node) eachLetter(ctx context.Context, ids []string, f func(context.Context, DeadLetter) error) error {
	s, err := n.streamOf(ctx, n.dead())
	if err != nil {
		return err
	}
	var all []error
	for _, id := range ids {
		var l DeadLetter
		t, err := newToken("ID", id)
		if err == nil {
			l, err = n.letter(ctx, s, t)
		}
		if errors.Is(err, ErrNoDeadLetter) {
			l, err = n.namedLetter(ctx, s, id)
		}
		if err == nil {
			err = f(ctx, l)
		}
		if err == nil {
			err = s.DeleteMsg(ctx, l.seq)
			if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
				err = nil // another has just removed it
			}
		}
		if err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// requeue stores the task of a dead letter anew. What would keep it from running is removed before.
func (n *Node) requeue(ctx context.Context, l DeadLetter) error {
	if strings.HasPrefix(l.msg.Subject, n.dueOf("")) {
		l.msg.Subject = n.workOfDue(l.msg.Subject)
	}
	if !n.isWork(l.msg.Subject) {
		return fmt.Errorf("cluster: the dead letter %s does not say in which lane it was: %q", l.ID, l.msg.Subject)
	}
	m := l.msg
	if was := header(m.Header, headerWas); was != "" {
		m.Header[headerID] = []string{was}
	}
	maps.DeleteFunc(m.Header, func(key string, _ []string) bool {
		return strings.HasPrefix(key, "Nats-") || slices.Contains([]string{headerReason, headerAttempts, headerSubject, headerNode, headerWas, headerSince}, key)
	})
	m.Header[nats.MsgIdHdr] = []string{fmt.Sprintf("%s-dead-%d", string(encode(l.ID)), l.seq)}
	id, err := parseToken("ID", header(m.Header, headerID))
	if err != nil { // it is refused again
		_, err := n.publish(ctx, m)
		return err
	}
	key, err := n.claimFor(ctx, id, m)
	if err != nil {
		return fmt.Errorf("cluster: the dead letter %s is not put back: %w", l.ID, err)
	}
	stored, err := n.putBack(ctx, id, m)
	if !stored {
		err = errors.Join(err, n.unclaim(key))
	}
	return err
}

// putBack stores the task of a dead letter. It returns false if it knows that it did not: the task was put back before, or it is refused.
func (n *Node) putBack(ctx context.Context, id token, m *nats.Msg) (stored bool, err error) {
	if done, err := n.forget(ctx, id); done || err != nil {
		return false, err
	}
	r, err := n.publish(ctx, m)
	return !isRefused(err) && (!r.before || r.lost), err
}

// forget removes what is noted of a task that has failed. It returns true for one that is done: it has been put back
// before, and only its letter has stayed.
func (n *Node) forget(ctx context.Context, id token) (done bool, err error) {
	value, revision, err := n.get(ctx, n.results, string(id)) // an older one is not deleted
	if err == nil {
		if o, err := parseOutcome(value); err == nil && o.Status == statusDone {
			return true, nil
		}
		err = n.results.Delete(ctx, string(id), jetstream.LastRevision(revision))
	}
	if err != nil && !isNotFound(err) {
		return false, fmt.Errorf("cluster: the outcome of %s: %w", id.text(), err)
	}
	for _, kv := range []jetstream.KeyValue{n.control, n.tries} {
		if err := kv.Delete(ctx, string(id)); err != nil {
			return false, fmt.Errorf("cluster: what is noted of %s: %w", id.text(), err)
		}
	}
	return false, nil
}
