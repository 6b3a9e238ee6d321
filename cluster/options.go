package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
)

// Option says how [Open] opens a node. A value that makes no sense is an error of Open.
type Option func(*config) error

// config is what the options of a node come to.
type config struct {
	name      string
	node      string
	conn      func() (*nats.Conn, error) // nil for a server of our own
	ownConn   bool                       // the node closes the connection
	server    Server
	pool      *filch.Pool
	places    int
	threshold int
	tier      int
	codecs    []Codec
	replicas  int
	maxQueued int64
	overflow  filch.Overflow
	resultTTL time.Duration
	deadTTL   time.Duration
	log       *slog.Logger
	now       func() time.Time
}

// WithName names the cluster. Nodes of the same name on the same servers belong together. The default is "filch".
func WithName(name string) Option {
	return func(c *config) error {
		c.name = name
		return checkName("name of the cluster", name)
	}
}

// WithNode names the node, for logs, figures and pages. Names of nodes that run at the same time must differ. The
// default is the machine's name with a random part.
func WithNode(name string) Option {
	return func(c *config) error {
		c.node = name
		return checkName("name of the node", name)
	}
}

// WithURL connects to the NATS servers at url, several of them separated by commas. The node closes the connection.
func WithURL(url string, opts ...nats.Option) Option {
	return func(c *config) error {
		if url == "" {
			return errors.New("cluster: WithURL with an empty URL")
		}
		c.ownConn = true
		c.conn = func() (*nats.Conn, error) {
			all := append([]nats.Option{nats.MaxReconnects(-1), nats.Name("filch " + c.node)}, opts...)
			return nats.Connect(url, all...)
		}
		return nil
	}
}

// WithConn uses a connection that the caller keeps: the node does not close it. It should reconnect without end
// ([nats.MaxReconnects] of -1).
func WithConn(nc *nats.Conn) Option {
	return func(c *config) error {
		if nc == nil {
			return errors.New("cluster: WithConn with a nil connection")
		}
		c.ownConn = false
		c.conn = func() (*nats.Conn, error) { return nc, nil }
		return nil
	}
}

// WithServer starts a server of the node's own. Package cluster/embedded has one.
func WithServer(s Server) Option {
	return func(c *config) error {
		if s == nil {
			return errors.New("cluster: WithServer with a nil Server")
		}
		c.server, c.conn = s, nil
		return nil
	}
}

// WithPool runs handlers on p, which the caller keeps. The default is [filch.Default].
func WithPool(p *filch.Pool) Option {
	return func(c *config) error {
		if p == nil {
			return errors.New("cluster: WithPool with a nil pool")
		}
		c.pool = p
		return nil
	}
}

// WithPlaces says how many fetched tasks the node runs at once. The default is the number of the pool's workers.
// 0 makes a node that only submits.
func WithPlaces(n int) Option {
	return func(c *config) error {
		if n < 0 {
			return fmt.Errorf("cluster: WithPlaces(%d)", n)
		}
		c.places = n
		return nil
	}
}

// WithThreshold says how many local tasks may wait for or run in the node's pool before further ones go to the
// stream. The default is 16 for each place.
func WithThreshold(n int) Option {
	return func(c *config) error {
		if n < 0 {
			return fmt.Errorf("cluster: WithThreshold(%d)", n)
		}
		c.threshold = n
		return nil
	}
}

// WithTier says how far the node is from the tasks: 0, the default, is nearest, and 9 farthest. While a
// nearer node waits for tasks, farther ones get none.
func WithTier(n int) Option {
	return func(c *config) error {
		if n < 0 || n > 9 {
			return fmt.Errorf("cluster: WithTier(%d): tiers are 0 to 9", n)
		}
		c.tier = n
		return nil
	}
}

// WithCodecs adds codecs. The first is what the node's tasks and results are written with, instead of [JSON].
func WithCodecs(codecs ...Codec) Option {
	return func(c *config) error {
		for _, codec := range codecs {
			if codec == nil {
				return errors.New("cluster: WithCodecs with a nil codec")
			}
			if err := checkName("name of a codec", codec.Name()); err != nil {
				return err
			}
		}
		c.codecs = codecs
		return nil
	}
}

// WithReplicas says on how many servers tasks and results are stored: 1, the default, 3 or 5. It counts for the
// first node that opens the cluster; the streams keep what they were made with.
func WithReplicas(n int) Option {
	return func(c *config) error {
		if n != 1 && n != 3 && n != 5 {
			return fmt.Errorf("cluster: WithReplicas(%d): it is 1, 3 or 5", n)
		}
		c.replicas = n
		return nil
	}
}

// WithQueueLimit says how many tasks the stream holds, and what Submit does when it is full: [filch.Block] waits
// until its context ends, [filch.Reject] returns [ErrQueueFull]. There is no limit by default. The number counts for
// the first node that opens the cluster.
func WithQueueLimit(n int, o filch.Overflow) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("cluster: WithQueueLimit(%d)", n)
		}
		if o != filch.Block && o != filch.Reject {
			return errors.New("cluster: WithQueueLimit takes Block or Reject")
		}
		c.maxQueued, c.overflow = int64(n), o
		return nil
	}
}

// WithResultsFor says how long outcomes can be read, by the servers' clocks. The default is a day. It counts for the
// first node that opens the cluster.
func WithResultsFor(d time.Duration) Option {
	return func(c *config) error {
		if d < time.Second {
			return fmt.Errorf("cluster: WithResultsFor(%v): it is at least a second", d)
		}
		c.resultTTL = d
		return nil
	}
}

// WithDeadFor says how long dead letters are kept, by the servers' clocks. The default is 30 days. It counts for the
// first node that opens the cluster.
func WithDeadFor(d time.Duration) Option {
	return func(c *config) error {
		if d < time.Second {
			return fmt.Errorf("cluster: WithDeadFor(%v): it is at least a second", d)
		}
		c.deadTTL = d
		return nil
	}
}

// WithLogger sets where the node tells of what goes wrong beyond a single call. The default is [slog.Default].
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error {
		if l == nil {
			return errors.New("cluster: WithLogger with a nil logger")
		}
		c.log = l
		return nil
	}
}

// WithClock sets the clock of the node, for tests. Delays and times to live follow the servers' clocks.
func WithClock(now func() time.Time) Option {
	return func(c *config) error {
		if now == nil {
			return errors.New("cluster: WithClock with a nil function")
		}
		c.now = now
		return nil
	}
}
