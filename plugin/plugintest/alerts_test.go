package plugintest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/plugin/filchprom"
)

// readAlerts returns the rules of a plugin as promtool reads them.
func readAlerts(t *testing.T, plugin string) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile("../"+plugin+"/alerts.yaml", false, model.UTF8Validation, expressions, nil)
	if len(errs) > 0 {
		t.Fatal("rulefmt.ParseFile:", errs)
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// Alerts are about metrics that there are, say what is wrong and with which pool or cluster, and are documented.
func TestAlertsAreComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	total := 0
	for _, c := range []struct {
		plugin, label string
		there         map[string]bool
	}{{"filchprom", "pool", exported(t)}, {"filchclusterprom", "cluster", exportedOfCluster(t)}} {
		all := readAlerts(t, c.plugin)
		total += len(all)
		for _, r := range all {
			for _, name := range metricsOf(t, r.Expr) {
				if !c.there[name] {
					t.Errorf("%s: there is no %s", r.Alert, name)
				}
			}
			if !strings.Contains(r.Annotations["summary"], "{{ $labels."+c.label+" }}") || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
				t.Errorf("%s lacks a severity, a description, or a summary with the %s", r.Alert, c.label)
			}
			if !strings.Contains(string(text), "\n| "+r.Alert+" | ") {
				t.Errorf("docs/metrics.md lacks %s", r.Alert)
			}
		}
	}
	if n := strings.Count(string(text), "\n| Filch"); n != total {
		t.Errorf("docs/metrics.md has %d alerts, not %d", n, total)
	}
}

const every = 15 * time.Second // a scrape, and an evaluation of the rules

// scrapes are what a server of Prometheus has: series with samples. It is a storage.Queryable.
type scrapes struct {
	storage.LabelQuerier // none
	series               map[string]*samples
}

type samples struct {
	labels []string
	chunk  *chunkenc.XORChunk
	to     chunkenc.Appender
}

// scrape adds what g has now, as of a time.
func (s *scrapes) scrape(g prometheus.Gatherer, at time.Time) error {
	families, err := g.Gather()
	for _, f := range families {
		for _, m := range f.Metric {
			l := []string{"__name__", f.GetName(), "job", "test"}
			for _, p := range m.Label {
				l = append(l, p.GetName(), p.GetValue())
			}
			x := s.series[f.GetName()]
			if x == nil {
				x = &samples{labels: l, chunk: chunkenc.NewXORChunk()}
				if x.to, err = x.chunk.Appender(); err != nil {
					return err
				}
				s.series[f.GetName()] = x
			}
			x.to.Append(0, at.UnixMilli(), m.GetGauge().GetValue()+m.GetCounter().GetValue())
		}
	}
	return err
}

func (s *scrapes) Querier(int64, int64) (storage.Querier, error) { return s, nil }

func (s *scrapes) Close() error { return nil }

func (s *scrapes) Select(_ context.Context, _ bool, _ *storage.SelectHints, by ...*labels.Matcher) storage.SeriesSet {
	for _, m := range by {
		if m.Name == "__name__" {
			return &oneSeries{s.series[m.Value], false}
		}
	}
	return storage.EmptySeriesSet()
}

// oneSeries is a storage.SeriesSet, and its only storage.Series.
type oneSeries struct {
	*samples
	was bool
}

func (o *oneSeries) Next() bool {
	first := !o.was && o.samples != nil
	o.was = true
	return first
}
func (o *oneSeries) At() storage.Series                { return o }
func (o *oneSeries) Err() error                        { return nil }
func (o *oneSeries) Warnings() annotations.Annotations { return nil }
func (o *oneSeries) Labels() labels.Labels             { return labels.FromStrings(o.labels...) }
func (o *oneSeries) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	return o.chunk.Iterator(nil)
}

