package cluster

import (
	"context"
	"fmt"
	"maps"
	"strconv"

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
	h := maps.Clone(m.Header)
	if h == nil {
		h = nats.Header{}
	}
	for _, key := range []string{nats.ExpectedStreamHdr, nats.ExpectedLastSeqHdr, nats.ExpectedLastSubjSeqHdr, nats.ExpectedLastMsgIdHdr, nats.MsgIdHdr} {
		delete(h, key)
	}
	if was := header(h, headerID); was != id && was != "" {
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
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	_, err := n.js.PublishMsg(ctx, &nats.Msg{Subject: n.deadOf(handler, id), Header: h, Data: m.Data})
	return err
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

// refuse makes a message that cannot be read a dead letter.
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
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	_ = m.AckSync(nats.Context(ctx))
}
