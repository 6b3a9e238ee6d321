package task

import (
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

// What hooks receive about tasks that no observer sees. Consecutive tasks on a worker take one event and one clock reading
// each: the end of a task is reported with the beginning of the next.

// told is what hooks have received about a worker's tasks.
type told struct {
	tasks  uint64      // how many
	end    int64       // when the previous task of the same burst ended, if not yet reported; else 0
	open   event.Event // the event of that task
	looked int64       // when queue lengths were last reported
	own    int         // the last reported length of the worker's own queue,
	global int         // and of the global one, by this worker
}

// A Run is that of a task reported to hooks.
type Run struct {
	Returned bool // its function has

	p *Pool
	w *Worker // the caller's own, or nil
	e event.Event
}

// TellStarted reports to hooks that the task of the given name and function starts on w, which may be nil. If w is the
// caller's own, it does not call id: the worker numbers its tasks itself.
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

// tellRest reports to hooks the end of the last task, unless it was reported, and queues that have become empty since w last
// reported their length.
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

// tellOwn reports that n tasks are in w's own queue.
func (w *Worker) tellOwn(n int) {
	w.told.own = n
	w.Engine.TellNumber(event.Queued, nil, n)
}

// tellGlobal reports that n tasks are in the global queue.
func (w *Worker) tellGlobal(n int) {
	w.told.global = n
	w.Pool.Engine.Tell(event.Event{Kind: event.Queued, Worker: -1, Other: -1, ID: uint64(n)})
}

// tellFetched reports that w has taken n tasks from q.
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
