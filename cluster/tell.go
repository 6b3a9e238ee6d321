package cluster

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
)

// asker is a node that waits for outcomes. It believes who knows its secret, which travels with its tasks: anybody who may ask the
// servers anything has them answer wherever he likes, also where nodes hear of outcomes.
type asker struct{ node, secret string }

// telling are the outcomes that other nodes are to be told of. One message has all for a node that have come together
// while the last one was sent: a message for each costs the servers and both nodes a seventh of what a task costs.
type telling struct {
	mu   sync.Mutex
	to   map[asker][]byte // messages that are not sent
	some chan struct{}    // of capacity 1: there are some
}

func (t *telling) init() {
	t.to, t.some = map[asker][]byte{}, make(chan struct{}, 1)
}

// toldTogether is after how many bytes a message gets no more outcomes.
const toldTogether = 64 << 10

// tellOutcome tells the node that waits for it. That is not confirmed: a node that does not hear it looks itself. So does one that has
// sent no secret, since it is of the version before. data are the bytes of the outcome, or nil.
func (n *Node) tellOutcome(to asker, id token, o outcome, data []byte) {
	if to == (asker{n.node, n.secret}) {
		n.waiting.resolve(id, o, nil)
		return
	}
	if to.secret == "" {
		return
	}
	if data == nil {
		data = o.bytes()
	}
	t := &n.telling
	t.mu.Lock()
	m := t.to[to]
	if len(m) > 0 && len(m)+len(data) > min(toldTogether, n.largest()) {
		n.sendOutcomes(to, m)
		m = nil
	}
	if m == nil {
		m = appendPart(nil, []byte(to.secret))
	}
	t.to[to] = appendTold(m, string(id), data)
	t.mu.Unlock()
	select {
	case t.some <- struct{}{}:
	default:
	}
}

// tell sends what is to be told, until the node is closed.
func (n *Node) tell() {
	for {
		select {
		case <-n.telling.some:
			n.tellAll()
		case <-n.ctx.Done():
			n.tellAll()
			return
		}
	}
}

func (n *Node) tellAll() {
	t := &n.telling
	t.mu.Lock()
	all := t.to
	t.to = map[asker][]byte{}
	t.mu.Unlock()
	for to, m := range all {
		n.sendOutcomes(to, m)
	}
}

func (n *Node) sendOutcomes(to asker, m []byte) {
	_ = n.nc.Publish(n.doneOf(to.node), m)
}

// hearOutcomes hears what other nodes tell.
func (n *Node) hearOutcomes(ctx context.Context) error {
	err := n.hear(n.doneOf(n.node), func(m *nats.Msg) { n.heard(m.Data) })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, serverWait)
	defer cancel()
	if err := n.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	return n.denied(n.doneOf(n.node)) // else the node would not know of outcomes until it looks itself
}

// heard ends the Futures of which a message tells the outcomes, if the one that has sent it knows the secret of the node.
func (n *Node) heard(m []byte) {
	secret, m, err := cutPart(m)
	if err != nil || subtle.ConstantTimeCompare(secret, []byte(n.secret)) == 0 {
		return
	}
	for len(m) > 0 {
		var id, data []byte
		if id, data, m, err = cutTold(m); err != nil {
			return
		}
		t, unknown := parseToken("ID", string(id))
		if o, err := parseOutcome(data); err == nil && unknown == nil {
			n.waiting.resolve(t, o, nil)
		}
	}
}

// appendTold appends an outcome to a message: the ID and the bytes. The first part of a message is a secret.
func appendTold(m []byte, id string, data []byte) []byte {
	return appendPart(appendPart(m, []byte(id)), data)
}

// appendPart appends a part to a message, behind its length.
func appendPart(m, part []byte) []byte {
	return append(binary.AppendUvarint(m, uint64(len(part))), part...)
}

var errCut = errors.New("cluster: a message that ends too early")

// cutTold cuts the first outcome from a message.
func cutTold(m []byte) (id, data, rest []byte, err error) {
	if id, m, err = cutPart(m); err != nil {
		return nil, nil, nil, err
	}
	data, rest, err = cutPart(m)
	return id, data, rest, err
}

func cutPart(m []byte) (part, rest []byte, err error) {
	size, n := binary.Uvarint(m)
	if n <= 0 || size > uint64(len(m)-n) {
		return nil, nil, errCut
	}
	end := n + int(size)
	return m[n:end:end], m[end:], nil
}
