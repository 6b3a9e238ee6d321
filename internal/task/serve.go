package task

import (
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/policy"
)

// serve runs t, and other queued tasks, at the bottom of w's stack. self is where the caller keeps w: if another goroutine
// still uses w as a Scope at the end, w is left to that one, and the caller gets another worker. serve reports whether to let
// others run then; see lets.
func (w *Worker) serve(t Task, self **engine.Worker) (lets bool) {
	p := w.Pool
	s := Seat{Worker: w, Round: w.Engine.Hold.OpenRound()}
	w.Engine.Note(engine.AtTasks, nil, 0)
	defer w.endBurst(self)
	defer p.Caught(&w.body, Seat{})
	for ok := true; ok; {
		p.LeaveQueue() // (W31) w is not idle, and does not count as searching
		w.body = t.Body
		if p.Order == ByPriority {
			w.SetLevel(w.taking)
		}
		w.ran++
		if !t.Body.Start(p, s, t.Ctx, true) {
			w.ran--
		}
		w.body = nil
		w.endTurn()
		if w.lets() {
			return true
		}
		if p.Engine.Over() || !w.Engine.Hold.Load().HasPlace() || p.Engine.HandedOn() {
			return false
		}
		if p.way.n.Load() > 0 && p.mayPass() {
			return false // see passPlace
		}
		t, ok = w.nextTask()
	}
	return false
}

// lets reports whether w lets goroutines run that are no tasks and wait for the task that w has done, such as handlers that are to send
// its result: while tasks are queued, w would keep the processor until the runtime takes it away, after 10 ms. It does so between two
// rounds, so that meanwhile no goroutine with the context of a task that is over finds its seat.
func (w *Worker) lets() bool {
	if !w.answers {
		return false
	}
	w.answers = false
	if w.Engine.Processor() >= 0 {
		return false // pinned: to let others have the processor takes two switches of threads
	}
	now := clock.Now()
	if now-w.answered < policy.AnswerTime {
		return false
	}
	w.answered = now
	return true
}

// endBurst is deferred by serve, and called whatever the callbacks of Caught do.
func (w *Worker) endBurst(self **engine.Worker) {
	engine.Unlabel() // set by the tasks
	w.tellRest()
	w.endTurn()
	w.Own.mu.Lock()
	w.Own.ran += w.ran
	w.Own.running = nil
	w.Own.mu.Unlock()
	w.ran = 0
	w.Kept = nil
	seat := w.Engine.Seat() // before w may be another goroutine's
	if w.endRound() {
		*self = w.Engine.Succeed(seat)
	}
}

// endRound begins a new round, and reports whether w is left to another goroutine, which uses it as a Scope. Before that,
// tasks that run on in w's seat, on other goroutines, are counted as blocked, so that Close waits for them and none can end
// before it is counted.
func (w *Worker) endRound() (left bool) {
	p := w.Pool
	for {
		s := w.Engine.Hold.Load()
		n := s.Seated()
		p.Totals.Left.Add(int64(n))
		w.left.Add(int64(n))
		w.Engine.SetRuns(!s.Used()) // before w may be another goroutine's
		_ = p.Engine.Places.EnterBlocked(n)
		left, ok := w.Engine.Hold.EndRound(s)
		if ok {
			return left
		}
		_ = p.Engine.Places.LeaveBlocked(n) // w counts as well, so the pool is not idle
		p.Totals.Left.Add(-int64(n))
		w.left.Add(-int64(n))
	}
}
