package filchotel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/statstest"
)

var background = context.Background()

// point is a measured number of a pool.
type point struct{ metric, pool string }

// collected returns what the reader finds: numbers by metric and pool, and units by metric.
func collected(t *testing.T, r sdk.Reader) (map[point]float64, map[string]string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.Collect(background, &all); err != nil {
		t.Fatal("r.Collect(background, &all):", err)
	}
	values, units := map[point]float64{}, map[string]string{}
	add := func(name string, about attribute.Set, v float64) {
		pool, _ := about.Value(poolName)
		values[point{name, pool.AsString()}] = v
	}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			units[m.Name] = m.Unit
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, float64(p.Value))
				}
				if d.IsMonotonic {
					units[m.Name] += " counted"
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, float64(p.Count))
				}
			default:
				t.Errorf("%s is a %T", m.Name, d)
			}
		}
	}
	return values, units
}

func provider() (*sdk.MeterProvider, *sdk.ManualReader) {
	r := sdk.NewManualReader()
	return sdk.NewMeterProvider(sdk.WithReader(r)), r
}

// What tasks do is collected, for each pool, until Unregister.
func TestFiguresAreCollected(t *testing.T) {
	p, q := filch.New(filch.WithName("p"), filch.WithWorkers(2)), filch.New(filch.WithName("q"), filch.WithWorkers(3))
	defer q.Close()
	mp, r := provider()
	registration, err := Register(mp, p, q)
	if err != nil {
		t.Fatal("Register(mp, p, q):", err)
	}
	for range 5 {
		filch.Submit(background, p, func(context.Context) (int, error) { return 0, errors.New("burnt") }).Wait(background)
	}
	if err := p.Shutdown(background); err != nil { // figures of a pool at rest are exact
		t.Fatal("p.Shutdown(background):", err)
	}
	got, units := collected(t, r)
	for k, want := range map[point]float64{
		{"filch.task.done", "p"}: 5, {"filch.task.failed", "p"}: 5, {"filch.task.done", "q"}: 0,
		{"filch.worker.limit", "p"}: 2, {"filch.worker.limit", "q"}: 3, {"filch.task.oldest", "q"}: 0,
	} {
		if v, ok := got[k]; !ok || v != want {
			t.Errorf("%v is %v, %v", k, v, ok)
		}
	}
	for name, want := range map[string]string{"filch.task.oldest": "s", "filch.task.done": "{task} counted", "filch.task.queued": "{task}"} {
		if units[name] != want {
			t.Errorf("%s has the unit %q", name, units[name])
		}
	}
	if want := 2 * (len(figures) + 1); len(got) != want {
		t.Errorf("%d numbers, not %d", len(got), want)
	}
	if err := registration.Unregister(); err != nil {
		t.Error("registration.Unregister():", err)
	}
	if got, _ := collected(t, r); len(got) != 0 {
		t.Errorf("after Unregister: %v", got)
	}
}

// Each field of Stats is one metric, in base units, and docs/metrics.md has it.
func TestEachFieldOfStatsIsAMetric(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(`os.ReadFile("../../docs/metrics.md"):`, err)
	}
	var s filch.Stats
	fields := statstest.Fill(&s)
	mp, r := provider()
	if _, err := register(mp, []*pool{newPool("p", func() filch.Stats { return s })}); err != nil {
		t.Fatal("register(mp, …):", err)
	}
	values, units := collected(t, r)
	found := map[string]bool{}
	for k, value := range values {
		field := fields[value]
		found[field] = true
		// Prometheus makes this name of it.
		name := strings.ReplaceAll(k.metric, ".", "_")
		if units[k.metric] == "s" {
			name += "_seconds"
		}
		if strings.HasSuffix(units[k.metric], " counted") {
			name += "_total"
		}
		if row := "| `" + name + "` | `" + field + "` |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/metrics.md has no %s", row)
		}
	}
	for _, field := range fields {
		if !found[field] {
			t.Errorf("Stats.%s is no metric: figures has no line for it", field)
		}
	}
	if len(values) != len(fields) || len(figures)+1 != len(fields) {
		t.Errorf("Stats has %d fields, there are %d metrics, and figures has %d lines: not one less than fields, as Tasks.Oldest is apart", len(fields), len(values), len(figures))
	}
}

// What counts does not fall when what Stats counts does. What is measured follows.
func TestCountersNeverFall(t *testing.T) {
	var s filch.Stats
	mp, r := provider()
	if _, err := register(mp, []*pool{newPool("p", func() filch.Stats { return s })}); err != nil {
		t.Fatal("register(mp, …):", err)
	}
	for _, c := range []struct{ done, running, wantDone, wantRunning float64 }{{5, 5, 5, 5}, {4, 4, 5, 4}, {6, 3, 6, 3}} {
		s.Tasks.Done, s.Tasks.Running = int64(c.done), int(c.running)
		got, _ := collected(t, r)
		if done, running := got[point{"filch.task.done", "p"}], got[point{"filch.task.running", "p"}]; done != c.wantDone || running != c.wantRunning {
			t.Errorf("%v: %v and %v", c, done, running)
		}
	}
}

