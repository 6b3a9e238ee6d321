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
func (n *Node) putDead(handler string, m *nats.Msg, id token, reason string, attempts int) error {
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
func (n *Node) addReason(h nats.Header, m *nats.Msg, id token, reason string, attempts int) {
	if was, err := parseToken("ID", header(m.Header, headerID)); err == nil && was != id {
		h[headerWas] = []string{string(was)}
	}
	h[headerID] = []string{string(id)}
	h[headerReason] = []string{oneLine(short(reason))}
	h[headerAttempts] = []string{strconv.Itoa(attempts)}
	h[headerSubject] = []string{m.Subject}
	h[headerNode] = []string{n.node}
	if meta, err := m.Metadata(); err == nil {
		h[nats.MsgIdHdr] = []string{fmt.Sprintf("%s-%d", string(id), meta.Sequence.Stream)}
	} else {
		h[nats.MsgIdHdr] = []string{string(id) + "-never-run"}
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

// refuse makes a message that cannot be read a dead letter, and ends its task, as far as the message says which it is.
func (n *Node) refuse(l *lane, m *nats.Msg, why error) {
	n.counts.refused.Add(1)
	id := encode("unreadable")
	if meta, err := m.Metadata(); err == nil {
		id = encode(fmt.Sprintf("unreadable-%d", meta.Sequence.Stream))
	}
	if err := n.putDead(l.handler.name, m, id, "unreadable: "+why.Error(), 0); err != nil {
		n.log.Error("filch cluster: cannot store a dead letter", "node", n.node, "error", err)
		return
	}
	if err := n.failRefused(l.handler.name, m.Header, why); err != nil {
		n.log.Error("filch cluster: cannot say that a message was refused; it will be given to a node again", "node", n.node, "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	_ = m.AckSync(nats.Context(ctx))
}

// failRefused ends the task of a message that cannot be read: its submitter is told, and its batch and those that wait for it do
// not wait for ever.
func (n *Node) failRefused(handler string, h nats.Header, why error) error {
	id, err := parseToken("ID", header(h, headerID))
	if err != nil {
		return nil
	}
	t := &task{id: id, from: header(h, headerFrom)}
	t.unique, _ = parseToken("unique key", header(h, headerUnique)) // none is "", and so is one that cannot be read
	t.batch, t.number, _ = parseBatch(header(h, headerBatch))
	o := outcome{Status: statusFailed, Error: short(why.Error()), Node: n.node, Handler: handler}
	told := checkName("submitting node", t.from) == nil
	if told {
		if o, err = n.putOutcome(t.id, o); err != nil {
			return err
		}
	}
	err = n.ended(t, o)
	if err == nil && told {
		n.tellOutcome(t.from, t.id, o, nil)
	}
	return err
}
