package cluster

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
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
	headerProof     = "Filch-Proof"      // with the key: who knows it may give the key back
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

// maxUnique is for how long a unique key can be taken. What the servers count in nanoseconds overflows later.
const maxUnique = 100 * 365 * 24 * time.Hour

// Unique lets there be one task of a key in the cluster, whatever its handler: from Submit on until it has
// ended, or until d is over, by the servers' clocks and rounded up to a second. Meanwhile, Submit with the same key
// returns a [*NotUniqueError]; a time of a cron job is left out, and [Node.Requeue] refuses a dead letter. A task that was canceled
// has ended when its handler has returned, or when a node finds that it need not run. A key is a text as that of [ID]. d is a second at
// least, and 100 years at most. With the permissions of a [Submitter], a node with places has to be up, which takes the key.
//
// Submit of the same [ID] takes the key anew, for d from then on. Submit that is refused leaves no key. A process that dies
// within Submit may leave one without a task, until d is over. So may Submit of a task with [NoResult] and [Delay], [At] or
// [After], if one of the same ID was in the queue in the two minutes before: it is not run again.
func Unique(key string, d time.Duration) SubmitOption {
	return func(s *submission) error {
		s.uniqueFor, s.stored = d, "Unique"
		if d < time.Second {
			return fmt.Errorf("cluster: Unique for %v: it is at least a second", d)
		}
		if d > maxUnique {
			return fmt.Errorf("cluster: Unique for %v: it is more than 100 years", d)
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

// claimed is a unique key that a task has. The zero value is that of a task without.
type claimed struct {
	key      token
	revision uint64
	created  bool   // by this call: before it, the task had no key
	proof    string // of the one that another node has taken the key for
}

// claim takes a unique key for a task, which may have it already. Then it is taken anew: so another call for the same task, which
// has created the key and finds that the task need not be stored, does not give it back. Who knows the proof, if there is one, may give the key
// back; in the name of a task that has the key by itself, nobody may, nor shorten its time.
func (n *Node) claim(ctx context.Context, key token, d time.Duration, id token, proof string) (claimed, error) {
	d = (min(d, maxUnique) + time.Second - 1).Truncate(time.Second)
	for created, expected := true, uint64(0); ; {
		m := createMsg(keyOf(n.names.unique(), string(key)), []byte(id))
		m.Header[jetstream.ExpectedLastSubjSeqHeader] = []string{strconv.FormatUint(expected, 10)}
		m.Header[jetstream.MsgTTLHeader] = []string{d.String()}
		m.Header[headerProof] = []string{proof}
		ack, err := n.js.PublishMsg(ctx, m)
		if err == nil {
			return claimed{key, ack.Sequence, created, proof}, nil
		}
		if !isConflict(err) {
			return claimed{}, err
		}
		var have *nats.Msg
		have, expected, err = n.last(ctx, n.unique, string(key))
		created = true
		switch {
		case err == nil && string(written(have)) == string(id):
			created = false
			if proof != "" && header(have.Header, headerProof) != proof {
				proof, d = "", max(d, n.leftOf(have))
			}
		case err == nil:
			expected, err = 0, n.unclaimEnded(ctx, key, written(have))
		}
		if err != nil && !isNotFound(err) && !isConflict(err) {
			return claimed{}, err
		}
		if err := again(ctx); err != nil { // what was read may be older
			return claimed{}, err
		}
	}
}

// leftOf returns for how long the servers still keep a key.
func (n *Node) leftOf(m *nats.Msg) time.Duration {
	d, _ := time.ParseDuration(header(m.Header, jetstream.MsgTTLHeader))
	stored, err := time.Parse(time.RFC3339Nano, lastHeader(m, jetstream.TimeStampHeaer))
	if err != nil {
		return 0
	}
	return (stored.Add(d).Sub(n.clock.at(n.now())) + time.Second).Truncate(time.Second)
}

// unclaimEnded gives a unique key back whose task has ended, which its Future may know before its node gives it back. Else the error is a
// NotUniqueError. Cancel stores an outcome while the handler may still run: that keeps the key until its node gives it back.
func (n *Node) unclaimEnded(ctx context.Context, key token, holder []byte) error {
	id, err := parseToken("ID", string(holder))
	if err != nil {
		return &NotUniqueError{Key: key.text()}
	}
	o, err := n.getOutcome(ctx, id)
	if isNotFound(err) || err == nil && o.Status == statusCanceled {
		return &NotUniqueError{Key: key.text(), ID: id.text()}
	}
	if err != nil {
		return err
	}
	return n.disclaim(ctx, key, id)
}

// unclaim gives a unique key back that was taken for a task that is not stored, unless the task had it before, or another call
// has taken it for the same task since.
func (n *Node) unclaim(c claimed) error {
	if c.key == "" || !c.created {
		return nil
	}
	ctx, cancel := n.asking()
	defer cancel()
	if c.proof != "" {
		if _, err := n.askForKey(ctx, claiming{Key: c.key, Proof: c.proof, Revision: c.revision}); !errors.Is(err, errNobody) {
			return err
		}
	}
	if err := n.freeKey(ctx, c.key, c.revision); !isConflict(err) {
		return err
	}
	return nil
}

// freeKey removes a unique key. The error is a conflict if it has another revision: its time was over, or it was taken anew.
// Purge of the bucket would leave a marker for a time. A server that is killed after that time, and started again, has what the
// marker had replaced.
func (n *Node) freeKey(ctx context.Context, key token, revision uint64) error {
	request := fmt.Appendf(nil, `{"filter":%q,"seq":%d}`, keyOf(n.names.unique(), string(key)), revision+1)
	subject := api("STREAM.PURGE." + streamOf(n.names.unique()))
	m, err := n.nc.RequestWithContext(ctx, subject, request)
	if err != nil {
		return n.explain(err, subject)
	}
	var answer struct {
		Error  *jetstream.APIError `json:"error"`
		Purged int                 `json:"purged"`
	}
	switch err := json.Unmarshal(m.Data, &answer); {
	case err != nil:
		return err
	case answer.Error != nil:
		return answer.Error
	case answer.Purged == 0:
		return &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence, Description: "the key has another revision"}
	}
	return nil
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
func (n *Node) claimFor(ctx context.Context, id token, m *nats.Msg) (c claimed, err error) {
	key, d, err := parseUnique(m.Header)
	if err != nil || key == "" {
		return claimed{}, err
	}
	if n.config.places == 0 {
		c, err = n.askForKey(ctx, claiming{Key: key, ID: id, For: d, Proof: cryptorand.Text()})
		if !errors.Is(err, errNobody) {
			return c, err
		}
	}
	nobody := err
	err = n.ask(ctx, func(ctx context.Context) (err error) {
		c, err = n.claim(ctx, key, d, id, "")
		return err
	}, keyOf(n.names.unique(), string(key)))
	if nobody != nil && errors.Is(err, nats.ErrPermissionViolation) {
		err = fmt.Errorf("%w, and this one may not take the unique key: %w", nobody, err)
	}
	return c, err
}

// disclaim gives the unique key of a task back that has ended, if it has it.
func (n *Node) disclaim(ctx context.Context, key, id token) error {
	if key == "" {
		return nil
	}
	for {
		value, revision, err := n.get(ctx, n.unique, string(key))
		if err == nil && string(value) != string(id) { // the one that had it before, or has it since
			value, revision, err = n.surely(ctx, n.unique, string(key))
		}
		if isNotFound(err) || err == nil && string(value) != string(id) {
			return nil
		}
		if err == nil {
			err = n.freeKey(ctx, key, revision)
		}
		if !isConflict(err) {
			return err
		}
		if err := again(ctx); err != nil {
			return err
		}
	}
}
