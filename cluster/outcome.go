package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How a task has ended.
const (
	statusDone     = "done"
	statusFailed   = "failed" // and is in the dead letters
	statusCanceled = "canceled"
	statusDeadline = "deadline"
)

// outcome is how a task has ended. It is stored as a line of JSON and the bytes of the result.
type outcome struct {
	Status   string `json:"status"`
	Error    string `json:"error,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Node     string `json:"node,omitempty"`
	Handler  string `json:"handler,omitempty"`
	Codec    string `json:"codec,omitempty"`
	data     []byte
}

// bytes returns o as it is stored.
func (o outcome) bytes() []byte {
	line, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return append(append(line, '\n'), o.data...)
}

// parseOutcome reads what bytes has written.
func parseOutcome(data []byte) (outcome, error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	var o outcome
	if err := json.Unmarshal(line, &o); err != nil {
		return o, fmt.Errorf("cluster: an outcome that cannot be read: %w", err)
	}
	switch o.Status {
	case statusDone, statusFailed, statusCanceled, statusDeadline:
	default:
		return o, fmt.Errorf("cluster: an outcome with the status %q", o.Status)
	}
	o.data = rest
	return o, nil
}

// err returns the error that Wait returns, or nil if there is a result.
func (o outcome) err(id token) error {
	name, _ := cutVersion(o.Handler)
	switch o.Status {
	case statusFailed:
		return &TaskError{ID: id.text(), Handler: name, Attempts: o.Attempts, Message: o.Error}
	case statusCanceled:
		return ErrCanceled
	case statusDeadline:
		return ErrDeadline
	}
	return nil
}

// serverWait is how long a node waits for an answer of the servers before it goes on without.
const serverWait = 10 * time.Second

// isNotFound reports whether err says that there is nothing of that name.
func isNotFound(err error) bool { return errors.Is(err, jetstream.ErrKeyNotFound) }

// getOutcome returns the outcome of a task. One that cannot be read counts as a failure: the task is not run again.
func (n *Node) getOutcome(ctx context.Context, id token) (outcome, error) {
	data, _, err := n.read(ctx, n.results, string(id))
	if err != nil {
		return outcome{}, err
	}
	return readOutcome(data), nil
}

func readOutcome(data []byte) outcome {
	o, err := parseOutcome(data)
	if err != nil {
		o = outcome{Status: statusFailed, Error: err.Error()}
	}
	return o
}

// sureOutcome is getOutcome for a node that ends a task by what it reads. An outcome other than done may have been removed, and
// its task put back from the dead letters, though the server that answers does not know yet.
func (n *Node) sureOutcome(ctx context.Context, id token) (outcome, error) {
	o, err := n.getOutcome(ctx, id)
	if err != nil || o.Status == statusDone {
		return o, err
	}
	data, _, err := n.surely(ctx, n.results, string(id))
	if err != nil {
		return outcome{}, err
	}
	return readOutcome(data), nil
}

// putOutcome stores the outcome of a task, unless it has one, and returns the one that it has.
func (n *Node) putOutcome(id token, o outcome) (have outcome, err error) {
	data := o.bytes()
	err = n.insist("an outcome", id, func(ctx context.Context) error {
		have, err = n.tryOutcome(ctx, id, o, data)
		return n.explain(err, keyOf(n.names.results(), string(id)))
	})
	return have, err
}

// tryOutcome is putOutcome once.
func (n *Node) tryOutcome(ctx context.Context, id token, o outcome, data []byte) (outcome, error) {
	for {
		_, err := n.results.Create(ctx, string(id), data)
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return o, err
		}
		have, err := n.sureOutcome(ctx, id)
		if isNotFound(err) && again(ctx) == nil {
			continue // it was removed, which the server that Create has asked does not know yet
		}
		if err != nil {
			return o, err
		}
		if o.Status == statusDone && !o.is(have) {
			n.counts.duplicates.Add(1)
		}
		return have, nil
	}
}

// is reports whether an outcome that is stored is o, and not that of another node or of another attempt. The answer that it is stored may
// have been lost.
func (o outcome) is(have outcome) bool {
	return o.Status == have.Status && o.Node == have.Node && o.Attempts == have.Attempts
}

// outcomeMsg is what asks the servers to store an outcome, unless the task has one, as Create of the bucket does.
func (n *Node) outcomeMsg(id token, data []byte) *nats.Msg {
	return createMsg(keyOf(n.names.results(), string(id)), data)
}

// isStored reports whether answer says that a message was stored. An answer with an error begins with the error.
func isStored(answer []byte) bool { return bytes.HasPrefix(answer, []byte(`{"stream":`)) }

// shortError is how much of an error's text is kept, in bytes.
const shortError = 4096

// short cuts a text.
func short(text string) string {
	if len(text) <= shortError {
		return text
	}
	text = text[:shortError]
	for range utf8.UTFMax - 1 { // of a rune that is cut
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text + "..."
}
