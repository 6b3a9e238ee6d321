// Package filchprom exports what pools of package filch do to Prometheus.
//
// [New] makes a collector of what [filch.Pool.Stats] says. [NewTimes] makes histograms of how long
// tasks wait and run. docs/metrics.md of the repository has all metrics and what to watch; grafana.json and
// alerts.yaml, beside this package, are a dashboard and alerts for them.
package filchprom

import (
	"fmt"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/filch-go/filch"
)

// Collector is a [prometheus.Collector] of the figures of pools. Make one with [New]. Its methods may be called
// from any goroutine.
type Collector struct{ pools []*pool }

var _ prometheus.Collector = (*Collector)(nil)

// pool is what a Collector has of a pool.
type pool struct {
	stats func() filch.Stats
	descs []*prometheus.Desc // of the metrics, in their order

	mu   sync.Mutex
	told []float64 // what counters were at the last Collect, by the number of the metric; under mu
}

// New returns a collector of what the pools do. Register it once:
//
//	prometheus.MustRegister(filchprom.New(p))
//
// The label pool of each metric is the pool's name. Give pools names with [filch.WithName]: one without has a
// name that depends on which pools were made before, as [filch.Pool.Name] says.
//
// Two pools may not have the same name. New panics if two of its arguments have, and Register returns an error
// if a collector that is registered already has a pool of that name. A pool that is closed keeps its
// figures. So a program that makes pools again and again has a collector for each, and unregisters it.
//
// A collection calls [filch.Pool.Stats] once for each pool, and makes some thirty metrics of it, which takes some
// tens of microseconds. New panics if a pool is nil.
func New(pools ...*filch.Pool) *Collector {
	c := &Collector{}
	named := map[string]bool{}
	for i, p := range pools {
		if p == nil {
			panic(fmt.Sprintf("filchprom: New: pool %d is nil", i))
		}
		name := valid(p.Name())
		if named[name] {
			panic(fmt.Sprintf("filchprom: New: two pools have the name %q: give them names of their own with filch.WithName", name))
		}
		named[name] = true
		c.pools = append(c.pools, newPool(name, p.Stats))
	}
	return c
}

// valid returns s as UTF-8, which labels must be.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func newPool(name string, stats func() filch.Stats) *pool {
	p := &pool{stats: stats, told: make([]float64, len(metrics))}
	for _, m := range metrics {
		p.descs = append(p.descs, prometheus.NewDesc(m.name, m.help, nil, prometheus.Labels{"pool": name}))
	}
	return p
}

// Describe tells what metrics there are. Package prometheus calls it.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, p := range c.pools {
		for _, d := range p.descs {
			ch <- d
		}
	}
}

// Collect tells what the metrics are now. Package prometheus calls it.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, p := range c.pools {
		p.collect(ch)
	}
}

func (p *pool) collect(ch chan<- prometheus.Metric) {
	values := p.values()
	for i := range metrics {
		ch <- prometheus.MustNewConstMetric(p.descs[i], metrics[i].kind, values[i])
	}
}

// values returns what the metrics are. Stats looks at one worker after the other, so what it counts may be less by a
// few than it said before. For Prometheus, a counter that falls begins anew: so it stays instead.
func (p *pool) values() []float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats()
	values := make([]float64, len(metrics))
	for i, m := range metrics {
		values[i] = m.of(&s)
		if m.kind == prometheus.CounterValue {
			values[i] = max(values[i], p.told[i])
			p.told[i] = values[i]
		}
	}
	return values
}
