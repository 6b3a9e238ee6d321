package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
)

// telling are the outcomes that other nodes are to be told of. One message has all for a node that have come together
// while the last one was sent: a message for each costs the servers and both nodes a seventh of what a task costs.
type telling struct {
	mu   sync.Mutex
	to   map[string][]byte // messages that are not sent, by node
	some chan struct{}     // of capacity 1: there are some
}

func (t *telling) init() {
	t.to, t.some = map[string][]byte{}, make(chan struct{}, 1)
}

// toldTogether is after how many bytes a message gets no more outcomes.
const toldTogether = 64 << 10

// tellOutcome tells the node that waits for it. That is not confirmed: a node that does not hear it looks itself.
// data are the bytes of the outcome, or nil.
func (n *Node) tellOutcome(from string, id token, o outcome, data []byte) {
	if from == n.node {
		n.waiting.resolve(id, o, nil)
		return
	}
	if data == nil {
		data = o.bytes()
	}
	t := &n.telling
	t.mu.Lock()
	m := t.to[from]
	if len(m) > 0 && len(m)+len(data) > min(toldTogether, n.largest()) {
		n.sendOutcomes(from, m)
		m = nil
	}
	t.to[from] = appendTold(m, string(id), data)
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
	t.to = map[string][]byte{}
	t.mu.Unlock()
	for from, m := range all {
		n.sendOutcomes(from, m)
	}
}

func (n *Node) sendOutcomes(to string, m []byte) {
	_ = n.nc.Publish(n.doneOf(to), m)
}

// hearOutcomes hears what other nodes tell.
func (n *Node) hearOutcomes(ctx context.Context) error {
	err := n.hear(n.doneOf(n.node), func(m *nats.Msg) {
		for rest := m.Data; len(rest) > 0; {
			var id, data []byte
			var err error
			if id, data, rest, err = cutTold(rest); err != nil {
				return
			}
			t, unknown := parseToken("ID", string(id))
			if o, err := parseOutcome(data); err == nil && unknown == nil {
				n.waiting.resolve(t, o, nil)
			}
		}
	})
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

// appendTold appends an outcome to a message: the ID and the bytes, each behind its length.
func appendTold(m []byte, id string, data []byte) []byte {
	m = append(binary.AppendUvarint(m, uint64(len(id))), id...)
	return append(binary.AppendUvarint(m, uint64(len(data))), data...)
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
