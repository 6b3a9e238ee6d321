package task

import (
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

// What hooks are told of tasks that no observer sees. What one worker runs without a break takes one
// event a task, and one look at the clock: the end of each is told with the begin of the next.

// told is what hooks were told of a worker's tasks.
type told struct {
	tasks  uint64      // how many
	end    int64       // when the one before ended, in the same burst, of which they were not told yet; else 0
	open   event.Event // which that was
	looked int64       // when they were told last how much is queued
	own    int         // what they were told last: in the worker's own queue,
	global int         // and in the global one, by this worker
}

// A Run is that of a task which hooks were told of.
type Run struct {
	Returned bool // its function has

	p *Pool
	w *Worker // the caller's own, or nil
	e event.Event
}

// TellStarted tells hooks that the task of the given name and function starts on w, which may be nil. If w is the caller's own, id
// is not called: the worker numbers its tasks itself.
func (p *Pool) TellStarted(w *Worker, own bool, name string, entry uintptr, id func() uint64) Run {
	r := Run{p: p, e: event.Event{Kind: event.Started, Worker: -1, Other: -1, Name: name, Func: entry}}
	if w != nil {
		r.e.Worker = w.Engine.ID
	}
	if !own {
		r.e.ID = id()
	} else {
		r.w = w
		last := &w.told
		last.tasks++
		r.e.ID = event.TaskID(r.e.Worker, last.tasks)
		if last.end != 0 {
			r.e.Kind, r.e.At, last.end = event.Next, last.end, 0
		}
	}
	p.Engine.Tell(r.e)
	return r
}

// TellEnded is deferred.
func (r *Run) TellEnded() {
	r.e.Kind, r.e.At = event.Done, clock.Now()
	if !r.Returned {
		r.e.Kind = event.Crashed
	}
	if r.w == nil || !r.Returned {
		r.p.Engine.Tell(r.e)
		return
	}
	told := &r.w.told
	told.open, told.end = r.e, r.e.At
	if since := r.e.At - told.looked; since >= int64(time.Millisecond) || since < 0 { // the clock of a bubble is below zero
		told.looked = r.e.At
		r.w.tellOwn(r.w.Own.Depth())
		r.w.tellGlobal(r.p.Global.Depth())
	}
}

// tellRest tells hooks of the end of the task that ended last, unless they were told, and of queues that have become empty
// since w told how much is in them.
func (w *Worker) tellRest() {
	told := &w.told
	if told.end != 0 {
		told.end = 0
		w.Pool.Engine.Tell(told.open)
	}
	if told.own > 0 && w.Own.Depth() == 0 {
		w.tellOwn(0)
	}
	if told.global > 0 && w.Pool.Global.Depth() == 0 {
		w.tellGlobal(0)
	}
}

// tellOwn tells hooks that n tasks are in w's own queue.
func (w *Worker) tellOwn(n int) {
	w.told.own = n
	w.Engine.TellNumber(event.Queued, nil, n)
}

// tellGlobal tells them that n are in the global queue.
func (w *Worker) tellGlobal(n int) {
	w.told.global = n
	w.Pool.Engine.Tell(event.Event{Kind: event.Queued, Worker: -1, Other: -1, ID: uint64(n)})
}

// tellFetched tells hooks that w has taken n tasks from q.
func (w *Worker) tellFetched(q *Queue, n int) {
	if !w.Pool.Engine.IsHooked() {
		return
	}
	var from *engine.Worker
	for _, v := range *w.Pool.Engine.Workers.Load() {
		if &of(v).Own == q {
			from = v
		}
	}
	w.Engine.TellNumber(event.Fetched, from, n)
}
