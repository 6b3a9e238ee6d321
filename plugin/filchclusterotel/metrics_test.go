package filchclusterotel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/statstest"
)

// point is a measured number.
type point struct{ metric, about string }

// collected returns what the reader finds: numbers by metric and attributes.
func collected(r sdk.Reader) (map[point]float64, error) {
	var all metricdata.ResourceMetrics
	err := r.Collect(context.Background(), &all)
	values := map[point]float64{}
	add := func(name string, about attribute.Set, v float64) {
		values[point{name, about.Encoded(attribute.DefaultEncoder())}] = v
	}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, p.Value)
				}
			}
		}
	}
	return values, err
}

func provider() (*sdk.MeterProvider, *sdk.ManualReader) {
	r := sdk.NewManualReader()
	return sdk.NewMeterProvider(sdk.WithReader(r)), r
}

// checkFigures checks that each figure is one metric, of the attributes that are wanted.
func checkFigures(t *testing.T, r sdk.Reader, want map[float64]string, about string) {
	t.Helper()
	got, err := collected(r)
	if err != nil || len(got) != len(want) {
		t.Errorf("%d metrics of %d figures, %v", len(got), len(want), err)
	}
	for p, v := range got {
		if field := want[v]; field == "" || !strings.HasSuffix(p.metric, "."+strings.ToLower(field)) || p.about != about {
			t.Errorf("%v is %v, which is %q", p, v, field)
		}
	}
}

func TestEachFigureIsAMetric(t *testing.T) {
	var s cluster.Stats
	want := statstest.Fill(&s)
	mp, r := provider()
	registration, err := register(mp, []node{newNode("c", "n", func() cluster.Stats { return s })})
	if err != nil {
		t.Fatal("register:", err)
	}
	checkFigures(t, r, want, "filch.cluster.name=c,filch.cluster.node.name=n")
	if err := registration.Unregister(); err != nil {
		t.Error("registration.Unregister:", err)
	}
	if got, err := collected(r); len(got) != 0 || err != nil {
		t.Errorf("after Unregister: %v, %v", got, err)
	}

	var q cluster.Queue
	want = statstest.Fill(&q)
	q.Handler, q.Lane = "h@2", "high"
	mp, r = provider()
	if _, err := registerQueues(mp, "c", func(context.Context) ([]cluster.Queue, error) { return []cluster.Queue{q}, nil }); err != nil {
		t.Fatal("registerQueues:", err)
	}
	checkFigures(t, r, want, "filch.cluster.handler.name=h@2,filch.cluster.lane.name=high,filch.cluster.name=c")
}

// Servers that do not answer do not keep a collection from having the rest.
func TestServersThatDoNotAnswer(t *testing.T) {
	mp, r := provider()
	if _, err := registerQueues(mp, "c", func(context.Context) ([]cluster.Queue, error) { return nil, errors.New("no answer") }); err != nil {
		t.Fatal("registerQueues:", err)
	}
	if _, err := register(mp, []node{newNode("c", "n", func() cluster.Stats { return cluster.Stats{} })}); err != nil {
		t.Fatal("register:", err)
	}
	got, err := collected(r)
	if err == nil || !strings.Contains(err.Error(), "no answer") || len(got) != len(ofNode) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBadArgumentsAreToldByName(t *testing.T) {
	mp, _ := provider()
	for want, f := range map[string]func(){
		"filchclusterotel: Register: provider is nil":           func() { Register(nil) },
		"filchclusterotel: Register: node 0 is nil":             func() { Register(mp, nil) },
		"filchclusterotel: RegisterQueues: an argument is nil":  func() { RegisterQueues(mp, nil) },
		"filchclusterotel: RegisterQueues: an argument is nil ": func() { RegisterQueues(nil, &cluster.Node{}) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != strings.TrimSpace(want) {
					t.Errorf("%q, not %q", got, want)
				}
			}()
			f()
		}()
	}
}
