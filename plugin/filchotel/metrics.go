// Package filchotel tells OpenTelemetry what pools of package filch do.
//
// [Register] makes metrics of what [filch.Pool.Stats] says. [NewTimes] makes histograms of how long tasks wait and run,
// and [NewTracer] a span of each task. docs/metrics.md of the repository has all metrics and what to watch.
package filchotel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/filch-go/filch"
)

// scope is the name of what makes the metrics and spans, as OpenTelemetry wants it.
const scope = "github.com/filch-go/filch/plugin/filchotel"

// poolName is the attribute that all metrics and spans have.
const poolName = attribute.Key("filch.pool.name")

// figure is a figure of a pool.
type figure struct {
	name, unit, text string
	counts           bool // it never falls
	of               func(s *filch.Stats) int64
}

// figures are all those of [filch.Stats] that are numbers, in the order of docs/metrics.md.
var figures = []figure{
	now("filch.worker.limit", "{worker}", "Worker slots: goroutines that may run at once, without extra slots.", func(s *filch.Stats) int { return s.Workers }),
	now("filch.worker.active", "{worker}", "Worker slots in use, including searching workers.", func(s *filch.Stats) int { return s.Active }),
	now("filch.worker.busy", "{worker}", "Worker slots in use by workers that have work.", func(s *filch.Stats) int { return s.Busy }),
	now("filch.worker.searching", "{worker}", "Workers searching for work.", func(s *filch.Stats) int { return s.Searching }),
	now("filch.worker.idle", "{worker}", "Free worker slots.", func(s *filch.Stats) int { return s.Idle }),
	now("filch.worker.blocked", "{goroutine}", "Goroutines that wait or block without a worker slot, or run a LongRunning task.", func(s *filch.Stats) int { return s.Blocked }),
	now("filch.worker.extra", "{worker}", "Extra worker slots, added because workers block where the pool cannot see it.", func(s *filch.Stats) int { return s.Extra }),
	sum("filch.worker.wakes", "{goroutine}", "Goroutines started to fill a worker slot.", func(s *filch.Stats) int64 { return s.Wakes }),
	now("filch.pool.paused", "{pool}", "Whether the pool is paused: 1 if so, else 0.", func(s *filch.Stats) int { return oneIf(s.Paused) }),

	sum("filch.fork.published", "{fork}", "Forks published to other workers.", func(s *filch.Stats) int64 { return s.Published }),
	sum("filch.fork.taken_back", "{fork}", "Published forks joined before another worker took them.", func(s *filch.Stats) int64 { return s.TakenBack }),
	sum("filch.fork.steal_attempts", "{attempt}", "Attempts to steal a fork.", func(s *filch.Stats) int64 { return s.Attempts }),
	sum("filch.fork.stolen", "{fork}", "Forks stolen.", func(s *filch.Stats) int64 { return s.Steals }),
	sum("filch.fork.helped", "{fork}", "Forks stolen while waiting for a result, from the worker that computes it.", func(s *filch.Stats) int64 { return s.Helped }),
	sum("filch.join.waits", "{wait}", "Waits at a join, and yields to other tasks, that lent the worker slot.", func(s *filch.Stats) int64 { return s.Waits }),

	sum("filch.task.submitted", "{task}", "Tasks accepted.", func(s *filch.Stats) int64 { return s.Tasks.Submitted }),
	sum("filch.task.started", "{task}", "Tasks started.", func(s *filch.Stats) int64 { return s.Tasks.Started }),
	sum("filch.task.done", "{task}", "Tasks ended, in any way.", func(s *filch.Stats) int64 { return s.Tasks.Done }),
	sum("filch.task.failed", "{task}", "Tasks that returned an error, or ended by runtime.Goexit.", func(s *filch.Stats) int64 { return s.Tasks.Failed }),
	sum("filch.task.panicked", "{task}", "Tasks that panicked.", func(s *filch.Stats) int64 { return s.Tasks.Panicked }),
	sum("filch.task.cancelled", "{task}", "Tasks dropped before they started.", func(s *filch.Stats) int64 { return s.Tasks.Cancelled }),
	sum("filch.task.rejected", "{task}", "Tasks refused.", func(s *filch.Stats) int64 { return s.Tasks.Rejected }),
	sum("filch.task.in_place", "{task}", "Tasks started inline by a wait, by their submitter or by Help, or on a goroutine of their own.", func(s *filch.Stats) int64 { return s.Tasks.InPlace }),
	sum("filch.task.helped", "{task}", "Tasks started by Help.", func(s *filch.Stats) int64 { return s.Tasks.Helped }),
	sum("filch.task.steal_attempts", "{attempt}", "Attempts to steal tasks from a queue that seemed to have some.", func(s *filch.Stats) int64 { return s.Tasks.Attempts }),
	sum("filch.task.stolen", "{task}", "Tasks moved from one worker's queue to another's.", func(s *filch.Stats) int64 { return s.Tasks.Stolen }),
	sum("filch.task.stalls", "{stall}", "Times that worker slots were added because tasks were queued and none started.", func(s *filch.Stats) int64 { return s.Tasks.Stalls }),
	now("filch.task.queued", "{task}", "Tasks queued; some may be cancelled.", func(s *filch.Stats) int { return s.Tasks.Queued }),
	now("filch.task.queued_globally", "{task}", "Tasks in the global queue.", func(s *filch.Stats) int { return s.Tasks.Global }),
	now("filch.task.held", "{task}", "Tasks held back by After or a Subpool.", func(s *filch.Stats) int { return s.Tasks.Held }),
	now("filch.task.running", "{task}", "Tasks running.", func(s *filch.Stats) int { return s.Tasks.Running }),
	now("filch.task.submitters_waiting", "{goroutine}", "Goroutines waiting to submit a task.", func(s *filch.Stats) int { return s.Tasks.Waiting }),
}

