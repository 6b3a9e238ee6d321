package filchprom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/statstest"
)

var background = context.Background()

// gathered returns the values of metrics that are no histograms, by their names.
func gathered(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal("g.Gather():", err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			values[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values
}

func registered(all ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(all...)
	return r
}

// What tasks do arrives at a server of metrics, with the name of the pool.
func TestMetricsAreServed(t *testing.T) {
	p := filch.New(filch.WithName("kitchen"), filch.WithWorkers(2))
	g := p.Group(background, filch.CollectErrors(9))
	for i := range 10 {
		g.Go(func(context.Context) error {
			if i == 3 {
				return errors.New("burnt")
			}
			return nil
		})
	}
	g.Wait()
	filch.Submit(background, p, func(context.Context) (int, error) { panic("fire") }).Wait(background)
	if err := p.Shutdown(background); err != nil { // figures of a pool at rest are exact
		t.Fatal("p.Shutdown(background):", err)
	}

	server := httptest.NewServer(promhttp.HandlerFor(registered(New(p)), promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal("http.Get(server.URL):", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal("io.ReadAll(answer.Body):", answer.Status, err)
	}
	for _, want := range []string{
		"# TYPE filch_task_submitted_total counter\n",
		"# TYPE filch_worker_limit gauge\n",
		`filch_worker_limit{pool="kitchen"} 2` + "\n",
		`filch_task_submitted_total{pool="kitchen"} 11` + "\n",
		`filch_task_done_total{pool="kitchen"} 11` + "\n",
		`filch_task_failed_total{pool="kitchen"} 1` + "\n",
		`filch_task_panicked_total{pool="kitchen"} 1` + "\n",
		`filch_pool_paused{pool="kitchen"} 0` + "\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Names, units and texts are as promtool wants them.
func TestNamesAreAsUsual(t *testing.T) {
	times := NewTimes(TimesOptions{ByTask: true})
	p := filch.New(filch.WithObserver(times))
	defer p.Close()
	filch.Submit(background, p, func(context.Context) (int, error) { return 0, nil }).Wait(background)
	problems, err := testutil.GatherAndLint(registered(New(p), times))
	if err != nil || len(problems) > 0 {
		t.Error("testutil.GatherAndLint(registered(New(p), times)):", problems, err)
	}
}

// Each field of Stats is one metric, in base units.
func TestEachFieldOfStatsIsAMetric(t *testing.T) {
	var s filch.Stats
	fields := statstest.Fill(&s)
	found := map[string][]string{}
	for name, value := range gathered(t, registered(&Collector{[]*pool{newPool("p", func() filch.Stats { return s })}})) {
		found[fields[value]] = append(found[fields[value]], name)
	}
	for _, field := range fields {
		if len(found[field]) != 1 {
			t.Errorf("Stats.%s is the metrics %v, not one: see metrics.go", field, found[field])
		}
	}
	if len(found) != len(metrics) {
		t.Errorf("%d fields and %d metrics", len(found), len(metrics))
	}
}

// A counter does not fall when what Stats counts does, since Prometheus would take that for a new beginning.
// Gauges follow.
func TestCountersNeverFall(t *testing.T) {
	var s filch.Stats
	r := registered(&Collector{[]*pool{newPool("p", func() filch.Stats { return s })}})
	for _, c := range []struct{ done, running, wantDone, wantRunning float64 }{{5, 5, 5, 5}, {4, 4, 5, 4}, {6, 3, 6, 3}} {
		s.Tasks.Done, s.Tasks.Running = int64(c.done), int(c.running)
		got := gathered(t, r)
		if got["filch_task_done_total"] != c.wantDone || got["filch_task_running"] != c.wantRunning {
			t.Errorf("%v: %v and %v", c, got["filch_task_done_total"], got["filch_task_running"])
		}
	}
}

// Nor do they fall when several scrapes come at once while tasks run.
func TestScrapesOfABusyPool(t *testing.T) {
	p := filch.New(filch.WithName("busy"), filch.WithWorkers(8))
	defer p.Close()
	r := registered(New(p))
	stop := make(chan struct{})
	var load, scrapes sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				filch.Submit(background, p, func(ctx context.Context) (int, error) {
					return filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }).Wait(ctx)
				}).Wait(background)
			}
		})
	}
	for range 4 {
		scrapes.Go(func() {
			last := map[string]float64{}
			for range 50 {
				got := gathered(t, r)
				for name, v := range got {
					if strings.HasSuffix(name, "_total") && v < last[name] {
						t.Errorf("%s fell from %v to %v", name, last[name], v)
					}
				}
				last = got
			}
		})
	}
	scrapes.Wait()
	close(stop)
	load.Wait()
}

