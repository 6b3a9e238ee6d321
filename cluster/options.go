package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
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
	maxQueued int64 // tasks
	maxBytes  int64 // of tasks
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
			nc, err := nats.Connect(url, all...)
			if err != nil {
				return nil, fmt.Errorf("cluster: connecting to %s: %w", inURL.ReplaceAllString(url, "$1"), err)
			}
			return nc, nil
		}
		return nil
	}
}

// inURL is the user and the password in each of several URLs, which errors do not tell.
var inURL = regexp.MustCompile("(^|,|//)[^/,]*@")

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

// WithPool runs handlers on p, which the caller keeps. The default is [filch.Default]. Close the node before the pool: a node
// whose pool is closed gives back what has not begun, and fetches nothing more.
func WithPool(p *filch.Pool) Option {
	return func(c *config) error {
		if p == nil {
			return errors.New("cluster: WithPool with a nil pool")
		}
		c.pool = p
		return nil
	}
}

// WithPlaces says how many fetched tasks the node runs at once. The default is the number of the pool's workers. Each task that the node
// runs by [LocalFirst] makes it one less, down to one: a node that is busy with its own tasks leaves those of the stream to others. 0 makes a
// node that only submits.
func WithPlaces(n int) Option {
	return func(c *config) error {
		if n < 0 {
			return fmt.Errorf("cluster: WithPlaces(%d)", n)
		}
		c.places = n
		return nil
	}
}

// WithThreshold says how many tasks of [LocalFirst] may wait for or run in the node's pool before further ones are
// stored. The default is 16 for each place.
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
		c.maxQueued = int64(n)
		return c.setOverflow("WithQueueLimit", o)
	}
}

// WithQueueBytes says how many bytes the tasks in the stream have together, and what Submit does when there is no room for another:
// as [WithQueueLimit], beside which it may stand, with the same Overflow. So tasks leave room for the outcomes that they come to, without which
// none of them can end. A task has the bytes of its argument and some 300 more. Tasks that are delayed or wait for others do not count before they are
// put into the stream, nor do outcomes and dead letters. There is no limit by default. The number counts for the first node that opens the cluster.
//
// Open returns an error if a single message of the servers may have more bytes, or if the servers have no room for n.
func WithQueueBytes(n int64, o filch.Overflow) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("cluster: WithQueueBytes(%d)", n)
		}
		c.maxBytes = n
		return c.setOverflow("WithQueueBytes", o)
	}
}

// setOverflow sets what Submit does when the stream is full.
func (c *config) setOverflow(option string, o filch.Overflow) error {
	if o != filch.Block && o != filch.Reject {
		return fmt.Errorf("cluster: %s takes Block or Reject", option)
	}
	if c.maxQueued > 0 && c.maxBytes > 0 && c.overflow != o {
		return errors.New("cluster: WithQueueLimit and WithQueueBytes differ in what Submit does when the stream is full")
	}
	c.overflow = o
	return nil
}

// WithResultsFor says how long outcomes can be read, by the servers' clocks. The default is a day. With less than two minutes, a task of
// an [ID] whose outcome is gone can be submitted again, and the servers still take it for the first: its Future waits without end. It counts for the
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
