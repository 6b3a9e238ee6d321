// Package embedded has a NATS server with JetStream that runs in the process of a node of package cluster.
//
// Imported for its effect, it is what cluster.Open starts if it is not told of other servers:
//
//	import _ "github.com/filch-go/filch/cluster/embedded"
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
)

func init() { cluster.Register(Server{}) }

// Server is a NATS server in this process, with its files in a folder. The zero value is what cluster.Open starts
// by default: it listens on no port, and its files are in the folder filch of [os.UserConfigDir].
type Server struct {
	// Dir is the folder. Only one server may use it at a time: on Unix, Start returns an error if another does.
	Dir string
	// Listen is the address where other nodes reach the server, as host:port. "" means none.
	Listen string
	// NoSync leaves it to the system when files are written. That is several times as fast. After a crash of the
	// machine, not of the process, up to two minutes of what was confirmed may be gone.
	NoSync bool

	// ID, Routed and Routes are for a server that forms a cluster with others, so that each of them has what is stored
	// ([cluster.WithReplicas]). ID is its name among them, Routed the address where they reach it, as host:port, and
	// Routes are their addresses.
	ID     string
	Routed string
	Routes []string
}

// startWait is how long Start waits for the server.
const startWait = 10 * time.Second

// Start starts the server and connects to it in memory.
func (s Server) Start(ctx context.Context, name string, opts ...nats.Option) (*nats.Conn, func(), error) {
	o, err := s.options(name)
	if err != nil {
		return nil, nil, err
	}
	unlock, err := lock(o.StoreDir)
	if err != nil {
		return nil, nil, err
	}
	if err := free(s.Listen, s.Routed); err != nil {
		unlock()
		return nil, nil, err
	}
	srv, err := server.NewServer(o)
	if err != nil {
		unlock()
		return nil, nil, fmt.Errorf("cluster: the embedded server: %w", err)
	}
	stop := func() { srv.Shutdown(); srv.WaitForShutdown(); unlock() }
	srv.Start()
	if !srv.ReadyForConnections(startWait) || !srv.JetStreamEnabled() {
		stop()
		return nil, nil, fmt.Errorf("cluster: the embedded server is not ready after %v; its files are in %s", startWait, o.StoreDir)
	}
	nc, err := nats.Connect("", append([]nats.Option{nats.InProcessServer(srv)}, opts...)...)
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("cluster: the embedded server: %w", err)
	}
	return nc, stop, nil
}

// free returns an error if something else listens on an address. The server would only be not ready in time.
func free(addresses ...string) error {
	for _, a := range addresses {
		if a == "" {
			continue
		}
		l, err := net.Listen("tcp", a)
		if err != nil {
			return fmt.Errorf("cluster: the address of the embedded server: %w", err)
		}
		l.Close()
	}
	return nil
}

// options returns what the server is told.
func (s Server) options(name string) (*server.Options, error) {
	dir := s.Dir
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("cluster: the embedded server needs a folder: %w", err)
		}
		dir = filepath.Join(config, "filch", name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: the folder of the embedded server: %w", err)
	}
	id := s.ID
	if id == "" {
		id = "filch-" + name
	}
	o := &server.Options{ServerName: id, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, SyncAlways: !s.NoSync, DontListen: s.Listen == ""}
	if s.Listen != "" {
		var err error
		if o.Host, o.Port, err = splitAddress(s.Listen); err != nil {
			return nil, err
		}
	}
	if s.Routed == "" {
		return o, nil
	}
	host, port, err := splitAddress(s.Routed)
	if err != nil {
		return nil, err
	}
	o.Cluster = server.ClusterOpts{Name: "filch", Host: host, Port: port}
	for _, r := range s.Routes {
		if _, _, err := splitAddress(r); err != nil {
			return nil, err
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: r})
	}
	return o, nil
}

// splitAddress returns the parts of an address.
func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("cluster: the address %q of the embedded server: %w", address, err)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("cluster: the address %q of the embedded server: the port is a number up to 65535", address)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

var errUsed = errors.New("is used by another server")
