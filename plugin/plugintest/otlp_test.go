package plugintest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/plugin/filchotel"
)

// receiver is a server of OTLP that keeps what it gets.
type receiver struct {
	metricspb.UnimplementedMetricsServiceServer
	mu      sync.Mutex
	metrics map[string]*metrics.Metric // the last of each name; under mu
	spans   []*spans.Span              // under mu
	scopes  map[string]bool            // under mu
}

// traces is the part of a receiver that is for spans.
type traces struct {
	tracepb.UnimplementedTraceServiceServer
	*receiver
}

func (r *receiver) Export(_ context.Context, q *metricspb.ExportMetricsServiceRequest) (*metricspb.ExportMetricsServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range q.ResourceMetrics {
		for _, s := range of.ScopeMetrics {
			r.scopes[s.Scope.Name] = true
			for _, m := range s.Metrics {
				r.metrics[m.Name] = m
			}
		}
	}
	return &metricspb.ExportMetricsServiceResponse{}, nil
}

func (t traces) Export(_ context.Context, q *tracepb.ExportTraceServiceRequest) (*tracepb.ExportTraceServiceResponse, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range q.ResourceSpans {
		for _, s := range of.ScopeSpans {
			t.scopes[s.Scope.Name] = true
			t.spans = append(t.spans, s.Spans...)
		}
	}
	return &tracepb.ExportTraceServiceResponse{}, nil
}

func receive(t *testing.T) (*receiver, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("net.Listen:", err)
	}
	r, server := &receiver{metrics: map[string]*metrics.Metric{}, scopes: map[string]bool{}}, grpc.NewServer()
	metricspb.RegisterMetricsServiceServer(server, r)
	tracepb.RegisterTraceServiceServer(server, traces{receiver: r})
	go server.Serve(l)
	t.Cleanup(server.Stop)
	return r, l.Addr().String()
}

