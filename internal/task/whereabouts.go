package task

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/tell"
)

// LookAt returns the state of p, which holds held tasks. If nothing is active, or there are more goroutines than most, it
// reads the stacks only for waits.
func (p *Pool) LookAt(active bool, held, most int) (l event.Look) {
	text := ""
	if active {
		text = tell.TracebackOf(most)
	}
	at, unused := tell.ReadPools(text), p.Engine.Unused()
	for _, w := range *p.Engine.Workers.Load() {
		if look, used := of(w).look(unused[w], at); used {
			l.Workers = append(l.Workers, look)
		}
	}
	for _, g := range p.inPlaceOutside(at) {
		l.InPlace = append(l.InPlace, event.TaskLook{Task: g.TaskInPlace(), At: g.Where()})
	}
	for _, b := range p.LongRunning() {
		g := goroutineOf(at, b)
		l.Long = append(l.Long, event.TaskLook{Task: g.Named(Describe(b)), At: g.Where()})
	}
	l.Waits, l.More, l.Circles = p.lookAtWaits(text)
	for _, h := range p.AllHeld(mostShown) {
		l.Held = append(l.Held, event.HeldLook{Task: Describe(h.Body), Why: h.String()})
	}
	l.MoreHeld = max(0, held-mostShown)
	return l
}

// inPlaceOutside returns the goroutines outside of p's workers that run tasks of p in place.
func (p *Pool) inPlaceOutside(at tell.Goroutines) (some []*tell.Goroutine) {
	workers := *p.Engine.Workers.Load()
	return slices.DeleteFunc(at.InPlace(tell.Address(p)), func(g *tell.Goroutine) bool {
		return slices.ContainsFunc(workers, func(w *engine.Worker) bool { return g.Runs(tell.Address(w)) })
	})
}

// goroutineOf returns the goroutine of b, a LongRunning task, or nil if not found.
func goroutineOf(at tell.Goroutines, b Body) *tell.Goroutine {
	if t, ok := bare(b).(FutureTask); ok {
		return at.OfLong(tell.Address(&t.Core().Ctx))
	}
	return nil
}

// look returns the state of w, and whether it is in use.
func (w *Worker) look(unused bool, at tell.Goroutines) (l event.WorkerLook, used bool) {
	e := &w.Engine
	running, d := w.Own.Running()
	l = event.WorkerLook{Worker: e.ID, Queued: w.Own.Depth()}
	if unused || e.Doing().Kind == engine.AtSearch && !e.Hold.Load().HasPlace() { // it has passed its place on, and is about to leave
		return l, l.Queued > 0
	}
	g := at.Of(tell.Address(w))
	l.At, l.Lent = g.Where(), !e.Hold.Load().HasPlace()
	if running != nil {
		l.Task = g.Named(Describe(running))
		if d >= time.Millisecond {
			l.For = d
		}
	}
	shown, shows := w.Pool.Users.Shown(w)
	l.Doing = w.describeDoing(e.Doing(), shows)
	if shows {
		if l.Doing != "" {
			l.Doing += "; "
		}
		l.Doing += shown
	}
	return l, true
}

// describeDoing describes at, what w is doing, without what Show says.
func (w *Worker) describeDoing(at engine.Doing, shown bool) (s string) {
	function, kind, other := ofFunction(at.Entry), at.Kind, at.Other
	if shown && kind != engine.AtDo { // that says more than the body of a par loop
		function = ""
	}
	switch kind {
	case engine.AtDo:
		s = "Do" + function
	case engine.AtCall:
		if !shown {
			s = "Call" + function
		}
	case engine.AtFork:
		s = fmt.Sprintf("fork%s from worker %d", function, other)
		if d := time.Duration(clock.Now() - at.Since); d >= time.Millisecond {
			s += fmt.Sprintf(", for %v", tell.Round(d))
		}
	case engine.AtJoin:
		s = "waits for a fork"
		if other >= 0 {
			s += fmt.Sprintf(" that worker %d has", other)
		}
	case engine.AtSearch:
		s = "searches"
	case engine.AtWay:
		s = "has given way to tasks"
	}
	if !w.Engine.Hold.Load().HasPlace() {
		s = strings.TrimPrefix(s+", without a slot", ", ")
	}
	return s
}

// String describes what holds a task.
func (h *Held) String() string {
	var open []string
	deps := h.after()
	for i := range deps {
		if c := &deps[i].on.Core().Ctx; !c.state.Load().IsDone() {
			open = append(open, nameIn(nil, c))
		}
	}
	const most = 3
	switch n := len(open); {
	case n > most:
		return fmt.Sprintf("comes after %s and %d more", strings.Join(open[:most], ", "), n-most)
	case n > 0:
		return "comes after " + strings.Join(open, ", ")
	case h.Slot.Of != nil:
		return fmt.Sprintf("waits for a slot of the Subpool %s, which has %d", h.Slot.Of.Name, h.Slot.Of.Limit)
	}
	return "is about to be queued"
}
