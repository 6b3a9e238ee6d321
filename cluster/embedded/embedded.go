// Package embedded has a NATS server with JetStream that runs in the process of a node of package cluster.
//
// Imported for its effect, it is what cluster.Open starts if it is not told of other servers:
//
//	import _ "github.com/filch-go/filch/cluster/embedded"
package embedded

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
)

func init() { cluster.Register(Server{}) }

// Server is a NATS server in this process, with its files in a folder. The zero value is what cluster.Open starts by default: it listens
// on no port, and its folder is the program's own.
//
// A server that cannot write, such as on a full disk, says why to Logger, and the errors of its node do. It checks every second whether it can write
// again, and goes on by itself, with all that it has confirmed: it is started anew, and its nodes connect again.
type Server struct {
	// Dir is the folder. Only one server may use it at a time: on Unix, Start returns an error if another does. It
	// belongs to the program that has used it first, by the path of its main package: Start returns an error in another, which would run its tasks.
	//
	// "" is a folder in filch below [os.UserConfigDir], named after the main package and the cluster. Start returns an error if
	// there is none: in a test, in a program that was built from files, and without a home.
	Dir string
	// Listen is the address where other nodes reach the server, as host:port. "" means none.
	Listen string
	// NoSync leaves it to the system when files are written. That is several times as fast. After a crash of the
	// machine, not of the process, up to two minutes of what was confirmed may be gone.
	NoSync bool
	// MaxStore is how many bytes the server stores at most. 0 stands for three quarters of what is free when it starts.
	MaxStore int64
	// Logger gets the warnings and errors of the server, and at level Debug what it does. nil stands for [slog.Default].
	Logger *slog.Logger

	// Users are those that may connect by Listen. Without any, everybody may who reaches it. The node of Start needs none.
	Users []User
	// TLS is how the server shows who it is to those that connect by Listen, and whether it asks for their certificates (ClientAuth). nil
	// means that connections are not encrypted. For Routed it needs RootCAs and ClientCAs: servers ask each other for their certificates.
	TLS *tls.Config

	// ID, Routed and Routes are for a server that forms a cluster with others, so that each of them has what is stored
	// ([cluster.WithReplicas]). ID is its name among them, Routed the address where they reach it, as host:port, and
	// Routes are their addresses. It needs Listen, and with Users TLS: whoever reaches Routed is a server to it.
	ID     string
	Routed string
	Routes []string
}

// Start starts the server and connects to it in memory.
func (s Server) Start(ctx context.Context, name string, opts ...nats.Option) (*nats.Conn, func(), error) {
	log := cmp.Or(s.Logger, slog.Default())
	o, err := s.options(name)
	if err != nil {
		return nil, nil, err
	}
	own, err := s.enter(o)
	if err != nil {
		return nil, nil, err
	}
	if o.StoreDir, err = s.folder(name); err != nil {
		return nil, nil, err
	}
	unlock, err := take(o.StoreDir, log)
	if err != nil {
		return nil, nil, err
	}
	if err := free(s.Listen, s.Routed); err != nil {
		unlock()
		return nil, nil, err
	}
	i := &instance{options: o, log: log}
	if err := i.start(); err != nil {
		unlock()
		return nil, nil, err
	}
	watching, cancel := context.WithCancel(context.Background())
	var watched sync.WaitGroup
	watched.Go(func() { i.watch(watching) })
	stop := func() { cancel(); watched.Wait(); i.stop(); unlock() }
	nc, err := nats.Connect("", slices.Concat([]nats.Option{nats.InProcessServer(i), own}, opts)...)
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("cluster: the embedded server: %w", err)
	}
	return nc, stop, nil
}

// folder returns the folder of the server's files.
func (s Server) folder(name string) (string, error) {
	if s.Dir != "" {
		return s.Dir, nil
	}
	return defaultFolder(program(), name)
}

// take makes a folder, and takes it for this process and this program.
func take(dir string, log *slog.Logger) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: the folder of the embedded server: %w", err)
	}
	if unlock, err = lock(dir); err != nil {
		return nil, err
	}
	if err = claim(dir, program(), log); err != nil {
		unlock()
	}
	return unlock, err
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

// options returns what the server is told, but for its folder and its users.
func (s Server) options(name string) (*server.Options, error) {
	if s.MaxStore < 0 {
		return nil, fmt.Errorf("cluster: the embedded server: MaxStore is %d", s.MaxStore)
	}
	o := &server.Options{ServerName: cmp.Or(s.ID, "filch-"+name), JetStream: true, JetStreamMaxStore: s.MaxStore, NoSigs: true, SyncAlways: !s.NoSync, DontListen: s.Listen == ""}
	if err := s.setTLS(o); err != nil {
		return nil, err
	}
	if s.Listen != "" {
		var err error
		if o.Host, o.Port, err = splitAddress(s.Listen); err != nil {
			return nil, err
		}
	}
	if s.Routed == "" {
		return o, nil
	}
	if s.Listen == "" {
		return nil, errors.New("cluster: the embedded server has Routed, and so needs Listen: it hears other servers only when it hears clients")
	}
	var err error
	o.Cluster.Name = "filch"
	if o.Cluster.Host, o.Cluster.Port, err = splitAddress(s.Routed); err != nil {
		return nil, err
	}
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
