package clusterbench

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

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
func startThree(ctx context.Context, dir string) (u *up, err error) {
	addresses, err := freeAddresses(6)
	if err != nil {
		return nil, err
	}
	var stops []func()
	stop := func() {
		for _, f := range stops {
			f()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	clients, routes := addresses[:3], addresses[3:]
	var all, urls []string
	for i := range 3 {
		all, urls = append(all, routes[i].String()), append(urls, urlsOf(clients)[i].String())
	}
	for i := range 3 {
		name := fmt.Sprint("bench-", i)
		nc, end, err := embedded.Server{Dir: filepath.Join(dir, name), NoSync: true, Listen: clients[i].String(), ID: name, Routed: all[i], Routes: all}.Start(ctx, "bench")
		if err != nil {
			return nil, err
		}
		nc.Close()
		stops = append(stops, end)
	}
	url := strings.Join(urls, ",")
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return nil, err
	}
	stops = append([]func(){nc.Close}, stops...)
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	if err = embedded.Ready(ctx, nc, 3); err != nil {
		return nil, err
	}
	return &up{nc: nc, urls: url, stop: stop}, nil
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
