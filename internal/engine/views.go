package engine

import "github.com/filch-go/filch/internal/views"

// What runs on a worker without a break is a segment, with views of its own: of the hyperobjects that it
// uses, as package views has it. Worker.Segment is the segment that runs now. On one worker
// there is one segment. A fork that is stolen is another one: execute has it begin without views, and
// leaves what it ends with in the Job, for the join. So a join at which nothing was stolen does nothing, and
// one at which something was compares a pointer with nil.
//
// At a join, what the owner has comes first, and then what the fork has: on one worker the fork would have
// run right there. That holds also if it has panicked: what it did before counts, as it would on one worker.
// What a fork that is dropped has left is forgotten, since on one worker it would not have run.

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
