package filch

import (
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
)

// The goroutine of a caller as a worker: from its entry by Do or Call, with a place, to its exit.

// mustEnter makes the caller a worker with a place. It panics if the pool is closed.
func (p *Pool) mustEnter(op string) *Worker {
	w := p.tryEnter(op, false)
	if w == nil {
		panic("filch: " + op + " on a closed Pool")
	}
	return w
}

// tryEnter is mustEnter, but returns nil if the pool is closed, or, for what belongs to a
// task, has ended.
func (p *Pool) tryEnter(op string, forTask bool) *Worker {
	if p == nil {
		isNotMade(op, "Pool", "New")
	}
	if p.checks != nil && !forTask {
		p.noticeNested()
	}
	if s := p.tasks.Engine.Enter(); s.Closed() && (!forTask || s.Ended()) {
		p.tasks.Engine.Leave()
		return nil
	}
	if n := p.tasks.Engine.Size(); n <= 1 {
		if n == 0 {
			isNotMade(op, "Pool", "New")
		}
		p.tasks.Engine.Follow()
	}
	w := asWorker(p.tasks.Engine.Hire())
	w.enterAsGuest()
	return w.alias()
}

// enterAsGuest begins a call of Do on w.
func (w *Worker) enterAsGuest() {
	w.tasks.Guest = true
	w.handOut()
	_ = w.tasks.Engine.Occupy()
	w.tasks.Engine.Tell(event.Entered, nil)
	if p := w.pool; p.tasks.Order == task.ByPriority {
		w.tasks.SetLevel(int64(p.tasks.LevelOf(0)))
	}
	w.tasks.Engine.Start()
}

// exit gives back what tryEnter gave.
func (p *Pool) exit(w *Worker) {
	w = w.base()
	if !w.tasks.Engine.Hold.Load().HasPlace() {
		panic("filch: internal error: a worker left without its place")
	}
	w.tasks.Guest = false
	w.takeIn()
	w.tasks.Engine.Leave()
	w.tasks.Engine.Tell(event.Left, nil)
	p.tasks.Engine.Fire(&w.tasks.Engine)
	p.tasks.Engine.Leave()
}
