package plugintest

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/plugin/filchclusterotel"
	"github.com/filch-go/filch/plugin/filchclusterprom"
)

// openNode opens a node with a server, and a handler of which one task has run.
func openNode(t *testing.T) *cluster.Node {
	t.Helper()
	n, err := cluster.Open(t.Context(), cluster.WithServer(embedded.Server{Dir: t.TempDir(), NoSync: true}), cluster.WithNode("n"), cluster.WithName("c"))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := n.Close(ctx); err != nil {
			t.Error("n.Close:", err)
		}
	})
	h := cluster.Handle(n, "h", func(_ context.Context, n int) (int, error) { return n, nil })
	f, err := h.Submit(t.Context(), 1)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	if _, err := f.Wait(t.Context()); err != nil {
		t.Fatal("f.Wait:", err)
	}
	return n
}

// exportedOfCluster returns the names of all metrics that filchclusterprom has.
func exportedOfCluster(t *testing.T) map[string]bool {
	t.Helper()
	n := openNode(t)
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(filchclusterprom.New(n), filchclusterprom.NewQueues(n, 0))
	names := map[string]bool{}
	families, err := r.Gather()
	if err != nil {
		t.Fatal("r.Gather:", err)
	}
	for _, f := range families {
		names[f.GetName()] = true
	}
	return names
}

// What a node has done, and the queues that it has made, arrive at both.
func TestAClusterIsExported(t *testing.T) {
	n := openNode(t)
	done := filchclusterprom.New(n)
	if problems, err := testutil.CollectAndLint(done); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	queues := filchclusterprom.NewQueues(n, 0)
	poll.Until(t, 10*time.Second, "the lanes are there", func() (bool, any) {
		n := testutil.CollectAndCount(queues, "filch_cluster_queue_waiting")
		return n >= 3, n
	})

	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	if _, err := filchclusterotel.Register(provider, n); err != nil {
		t.Fatal("filchclusterotel.Register:", err)
	}
	if _, err := filchclusterotel.RegisterQueues(provider, n); err != nil {
		t.Fatal("filchclusterotel.RegisterQueues:", err)
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal("reader.Collect:", err)
	}
	points := map[string]int{}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			if d, ok := m.Data.(metricdata.Sum[int64]); ok {
				points[m.Name] = len(d.DataPoints)
			}
		}
	}
	if points["filch.cluster.done"] != 1 || points["filch.cluster.queue.waiting"] != 3 {
		t.Error(points)
	}
}
