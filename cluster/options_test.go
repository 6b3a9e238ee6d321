package cluster

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// The error of a connection says where it went, and no password.
func TestErrorsOfConnectionsHaveNoPassword(t *testing.T) {
	_, err := Open(t.Context(), WithURL("nats://me:secret@127.0.0.1:1,token@127.0.0.1:2"))
	if !errors.Is(err, nats.ErrNoServers) || !strings.Contains(err.Error(), "connecting to nats://127.0.0.1:1,127.0.0.1:2: ") {
		t.Error("Open:", err)
	}
}

// slowServer is a Server that takes longer than anybody waits.
type slowServer struct{ start, ended chan struct{} }

func (s slowServer) Start(context.Context, string, ...nats.Option) (*nats.Conn, func(), error) {
	<-s.start
	return nil, func() { close(s.ended) }, nil
}

// Open ends with its context, and what it has begun to start is ended later.
func TestOpenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("net.Listen:", err)
	}
	defer silent.Close()
	slow := slowServer{make(chan struct{}), make(chan struct{})}
	for what, o := range map[string]Option{"a server that says nothing": WithURL("nats://"+silent.Addr().String(), nats.Timeout(time.Hour)), "a slow server": WithServer(slow)} {
		if _, err := Open(ctx, o); !errors.Is(err, context.Canceled) {
			t.Error(what, err)
		}
	}
	close(slow.start)
	<-slow.ended
}