// Pools are told apart by their names.
func TestPoolsOfOneName(t *testing.T) {
	a, b, same := filch.New(filch.WithName("a")), filch.New(filch.WithName("b")), filch.New(filch.WithName("a"))
	first, second, third := filch.New(), filch.New(), filch.New()
	expectPanic(t, `filchprom: New: two pools have the name "a": give them names of their own with filch.WithName`, func() { New(a, b, same) })

	r := registered(New(a, b), New(first, second), New(third), New()) // those without a name have one of their own
	if err := r.Register(New(same)); err == nil || !strings.Contains(err.Error(), "already") && !strings.Contains(err.Error(), "duplicate") {
		t.Errorf("a second pool named a: %v", err)
	}
	if n, err := testutil.GatherAndCount(r, "filch_worker_limit"); n != 5 || err != nil {
		t.Errorf("%d pools, %v", n, err)
	}

	c := New(filch.New(filch.WithName("short")))
	if err := r.Register(c); err != nil {
		t.Error("r.Register(c):", err)
	}
	if !r.Unregister(c) {
		t.Error("Unregister does not know the collector")
	}
	if err := r.Register(New(filch.New(filch.WithName("short")))); err != nil {
		t.Errorf("the name of a pool that was unregistered: %v", err)
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

func TestBadArgumentsAreToldByName(t *testing.T) {
	expectPanic(t, "filchprom: New: pool 1 is nil", func() { New(filch.Default(), nil) })
	expectPanic(t, "filch: Name: the Pool is nil or zero", func() { New(new(filch.Pool)) })
	for _, b := range [][]float64{{1, 1}, {2, 1}, {math.NaN()}, {1, math.NaN()}} {
		expectPanic(t, "filchprom: NewTimes: Buckets are not ascending: [", func() { NewTimes(TimesOptions{Buckets: b}) })
	}
	for _, f := range []float64{-1, 0.5, 1, math.NaN(), math.Inf(1)} {
		expectPanic(t, "filchprom: NewTimes: NativeFactor is ", func() { NewTimes(TimesOptions{NativeFactor: f}) })
	}
}

// histograms returns those of a name, by the labels pool and task.
func histograms(t *testing.T, g prometheus.Gatherer, name string) map[string]*dto.Histogram {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal("g.Gather():", err)
	}
	all := map[string]*dto.Histogram{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetValue())
			}
			all[strings.Join(labels, "/")] = m.Histogram
		}
	}
	return all
}

// The histograms have each task that began, and how long it waited and ran.
func TestTimesOfTasks(t *testing.T) {
	begin := time.Now()
	event := func(kind filch.EventKind, pool, task string, wait, run time.Duration) filch.Event {
		return filch.Event{Kind: kind, Pool: pool, Task: task, Submitted: begin, Started: begin.Add(wait), Ended: begin.Add(wait + run)}
	}
	for name, c := range map[string]struct {
		o    TimesOptions
		want []string
	}{
		"by pool":         {TimesOptions{Buckets: []float64{0.01, 1}}, []string{"a", "b"}},
		"by task":         {TimesOptions{Buckets: []float64{0.01, 1}, ByTask: true}, []string{"a/", "a/slow", "b/slow"}},
		"native as well":  {TimesOptions{Buckets: []float64{0.01, 1}, NativeFactor: 1.1}, []string{"a", "b"}},
		"usual buckets":   {TimesOptions{}, []string{"a", "b"}},
		"native, no own ": {TimesOptions{NativeFactor: 1.1}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			times := NewTimes(c.o)
			r := registered(times)
			times.Observe(event(filch.TaskDone, "a", "", 5*time.Millisecond, 2*time.Second))
			times.Observe(event(filch.TaskDone, "a", "slow", 500*time.Millisecond, 0))
			times.Observe(event(filch.TaskDone, "b", "slow", 0, 0))
			for _, k := range []filch.EventKind{filch.TaskSubmitted, filch.TaskStarted, filch.TaskCancelled, filch.TaskRejected} {
				times.Observe(event(k, "c", "", time.Second, time.Second))
			}
			wait, run := histograms(t, r, "filch_task_wait_seconds"), histograms(t, r, "filch_task_run_seconds")
			if len(wait) != len(c.want) || len(run) != len(c.want) {
				t.Fatalf("%v and %v", wait, run)
			}
			var waited, ran float64
			for _, of := range c.want {
				waited += wait[of].GetSampleSum()
				ran += run[of].GetSampleSum()
				if native := len(wait[of].PositiveSpan) > 0 || wait[of].ZeroCount != nil; native != (c.o.NativeFactor > 0) {
					t.Errorf("%s has native buckets: %v", of, native)
				}
			}
			if math.Abs(waited-0.505) > 1e-9 || math.Abs(ran-2) > 1e-9 {
				t.Errorf("%v s and %v s", waited, ran)
			}
			a := wait[c.want[0]]
			if want := uint64(1); len(c.o.Buckets) > 0 && (len(a.Bucket) != 2 || a.Bucket[0].GetCumulativeCount() != want) {
				t.Errorf("buckets %v", a.Bucket)
			}
			if len(c.o.Buckets) == 0 && (len(a.Bucket) != 13 || a.Bucket[12].GetUpperBound() < 160) {
				t.Errorf("buckets %v", a.Bucket)
			}
		})
	}
}