// What a pool does arrives at a receiver of OTLP: all metrics, and a span of each task with its link.
func TestMetricsAndSpansArriveAtAReceiverOfOTLP(t *testing.T) {
	r, address := receive(t)
	toMetrics, err := otlpmetricgrpc.New(background, otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithEndpoint(address))
	if err != nil {
		t.Fatal("otlpmetricgrpc.New:", err)
	}
	toSpans, err := otlptracegrpc.New(background, otlptracegrpc.WithInsecure(), otlptracegrpc.WithEndpoint(address))
	if err != nil {
		t.Fatal("otlptracegrpc.New:", err)
	}
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(toMetrics)))
	tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(toSpans))

	p := filch.New(filch.WithName("kitchen"), filch.WithWorkers(2), filch.WithObserver(filchotel.NewTracer(tp)))
	if _, err := filchotel.Register(mp, p); err != nil {
		t.Fatal("filchotel.Register:", err)
	}
	ctx, request := tp.Tracer("the program").Start(background, "request")
	filch.Submit(ctx, p, nothing, filch.Named("cook")).Wait(ctx)
	filch.Submit(ctx, p, func(context.Context) (int, error) { panic("fire") }, filch.Named("flambé")).Wait(ctx)
	request.End()
	if err := p.Shutdown(background); err != nil { // figures of a pool at rest are exact
		t.Fatal("p.Shutdown:", err)
	}
	for _, flush := range []func(context.Context) error{mp.ForceFlush, tp.ForceFlush, mp.Shutdown, tp.Shutdown} {
		if err := flush(background); err != nil {
			t.Error("flush:", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	checkMetrics(t, r.metrics)
	checkSpans(t, r.spans)
	if !r.scopes["github.com/filch-go/filch/plugin/filchotel"] {
		t.Errorf("the scopes are %v", r.scopes)
	}
}

func checkMetrics(t *testing.T, got map[string]*metrics.Metric) {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	for name, m := range got {
		prom, points := strings.ReplaceAll(name, ".", "_"), m.GetSum().GetDataPoints()
		switch {
		case m.GetSum().GetIsMonotonic():
			prom += "_total"
		case m.GetGauge() != nil:
			prom, points = prom+"_seconds", m.GetGauge().DataPoints
		}
		if !strings.Contains(string(text), "| `"+prom+"` | `") {
			t.Errorf("docs/metrics.md lacks %s", prom)
		}
		if len(points) != 1 || !has(points[0].Attributes, "filch.pool.name", "kitchen") || m.Unit == "" || m.Description == "" {
			t.Errorf("%s: %v", name, m)
		}
		if s := m.GetSum(); s != nil && s.AggregationTemporality != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
			t.Errorf("%s: %v", name, s.AggregationTemporality)
		}
	}
	for name, want := range map[string]int64{"filch.worker.limit": 2, "filch.task.done": 2, "filch.task.panicked": 1, "filch.task.queued": 0} {
		if m := got[name]; m == nil || m.GetSum().DataPoints[0].GetAsInt() != want {
			t.Errorf("%s is %v, not %d", name, m, want)
		}
	}
	if want := len(exported(t)) - 2; len(got) != want { // but for the histograms
		t.Errorf("%d metrics, not %d", len(got), want)
	}
}

func checkSpans(t *testing.T, all []*spans.Span) {
	t.Helper()
	by := map[string]*spans.Span{}
	for _, s := range all {
		by[s.Name] = s
	}
	if len(all) != 3 || len(by) != 3 {
		t.Fatalf("the spans are %v", all)
	}
	for _, name := range []string{"cook", "flambé"} {
		s := by[name]
		if len(s.Links) != 1 || !bytes.Equal(s.Links[0].SpanId, by["request"].SpanId) || !bytes.Equal(s.Links[0].TraceId, by["request"].TraceId) {
			t.Errorf("%s has the links %v", name, s.Links)
		}
		if !has(s.Attributes, "filch.pool.name", "kitchen") || !has(s.Attributes, "filch.task.name", name) {
			t.Errorf("%s has the attributes %v", name, s.Attributes)
		}
	}
	if s := by["flambé"]; s.Status.Code != spans.Status_STATUS_CODE_ERROR || s.Status.Message != "fire" || !has(s.Attributes, "error.type", "panic") || len(s.Events) != 1 {
		t.Errorf("the panic is %v", s)
	}
	if s := by["cook"]; s.Status.GetCode() != spans.Status_STATUS_CODE_UNSET {
		t.Errorf("the status is %v", s.Status)
	}
}

func has(all []*common.KeyValue, key, value string) bool {
	for _, a := range all {
		if a.Key == key {
			return a.Value.GetStringValue() == value
		}
	}
	return false
}

// What is not UTF-8, which OTLP must be, is made so: no other span or metric is lost with it.
func TestOTLPOfNamesThatAreNotUTF8(t *testing.T) {
	r, address := receive(t)
	toMetrics, err := otlpmetricgrpc.New(background, otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithEndpoint(address))
	if err != nil {
		t.Fatal("otlpmetricgrpc.New:", err)
	}
	toSpans, err := otlptracegrpc.New(background, otlptracegrpc.WithInsecure(), otlptracegrpc.WithEndpoint(address))
	if err != nil {
		t.Fatal("otlptracegrpc.New:", err)
	}
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(toMetrics)))
	tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(toSpans))
	times, err := filchotel.NewTimes(mp)
	if err != nil {
		t.Fatal("filchotel.NewTimes:", err)
	}
	p := filch.New(filch.WithName("bad \xff pool"), filch.WithWorkers(1), filch.WithObserver(both{filchotel.NewTracer(tp), times}))
	if _, err := filchotel.Register(mp, p); err != nil {
		t.Fatal("filchotel.Register:", err)
	}
	filch.Submit(background, p, nothing, filch.Named("good")).Wait(background)
	filch.Submit(background, p, nothing, filch.Named("bad \xfe task")).Wait(background)
	filch.Submit(background, p, func(context.Context) (int, error) { return 0, errors.New("bad \xfd error") }).Wait(background)
	filch.Submit(background, p, func(context.Context) (int, error) { panic("bad \xfc panic") }).Wait(background)
	p.Close()
	for _, flush := range []func(context.Context) error{mp.ForceFlush, tp.ForceFlush, mp.Shutdown, tp.Shutdown} {
		if err := flush(background); err != nil {
			t.Error("flush:", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	messages := map[string]string{}
	for _, s := range r.spans {
		if !has(s.Attributes, "filch.pool.name", "bad \ufffd pool") {
			t.Errorf("%s has the attributes %v", s.Name, s.Attributes)
		}
		messages[s.Name+s.Status.GetMessage()] = s.Name
	}
	for _, want := range []string{"good", "bad \ufffd task", "taskbad \ufffd error", "taskbad \ufffd panic"} {
		if messages[want] == "" {
			t.Errorf("there is no span %q, but %q", want, messages)
		}
	}
	if m := r.metrics["filch.task.done"]; m == nil || m.GetSum().DataPoints[0].GetAsInt() != 4 {
		t.Errorf("filch.task.done is %v", m)
	}
}

// both are two observers.
type both [2]filch.Observer

func (b both) Observe(e filch.Event) {
	b[0].Observe(e)
	b[1].Observe(e)
}
