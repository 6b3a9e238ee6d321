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

// WorksFor notes that what w is about to run has the labels of ctx. It ends with
// WorksForNobody.
func (w *Worker) WorksFor(ctx context.Context) { w.client = ctx }

// WorksForNobody ends what WorksFor noted.
func (w *Worker) WorksForNobody() { w.client, w.labels = nil, nil }

// labelsToShare returns the labels of what runs on w, for what is published of it.
func (w *Worker) labelsToShare() *context.Context {
	if w.client != nil {
		w.labels = w.pool.source.LabelsOf(w.client)
		w.client = nil
	}
	return w.labels
}

// Labels returns the labels of what runs on w, or nil if there are none.
func (w *Worker) Labels() *context.Context { return w.labelsToShare() }

// LabelsOf returns a context with the labels of what works for ctx, or nil if there are none.
func (p *Pool) LabelsOf(ctx context.Context) *context.Context { return p.source.LabelsOf(ctx) }

// Relabel gives the goroutine of w the given labels.
func (w *Worker) Relabel(labels *context.Context) {
	w.labels = labels
	Label(labels)
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
