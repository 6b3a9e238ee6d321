package cluster

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster/internal/ask"
	"github.com/filch-go/filch/cluster/internal/edge"
	"github.com/filch-go/filch/cluster/internal/place"
)

// Node is a member of a cluster. It submits tasks, and runs those that its handlers are for. Make one with [Open].
// Its methods may be called from any goroutine.
type Node struct {
	config
	names
	nc      *nats.Conn
	js      jetstream.JetStream
	secret  string // with which the outcomes of its tasks come; another each time
	stop    func() // ends the connection and the server, if they are the node's
	codecOf map[string]Codec

	results jetstream.KeyValue
	control jetstream.KeyValue
	tries   jetstream.KeyValue
	unique  jetstream.KeyValue
	after   jetstream.KeyValue
	nodes   jetstream.KeyValue
	batches jetstream.KeyValue

	afterStream, laterStream jetstream.Stream

	ctx       context.Context // of all that the node does
	cancel    context.CancelCauseFunc
	looking   context.Context // of what fetches; ends before ctx, when the node leaves
	leave     context.CancelFunc
	lanes     group          // goroutines that fetch
	ran       group          // tasks that were fetched, until they are acknowledged or given back
	returning group          // of these, those that are being given back
	loops     sync.WaitGroup // other goroutines

	fetching atomic.Int64 // how many lanes there are

	clock      serverClock
	places     place.Places
	slots      place.Places  // of tasks that were fetched and not acknowledged
	ensuring   chan struct{} // of lanes that make their consumers
	running    running
	rest       rest
	waiting    waiting
	canceled   canceled
	asks       ask.Questions
	telling    telling
	edges      edges
	leftovers  map[token]uint64 // of sweepLeft: tallies without tasks when it looked last, and their revisions
	tallies    tallies
	local      local
	counts     counts
	fetched    fetched
	deadCounts deadCounts
	opened     time.Time     // by the servers' clock
	fresh      chan struct{} // of capacity 1: there is something new to tell the other nodes

	mu       sync.RWMutex
	closed   bool // Close was called
	left     left
	handlers map[string]*handler // by name and version
	known    map[string]known    // handlers of other nodes
}

// Open connects a node to a cluster. Without [WithURL], [WithConn] and [WithServer] it starts the server that was
// registered: import cluster/embedded for its effect. Its folder is the program's own, which tests do not have. What the cluster needs on the servers is made if it is not
// there. The node lives until [Node.Close]; ctx counts only for Open, which waits for the servers at most 30 s if ctx has no deadline.
func Open(ctx context.Context, opts ...Option) (*Node, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, submitWait)
		defer cancel()
	}
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	nc, stop, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	n, err := newNode(ctx, c, nc, stop)
	if err != nil {
		stop()
		return nil, err
	}
	return n, nil
}

// newConfig returns what options come to.
func newConfig(opts []Option) (config, error) {
	c := config{name: "filch", places: -1, threshold: -1, replicas: 1, resultTTL: 24 * time.Hour, deadTTL: 30 * 24 * time.Hour, log: slog.Default(), now: time.Now}
	for _, o := range opts {
		if o == nil {
			return c, errors.New("cluster: a nil Option")
		}
		if err := o(&c); err != nil {
			return c, err
		}
	}
	if c.node == "" {
		c.node = defaultNode()
	}
	if c.pool == nil {
		c.pool = filch.Default()
	}
	if c.places < 0 {
		c.places = c.pool.Workers()
	}
	if c.threshold < 0 {
		c.threshold = 16 * max(1, c.places)
	}
	if len(c.codecs) == 0 {
		c.codecs = []Codec{JSON()}
	}
	return c, nil
}

// defaultNode is the machine's name, as far as it can be part of a subject, with a random part.
func defaultNode() string {
	host, _ := os.Hostname()
	var name []rune
	for _, r := range host {
		if !isNameRune(r) {
			break
		}
		name = append(name, r)
	}
	return fmt.Sprintf("%.40s-%s", string(name), strconv.FormatUint(rand.Uint64()>>16|1<<47, 36))
}

func newNode(ctx context.Context, c config, nc *nats.Conn, stop func()) (*Node, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	n := &Node{config: c, names: names{c.name}, nc: nc, js: js, stop: stop,
		codecOf:  map[string]Codec{"json": JSON()},
		handlers: map[string]*handler{},
		known:    map[string]known{},
		ensuring: make(chan struct{}, ensureMost),
		secret:   cryptorand.Text(),
	}
	for _, codec := range c.codecs {
		n.codecOf[codec.Name()] = codec
	}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	n.looking, n.leave = context.WithCancel(n.ctx)
	n.places.Init(c.places)
	slots := max(64, 4*c.places)
	n.slots.Init(slots)
	n.slots.InBatches(slots / 4) // servers that acknowledge slowly would else be asked for tasks one by one
	n.left.done = make(chan struct{})
	n.running.init()
	n.telling.init()
	n.waiting.futures = map[token]*remote{}
	n.canceled.ids = map[token]time.Time{}
	n.local.places, n.local.none = &n.places, make(chan struct{}, 1)
	n.edges.Graph = edge.New[token]()
	n.tallies.keys = map[string]*combining{}
	n.fetched.from = map[string]int64{}
	n.fresh = make(chan struct{}, 1)
	if err := n.setUp(ctx); err != nil {
		return nil, fmt.Errorf("cluster: the streams of %s: %w", c.name, err)
	}
	if err := n.listen(ctx); err != nil {
		n.cancel(ErrClosed)
		n.loops.Wait()
		return nil, fmt.Errorf("cluster: node %s: %w", c.node, err)
	}
	return n, nil
}

// listen starts the goroutines of the node.
func (n *Node) listen(ctx context.Context) error {
	if err := n.hearOutcomes(ctx); err != nil {
		return err
	}
	if err := n.asks.Listen(n.ctx, n.nc); err != nil {
		return err
	}
	if n.config.places > 0 {
		if err := n.hearCanceled(ctx); err != nil {
			return err
		}
	}
	n.loops.Go(func() { n.asks.Run(n.ctx, serverWait) })
	n.loops.Go(n.tell)
	if n.config.places > 0 {
		if err := n.hearEdges(ctx); err != nil {
			return err
		}
		if err := n.hearEnded(); err != nil {
			return err
		}
		if err := n.hearClaims(); err != nil {
			return err
		}
		if err := n.hearResumed(); err != nil {
			return err
		}
		n.lanes.Go(n.moveDue)
		if err := n.answer(); err != nil {
			return err
		}
	}
	n.loops.Go(n.beat)
	n.loops.Go(n.watchPool)
	n.loops.Go(n.list)
	n.loops.Go(n.sweep)
	return nil
}

// Cluster returns the name of the node's cluster.
func (n *Node) Cluster() string { return n.cluster }

// Name returns the name of the node.
func (n *Node) Name() string { return n.node }

// Pool returns the pool that the node's handlers run on.
func (n *Node) Pool() *filch.Pool { return n.pool }
