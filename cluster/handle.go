package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/place"
	"github.com/filch-go/filch/cluster/internal/pull"
)

// Levels of priority. Lower ones come first.
const (
	High   = 0
	Normal = 1
	Low    = 2
)

// Handler submits tasks to a handler of its types. [Handle] returns it.
type Handler[In, Out any] struct {
	n *Node
	h *handler
}

// handler is a handler of a node.
type handler struct {
	node  *Node
	name  string // with its version
	lanes []*lane
	handlerConfig
	// call decodes an argument, runs the function, and encodes its result.
	call func(ctx context.Context, in, out Codec, data []byte) ([]byte, error)
	// local is the function itself, a func(context.Context, In) (Out, error).
	local any
	// places are how many of its tasks run at once on this node, if it has a limit there.
	places place.Places
}

// handlerConfig is what the options of a handler come to.
type handlerConfig struct {
	version    string
	retry      Retry
	retries    bool // by WithRetry
	localFirst bool
	ackWait    time.Duration
	silence    time.Duration
	nodeLimit  int
	limit      int
	partitions int
	stealAbove int
}

// HandlerOption says how a handler is run. A value that makes no sense is a panic of [Handle].
type HandlerOption func(*handlerConfig) error

// WithVersion makes the handler one of a version of its name. Versions stand side by side: a task of [OfVersion] runs
// only on handlers of its version, and a task without a version only on handlers without.
func WithVersion(version string) HandlerOption {
	return func(c *handlerConfig) error {
		c.version = version
		return checkName("version of a handler", version)
	}
}

// WithRetry says how tasks that fail are tried again. See [DefaultRetry].
func WithRetry(r Retry) HandlerOption {
	return func(c *handlerConfig) error {
		c.retry, c.retries = r.filled(), true
		return c.retry.check()
	}
}

// WithLocalFirst submits tasks of the handler by [LocalFirst], but for those with an option that stores them, such as [Durable]
// and [ID]. It counts for what this node submits. It is a panic of [Handle] together with [WithRetry], [WithLimit] or
// [WithNodeLimit], which local tasks do not know.
func WithLocalFirst() HandlerOption {
	return func(c *handlerConfig) error { c.localFirst = true; return nil }
}

// WithAckWait says after what time without a sign of its node a task is given to another one. Nodes give a sign each third of it.
// The default is 30 s; at least a second. All nodes should have the same, since it is the server that counts: the last one counts.
func WithAckWait(d time.Duration) HandlerOption {
	return func(c *handlerConfig) error {
		c.ackWait = d
		if d < time.Second {
			return fmt.Errorf("cluster: WithAckWait(%v): it is at least a second", d)
		}
		return nil
	}
}

// WithSilence says how long a handler may go on without [Progress]. Then its context ends with [ErrSilent], its node
// gives no more signs, and the task goes to another node after the time of [WithAckWait]. The default is 15 minutes. A handler is
// not silent while it waits for a stored task by Wait of its Future, or for room in the stream by [Submit], with its context.
//
// A task that the node's pool does not begin for that long is given back, and does not lose an attempt. The node then fetches none
// until its pool goes on.
func WithSilence(d time.Duration) HandlerOption {
	return func(c *handlerConfig) error {
		c.silence = d
		if d <= 0 {
			return fmt.Errorf("cluster: WithSilence(%v)", d)
		}
		return nil
	}
}

// WithLimit says how many tasks of the handler run at once in the whole cluster. The servers count them. Tasks of such a handler
// have no priorities: [AtLevel] is an error of Submit. A task that has failed and waits for its next attempt counts, and so does
// one whose node is lost, until [WithAckWait] is over. A handler that waits for tasks of its own keeps its share of the limit
// meanwhile, and can wait for ever.
func WithLimit(n int) HandlerOption {
	return func(c *handlerConfig) error {
		c.limit = n
		if n < 1 {
			return fmt.Errorf("cluster: WithLimit(%d)", n)
		}
		return nil
	}
}

