package cluster

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster/internal/ask"
)

// inProcess is a server of the process that has a trouble.
type inProcess struct{ trouble error }

func (inProcess) InProcessConn() (net.Conn, error) { return nil, errors.ErrUnsupported }
func (s inProcess) Trouble() error                 { return s.trouble }

// What has no answer is explained by the trouble of the node's own server; what the server has answered is not.
func TestTheTroubleOfTheServerExplainsErrors(t *testing.T) {
	full := errors.New("no space left on device")
	n := &Node{nc: &nats.Conn{Opts: nats.Options{InProcessServer: inProcess{full}}}}
	other := errors.New("an answer")
	for _, c := range []struct {
		err       error
		explained bool
	}{{context.DeadlineExceeded, true}, {nats.ErrTimeout, true}, {nats.ErrNoResponders, true}, {ask.ErrNoAnswer, true}, {other, false}} {
		got := n.explain(c.err, "subject")
		if !errors.Is(got, c.err) || errors.Is(got, full) != c.explained {
			t.Errorf("%v is explained as %v; by the trouble of the server: %v, want %v", c.err, got, errors.Is(got, full), c.explained)
		}
		if again := n.explain(got, "subject"); again.Error() != got.Error() {
			t.Errorf("it is explained twice: %v", again)
		}
	}
	for name, nc := range map[string]*nats.Conn{"servers elsewhere": {}, "a server without trouble": {Opts: nats.Options{InProcessServer: inProcess{}}}} {
		n := &Node{nc: nc}
		if got := n.explain(context.DeadlineExceeded, "subject"); n.Trouble() != nil || got != context.DeadlineExceeded {
			t.Errorf("%s: Trouble is %v, and a lost question is explained as %v", name, n.Trouble(), got)
		}
	}
}
