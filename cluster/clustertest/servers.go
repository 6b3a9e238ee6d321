package clustertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster/embedded"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Servers are NATS servers with JetStream, each a process of its own, or one of them. Clients and servers reach each
// other through proxies, so that a server has the same address after it was killed, and connections can be
// cut. The methods may be called from any goroutine, but those that name the same server one after the other.
type Servers struct {
	config serverConfig
	each   []*oneServer
}

// oneServer is one of the servers.
type oneServer struct {
	name    string
	conf    string // file
	clients *Proxy
	routes  []*Proxy // to this server, by the server that they are from; nil from itself
	process *Process
}

// serverConfig is what the options of servers come to.
type serverConfig struct {
	dir      string
	maxStore int64
	more     string
}

// ServerOption says how servers are set up.
type ServerOption func(*serverConfig)

// WithConfig adds text to the configuration of the servers, in the form of nats-server's configuration file. It is for
// users, accounts and TLS: what the package sets itself is listen, jetstream and cluster.
func WithConfig(text string) ServerOption { return func(c *serverConfig) { c.more += text + "\n" } }

// WithMaxStore limits what each server stores, in bytes, as a disk of that size would.
func WithMaxStore(bytes int64) ServerOption { return func(c *serverConfig) { c.maxStore = bytes } }

// WithDir sets the folder of the servers' files. The default is a new one.
func WithDir(dir string) ServerOption { return func(c *serverConfig) { c.dir = dir } }

// Server starts one server as a process of its own. It is killed when the test ends. When the test has failed, what
// the server has logged last is shown.
func Server(t testing.TB, opts ...ServerOption) *Servers { t.Helper(); return startServers(t, 1, opts) }

// Three starts three servers that form a cluster, and waits until they have elected a leader, which takes seconds. They
// are killed when the test ends. Open nodes with cluster.WithReplicas(3).
func Three(t testing.TB, opts ...ServerOption) *Servers { t.Helper(); return startServers(t, 3, opts) }

func startServers(t testing.TB, n int, opts []ServerOption) *Servers {
	t.Helper()
	opts = append([]ServerOption{WithDir(t.TempDir())}, opts...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := OpenServers(ctx, n, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if t.Failed() {
			t.Log(s.logs())
		}
	})
	return s
}

// OpenServers starts n servers, 1 or 3, and waits until they are ready. It is for programs; tests call [Server] and
// [Three]. It needs [WithDir]. The caller closes them.
func OpenServers(ctx context.Context, n int, opts ...ServerOption) (*Servers, error) {
	s := &Servers{}
	for _, o := range opts {
		o(&s.config)
	}
	if n != 1 && n != 3 {
		return nil, fmt.Errorf("clustertest: OpenServers of %d servers: it is 1 or 3", n)
	}
	if s.config.dir == "" {
		return nil, fmt.Errorf("clustertest: OpenServers without WithDir")
	}
	err := s.open(ctx, n)
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Servers) open(ctx context.Context, n int) error {
	for i := range n {
		one := &oneServer{name: fmt.Sprint("server", i)}
		s.each = append(s.each, one)
		var err error
		if one.clients, err = newProxy(); err != nil {
			return err
		}
		for from := range n {
			var route *Proxy
			if from != i {
				if route, err = newProxy(); err != nil {
					return err
				}
			}
			one.routes = append(one.routes, route)
		}
	}
	var starts sync.WaitGroup
	errs := make([]error, n)
	for i, one := range s.each {
		one.conf = filepath.Join(s.config.dir, one.name+".conf")
		if err := os.WriteFile(one.conf, []byte(s.text(i)), 0o600); err != nil {
			return err
		}
		starts.Go(func() { errs[i] = s.Restart(ctx, i) })
	}
	starts.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return s.WaitReady(ctx)
}

// text returns the configuration of a server.
func (s *Servers) text(i int) string {
	one := s.each[i]
	var b strings.Builder
	fmt.Fprintf(&b, "server_name: %s\nlisten: \"127.0.0.1:-1\"\nlog_file: %q\n", one.name, s.log(i))
	fmt.Fprintf(&b, "jetstream { store_dir: %q", filepath.Join(s.config.dir, one.name))
	if s.config.maxStore > 0 {
		fmt.Fprintf(&b, ", max_file_store: %d", s.config.maxStore)
	}
	b.WriteString(" }\n")
	if len(s.each) > 1 {
		// A server that is cut off must not be reached around the proxies: what the servers tell of each other's
		// addresses leads nowhere.
		b.WriteString("cluster {\n  name: clustertest\n  listen: \"127.0.0.1:-1\"\n  advertise: \"127.0.0.1:1\"\n  no_advertise: true\n  routes: [")
		var routes []string
		for _, other := range s.each {
			if other != one {
				routes = append(routes, fmt.Sprintf("%q", "nats://"+other.routes[i].Addr()))
			}
		}
		b.WriteString(strings.Join(routes, ", ") + "]\n}\n")
	}
	b.WriteString(s.config.more)
	return b.String()
}