// WithNodeLimit says how many tasks of the handler run at once on this node. All of its tasks go through the stream.
func WithNodeLimit(n int) HandlerOption {
	return func(c *handlerConfig) error {
		c.nodeLimit = n
		if n < 1 {
			return fmt.Errorf("cluster: WithNodeLimit(%d)", n)
		}
		return nil
	}
}

// WithKeys lets tasks of the handler have keys ([Key]): tasks of one key run one after the other, in the order in
// which they were submitted, also when one of them is tried again. Keys are spread over n partitions, 1 to 256, of
// which each runs one task at a time. A partition goes to the same node, as long as that one waits for tasks, so it finds what it has
// cached for a key. Nodes with the same of seven weights for a partition take turns. All nodes must have the same n. A
// handler that waits for a task of its own partition waits for ever.
func WithKeys(n int) HandlerOption {
	return func(c *handlerConfig) error {
		c.partitions = n
		if n < 1 || n > 256 {
			return fmt.Errorf("cluster: WithKeys(%d): there are 1 to 256 partitions", n)
		}
		return nil
	}
}

// WithStealAbove lets nodes of a tier above 0 ([WithTier]) take tasks of the handler only while more than n for each tier wait in
// a lane: nodes of tier 2 while more than 2n do. Without it, a node takes tasks as soon as no nearer one waits for them. All
// nodes must have the same n.
func WithStealAbove(n int) HandlerOption {
	return func(c *handlerConfig) error {
		c.stealAbove = n
		if n < 1 {
			return fmt.Errorf("cluster: WithStealAbove(%d)", n)
		}
		return nil
	}
}

// Handle makes f what runs the tasks of a name on this node, and begins to fetch them. It does not wait for
// the servers: what goes wrong there is logged and tried again.
//
// f is called as a task of the node's pool. Its context is that of a pool's task, so [filch.ScopeOf], [filch.Submit]
// and package par work with it. The context ends when the task is canceled, when its time is over ([Within]), after too
// long a silence ([WithSilence]), and when the node is closed. An error or a panic of f is tried again, as
// [WithRetry] says.
//
// A task can run more than once, on several nodes, even at the same time: f must bear that. [TaskOf] has the ID of
// the task, which is the same each time.
//
// What runs by [LocalFirst] is called with the submitter's context, once, and is not watched.
//
// Handle panics if an argument is nil, if name contains anything but letters, digits, - and _, or is
// too long (128 bytes, and 250 with @ and the version), if the node has a
// handler of that name and version, or if an option makes no sense. On a node that was closed it does nothing.
func Handle[In, Out any](n *Node, name string, f func(ctx context.Context, in In) (Out, error), opts ...HandlerOption) *Handler[In, Out] {
	if n == nil || f == nil {
		panic("cluster: Handle with a nil argument")
	}
	h := &handler{node: n, local: f, handlerConfig: handlerConfig{retry: DefaultRetry(), ackWait: 30 * time.Second, silence: 15 * time.Minute}}
	if err := h.configure(name, opts); err != nil {
		panic(err.Error())
	}
	h.call = func(ctx context.Context, in, out Codec, data []byte) ([]byte, error) {
		var v In
		if err := in.Unmarshal(data, &v); err != nil {
			return nil, Permanent(fmt.Errorf("the argument cannot be read as %T by the codec %s: %w", v, in.Name(), err))
		}
		result, err := f(ctx, v)
		if err != nil {
			return nil, err
		}
		bytes, err := out.Marshal(result)
		if err != nil {
			return nil, Permanent(fmt.Errorf("the result %T cannot be written by the codec %s: %w", result, out.Name(), err))
		}
		return bytes, nil
	}
	n.add(h)
	return &Handler[In, Out]{n: n, h: h}
}

