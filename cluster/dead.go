package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

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

// letter is a dead letter that is to be stored.
type letter struct {
	handler  string
	id       token
	msg      *nats.Msg // of its task
	reason   string
	attempts int
	counts   *atomic.Int64 // where it counts once it is stored
}

// putDead stores a dead letter, and counts it, unless the servers have it. Done twice, it is stored once.
func (n *Node) putDead(ctx context.Context, l letter) error {
	m := &nats.Msg{Subject: n.deadOf(l.handler, l.id), Header: nats.Header{}, Data: l.msg.Data}
	for key, values := range l.msg.Header {
		// Others could be orders to the server, or cannot be written.
		if rest, ours := strings.CutPrefix(key, headerPrefix); ours && len(values) == 1 && checkName("header", rest) == nil {
			m.Header[key] = []string{oneLine(values[0])}
		}
	}
	n.addReason(m.Header, l)
	ack, err := n.js.PublishMsg(ctx, m)
	if errors.Is(err, nats.ErrMaxPayload) { // no node has submitted it: Submit leaves room for the headers
		l.reason = fmt.Sprintf("%s (its %d bytes are too many to be kept)", l.reason, l.msg.Size())
		m.Header, m.Data = nats.Header{}, nil
		n.addReason(m.Header, l)
		ack, err = n.js.PublishMsg(ctx, m)
	}
	if err == nil && !ack.Duplicate {
		l.counts.Add(1)
	}
	return n.explain(err, m.Subject)
}

// addReason adds the headers that a dead letter has besides those of its task.
func (n *Node) addReason(h nats.Header, l letter) {
	if was, err := parseToken("ID", header(l.msg.Header, headerID)); err == nil && was != l.id {
		h[headerWas] = []string{string(was)}
	}
	h[headerID] = []string{string(l.id)}
	h[headerReason] = []string{oneLine(short(l.reason))}
	h[headerAttempts] = []string{strconv.Itoa(l.attempts)}
	h[headerSubject] = []string{l.msg.Subject}
	h[headerNode] = []string{n.node}
	if meta, err := l.msg.Metadata(); err == nil {
		h[nats.MsgIdHdr] = []string{fmt.Sprintf("%s-%d", string(l.id), meta.Sequence.Stream)}
	} else {
		h[nats.MsgIdHdr] = []string{string(l.id) + "-never-run"}
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

// putUnreadable makes a message that is no task a dead letter. of tells its stream from others. It returns false if the letter is not
// stored: then the message comes again.
func (n *Node) putUnreadable(handler, of string, m *nats.Msg, why error) bool {
	id := encode("unreadable")
	if meta, err := m.Metadata(); err == nil {
		id = encode(fmt.Sprintf("unreadable-%s%d", of, meta.Sequence.Stream))
	}
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	err := n.putDead(ctx, letter{handler: handler, id: id, msg: m, reason: "unreadable: " + why.Error(), counts: &n.counts.refused})
	if err != nil {
		n.log.Error("filch cluster: cannot store a dead letter; its message will be given to a node again", "node", n.node, "error", err)
	}
	return err == nil
}

// refuse makes a message that cannot be read a dead letter, and ends its task as failed, as far as the message says which it is: its
// submitter is told, and its batch and those that wait for it do not wait for ever.
func (n *Node) refuse(l *lane, m *nats.Msg, why error) {
	if !n.putUnreadable(l.handler.name, "", m, why) {
		return
	}
	t := &task{}
	var err error
	if t.id, err = parseToken("ID", header(m.Header, headerID)); err != nil {
		_ = n.acknowledge(t.id, m)
		return
	}
	if from := header(m.Header, headerFrom); checkName("submitting node", from) == nil {
		t.from, t.secret = from, header(m.Header, headerSecret)
	}
	t.unique, _ = parseToken("unique key", header(m.Header, headerUnique)) // none is "", and so is one that cannot be read
	t.batch, t.number, _ = parseBatch(header(m.Header, headerBatch))
	o := outcome{Status: statusFailed, Error: short(why.Error()), Node: n.node, Handler: l.handler.name}
	n.unended(t.id, n.conclude(t, o, func() error { return n.acknowledge(t.id, m) }))
}
