package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Headers of the servers for messages that they keep until a time (ADR-51 of NATS).
const (
	headerSchedule       = "Nats-Schedule"
	headerScheduleTarget = "Nats-Schedule-Target"
	headerScheduleZone   = "Nats-Schedule-Time-Zone"
	headerScheduleNext   = "Nats-Schedule-Next" // of a message that was due: when its schedule is due next
)

// maxDelay is the longest delay. The servers submit at once what is due after the year 2262, since they count in nanoseconds.
const maxDelay = 100 * 365 * 24 * time.Hour

// Delay keeps the task at the servers for d, by their clocks, before it is given to a node. It is then at most a
// quarter of a second late on an idle cluster, and never early. The limits of [WithQueueLimit] and [WithQueueBytes] do not count it before;
// if the stream is full then, it waits until there is room. [Within] counts from when it is due. If no node with
// places is there, it waits for one; if a node is lost in the moment at which it is due, it is up to 15 s late.
// A delay of more than 100 years is an error.
func Delay(d time.Duration) SubmitOption {
	return func(s *submission) error {
		s.delay, s.stored = d, "Delay"
		if d < 0 {
			return fmt.Errorf("cluster: Delay(%v): it is negative", d)
		}
		if d > maxDelay {
			return fmt.Errorf("cluster: Delay(%v): it is more than 100 years", d)
		}
		return nil
	}
}

// At keeps the task at the servers until their clocks show t, as [Delay] does. A time that is over means now.
func At(t time.Time) SubmitOption {
	return func(s *submission) error {
		s.at, s.stored = t, "At"
		if t.IsZero() {
			return errors.New("cluster: At with a zero time")
		}
		if time.Until(t) > maxDelay {
			return fmt.Errorf("cluster: At(%v): it is more than 100 years ahead", t)
		}
		return nil
	}
}

// due returns when a task is due by the servers' clocks, and false if that is now. What is not known of these makes it later,
// and never earlier.
func (n *Node) due(s submission) (time.Time, bool) {
	now := n.now()
	if s.delay > 0 {
		return n.clock.most(now).Add(s.delay), true
	}
	return s.at, s.at.After(n.clock.least(now))
}

// setUpLater makes the stream that keeps tasks until they are due. A stream that rejects when it is full cannot do
// that itself, and one that takes them over from another by itself stalls for seconds when it is full, and leaves them
// in both; so nodes move them, as moveDue does.
func (n *Node) setUpLater(ctx context.Context) error {
	if _, err := n.stream(ctx, jetstream.StreamConfig{
		Name: n.later(), Subjects: []string{n.laterOf(anyToken), n.cronOf("*"), n.dueOf(">")}, Retention: jetstream.WorkQueuePolicy,
		Replicas: n.replicas, Duplicates: dedupWindow, AllowMsgSchedules: true, AllowRollup: true,
		Description: "delayed tasks and cron jobs of the filch cluster " + n.cluster,
	}); err != nil {
		return err
	}
	var err error
	n.laterStream, err = n.js.Stream(ctx, n.later())
	return err
}

// storeLater stores the message of a task until it is due. A task of the same ID that is stored already stays.
func (n *Node) storeLater(ctx context.Context, id token, m *nats.Msg, at time.Time) (receipt, error) {
	m.Header[headerSchedule] = []string{"@at " + at.UTC().Format(time.RFC3339Nano)}
	m.Header[headerScheduleTarget] = []string{n.dueOf(m.Subject)}
	m.Header[nats.ExpectedLastSubjSeqHdr] = []string{"0"}
	m.Subject = n.laterOf(id)
	r, err := n.publish(ctx, m)
	if isConflict(err) {
		r.before, err = true, nil
	}
	return r, err
}

// dropLater removes a canceled task that is not due yet, if there is one of that ID. What follows from its end comes
// first: if the process dies in between, the task is found to be canceled when it is due, and that is done again.
func (n *Node) dropLater(ctx context.Context, id token, o outcome) error {
	m, err := n.laterStream.GetLastMsgForSubject(ctx, n.laterOf(id))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := n.endedStored(m.Header, m.Data, o); err != nil {
		return err
	}
	return n.laterStream.Purge(ctx, jetstream.WithPurgeSubject(n.laterOf(id)))
}

// isConflict reports whether err says that something was changed by others meanwhile.
func isConflict(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
