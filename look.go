package filch

import (
	"runtime"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

func init() {
	event.Known(func(pool any) event.Source {
		if p, ok := pool.(*Pool); ok && p.made() {
			return source{&p.tasks.Engine, p}
		}
		return nil
	})
}

// source is a pool as package trace sees it.
type source struct {
	*engine.Pool
	of *Pool
}

// mostLookedAt is how many goroutines there may be for Look to say where each is. It is called once a second, and the
// world stands still for some microseconds for each.
const mostLookedAt = 1000

// Look returns what Dump tells, but for the figures, which Stats has.
func (s source) Look() (l event.Look) {
	p := s.of
	stats := p.Stats() // it notes since when tasks run
	text := ""
	if stats.Active+stats.Blocked+stats.Tasks.Running > 0 && runtime.NumGoroutine() <= mostLookedAt {
		text = textOfStacks()
	}
	at := whereaboutsIn(text)
	unused := p.tasks.Engine.Unused()
	for _, w := range *p.tasks.Engine.Workers.Load() {
		if look, used := asWorker(w).look(unused[w], at); used {
			l.Workers = append(l.Workers, look)
		}
	}
	for _, g := range at.inPlaceOutside(p) {
		l.InPlace = append(l.InPlace, event.TaskLook{Task: g.taskInPlace(), At: g.where()})
	}
	for _, b := range p.longRunning() {
		g := at.ofLong(b)
		l.Long = append(l.Long, event.TaskLook{Task: g.named(describe(b)), At: g.where()})
	}
	l.Waits, l.More, l.Circles = p.lookAtWaits(text)
	for _, h := range p.tasks.AllHeld(mostShown) {
		l.Held = append(l.Held, event.HeldLook{Task: describe(h.Body), Why: h.Body.(heldTask).task().held().String()})
	}
	return l
}

// look returns what w is at, and whether it is in use.
func (w *Worker) look(unused bool, at whereabouts) (l event.WorkerLook, used bool) {
	running, d := w.tasks.Own.Running()
	l = event.WorkerLook{Worker: w.tasks.Engine.ID, Queued: w.tasks.Own.Depth()}
	if unused {
		return l, l.Queued > 0
	}
	g := at.of(w)
	l.At = g.where()
	if running != nil {
		l.Task = g.named(describe(running))
		if d >= time.Millisecond {
			l.For = d
		}
	}
	shown := w.shown.Load()
	l.Doing = w.describeDoing(w.tasks.Engine.Doing(), shown != nil)
	if shown != nil {
		if l.Doing != "" {
			l.Doing += "; "
		}
		l.Doing += shown.String()
	}
	return l, true
}