// firing returns the alerts that fire at some time, in order. They have a label with a value.
func (s *scrapes) firing(t *testing.T, rules []rulefmt.Rule, from, to time.Time, label, value string) (all []string) {
	t.Helper()
	e := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: expressions})
	defer e.Close()
	for _, r := range rules {
		q, err := e.NewRangeQuery(background, s, nil, r.Expr, from, to, every)
		if err != nil {
			t.Fatal("e.NewRangeQuery:", err)
		}
		answer := q.Exec(background)
		found, err := answer.Matrix()
		if err != nil {
			t.Fatal("answer.Matrix:", err)
		}
		for _, series := range found {
			if series.Metric.Get(label) != value {
				t.Errorf("%s: %v does not tell the %s", r.Alert, series.Metric, label)
			}
			if lasts(series.Floats, time.Duration(r.For)) {
				all = append(all, r.Alert)
			}
		}
		q.Close()
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// lasts reports whether an alert is pending long enough to fire: at evaluations that follow one another, so long.
func lasts(points []promql.FPoint, long time.Duration) bool {
	begin := 0
	for i := range points {
		if i > 0 && points[i].T-points[i-1].T > every.Milliseconds() {
			begin = i
		}
		if points[i].T-points[begin].T >= long.Milliseconds() {
			return true
		}
	}
	return false
}

var errClosed = errors.New("the test has ended")

// alertCases are what happens to a pool, and the alerts that fire.
var alertCases = map[string]struct {
	options []filch.Option
	// live does something to the pool, until ctx ends.
	live func(ctx context.Context, p *filch.Pool)
	want []string
}{
	"all is well": {nil, func(ctx context.Context, p *filch.Pool) {
		for sleep(ctx, 20*time.Second) {
			filch.Submit(ctx, p, nothing)
		}
	}, nil},
	"at rest": {nil, func(context.Context, *filch.Pool) {}, nil},
	"a task blocks for ever, and others wait for it": {
		[]filch.Option{filch.WithStallTimeout(0)}, func(ctx context.Context, p *filch.Pool) {
			for range 3 {
				p.Go(ctx, func(context.Context) { <-ctx.Done() })
			}
		}, []string{"FilchStuck", "FilchWaitsTooLong"}},
	"calls of Do hold all workers": {
		[]filch.Option{filch.WithStallTimeout(0)}, func(ctx context.Context, p *filch.Pool) {
			inside := make(chan struct{})
			go p.Do(func(*filch.Worker) { close(inside); <-ctx.Done() })
			<-inside
			p.Go(ctx, func(context.Context) {})
		}, []string{"FilchNothingRuns", "FilchStuck", "FilchWaitsTooLong"}},
	"tasks block out of sight": {nil, func(ctx context.Context, p *filch.Pool) {
		p.Go(ctx, func(context.Context) { <-ctx.Done() })
		for sleep(ctx, time.Minute) {
			p.Go(ctx, func(context.Context) { <-ctx.Done() })
		}
	}, []string{"FilchStalled"}},
	"more comes than is done": {
		[]filch.Option{filch.WithStallTimeout(0)}, func(ctx context.Context, p *filch.Pool) {
			for sleep(ctx, time.Second) {
				p.Go(ctx, func(context.Context) { time.Sleep(2 * time.Second) })
			}
		}, []string{"FilchQueueGrows", "FilchWaitsTooLong"}},
	"the queue is full": {
		[]filch.Option{filch.WithStallTimeout(0), filch.WithQueueLimit(1, filch.Reject)}, func(ctx context.Context, p *filch.Pool) {
			for sleep(ctx, time.Second) {
				p.Go(ctx, func(context.Context) { time.Sleep(2 * time.Second) })
			}
		}, []string{"FilchRejections"}},
	"a task panics": {nil, func(ctx context.Context, p *filch.Pool) {
		sleep(ctx, 10*time.Minute)
		filch.Submit(ctx, p, func(context.Context) (int, error) { panic("fire") })
	}, []string{"FilchPanics"}},
	"the pool stays paused": {nil, func(ctx context.Context, p *filch.Pool) {
		p.Pause()
		p.Go(ctx, func(context.Context) {})
	}, []string{"FilchPaused"}},
}

// Real pools with trouble of each kind set off the alerts that are for it, and no others. One that does well sets off
// none.
func TestAlertsFire(t *testing.T) {
	rules := readAlerts(t, "filchprom")
	fired := map[string]bool{}
	for name, c := range alertCases {
		t.Run(name, func(t *testing.T) {
			s := &scrapes{series: map[string]*samples{}}
			var from, to time.Time
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(background)
				p := filch.New(append(c.options, filch.WithName("p"), filch.WithWorkers(1))...)
				r := prometheus.NewRegistry()
				r.MustRegister(filchprom.New(p))
				go c.live(ctx, p)
				from = time.Now()
				for to = from; to.Sub(from) < 50*time.Minute; to = time.Now() {
					synctest.Wait()
					if err := s.scrape(r, to); err != nil {
						t.Fatal("s.scrape:", err)
					}
					time.Sleep(every)
				}
				end(errClosed)
				p.Close()
			})
			got := s.firing(t, rules, from, to, "pool", "p")
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%v fire, not %v", got, c.want)
			}
			for _, a := range got {
				fired[a] = true
			}
		})
	}
	for _, r := range rules {
		if !fired[r.Alert] {
			t.Errorf("%s never fires", r.Alert)
		}
	}
}

// sleep waits, and reports false if ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
