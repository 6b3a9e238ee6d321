package filch

import "github.com/filch-go/filch/internal/event"

// mustEnter makes the caller a worker with a place. It panics if the pool is closed.
func (p *Pool) mustEnter(op string) *Worker {
	w := p.tryEnter(false)
	if w == nil {
		panic("filch: " + op + " on a closed Pool")
	}
	return w
}

// tryEnter is mustEnter, but returns nil if the pool is closed, or, for what belongs to a
// task, has ended.
func (p *Pool) tryEnter(forTask bool) *Worker {
	if s := p.engine.Enter(); s.Closed() && (!forTask || s.Ended()) {
		p.engine.Leave()
		return nil
	}
	if p.engine.Size() == 1 {
		p.engine.Follow()
	}
	w := asWorker(p.engine.Hire())
	w.enterAsGuest()
	return w
}

// enterAsGuest begins a call of Do on w.
func (w *Worker) enterAsGuest() {
	w.guest = true
	w.engine.Tell(event.Entered, nil)
	if p := w.pool; p.order == ByPriority {
		w.setLevel(int64(p.levelOf(0)))
	}
	w.engine.Start()
}

// exit gives back what tryEnter gave.
func (p *Pool) exit(w *Worker) {
	if !w.engine.Hold.Load().HasPlace() {
		panic("filch: internal error: a worker left without its place")
	}
	w.guest = false
	w.engine.Tell(event.Left, nil)
	p.engine.Fire(&w.engine)
	p.engine.Leave()
}
