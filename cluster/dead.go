package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// Headers that a dead letter has besides those of its task.
const (
	headerReason   = "Filch-Reason"
	headerAttempts = "Filch-Attempts"
	headerSubject  = "Filch-Subject" // where its task was
	headerNode     = "Filch-Node"
	headerWas      = "Filch-Was" // the ID in a message that could not be read
)

// putDead stores the message of a task as a dead letter. Done twice, it is stored once.
func (n *Node) putDead(handler string, m *nats.Msg, id, reason string, attempts int) error {
	letter := &nats.Msg{Subject: n.deadOf(handler, id), Header: nats.Header{}, Data: m.Data}
	for key, values := range m.Header {
		// Others could be orders to the server, or cannot be written.
		if rest, ours := strings.CutPrefix(key, headerPrefix); ours && len(values) == 1 && checkName("header", rest) == nil {
			letter.Header[key] = []string{oneLine(values[0])}
		}
	}
	n.addReason(letter.Header, m, id, reason, attempts)
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	_, err := n.js.PublishMsg(ctx, letter)
	if errors.Is(err, nats.ErrMaxPayload) { // no node has submitted it: Submit leaves room for the headers
		letter.Header, letter.Data = nats.Header{}, nil
		n.addReason(letter.Header, m, id, fmt.Sprintf("%s (its %d bytes are too many to be kept)", reason, m.Size()), attempts)
		_, err = n.js.PublishMsg(ctx, letter)
	}
	return n.explain(err, letter.Subject)
}

// addReason adds the headers that a dead letter has besides those of its task.
func (n *Node) addReason(h nats.Header, m *nats.Msg, id, reason string, attempts int) {
	if was := header(m.Header, headerID); was != id && was != "" && checkName("ID", was) == nil {
		h[headerWas] = []string{was}
	}
	h[headerID] = []string{id}
	h[headerReason] = []string{oneLine(short(reason))}
	h[headerAttempts] = []string{strconv.Itoa(attempts)}
	h[headerSubject] = []string{m.Subject}
	h[headerNode] = []string{n.node}
	if meta, err := m.Metadata(); err == nil {
		h[nats.MsgIdHdr] = []string{fmt.Sprintf("%s-%d", id, meta.Sequence.Stream)}
	} else {
		h[nats.MsgIdHdr] = []string{id + "-never-run"}
	}
}

// oneLine replaces what a header cannot contain.
func oneLine(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c == '\r' || c == '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

// refuse makes a message that cannot be read a dead letter, and tells the submitter, if the message says who it is.
func (n *Node) refuse(l *lane, m *nats.Msg, why error) {
	n.counts.refused.Add(1)
	id := "unreadable"
	if meta, err := m.Metadata(); err == nil {
		id = fmt.Sprintf("unreadable-%d", meta.Sequence.Stream)
	}
	if err := n.putDead(l.handler.name, m, id, "unreadable: "+why.Error(), 0); err != nil {
		n.log.Error("filch cluster: cannot store a dead letter", "node", n.node, "error", err)
		return
	}
	task, from := header(m.Header, headerID), header(m.Header, headerFrom)
	if checkName("ID", task) == nil && checkName("submitting node", from) == nil {
		o, err := n.putOutcome(task, outcome{Status: statusFailed, Error: short(why.Error()), Node: n.node, Handler: l.handler.name})
		if err != nil {
			n.log.Error("filch cluster: cannot store an outcome", "node", n.node, "task", task, "error", err)
			return
		}
		defer n.tellOutcome(from, task, o, nil)
	}
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	_ = m.AckSync(nats.Context(ctx))
}
