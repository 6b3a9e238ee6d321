package filch

import (
	"log/slog"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/environ"
	"github.com/filch-go/filch/internal/race"
)

// Logical races, as pools and workers have them; see internal/engine/logical.go. Those of tasks are in logicaltask.go.

// allLogical says that all pools have logical races. It is asked as allChecked is.
func allLogical() bool { return environ.On("FILCH_RACES") }

// noRaceTold is set when the program was told that FILCH_RACES does nothing without the race detector.
var noRaceTold atomic.Bool

func (p *Pool) tellNoRace() {
	if race.Enabled || noRaceTold.Swap(true) {
		return
	}
	logger := p.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn("filch: FILCH_RACES does nothing in a program that was built without -race")
}

// beginLogicalRaces prepares p for logical races, if they are wanted here or for all pools, unless the work of p runs in one
// order, whatever it is.
func (p *Pool) beginLogicalRaces(wanted, oneOrder bool) {
	all := allLogical()
	if all {
		p.tellNoRace()
	}
	l := &p.tasks.Engine.Logical
	if l.On = race.Enabled && (wanted || all) && !oneOrder; !l.On {
		return
	}
	race.AddLogical(1)
	l.Alias = func() *engine.Worker {
		w := &Worker{pool: p}
		return &w.tasks.Engine
	}
	l.Missed = p.missedRaces
}

// missedRaces logs, once, that there are too many children at a time.
func (p *Pool) missedRaces() {
	if p.logger != nil && !p.missTold.Swap(true) {
		p.logger.Warn("filch: logical races: too many forks and tasks are open at a time, so some are seen as the race detector alone sees them", "pool", p.name, "most", race.MaxOpen)
	}
}

// alias returns what a goroutine that has entered as w has: w, or with logical races an alias.
func (w *Worker) alias() *Worker {
	if !w.pool.isLogical() {
		return w
	}
	a := asWorker(w.tasks.Engine.GuestAlias())
	a.lent.Store(w.lent.Load())
	return a
}

// base returns the worker that w is an alias of, or w.
func (w *Worker) base() *Worker {
	if !w.tasks.Engine.IsLogical() {
		return w
	}
	return asWorker(w.tasks.Engine.LeaveAlias())
}

// aliasInTask is alias for the goroutine of a task, which uses the task's worker as a Scope.
func (w *Worker) aliasInTask() *Worker {
	a := asWorker(engine.AliasOf(&w.tasks.Engine))
	a.handOut()
	return a
}

// isLogical reports whether p has logical races.
func (p *Pool) isLogical() bool { return race.Enabled && p.tasks.Engine.Logical.On }

// openTask opens a child for a task that is about to be submitted, or none.
func (p *Pool) openTask() race.Child {
	if !p.isLogical() {
		return race.Child{}
	}
	c := race.Open()
	if !c.IsOpen() {
		p.missedRaces()
	}
	return c
}