func (s *Servers) log(i int) string { return filepath.Join(s.config.dir, s.each[i].name+".log") }

// logs returns the end of what the servers have logged.
func (s *Servers) logs() string {
	var b strings.Builder
	for i := range s.each {
		data, _ := os.ReadFile(s.log(i))
		fmt.Fprintf(&b, "%s:\n%s\n", s.log(i), data[max(0, len(data)-4000):])
	}
	return b.String()
}

// URL returns the URLs of all servers, separated by commas.
func (s *Servers) URL() string {
	var urls []string
	for i := range s.each {
		urls = append(urls, s.ServerURL(i))
	}
	return strings.Join(urls, ",")
}

// ServerURL returns the URL of one server. It stays the same when the server is started again.
func (s *Servers) ServerURL(i int) string { return "nats://" + s.each[i].clients.Addr() }

// Len returns how many servers there are.
func (s *Servers) Len() int { return len(s.each) }

// Process returns the process of a server, as it was started last.
func (s *Servers) Process(i int) *Process { return s.each[i].process }

// Kill ends a server, as kill -9 does.
func (s *Servers) Kill(i int) { s.each[i].process.Kill() }

// Restart starts a server that was killed, with the files that it had, and waits until it takes connections.
func (s *Servers) Restart(ctx context.Context, i int) error {
	one := s.each[i]
	p, err := startProcess(serverProgram, one.conf)
	if err != nil {
		return err
	}
	one.process = p
	client, err := p.Line(ctx, "client ")
	if err != nil {
		return err
	}
	one.clients.To(client)
	if len(s.each) == 1 {
		return nil
	}
	route, err := p.Line(ctx, "route ")
	if err != nil {
		return err
	}
	for _, r := range one.routes {
		if r != nil {
			r.To(route)
		}
	}
	return nil
}

// Isolate cuts a server off from the others, in both directions. Clients still reach it: see [Servers.Clients].
func (s *Servers) Isolate(i int) { s.eachRoute(i, (*Proxy).Cut) }

// Rejoin undoes Isolate.
func (s *Servers) Rejoin(i int) { s.eachRoute(i, (*Proxy).Heal) }

// eachRoute calls f for the routes from and to a server.
func (s *Servers) eachRoute(i int, f func(*Proxy)) {
	for j, other := range s.each {
		if j != i {
			f(other.routes[i])
			f(s.each[i].routes[j])
		}
	}
}

// Clients returns the proxy by which clients reach a server.
func (s *Servers) Clients(i int) *Proxy { return s.each[i].clients }

// WaitReady waits until streams can be made on all of the servers: until each of three knows the leader and has heard of
// the others. A server that asks for a user is ready when it takes connections.
func (s *Servers) WaitReady(ctx context.Context) error {
	if len(s.each) == 1 && s.config.more != "" || strings.Contains(s.config.more, "authorization") {
		return nil
	}
	nc, err := nats.Connect(s.URL(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return fmt.Errorf("clustertest: the servers are not ready: %w", err)
	}
	defer nc.Close()
	if err := embedded.Ready(ctx, nc, len(s.each)); err != nil {
		return fmt.Errorf("clustertest: %w", err)
	}
	return nil
}

// Close kills the servers. Their files stay.
func (s *Servers) Close() {
	for _, one := range s.each {
		if one.process != nil {
			one.process.Kill()
		}
		if one.clients != nil {
			one.clients.Close()
		}
		for _, r := range one.routes {
			if r != nil {
				r.Close()
			}
		}
	}
}

// serverProgram is the program of a process that is a server.
const serverProgram = "nats-server"

// runServer runs a server until the process is killed. It writes where clients and routes reach it.
func runServer(args []string) {
	fail := func(err error) { fmt.Println("clustertest: the server:", err); os.Exit(1) }
	o, err := server.ProcessConfigFile(args[0])
	if err != nil {
		fail(err)
	}
	o.NoSigs = true
	srv, err := server.NewServer(o)
	if err != nil {
		fail(err)
	}
	srv.ConfigureLogger()
	srv.Start()
	if !srv.ReadyForConnections(30 * time.Second) {
		fail(fmt.Errorf("it is not ready; see %s", o.LogFile))
	}
	fmt.Println("client", srv.Addr())
	if a := srv.ClusterAddr(); a != nil {
		fmt.Println("route", a)
	}
	srv.WaitForShutdown()
}