// A pool with a Times counts as many runs as tasks.
func TestTimesOfAPool(t *testing.T) {
	times := NewTimes(TimesOptions{ByTask: true})
	p := filch.New(filch.WithName("p"), filch.WithObserver(times))
	defer p.Close()
	g := p.Group(background)
	for range 100 {
		g.Go(func(context.Context) error { return nil }, filch.Named("leaf"))
	}
	g.Wait()
	r := registered(New(p), times)
	if h := histograms(t, r, "filch_task_run_seconds")["p/leaf"]; h.GetSampleCount() != 100 {
		t.Errorf("%v runs", h.GetSampleCount())
	}
}

// To note the times of a task allocates nothing.
func TestTimesAllocateNothing(t *testing.T) {
	times := NewTimes(TimesOptions{})
	e := filch.Event{Kind: filch.TaskDone, Pool: "p", Submitted: time.Now(), Started: time.Now(), Ended: time.Now()}
	if n := testing.AllocsPerRun(100, func() { times.Observe(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// docs/metrics.md has each metric, with its type and its field of Stats.
func TestMetricsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(`os.ReadFile("../../docs/metrics.md"):`, err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `filch_") && !strings.HasPrefix(line, "| `filch_cluster_") {
			rows++
		}
	}
	if want := len(metrics) + 2; rows != want {
		t.Errorf("docs/metrics.md has %d rows, and there are %d metrics: what follows names those without a row; else a row is without its metric", rows, want)
	}
	var s filch.Stats
	fields := statstest.Fill(&s)
	for _, m := range metrics {
		if row := "| `" + m.name + "` | `" + fields[m.of(&s)] + "` |"; !strings.Contains(string(text), row) {
			t.Errorf("no %s", row)
		}
	}
}

// A scrape of a pool with 64 workers that all run a task, without the text.
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
	c, ch := New(p), make(chan prometheus.Metric, len(metrics))
	b.ReportAllocs()
	for b.Loop() {
		c.Collect(ch)
		for range metrics {
			<-ch
		}
	}
}

func BenchmarkTimes(b *testing.B) {
	times := NewTimes(TimesOptions{})
	now := time.Now()
	e := filch.Event{Kind: filch.TaskDone, Pool: "p", Submitted: now, Started: now.Add(time.Microsecond), Ended: now.Add(time.Millisecond)}
	b.ReportAllocs()
	for b.Loop() {
		times.Observe(e)
	}
}

// Names that are not UTF-8, which labels must be, are made so. No task fails of its name, and no scrape of the pool's.
func TestNamesThatAreNotUTF8(t *testing.T) {
	times := NewTimes(TimesOptions{ByTask: true})
	p := filch.New(filch.WithName("bad \xff pool"), filch.WithWorkers(1), filch.WithObserver(times))
	ran := filch.Submit(t.Context(), p, func(context.Context) (int, error) { return 7, nil }, filch.Named("bad \xfe task"))
	if n, err := ran.Wait(t.Context()); n != 7 || err != nil {
		t.Errorf("the task: %d, %v", n, err)
	}
	p.Close()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(New(p), times)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal("registry.Gather():", err)
	}
	tasks := 0
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				switch {
				case l.GetName() == "pool" && l.GetValue() != "bad \ufffd pool":
					t.Errorf("%s is of the pool %q", f.GetName(), l.GetValue())
				case l.GetName() == "task" && l.GetValue() == "bad \ufffd task":
					tasks++
				}
			}
		}
	}
	if tasks != 2 {
		t.Errorf("%d histograms of the task", tasks)
	}
}