// oldest is the figure that is a time.
const (
	oldest     = "filch.task.oldest"
	oldestText = "Time that the oldest queued task has waited; 0 if none is queued."
)

func now(name, unit, text string, of func(s *filch.Stats) int) figure {
	return figure{name, unit, text, false, func(s *filch.Stats) int64 { return int64(of(s)) }}
}

func sum(name, unit, text string, of func(s *filch.Stats) int64) figure {
	return figure{name, unit, text, true, of}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Register makes metrics of what the pools do, with meters of provider, until Unregister of what it returns is
// called:
//
//	metrics, err := filchotel.Register(otel.GetMeterProvider(), p)
//
// The attribute filch.pool.name of each is the pool's name. Give pools names with [filch.WithName]: one without
// has a name that depends on which pools were made before, as [filch.Pool.Name] says.
//
// Two pools may not have the same name. Register returns an error if two of its arguments have. It does not
// notice those of another call: what both pools count is added up then. A pool that is closed keeps its figures until
// Unregister.
//
// A collection calls [filch.Pool.Stats] once for each pool, and notes some thirty numbers, which takes some tens
// of microseconds. Register also returns the errors of the provider. It panics if provider or a pool is nil.
func Register(provider metric.MeterProvider, pools ...*filch.Pool) (metric.Registration, error) {
	if provider == nil {
		panic("filchotel: Register: provider is nil")
	}
	var all []*pool
	named := map[string]bool{}
	for i, p := range pools {
		if p == nil {
			panic(fmt.Sprintf("filchotel: Register: pool %d is nil", i))
		}
		name := valid(p.Name())
		if named[name] {
			return nil, fmt.Errorf("filchotel: Register: two pools have the name %q: give them names of their own with filch.WithName", name)
		}
		named[name] = true
		all = append(all, newPool(name, p.Stats))
	}
	return register(provider, all)
}

// pool is what is told of a pool.
type pool struct {
	stats func() filch.Stats
	about metric.ObserveOption

	mu   sync.Mutex
	told []int64 // what counters were when last asked, by the number of the figure; under mu
}

// valid returns s as UTF-8. Exporters refuse all that they have gathered if some of it is not.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func newPool(name string, stats func() filch.Stats) *pool {
	return &pool{stats: stats, about: metric.WithAttributeSet(attribute.NewSet(poolName.String(name))), told: make([]int64, len(figures))}
}

func register(provider metric.MeterProvider, pools []*pool) (metric.Registration, error) {
	meter := provider.Meter(scope)
	instruments, all, err := instrumentsOf(meter)
	age, e := meter.Float64ObservableGauge(oldest, metric.WithUnit("s"), metric.WithDescription(oldestText))
	if err := errors.Join(err, e); err != nil {
		return nil, fmt.Errorf("filchotel: Register: %w", err)
	}
	r, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, p := range pools {
			p.observe(o, instruments, age)
		}
		return nil
	}, append(all, age)...)
	if err != nil {
		return nil, fmt.Errorf("filchotel: Register: %w", err)
	}
	return r, nil
}

// instrumentsOf returns an instrument for each figure, in two forms.
func instrumentsOf(meter metric.Meter) (byFigure []metric.Int64Observable, all []metric.Observable, err error) {
	for _, f := range figures {
		var in metric.Int64Observable
		var e error
		if f.counts {
			in, e = meter.Int64ObservableCounter(f.name, metric.WithUnit(f.unit), metric.WithDescription(f.text))
		} else {
			in, e = meter.Int64ObservableUpDownCounter(f.name, metric.WithUnit(f.unit), metric.WithDescription(f.text))
		}
		byFigure, all, err = append(byFigure, in), append(all, in), errors.Join(err, e)
	}
	return byFigure, all, err
}

// observe tells what p does. Stats looks at one worker after the other, so what it counts may be less by a few than it
// said before. For OpenTelemetry, a counter that falls begins anew: so it stays instead.
func (p *pool) observe(o metric.Observer, instruments []metric.Int64Observable, age metric.Float64Observable) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats()
	for i, f := range figures {
		n := f.of(&s)
		if f.counts {
			n = max(n, p.told[i])
			p.told[i] = n
		}
		o.ObserveInt64(instruments[i], n, p.about)
	}
	o.ObserveFloat64(age, s.Tasks.Oldest.Seconds(), p.about)
}
