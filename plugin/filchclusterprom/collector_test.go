package filchclusterprom

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/statstest"
)

func registered(all ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(all...)
	return r
}

// found returns what the values of metrics that begin with a prefix are.
func found(t *testing.T, g prometheus.Gatherer, prefix string) map[float64]string {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal("g.Gather:", err)
	}
	values := map[float64]string{}
	for _, f := range families {
		for _, m := range f.Metric {
			if v := m.GetGauge().GetValue() + m.GetCounter().GetValue(); strings.HasPrefix(f.GetName(), prefix) {
				values[v] = f.GetName()
			}
		}
	}
	return values
}

func TestEachFigureIsAMetric(t *testing.T) {
	var s cluster.Stats
	want := statstest.Fill(&s)
	r := registered(&Collector{[]*node{newNode("c", "n", func() cluster.Stats { return s })}})
	if got := found(t, r, "filch_cluster_"); len(got) != len(want) || len(want) != len(ofNode) {
		t.Errorf("%v of %v", got, want)
	}
	for v, field := range want {
		if name := found(t, r, "filch_cluster_")[v]; !strings.Contains(name, strings.ToLower(field)) {
			t.Errorf("%s is %q", field, name)
		}
	}

	var q cluster.Queue
	want = statstest.Fill(&q)
	r = registered(newQueues("c", func(context.Context) ([]cluster.Queue, error) { return []cluster.Queue{q}, nil }, noTrouble, time.Second))
	for v, field := range want {
		if name := found(t, r, "filch_cluster_queue_")[v]; !strings.Contains(name, strings.ToLower(field)) {
			t.Errorf("%s is %q", field, name)
		}
	}
	if len(want) != len(ofQueue) {
		t.Errorf("%d figures and %d metrics", len(want), len(ofQueue))
	}
}

// docs/metrics.md has each metric, with its field.
func TestMetricsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	var want []string
	var s cluster.Stats
	for n, field := range statstest.Fill(&s) {
		for _, m := range ofNode {
			if m.of(&s) == n {
				want = append(want, "| `"+m.name+"` | `"+field+"` |")
			}
		}
	}
	var q cluster.Queue
	for n, field := range statstest.Fill(&q) {
		for _, m := range ofQueue {
			if m.of(&q) == n {
				want = append(want, "| `"+m.name+"` | `"+field+"` |")
			}
		}
	}
	for _, row := range want {
		if !strings.Contains(string(text), row) {
			t.Errorf("no %s", row)
		}
	}
	if n := strings.Count(string(text), "\n| `filch_cluster_"); n != len(want)+1 || len(want) != len(ofNode)+len(ofQueue) {
		t.Errorf("%d rows for %d metrics", n, len(want))
	}
}

func TestQueuesAreLabelled(t *testing.T) {
	queues := func(context.Context) ([]cluster.Queue, error) {
		return []cluster.Queue{{Handler: "a", Lane: "high", Waiting: 3}, {Handler: "a@2", Lane: "11", Waiting: 4}}, nil
	}
	const want = `
# HELP filch_cluster_queue_waiting Tasks that no node has fetched yet.
# TYPE filch_cluster_queue_waiting gauge
filch_cluster_queue_waiting{cluster="c",handler="a",lane="high"} 3
filch_cluster_queue_waiting{cluster="c",handler="a@2",lane="11"} 4
# HELP filch_cluster_up Whether the servers report their queues and can store: 1 if so, else 0.
# TYPE filch_cluster_up gauge
filch_cluster_up{cluster="c"} 1
`
	r := registered(newQueues("c", queues, noTrouble, time.Second))
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "filch_cluster_queue_waiting", "filch_cluster_up"); err != nil {
		t.Error("testutil.GatherAndCompare:", err)
	}
	if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

func noTrouble() error { return nil }

// A server that answers and cannot write is a metric, and its queues are told.
func TestAServerThatCannotWrite(t *testing.T) {
	queues := func(context.Context) ([]cluster.Queue, error) { return []cluster.Queue{{Handler: "a"}}, nil }
	full := func() error { return errors.New("no space left on device") }
	r := registered(newQueues("c", queues, full, time.Second))
	families, err := r.Gather()
	if err != nil || len(families) != 1+len(ofQueue) {
		t.Errorf("a collection has %d metrics, and not %d: %v", len(families), 1+len(ofQueue), err)
	}
	if got := found(t, r, "filch_cluster_up"); got[0] == "" {
		t.Errorf("filch_cluster_up is %v, not 0", got)
	}
}

// Servers that do not answer are a metric, and do not keep a scrape from having the rest.
func TestServersThatDoNotAnswer(t *testing.T) {
	queues := func(ctx context.Context) ([]cluster.Queue, error) {
		<-ctx.Done()
		return nil, errors.New("no answer")
	}
	r := registered(newQueues("c", queues, noTrouble, time.Millisecond), &Collector{[]*node{newNode("c", "n", func() cluster.Stats { return cluster.Stats{} })}})
	families, err := r.Gather()
	if err != nil || len(families) != 1+len(ofNode) {
		t.Error(len(families), err)
	}
	if got := found(t, r, "filch_cluster_up"); got[0] == "" {
		t.Error(got)
	}
}

func TestBadArgumentsAreToldByName(t *testing.T) {
	for want, f := range map[string]func(){
		"filchclusterprom: New: node 0 is nil":             func() { New(nil) },
		"filchclusterprom: NewQueues: the node is nil":     func() { NewQueues(nil, 0) },
		"filchclusterprom: NewQueues: the timeout -1s is ": func() { NewQueues(&cluster.Node{}, -time.Second) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
					t.Errorf("%q, not %q", got, want)
				}
			}()
			f()
		}()
	}
}
