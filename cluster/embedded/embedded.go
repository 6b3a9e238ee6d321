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
	// Dir is the folder. Only one server may use it at a time: Start returns an error if another does.
	Dir string
	// Listen is the address where other nodes reach the server, as host:port. "" means none.
	Listen string
	// NoSync leaves it to the system when files are written. That is several times as fast. After a crash of the
	// machine, not of the process, up to two minutes of what was confirmed may be gone.
	NoSync bool
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
	o := &server.Options{ServerName: "filch-" + name, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, SyncAlways: !s.NoSync, DontListen: s.Listen == ""}
	if s.Listen != "" {
		host, port, err := net.SplitHostPort(s.Listen)
		if err != nil {
			return nil, fmt.Errorf("cluster: the address %q of the embedded server: %w", s.Listen, err)
		}
		o.Host = host
		if o.Port, err = strconv.Atoi(port); err != nil || o.Port < 0 || o.Port > 65535 {
			return nil, fmt.Errorf("cluster: the address %q of the embedded server: the port is a number up to 65535", s.Listen)
		}
		if o.Port == 0 {
			o.Port = server.RANDOM_PORT
		}
	}
	return o, nil
}

var errUsed = errors.New("is used by another server")
