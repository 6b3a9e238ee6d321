package filch

import (
	"log/slog"

	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/environ"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/tell"
)

// What package checks is told of a pool, and what it lets pools find out: calls that would wait for themselves, and pools that are used inside
// of their own work.

// allChecked says that all pools have checks. It is asked for each pool, not once before main: of that, go test would
// not know, and show what it has kept of a run without.
func allChecked() bool { return environ.On("FILCH_CHECKS") }

// beginChecks has the engine of p look for what it can tell of, and for all that checks do. strict says that they are wanted.
// A pool with a logger, and any under the race detector, notes the goroutines that have its workers.
func (p *Pool) beginChecks(strict bool) {
	if strict && p.logger == nil {
		p.logger = slog.Default()
	}
	lent := func(w *engine.Worker) *checks.Lent { return &asWorker(w).lent }
	c := checks.New(strict, &p.tasks.Engine, p.name, p.logger, lent)
	p.tasks.Engine.Disorder, p.tasks.Engine.Elsewhere = checks.AwaitedTwice, c.Elsewhere
	if strict || race.Enabled {
		p.tasks.Engine.Checks = c
	}
	if strict || p.logger != nil || race.Enabled {
		p.checks = c
	}
}

// handOut notes that the calling goroutine has w from now on, if its pool has checks.
func (w *Worker) handOut() {
	if c := w.pool.checks; c != nil {
		w.lent.Out(c, 0)
	}
}

// takeIn ends what handOut began.
func (w *Worker) takeIn() {
	if w.pool.checks != nil {
		w.lent.In(nil)
	}
}

// late returns a worker for what is out of use and was w's: each use of it panics.
func (w *Worker) late() *engine.Worker {
	h := w.lent.Load()
	if h.Late == nil {
		l := &Worker{}
		l.tasks.Engine.Late(&w.pool.tasks.Engine)
		l.lent.Store(h.Over())
		h.Late = &l.tasks.Engine
	}
	return h.Late.(*engine.Worker)
}

// noticeNested logs, once, that Do, or what comes down to it, is called by p's own work.
func (p *Pool) noticeNested() {
	if p.logger == nil || p.checks.Nested.Over() {
		return
	}
	if !p.checks.Nested.Due() && !p.checks.Strict() || p.checks.Mine() == nil && !p.inside() {
		return
	}
	here := tell.Callers()
	if tell.IsWithoutPlace(here) || !p.checks.Nested.Tell() {
		return
	}
	p.logger.Warn("filch: a pool is used inside its own work, so the caller takes one more place as a guest; "+
		"pass on the Worker, or in a task ScopeOf(ctx)",
		"pool", p.name, "call", tell.Called(here), "stack", tell.StackInLine(here))
}

// submittedAt returns the stack of what has submitted c's task, if the pool has checks.
func (c *taskContext) submittedAt() []uintptr {
	if m := c.extras.Load(); m != nil && m.seen != nil {
		return m.seen.submitted
	}
	return nil
}

// waitsForItself panics if the calling goroutine is about to wait for g in one of its tasks.
func (g *Group) waitsForItself(op string) {
	if !g.pool.checks.Strict() {
		return
	}
	for _, t := range g.pool.checks.Here() {
		if c := t.(*taskContext); c.Context == g.ctx {
			panic("filch: " + op + ": called by a task of the group, so it would wait for itself: return from the task, " +
				"and wait where the group was made\n\nsubmitted at\n" + tell.Stack(c.submittedAt()) + "\nwaits at\n" + tell.Stack(tell.Callers()))
		}
	}
}

// closesItself panics if the calling goroutine is in a Do of p, which op would wait for.
func (p *Pool) closesItself(op string) {
	if !p.checks.Strict() {
		return
	}
	if h := p.checks.Mine(); h != nil && !p.inside() { // else op returns ErrInside
		panic("filch: " + op + ": called inside a Do of the pool, which it would wait for: close the pool when Do has returned" +
			"\n\nhanded out " + h.Place() + "\ncloses at\n" + tell.Stack(tell.Callers()))
	}
}
