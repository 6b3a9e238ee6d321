package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	headerUnique    = "Filch-Unique"     // the key of a unique task
	headerUniqueFor = "Filch-Unique-For" // for how long at most, in ns
)

// markerTTL is how long the servers remember that a key was removed.
const markerTTL = time.Minute

// ErrNotUnique is what a [*NotUniqueError] is.
var ErrNotUnique = errors.New("cluster: there is a task of that unique key")

// NotUniqueError is returned by Submit if there is a task of the key of [Unique] already.
type NotUniqueError struct {
	Key string
	ID  string // of that task; [Attach] returns its Future. "" if the servers have something else there
}

func (e *NotUniqueError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("cluster: a task has the unique key %s", e.Key)
	}
	return fmt.Sprintf("cluster: task %s has the unique key %s", e.ID, e.Key)
}

// Is reports whether target is [ErrNotUnique].
func (e *NotUniqueError) Is(target error) bool { return target == ErrNotUnique }

// Unique lets there be one task of a key in the cluster, whatever its handler: from Submit on until it has
// ended, or until d is over, by the servers' clocks and rounded up to a second. Meanwhile, Submit with the same key
// returns a [*NotUniqueError]; a time of a cron job is left out. A key is a text as that of [ID]. Unique implies
// [Durable].
//
// A process that dies within Submit may leave a key without a task, until d is over.
func Unique(key string, d time.Duration) SubmitOption {
	return func(s *submission) error {
		s.uniqueFor, s.durable = d, true
		if d < time.Second {
			return fmt.Errorf("cluster: Unique for %v: it is at least a second", d)
		}
		var err error
		s.unique, err = newToken("unique key", key)
		return err
	}
}

// setUnique writes what Unique has said into a message.
func (s submission) setUnique(m *nats.Msg) {
	if s.unique != "" {
		m.Header[headerUnique] = []string{string(s.unique)}
		m.Header[headerUniqueFor] = []string{strconv.FormatInt(int64(s.uniqueFor), 10)}
	}
}

// claim takes a unique key for a task, which may have it already.
func (n *Node) claim(ctx context.Context, key token, d time.Duration, id token) error {
	d = (d + time.Second - 1).Truncate(time.Second)
	for {
		_, err := n.unique.Create(ctx, string(key), []byte(id), jetstream.KeyTTL(d))
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return err
		}
		entry, err := n.unique.Get(ctx, string(key))
		switch {
		case isNotFound(err):
			continue
		case err != nil:
			return err
		case string(entry.Value()) == string(id):
			return nil
		}
		other, err := parseToken("ID", string(entry.Value()))
		if err != nil {
			return &NotUniqueError{Key: key.text()}
		}
		switch _, err := n.getOutcome(ctx, other); {
		case isNotFound(err):
			return &NotUniqueError{Key: key.text(), ID: other.text()}
		case err != nil:
			return err
		}
		// It has ended, which its Future may know before its node gives the key back.
		if err := n.disclaim(key, other); err != nil {
			return err
		}
	}
}

// parseUnique reads the unique key of a message, which is "" if it has none, and for how long.
func parseUnique(h nats.Header) (key token, d time.Duration, err error) {
	stored := header(h, headerUnique)
	if stored == "" {
		return "", 0, nil
	}
	if key, err = parseToken("unique key", stored); err != nil {
		return "", 0, err
	}
	ns, err := strconv.ParseInt(header(h, headerUniqueFor), 10, 64)
	if err != nil || ns <= 0 {
		return "", 0, errors.New("the message has a unique key without a time")
	}
	return key, time.Duration(ns), nil
}

// claimFor takes the unique key of the message of a task, if it has one.
func (n *Node) claimFor(ctx context.Context, id token, m *nats.Msg) error {
	key, d, err := parseUnique(m.Header)
	if err != nil || key == "" {
		return err
	}
	return n.claim(ctx, key, d, id)
}

// disclaim gives a unique key back, if a task has it.
func (n *Node) disclaim(key, id token) error {
	if key == "" {
		return nil
	}
	ctx, cancel := n.asking()
	defer cancel()
	value, revision, err := n.get(ctx, n.unique, string(key))
	if err == nil && string(value) != string(id) { // the one that had it before, or has it since
		value, revision, err = n.surely(ctx, n.unique, string(key))
	}
	if isNotFound(err) || err == nil && string(value) != string(id) {
		return nil
	}
	if err != nil {
		return err
	}
	err = n.unique.Purge(ctx, string(key), jetstream.LastRevision(revision), jetstream.PurgeTTL(markerTTL))
	if isConflict(err) || isNotFound(err) {
		return nil // its time was over
	}
	return err
}
