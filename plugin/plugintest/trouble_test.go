package plugintest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/plugin/filchclusterprom"
)

// fullServer is an embedded server that says that it cannot write, while full is set.
type fullServer struct {
	embedded.Server
	full *atomic.Bool
}

func (s fullServer) Start(ctx context.Context, name string, opts ...nats.Option) (*nats.Conn, func(), error) {
	first, stop, err := s.Server.Start(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	nc, err := nats.Connect("", append(opts, nats.InProcessServer(fullConn{first.Opts.InProcessServer, s.full}))...)
	return nc, func() { first.Close(); stop() }, err
}

type fullConn struct {
	nats.InProcessConnProvider
	full *atomic.Bool
}

func (c fullConn) Trouble() error {
	if c.full.Load() {
		return errors.New("no space left on device")
	}
	return nil
}

// A server that answers, and cannot write for minutes, sets off the alert that is for it.
func TestAFullDiskSetsOffAnAlert(t *testing.T) {
	rules := readAlerts(t, "filchclusterprom")
	var full atomic.Bool
	n, err := cluster.Open(t.Context(), cluster.WithServer(fullServer{embedded.Server{Dir: t.TempDir(), NoSync: true}, &full}), cluster.WithName("c"))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { _ = n.Close(background) })
	r := prometheus.NewRegistry()
	r.MustRegister(filchclusterprom.NewQueues(n, 0))
	for want, while := range map[string]time.Duration{"[]": 0, "[FilchClusterDown]": 3 * time.Minute} {
		s := &scrapes{series: map[string]*samples{}}
		from := time.Unix(1_000_000_000, 0)
		to := from
		for ; to.Sub(from) < 10*time.Minute; to = to.Add(every) {
			full.Store(to.Sub(from) < while)
			if err := s.scrape(r, to); err != nil {
				t.Fatal("s.scrape:", err)
			}
		}
		if got := fmt.Sprint(s.firing(t, rules, from, to, "cluster", "c")); got != want {
			t.Errorf("a disk that is full for %v sets off %s, not %s", while, got, want)
		}
	}
}
