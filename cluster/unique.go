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
	ID  string // of that task; [Attach] returns its Future
}

func (e *NotUniqueError) Error() string {
	return fmt.Sprintf("cluster: task %s has the unique key %s", e.ID, e.Key)
}

// Is reports whether target is [ErrNotUnique].
func (e *NotUniqueError) Is(target error) bool { return target == ErrNotUnique }

// Unique lets there be one task of a key in the cluster, whatever its handler: from Submit on until it has
// ended, or until d is over, by the servers' clocks and rounded up to a second. Meanwhile, Submit with the same key
// returns a [*NotUniqueError]; a time of a cron job is left out. Unique implies [Durable].
//
// A process that dies within Submit may leave a key without a task, until d is over.
func Unique(key string, d time.Duration) SubmitOption {
	return func(s *submission) error {
		s.unique, s.uniqueFor, s.durable = key, d, true
		if d < time.Second {
			return fmt.Errorf("cluster: Unique for %v: it is at least a second", d)
		}
		return checkName("unique key", key)
	}
}

// setUnique writes what Unique has said into a message.
func (s submission) setUnique(m *nats.Msg) {
	if s.unique != "" {
		m.Header[headerUnique] = []string{s.unique}
		m.Header[headerUniqueFor] = []string{strconv.FormatInt(int64(s.uniqueFor), 10)}
	}
}

// claim takes a unique key for a task, which may have it already.
func (n *Node) claim(ctx context.Context, key string, d time.Duration, id string) error {
	d = (d + time.Second - 1).Truncate(time.Second)
	for {
		_, err := n.unique.Create(ctx, key, []byte(id), jetstream.KeyTTL(d))
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return err
		}
		entry, err := n.unique.Get(ctx, key)
		switch {
		case isNotFound(err):
		case err != nil:
			return err
		case string(entry.Value()) == id:
			return nil
		default:
			return &NotUniqueError{Key: key, ID: string(entry.Value())}
		}
	}
}

// claimFor takes the unique key of a message, if it has one, for its task.
func (n *Node) claimFor(ctx context.Context, m *nats.Msg) error {
	key := header(m.Header, headerUnique)
	if key == "" {
		return nil
	}
	d, err := strconv.ParseInt(header(m.Header, headerUniqueFor), 10, 64)
	if err != nil {
		return errors.New("the message has a unique key without a time")
	}
	return n.claim(ctx, key, time.Duration(d), header(m.Header, headerID))
}

// disclaim gives a unique key back, if a task has it.
func (n *Node) disclaim(key, id string) error {
	if key == "" {
		return nil
	}
	ctx, cancel := n.asking()
	defer cancel()
	entry, err := n.unique.Get(ctx, key)
	if isNotFound(err) || err == nil && string(entry.Value()) != id {
		return nil
	}
	if err != nil {
		return err
	}
	err = n.unique.Purge(ctx, key, jetstream.LastRevision(entry.Revision()), jetstream.PurgeTTL(markerTTL))
	if isConflict(err) || isNotFound(err) {
		return nil // its time was over
	}
	return err
}
