package clustertest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// freeAddresses returns local addresses that nobody uses.
func freeAddresses(t *testing.T, n int) (all []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal("net.Listen:", err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}

// config returns how a server with a certificate is known, and knows others.
func (a *authority) config(name string) *tls.Config {
	cert, err := tls.LoadX509KeyPair(a.file(name+".pem"), a.file(name+".key"))
	if err != nil {
		a.t.Fatal("tls.LoadX509KeyPair:", err)
	}
	ca, err := os.ReadFile(a.file("ca.pem"))
	if err != nil {
		a.t.Fatal("os.ReadFile:", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool}
}

// An embedded server lets in whom it knows, by a connection that it has encrypted, and to what it may do. Its own node needs no password.
func TestTheEmbeddedServerHasUsersAndTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, t.TempDir())
	a.issue("server")
	submitter, err := cluster.PermissionsOf(cluster.Submitter, "filch", "web", "_INBOX_web")
	if err != nil {
		t.Fatal("cluster.PermissionsOf:", err)
	}
	address := freeAddresses(t, 1)[0]
	n := open(t, cluster.WithServer(embedded.Server{Dir: t.TempDir(), NoSync: true, Listen: address, TLS: a.config("server"),
		Users: []embedded.User{{Name: "web", Password: "secret", Permissions: &submitter}, {Name: "admin", Password: "secret"}}}))
	cluster.Handle(n, "double", double)
	eventually(t, "the servers know the handler, of which others learn from them", func() bool {
		all, err := n.Queues(t.Context())
		return err == nil && slices.ContainsFunc(all, func(q cluster.Queue) bool { return q.Handler == "double" && q.Lane == "normal" })
	})
	for _, user := range []string{"web", "admin"} {
		other, err := cluster.Open(t.Context(), cluster.WithURL("tls://"+address, nats.RootCAs(a.file("ca.pem")), nats.UserInfo(user, "secret"),
			nats.CustomInboxPrefix("_INBOX_"+user)), cluster.WithNode(user), cluster.WithPlaces(0))
		if err != nil {
			t.Fatal(user, err)
		}
		f, err := cluster.Submit[int, int](t.Context(), other, "double", 21)
		if err != nil {
			t.Fatal(user, err)
		}
		expect(t, f, 42)
		if _, err := other.Queues(t.Context()); errors.Is(err, nats.ErrPermissionViolation) != (user == "web") {
			t.Errorf("Queues as %s: %v", user, err)
		}
		closeNode(t, other)
	}
	for what, opts := range map[string][]nats.Option{
		"Authorization Violation": {nats.RootCAs(a.file("ca.pem")), nats.UserInfo("web", "wrong")},
		"authorization violation": {nats.RootCAs(a.file("ca.pem"))},
		"unknown authority":       {nats.UserInfo("web", "secret")},
	} {
		if _, err := nats.Connect("tls://"+address, opts...); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(what)) {
			t.Errorf("a connection that is to be refused: %v, not %q", err, what)
		}
	}
}

// Three embedded servers with users know each other by their certificates.
func TestThreeEmbeddedServersHaveUsers(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, t.TempDir())
	a.issue("server")
	all := freeAddresses(t, 3)
	var last *nats.Conn
	for i, routed := range all {
		nc, stop, err := embedded.Server{Dir: t.TempDir(), NoSync: true, Listen: "127.0.0.1:0", ID: fmt.Sprint("server", i), Routed: routed, Routes: all, TLS: a.config("server"),
			Users: []embedded.User{{Name: "web", Password: "secret"}}}.Start(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close(); stop() })
		last = nc
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := embedded.Ready(ctx, last, 3); err != nil {
		t.Error("embedded.Ready:", err)
	}
}

func TestTheStoreOfTheEmbeddedServerHasALimit(t *testing.T) {
	t.Parallel()
	server := embedded.Server{Dir: t.TempDir(), MaxStore: 4 << 20}
	if n, err := cluster.Open(t.Context(), cluster.WithServer(server), cluster.WithQueueBytes(1<<30, filch.Block)); err == nil {
		closeNode(t, n)
		t.Error("a stream of more bytes than MaxStore was made")
	} else if !strings.Contains(err.Error(), "insufficient storage resources") {
		t.Error("a stream of more bytes than MaxStore:", err)
	}
}

func TestMistakesInEmbeddedServers(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, t.TempDir())
	a.issue("server")
	alone := a.config("server")
	alone.ClientCAs = nil
	one := embedded.User{Name: "web", Password: "secret"}
	for want, s := range map[string]embedded.Server{
		"MaxStore is -1":                      {MaxStore: -1},
		"Users[1] has no name or no password": {Users: []embedded.User{one, {Name: "b"}}},
		`two of Users have the name "web"`:    {Users: []embedded.User{one, one}},
		"has Routed, and so needs Listen":     {Routed: "127.0.0.1:0"},
		"has Users and Routed, and so needs":  {Users: []embedded.User{one}, Listen: "127.0.0.1:0", Routed: "127.0.0.1:0"},
		"TLS has no certificate":              {TLS: &tls.Config{}},
		"needs RootCAs and ClientCAs":         {TLS: alone, Routed: "127.0.0.1:0"},
	} {
		s.Dir = t.TempDir()
		if _, _, err := s.Start(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, not %q", s, err, want)
		}
		if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left in the folder: %v", want, left, err)
		}
	}
}