// Two readers may collect at once, while tasks run.
func TestReadersOfABusyPool(t *testing.T) {
	times, r1 := provider()
	observer, err := NewTimes(times)
	if err != nil {
		t.Fatal("NewTimes(times):", err)
	}
	p := filch.New(filch.WithName("busy"), filch.WithWorkers(4), filch.WithObserver(observer))
	r2 := sdk.NewManualReader()
	both := sdk.NewMeterProvider(sdk.WithReader(r2))
	for _, mp := range []*sdk.MeterProvider{times, both} {
		if _, err := Register(mp, p); err != nil {
			t.Fatal("Register(mp, p):", err)
		}
	}
	g := p.Group(background)
	for range 500 {
		g.Go(func(context.Context) error { return nil })
	}
	var readers sync.WaitGroup
	for _, r := range []sdk.Reader{r1, r2} {
		readers.Go(func() {
			for range 20 {
				collected(t, r)
			}
		})
	}
	g.Wait()
	readers.Wait()
	if err := p.Shutdown(background); err != nil {
		t.Fatal("p.Shutdown(background):", err)
	}
	got, units := collected(t, r1)
	for _, name := range []string{"filch.task.wait", "filch.task.run", "filch.task.done"} {
		if n := got[point{name, "busy"}]; n != 500 {
			t.Errorf("%s has %v tasks", name, n)
		}
	}
	if units["filch.task.wait"] != "s" || units["filch.task.run"] != "s" {
		t.Error("collected(t, r1):", units)
	}
}

// The times of a task are those of its events, also if its context has ended. Only tasks that ran count.
func TestTimesOfTasks(t *testing.T) {
	mp, r := provider()
	times, err := NewTimes(mp)
	if err != nil {
		t.Fatal("NewTimes(mp):", err)
	}
	ended, end := context.WithCancel(background)
	end()
	begin := time.Now()
	for _, k := range []filch.EventKind{filch.TaskSubmitted, filch.TaskRejected, filch.TaskStarted, filch.TaskDone, filch.TaskCancelled} {
		times.Observe(filch.Event{Kind: k, Pool: "p", Context: ended, Submitted: begin, Started: begin.Add(time.Second), Ended: begin.Add(3 * time.Second)})
	}
	var all metricdata.ResourceMetrics
	if err := r.Collect(background, &all); err != nil {
		t.Fatal("r.Collect(background, &all):", err)
	}
	want := map[string]float64{"filch.task.wait": 1, "filch.task.run": 2}
	for _, m := range all.ScopeMetrics[0].Metrics {
		d := m.Data.(metricdata.Histogram[float64]).DataPoints[0]
		if d.Count != 1 || d.Sum != want[m.Name] || len(d.Bounds) != 13 {
			t.Errorf("%s: %+v", m.Name, d)
		}
		delete(want, m.Name)
	}
	if len(want) > 0 {
		t.Errorf("no %v", want)
	}
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
	}()
	f()
}

// broken is a provider that makes nothing.
type broken struct {
	embedded.MeterProvider
	callbackOnly bool
}

type brokenMeter struct {
	noop.Meter
	callbackOnly bool
}

var errBroken = errors.New("broken")

func (b broken) Meter(string, ...metric.MeterOption) metric.Meter {
	return brokenMeter{callbackOnly: b.callbackOnly}
}

func (b brokenMeter) Float64ObservableGauge(string, ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	if b.callbackOnly {
		return noop.Float64ObservableGauge{}, nil
	}
	return nil, errBroken
}

func (b brokenMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errBroken
}

func (b brokenMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return nil, errBroken
}

func TestBadArgumentsAreToldByName(t *testing.T) {
	mp, _ := provider()
	a, same := filch.New(filch.WithName("a")), filch.New(filch.WithName("a"))
	expectPanic(t, "filchotel: Register: provider is nil", func() { Register(nil) })
	expectPanic(t, "filchotel: Register: pool 1 is nil", func() { Register(mp, a, nil) })
	expectPanic(t, "filch: Name: the Pool is nil or zero", func() { Register(mp, new(filch.Pool)) })
	expectPanic(t, "filchotel: NewTimes: provider is nil", func() { NewTimes(nil) })
	if _, err := Register(mp, a, same); err == nil || !strings.HasPrefix(err.Error(), `filchotel: Register: two pools have the name "a"`) {
		t.Error("Register(mp, a, same):", err)
	}
	for _, b := range []broken{{}, {callbackOnly: true}} {
		if r, err := Register(b, a); !errors.Is(err, errBroken) || r != nil {
			t.Error("Register(b, a):", r, err)
		}
	}
	if x, err := NewTimes(broken{}); !errors.Is(err, errBroken) || x != nil {
		t.Error("NewTimes(…):", x, err)
	}
	if _, err := Register(mp); err != nil {
		t.Errorf("no pool: %v", err)
	}
}

// Pools of one name in two calls are added up, as the contract says.
func TestPoolsOfOneNameInTwoCalls(t *testing.T) {
	mp, r := provider()
	for range 2 {
		if _, err := Register(mp, filch.New(filch.WithName("a"), filch.WithWorkers(2))); err != nil {
			t.Fatal("Register(mp, …):", err)
		}
	}
	if got, _ := collected(t, r); got[point{"filch.worker.limit", "a"}] != 4 {
		t.Error(got[point{"filch.worker.limit", "a"}])
	}
}

// A collection of a pool with 64 workers that all run a task.
func BenchmarkCollect(b *testing.B) {
	p := filch.New(filch.WithWorkers(64))
	defer p.Close()
	release := make(chan struct{})
	defer close(release)
	var running sync.WaitGroup
	for range 64 {
		running.Add(1)
		p.Go(background, func(context.Context) { running.Done(); <-release })
	}
	running.Wait()
	mp, r := provider()
	if _, err := Register(mp, p); err != nil {
		b.Fatal("Register(mp, p):", err)
	}
	var all metricdata.ResourceMetrics
	b.ReportAllocs()
	for b.Loop() {
		r.Collect(background, &all)
	}
}
