package engine

import (
	"context"
	"runtime/trace"
	"sync/atomic"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/views"
)

// company is what comes with the work that runs on a worker.
type company struct {
	labelling     // see labels.go
	views.Segment // see views.go
}

// with is what comes with a fork to the worker that steals it, and what comes back.
type with struct {
	labels *context.Context // of the work that it belongs to, or nil; the owner writes, before it is published
	views  *views.Table     // that it ends with; the thief writes, before it is done
}

// parts are what parts of a Finish have left that are done.
type parts struct {
	views atomic.Pointer[views.Table] // thieves swap, and the owner in the end
}

// share returns what comes with the forks that w publishes.
func share(w *Worker) with { return with{labels: w.Labels()} }

// join gives w, which has forked it, what a fork has left.
func (x with) join(w *Worker) { w.JoinViews(x.views) }

// begin forgets the company of what has failed on w before.
func (c *company) begin() { c.Views = nil }

// end forgets the company of what has run here: the worker is let go.
func (c *company) end() { c.WorksForNobody() }

// around is what stands around the run of a stolen fork, which belongs to other work than what its thief did before, and is on another
// goroutine than its owner's. Each part has a file of its own. Nothing of it is there on the way of a fork that is not stolen.
type around struct {
	ends   func()           // Checks are told; or nil
	user   User             // whose the worker was
	labels *context.Context // of the goroutine
	views  *views.Table     // set aside
	region *trace.Region    // in the trace of the Go runtime, if that is on, or nil
}

// surround begins what stands around j, which w is about to run.
func surround(w *Worker, j *Job) around {
	a := around{user: w.Occupy(), labels: w.labels, views: w.SetViewsAside()}
	if w.checked {
		a.ends = w.pool.Checks.Begins(w)
	}
	if j.labels != a.labels {
		w.Relabel(j.labels)
	}
	if trace.IsEnabled() {
		a.region = trace.StartRegion(context.Background(), "filch fork "+event.FuncName(j.entry))
	}
	return a
}

// end ends it for w, and leaves with j what the run has left.
func (a *around) end(w *Worker, j *Job) {
	if a.region != nil {
		a.region.End()
	}
	if w.labels != a.labels {
		w.Relabel(a.labels)
	}
	if a.ends != nil {
		a.ends()
	}
	w.User = a.user
	j.views = w.RestoreViews(a.views)
}
