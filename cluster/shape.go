package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// shape is which lanes a handler has. All nodes must agree on it: it is among the metadata of the consumer of
// its normal level, where nodes without the handler read it.
type shape struct {
	partitions int
	limited    bool
	stealAbove int
}

// Metadata of consumers.
const (
	metaPartitions = "filch-partitions"
	metaLimited    = "filch-limited"
	metaStealAbove = "filch-steal-above"
)

func (h *handler) shape() shape {
	return shape{partitions: h.partitions, limited: h.limit > 0, stealAbove: h.stealAbove}
}

func (s shape) metadata() map[string]string {
	return map[string]string{
		metaPartitions: strconv.Itoa(s.partitions),
		metaLimited:    strconv.FormatBool(s.limited),
		metaStealAbove: strconv.Itoa(s.stealAbove),
	}
}

// shapeOfConsumer reads what metadata has written. What is missing is zero.
func shapeOfConsumer(m map[string]string) (s shape) {
	s.partitions, _ = strconv.Atoi(m[metaPartitions])
	s.limited, _ = strconv.ParseBool(m[metaLimited])
	s.stealAbove, _ = strconv.Atoi(m[metaStealAbove])
	return s
}

// handler returns the node's handler of a name and version, or nil.
func (n *Node) handler(name string) *handler {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.handlers[name]
}

// knownFor is how long a node knows the shape of a handler that is not its own. Afterwards the handler may have been removed, and
// come back with another shape.
const knownFor = time.Minute

// known is the shape of a handler of other nodes.
type known struct {
	shape
	until time.Time // by the node's clock
}

// shapeOf returns the shape of a handler of this node, or of another, which the servers are asked for once a minute.
func (n *Node) shapeOf(ctx context.Context, name string) (shape, error) {
	if h := n.handler(name); h != nil {
		return h.shape(), nil
	}
	n.mu.RLock()
	have, ok := n.known[name]
	n.mu.RUnlock()
	if ok && n.now().Before(have.until) {
		return have.shape, nil
	}
	var c jetstream.Consumer
	first := consumer(name, laneOfLevel(Normal))
	err := n.ask(ctx, func(ctx context.Context) (err error) {
		c, err = n.js.Consumer(ctx, n.work(), first)
		return err
	}, "$JS.API.CONSUMER.INFO."+n.work()+"."+first)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return shape{}, fmt.Errorf("%w: %s", ErrUnknownHandler, name)
	}
	if err != nil {
		return shape{}, fmt.Errorf("cluster: the servers do not say whether there is a handler %s: %w", name, err)
	}
	s := shapeOfConsumer(c.CachedInfo().Config.Metadata)
	n.mu.Lock()
	n.known[name] = known{s, n.now().Add(knownFor)}
	n.mu.Unlock()
	return s, nil
}

// ensure makes or updates the consumer of the lane. It returns an error if another node's handler has another shape.
func (l *lane) ensure(ctx context.Context) error {
	n := l.node
	config := l.consumerConfig()
	have, err := n.js.Consumer(ctx, n.work(), config.Durable)
	switch {
	case err == nil:
		is := have.CachedInfo().Config
		if shape := shapeOfConsumer(is.Metadata); shape != l.handler.shape() {
			return fmt.Errorf("cluster: the handler %s has other options (WithKeys, WithLimit, WithStealAbove) than on other nodes: %+v here, %+v there; give it another version, or end its nodes and remove it", l.handler.name, l.handler.shape(), shape)
		}
		if is.AckWait == config.AckWait && is.MaxAckPending == config.MaxAckPending {
			return nil
		}
		config.PauseUntil = is.PauseUntil // an update without would resume it
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return err
	}
	if _, err := n.js.CreateOrUpdateConsumer(ctx, n.work(), config); err != nil || l.name == laneOfLevel(Normal) {
		return err
	}
	return n.followPause(ctx, l.handler.name, l.name)
}