// configure sets the name and the options.
func (h *handler) configure(name string, opts []HandlerOption) error {
	if err := checkName("name of the handler", name); err != nil {
		return err
	}
	for _, o := range opts {
		if o == nil {
			return fmt.Errorf("cluster: a nil HandlerOption for %s", name)
		}
		if err := o(&h.handlerConfig); err != nil {
			return err
		}
	}
	switch {
	case h.localFirst && h.retries:
		return fmt.Errorf("cluster: the handler %s has both WithLocalFirst and WithRetry: what runs locally is not tried again", name)
	case h.localFirst && (h.limit > 0 || h.nodeLimit > 0):
		return fmt.Errorf("cluster: the handler %s has both WithLocalFirst and a limit, for which its tasks are stored", name)
	}
	if h.limit > 0 && h.partitions > 0 {
		return fmt.Errorf("cluster: the handler %s has both a limit and keys", name)
	}
	h.name = versioned(name, h.version)
	if len(h.name) > maxHandler {
		return fmt.Errorf("cluster: the handler's name and version have %d bytes together; %d are allowed", len(h.name), maxHandler)
	}
	h.places.Init(min(h.nodeLimit, h.node.config.places))
	return nil
}

// add makes h a handler of the node, and starts what fetches for it.
func (n *Node) add(h *handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.handlers[h.name] != nil {
		panic("cluster: the node has a handler " + h.name + " already")
	}
	if n.closed {
		return
	}
	n.handlers[h.name] = h
	for _, l := range h.lanesOf() {
		l.handler, l.node, l.again = h, n, make(chan struct{}, 1)
		h.lanes = append(h.lanes, l)
		if n.config.places > 0 {
			n.fetching.Add(1)
			n.lanes.Go(l.run)
		}
	}
	select {
	case n.fresh <- struct{}{}:
	default:
	}
}

// lanesOf returns the lanes of the handler: those of the levels, or one for a handler with a limit, and its partitions.
func (h *handler) lanesOf() []*lane {
	var lanes []*lane
	for level := range place.Levels {
		if h.limit == 0 || level == Normal {
			lanes = append(lanes, &lane{name: laneOfLevel(level), level: level, pending: max(h.limit, 0)})
		}
	}
	for p := range h.partitions {
		lanes = append(lanes, &lane{name: laneOfPartition(p), level: Normal, partition: true, pending: 1})
	}
	return lanes
}

func laneOfLevel(level int) string { return fmt.Sprintf("p%d", level) }
func laneOfPartition(p int) string { return fmt.Sprintf("k%d", p) }

// consumerConfig is the consumer of a lane.
func (l *lane) consumerConfig() jetstream.ConsumerConfig {
	pending := l.pending
	if pending == 0 {
		pending = -1
	}
	policy := jetstream.PriorityPolicyPrioritized
	if l.handler.stealAbove > 0 {
		policy = jetstream.PriorityPolicyOverflow
	}
	return jetstream.ConsumerConfig{
		Durable: consumer(l.handler.name, l.name), FilterSubject: l.node.workOf(l.handler.name, l.name),
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: l.handler.ackWait, MaxDeliver: -1,
		MaxAckPending: pending, MaxWaiting: 8192, Metadata: l.handler.shape().metadata(),
		PriorityPolicy: policy, PriorityGroups: []string{pull.Group},
	}
}

// Submit submits a task, as the function [Submit] does.
func (h *Handler[In, Out]) Submit(ctx context.Context, in In, opts ...SubmitOption) (*Future[Out], error) {
	name, version := cutVersion(h.h.name)
	if version != "" {
		opts = append([]SubmitOption{OfVersion(version)}, opts...)
	}
	return Submit[In, Out](ctx, h.n, name, in, opts...)
}

// Name returns the name of the handler, without its version.
func (h *Handler[In, Out]) Name() string {
	name, _ := cutVersion(h.h.name)
	return name
}
