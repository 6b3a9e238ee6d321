package engine

import (
	"context"
	"runtime/pprof"
)

// The labels of goroutines, by which CPU profiles tell requests apart, follow the work and
// not the goroutine. A goroutine of a pool starts without any. When its worker takes a
// fork, the goroutine takes on the labels of the work that the fork belongs to. Afterwards
// it drops them. Labels change only there: what a worker helps with while it waits belongs
// to the same work as what it waits for, and has the same labels.
//
// The owner of a fork notes the labels when it publishes the fork. After a Do, only the
// first publication looks into the context. So work that is never shared costs nothing,
// and work without labels costs one compare for each fork that is stolen.

// labelling is which labels there are of what runs on a worker.
type labelling struct {
	client context.Context  // what runs here has its labels, if they were not asked for yet
	labels *context.Context // the same once they were; nil if there are none
}

// WorksFor notes that what is about to run has the labels of ctx. It ends with
// WorksForNobody.
func (l *labelling) WorksFor(ctx context.Context) { l.client = ctx }

// WorksForNobody ends what WorksFor noted.
func (l *labelling) WorksForNobody() { l.client, l.labels = nil, nil }

// Labels returns the labels of what runs on w, for what is published of it, or nil if there are none.
func (w *Worker) Labels() *context.Context {
	if w.client != nil {
		w.labels = w.pool.source.LabelsOf(w.client)
		w.client = nil
	}
	return w.labels
}

// LabelsOf returns a context with the labels of what works for ctx, or nil if there are none.
func (p *Pool) LabelsOf(ctx context.Context) *context.Context { return p.source.LabelsOf(ctx) }

// Relabel gives the goroutine of the worker the given labels.
func (l *labelling) Relabel(to *context.Context) {
	l.labels = to
	Label(to)
}

// Label gives the goroutine the given labels, or none if that is nil.
func Label(labels *context.Context) {
	if labels == nil {
		Unlabel()
		return
	}
	pprof.SetGoroutineLabels(*labels)
}

// Unlabel takes all labels from the goroutine.
func Unlabel() { pprof.SetGoroutineLabels(context.Background()) }
