package filchprom

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/filch-go/filch"
)

// TimesOptions say what [NewTimes] makes. The zero value is a good start.
type TimesOptions struct {
	// Buckets are the upper bounds of the classic buckets, in seconds, ascending. Without any, they go from
	// 10 us to 2.8 minutes, each four times the last.
	//
	//figure:set 10 us
	Buckets []float64

	// NativeFactor adds native buckets, which Prometheus takes if it scrapes with protobuf. Each bound
	// is at most so many times the last; 1.1 is usual. A histogram then keeps at most 160 of them. With 0 there
	// are none.
	NativeFactor float64

	// ByTask adds the label task, which is the name of [filch.Named]. Give tasks a few names, not one each: a
	// name has two histograms, which are kept for ever.
	ByTask bool
}

// Times is a [filch.Observer] that makes histograms, and a [prometheus.Collector] of them. Make one with [NewTimes].
// Its methods may be called from any goroutine.
type Times struct {
	wait, run *prometheus.HistogramVec
	byTask    bool
	of        sync.Map // of timed to *timesOf
}

var (
	_ filch.Observer       = (*Times)(nil)
	_ prometheus.Collector = (*Times)(nil)
)

// timed is what tasks have in common whose times are together.
type timed struct{ pool, task string }

type timesOf struct{ wait, run prometheus.Observer }

// NewTimes returns an observer that measures how long tasks wait and run. Pass it to [filch.WithObserver], of one pool or
// of several with different names, and register it:
//
//	times := filchprom.NewTimes(filchprom.TimesOptions{})
//	p := filch.New(filch.WithName("web"), filch.WithObserver(times))
//	prometheus.MustRegister(filchprom.New(p), times)
//
// filch_task_wait_seconds is the time from submission to start, and filch_task_run_seconds that from start to
// end. Both have the label pool. A task counts when it ends, however that is. Tasks that never start do not count.
//
// A task costs what an observer costs, and about a tenth of a microsecond when it ends. NewTimes panics if the
// buckets are not ascending, or NativeFactor is neither 0 nor more than 1.
func NewTimes(o TimesOptions) *Times {
	for i, b := range o.Buckets {
		if math.IsNaN(b) || i > 0 && b <= o.Buckets[i-1] {
			panic(fmt.Sprintf("filchprom: NewTimes: Buckets are not ascending: %v", o.Buckets))
		}
	}
	if o.NativeFactor != 0 && !(o.NativeFactor > 1) || math.IsInf(o.NativeFactor, 1) {
		panic(fmt.Sprintf("filchprom: NewTimes: NativeFactor is %v: it must be 0, or more than 1", o.NativeFactor))
	}
	labels := []string{"pool"}
	if o.ByTask {
		labels = append(labels, "task")
	}
	return &Times{
		wait:   o.histogram("filch_task_wait_seconds", "How long tasks waited between submission and start.", labels),
		run:    o.histogram("filch_task_run_seconds", "How long tasks ran.", labels),
		byTask: o.ByTask,
	}
}

func (o *TimesOptions) histogram(name, help string, labels []string) *prometheus.HistogramVec {
	h := prometheus.HistogramOpts{Name: name, Help: help, Buckets: o.Buckets}
	if len(h.Buckets) == 0 {
		h.Buckets = prometheus.ExponentialBuckets(10e-6, 4, 13)
	}
	if o.NativeFactor != 0 {
		h.NativeHistogramBucketFactor, h.NativeHistogramMaxBucketNumber = o.NativeFactor, 160
		h.NativeHistogramMinResetDuration = time.Hour
	}
	return prometheus.NewHistogramVec(h, labels)
}

// Observe is told of the events of tasks. Package filch calls it.
func (t *Times) Observe(e filch.Event) {
	if e.Kind != filch.TaskDone {
		return
	}
	k := timed{pool: e.Pool}
	if t.byTask {
		k.task = e.Task
	}
	o, ok := t.of.Load(k)
	if !ok {
		o, _ = t.of.LoadOrStore(k, t.newTimesOf(k))
	}
	h := o.(*timesOf)
	h.wait.Observe(e.Started.Sub(e.Submitted).Seconds())
	h.run.Observe(e.Ended.Sub(e.Started).Seconds())
}

func (t *Times) newTimesOf(k timed) *timesOf {
	labels := []string{valid(k.pool)}
	if t.byTask {
		labels = append(labels, valid(k.task))
	}
	return &timesOf{t.wait.WithLabelValues(labels...), t.run.WithLabelValues(labels...)}
}

// Describe tells what metrics there are. Package prometheus calls it.
func (t *Times) Describe(ch chan<- *prometheus.Desc) {
	t.wait.Describe(ch)
	t.run.Describe(ch)
}

// Collect tells what the metrics are now. Package prometheus calls it.
func (t *Times) Collect(ch chan<- prometheus.Metric) {
	t.wait.Collect(ch)
	t.run.Collect(ch)
}
