package engine

import "github.com/filch-go/filch/internal/views"

// What runs on a worker without a break is a segment, with views of its own: of the hyperobjects that it
// uses, as package views has it. Worker.Views is the table of the segment that runs now. On one worker
// there is one segment. A fork that is stolen is another one: execute has it begin without views, and
// leaves what it ends with in the Job, for the join. So a join at which nothing was stolen does nothing, and
// one at which something was compares a pointer with nil.
//
// At a join, what the owner has comes first, and then what the fork has: on one worker the fork would have
// run right there. That holds also if it has panicked: what it did before counts, as it would on one worker.
// What a fork that is dropped has left is forgotten, since on one worker it would not have run.

// SetViewsAside has what runs next on w begin without views, and returns those that w has, for
// JoinViews or RestoreViews.
func (w *Worker) SetViewsAside() (before *views.Table) {
	before, w.Views = w.Views, nil
	return before
}

// RestoreViews gives w back what was set aside, and returns what it has had since.
func (w *Worker) RestoreViews(before *views.Table) (since *views.Table) {
	since, w.Views = w.Views, before
	return since
}

// JoinViews folds later views, which may be nil, into those of w.
func (w *Worker) JoinViews(later *views.Table) {
	if later != nil {
		w.Views = views.Merge(w.Views, later)
	}
}

// EndViews hands the views of w to their hyperobjects, at the end of an outermost call.
func (w *Worker) EndViews() {
	if w.Views != nil {
		w.SetViewsAside().End()
	}
}

// LeaveViews leaves the views that w has with f, after a part of it that ran on w. Parts are in no order.
func (f *Finish) LeaveViews(w *Worker) {
	for t := w.SetViewsAside(); t != nil && !f.views.CompareAndSwap(nil, t); {
		t = views.Merge(f.views.Swap(nil), t)
	}
}

// TakeViews folds what LeaveViews has left into the views of w, the owner of f, when all parts are done.
func (f *Finish) TakeViews(w *Worker) {
	if f.views.Load() != nil {
		w.JoinViews(f.views.Swap(nil))
	}
}
