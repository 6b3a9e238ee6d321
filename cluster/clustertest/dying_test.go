package clustertest_test

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// dying is a connection whose node dies before a publication: nothing that it sends from then on arrives.
type dying struct {
	net.Conn
	counts func(subject string) bool // which publications count

	mu    sync.Mutex
	armed bool
	left  int // how many publications that count still arrive
	dead  bool
	sent  []byte // the beginning of a command that is not complete
}

// arm lets the node die before it has made n more publications.
func (d *dying) arm(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed, d.left = true, n
}

// died reports whether the node has died.
func (d *dying) died() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Write passes on the commands that are complete.
func (d *dying) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = append(d.sent, b...)
	for !d.dead {
		n, subject := command(d.sent)
		if n == 0 {
			break
		}
		if d.armed && subject != "" && d.counts(subject) {
			if d.left--; d.left < 0 {
				d.dead = true
				d.Conn.Close()
				break
			}
		}
		if _, err := d.Conn.Write(d.sent[:n]); err != nil {
			return 0, err
		}
		d.sent = d.sent[n:]
	}
	if d.dead {
		return 0, net.ErrClosed
	}
	return len(b), nil
}

// command returns the length of the command that b begins with, or 0 if it is not complete, and of a publication its
// subject.
func command(b []byte) (length int, subject string) {
	line, _, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok {
		return 0, ""
	}
	length = len(line) + 2
	if fields := strings.Fields(string(line)); fields[0] == "PUB" || fields[0] == "HPUB" {
		size, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			panic(err)
		}
		subject, length = fields[1], length+size+2
	}
	if length > len(b) {
		return 0, ""
	}
	return length, subject
}

// dyingDialer connects to a server in this process.
type dyingDialer struct {
	srv  *server.Server
	conn *dying
}

func (d dyingDialer) InProcessConn() (net.Conn, error) {
	c, err := d.srv.InProcessConn()
	d.conn.Conn = c
	return d.conn, err
}

// inProcess starts a server without a port.
func inProcess(t testing.TB) *server.Server {
	t.Helper()
	srv, err := server.NewServer(&server.Options{JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal("server.NewServer:", err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	return srv
}

// connectMortal connects to a server; what dies is for a node that is to die, or nil.
func connectMortal(t testing.TB, srv *server.Server, what *dying) *nats.Conn {
	t.Helper()
	provider := nats.InProcessConnProvider(srv)
	if what != nil {
		provider = dyingDialer{srv, what}
	}
	nc, err := nats.Connect("", nats.InProcessServer(provider), nats.MaxReconnects(0))
	if err != nil {
		t.Fatal("nats.Connect:", err)
	}
	t.Cleanup(nc.Close)
	return nc
}
