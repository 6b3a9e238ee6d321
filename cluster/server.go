package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
)

// Server is a NATS server with JetStream that a node starts for itself. Package cluster/embedded has one.
type Server interface {
	// Start starts the server for the cluster of a name and connects to it with opts. stop ends it; the connection is
	// closed by then. If what [nats.InProcessServer] was given has a method Trouble() error, [Node.Trouble] is what that returns.
	Start(ctx context.Context, name string, opts ...nats.Option) (nc *nats.Conn, stop func(), err error)
}

var registered struct {
	mu     sync.Mutex
	server Server
}

// Register makes s what [Open] starts without [WithURL], [WithConn] and [WithServer]. Package cluster/embedded calls it
// when it is imported. It panics if s is nil, or if another was registered.
func Register(s Server) {
	if s == nil {
		panic("cluster: Register of a nil Server")
	}
	registered.mu.Lock()
	defer registered.mu.Unlock()
	if registered.server != nil {
		panic("cluster: two servers were registered")
	}
	registered.server = s
}

// connect returns a connection as c says, and how to end what was started for it. If ctx ends before, what is started later
// is ended at once.
func (c *config) connect(ctx context.Context) (*nats.Conn, func(), error) {
	var nc *nats.Conn
	var stop func()
	var err error
	dialed := make(chan struct{})
	go func() {
		defer close(dialed)
		nc, stop, err = c.dial(ctx)
	}()
	select {
	case <-dialed:
		return nc, stop, err
	case <-ctx.Done():
		go func() {
			<-dialed
			if err == nil {
				stop()
			}
		}()
		return nil, nil, fmt.Errorf("cluster: connecting to the servers: %w", context.Cause(ctx))
	}
}

// dial is connect without an end by ctx: neither a connection nor a server takes one.
func (c *config) dial(ctx context.Context) (nc *nats.Conn, stop func(), err error) {
	if c.conn != nil {
		if nc, err = c.conn(); err != nil {
			return nil, nil, err
		}
		if c.ownConn {
			return nc, nc.Close, nil
		}
		return nc, func() {}, nil
	}
	server := c.server
	if server == nil {
		registered.mu.Lock()
		server = registered.server
		registered.mu.Unlock()
	}
	if server == nil {
		return nil, nil, errors.New(`cluster: there is no server: import _ "github.com/filch-go/filch/cluster/embedded", or give WithURL or WithConn`)
	}
	nc, end, err := server.Start(ctx, c.name, nats.MaxReconnects(-1), nats.Name("filch "+c.node))
	if err != nil {
		return nil, nil, err
	}
	return nc, func() { nc.Close(); end() }, nil
}

// Trouble returns what keeps the server in the node's process from storing anything, such as a full disk, and nil if nothing does. Errors of calls
// to which the server gives no answer wrap it. It asks nobody. Of servers elsewhere the node knows nothing: it is nil.
func (n *Node) Trouble() error {
	if s, ok := n.nc.Opts.InProcessServer.(interface{ Trouble() error }); ok {
		return s.Trouble()
	}
	return nil
}
