package filchotel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/filch-go/filch"
)

// Times is a [filch.Observer] that makes histograms of how long tasks wait and run. Make one with [NewTimes]. Its
// methods may be called from any goroutine.
type Times struct {
	wait, run metric.Float64Histogram
	of        sync.Map // of the name of a pool to metric.RecordOption
}

var _ filch.Observer = (*Times)(nil)

// NewTimes returns an observer that measures how long tasks wait and run, with meters of provider. Pass it to
// [filch.WithObserver], of one pool or of several with different names.
//
// filch.task.wait is the time from submission to start, and filch.task.run that from start to end, in seconds.
// Both have the attribute filch.pool.name. A task counts when it ends, however that is. Tasks that never
// start do not count. The buckets go from 10 us to 2.8 minutes, unless a View of the provider says otherwise.
//
// A task costs what an observer costs, and some hundred nanoseconds when it ends. NewTimes returns the errors of the
// provider, and panics if that is nil.
//
//figure:set 10 us
func NewTimes(provider metric.MeterProvider) (*Times, error) {
	if provider == nil {
		panic("filchotel: NewTimes: provider is nil")
	}
	meter, t := provider.Meter(scope), &Times{}
	bounds := []float64{10e-6}
	for len(bounds) < 13 {
		bounds = append(bounds, 4*bounds[len(bounds)-1])
	}
	var errs [2]error
	t.wait, errs[0] = meter.Float64Histogram("filch.task.wait", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(bounds...),
		metric.WithDescription("How long tasks waited between submission and start."))
	t.run, errs[1] = meter.Float64Histogram("filch.task.run", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(bounds...),
		metric.WithDescription("How long tasks ran."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("filchotel: NewTimes: %w", err)
	}
	return t, nil
}

// Observe is told of the events of tasks. Package filch calls it.
func (t *Times) Observe(e filch.Event) {
	if e.Kind != filch.TaskDone {
		return
	}
	about, ok := t.of.Load(e.Pool)
	if !ok {
		about, _ = t.of.LoadOrStore(e.Pool, metric.WithAttributeSet(attribute.NewSet(poolName.String(valid(e.Pool)))))
	}
	ctx := context.WithoutCancel(e.Context) // an SDK may drop what is recorded with a context that has ended
	t.wait.Record(ctx, e.Started.Sub(e.Submitted).Seconds(), about.(metric.RecordOption))
	t.run.Record(ctx, e.Ended.Sub(e.Started).Seconds(), about.(metric.RecordOption))
}
