package engine

import (
	"context"
	"runtime/trace"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/views"
)

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

// end ends it for w, and returns the views that the run has left.
func (a *around) end(w *Worker) (left *views.Table) {
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
	return w.RestoreViews(a.views)
}
