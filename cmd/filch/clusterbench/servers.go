package clusterbench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster/embedded"
)

// Servers are the NATS servers of a measurement.
type Servers struct {
	Name     string // "embedded", or "three servers"
	Sync     bool   // each write is synced before it is confirmed
	replicas int
}

// The servers that are measured. Each of three is in this process, with connections over the loopback interface.
var (
	Embedded       = Servers{Name: "embedded", replicas: 1}
	EmbeddedSynced = Servers{Name: "embedded", Sync: true, replicas: 1}
	Three          = Servers{Name: "three servers", replicas: 3}
)

// String says what the servers are and how they write.
func (s Servers) String() string {
	if s.Sync {
		return s.Name + ", fsync"
	}
	return s.Name + ", no fsync"
}

// startWait is how long servers may take to be ready.
const startWait = 30 * time.Second

// up are servers that run.
type up struct {
	nc   *nats.Conn
	urls string // of servers that listen
	stop func()
}

// start starts the servers, with their files in a folder that stop removes.
func (s Servers) start(ctx context.Context) (*up, error) {
	dir, err := os.MkdirTemp("", "filch-bench")
	if err != nil {
		return nil, err
	}
	u, err := s.startIn(ctx, dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	stop := u.stop
	u.stop = func() { stop(); os.RemoveAll(dir) }
	return u, nil
}

func (s Servers) startIn(ctx context.Context, dir string) (*up, error) {
	if s.replicas == 1 {
		free, err := freeAddresses(1)
		if err != nil {
			return nil, err
		}
		nc, stop, err := embedded.Server{Dir: dir, NoSync: !s.Sync, Listen: free[0].String()}.Start(ctx, "bench")
		if err != nil {
			return nil, err
		}
		return &up{nc: nc, urls: urlsOf(free)[0].String(), stop: func() { nc.Close(); stop() }}, nil
	}
	return startThree(ctx, dir)
}

// startThree starts three servers that form a cluster.
func startThree(ctx context.Context, dir string) (*up, error) {
	routes, err := freeAddresses(3)
	if err != nil {
		return nil, err
	}
	var servers []*server.Server
	stop := func() {
		for _, s := range servers {
			s.Shutdown()
			s.WaitForShutdown()
		}
	}
	for i := range 3 {
		o := &server.Options{ServerName: fmt.Sprint("bench-", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
			StoreDir: filepath.Join(dir, fmt.Sprint(i)), NoSigs: true, NoLog: true}
		o.Cluster.Name, o.Cluster.Host, o.Cluster.Port, o.Routes = "bench", "127.0.0.1", routes[i].Port, urlsOf(routes)
		s, err := server.NewServer(o)
		if err != nil {
			stop()
			return nil, err
		}
		servers = append(servers, s)
		s.Start()
	}
	urls := ""
	for i, s := range servers {
		if !s.ReadyForConnections(startWait) {
			stop()
			return nil, errors.New("the three servers are not ready")
		}
		if i > 0 {
			urls += ","
		}
		urls += s.ClientURL()
	}
	if err := untilLeader(ctx, servers); err != nil {
		stop()
		return nil, err
	}
	nc, err := nats.Connect(urls, nats.MaxReconnects(-1))
	if err != nil {
		stop()
		return nil, err
	}
	return &up{nc: nc, urls: urls, stop: func() { nc.Close(); stop() }}, nil
}

// untilLeader waits until the servers agree on a leader and all of them are current.
func untilLeader(ctx context.Context, servers []*server.Server) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		for _, s := range servers {
			if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == len(servers) {
				return nil
			}
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return errors.New("the three servers have no leader")
		}
	}
}

// freeAddresses returns addresses of the loopback interface that were free a moment ago.
func freeAddresses(n int) (all []*net.TCPAddr, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		all = append(all, l.Addr().(*net.TCPAddr))
	}
	return all, nil
}

func urlsOf(addresses []*net.TCPAddr) (all []*url.URL) {
	for _, a := range addresses {
		all = append(all, &url.URL{Scheme: "nats", Host: a.String()})
	}
	return all
}
