package task

import (
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/tell"
)

// Mistakes that pools detect: waits with the context of another task, pools used inside their own work, and calls that would
// wait for themselves.

// A Wait inside a task needs the task's context. With another, the pool takes the caller for a goroutine from outside: the
// awaited task does not run in place, and the worker is blocked. That works, if slowly, and nothing shows it, so it is
// logged. Reading the goroutine's stack takes some tens of microseconds, as does a Wait that is about to block.

// noticeForeign logs that a wait for task, with a context that belongs to c, if to any, is made inside a task of p that c is
// not the context of. It is called until it has logged that.
func (p *Pool) noticeForeign(c, task *Context) {
	if p.Checks.Foreign.Over() {
		return
	}
	ours := c != nil && c.Pool == p
	if p.Checks.Strict() && (ours || c == nil) {
		if here := p.Checks.Here(); len(here) > 0 && here[len(here)-1] != c && p.Checks.Foreign.Tell() {
			by := here[len(here)-1].(*Context)
			p.tellForeign(nameIn(tell.ReadTasks(tell.Traceback()), by), task, "submitted", tell.StackInLine(by.submittedAt()))
		}
		return
	}
	if ours {
		if !p.Checks.Foreign.Due() {
			return
		}
	} else if !p.Inside() {
		return
	}
	here := tell.ReadTasks(string(debug.Stack()))
	if len(here) == 0 || len(here[0].Tasks) == 0 || c != nil && !isForeign(here[0], c) || !p.Checks.Foreign.Tell() {
		return
	}
	p.tellForeign(p.nameAt(here[0].Tasks[0]), task)
}

// tellForeign logs that the caller's task, with the given name, waits for task.
func (p *Pool) tellForeign(name string, task *Context, more ...any) {
	p.Logger.Warn("filch: a task calls Wait with a context that is not its own, so its worker is blocked meanwhile; "+
		"pass the context that the function of the task is called with",
		append([]any{"pool", p.Name, "task", strings.TrimPrefix(name, "task "), "waits for", strings.TrimPrefix(nameIn(tell.ReadTasks(tell.Traceback()), task), "task "),
			"stack", tell.StackInLine(tell.Callers())}, more...)...)
}

// isForeign reports whether c is not the context of the task at the top of the stack. It cannot tell tasks without a Future
// apart.
func isForeign(s tell.TaskStack, c *Context) bool {
	if s.Tasks[0].Address == "" {
		return !c.isShared()
	}
	return s.Tasks[0].Address != tell.Address(c)
}

// nameAt returns the name of a task on a stack, or its function's.
func (p *Pool) nameAt(t tell.TaskCall) string {
	var bodies []Body
	for _, w := range *p.Engine.Workers.Load() {
		b, _ := of(w).Own.Running()
		bodies = append(bodies, b)
	}
	for _, b := range append(bodies, p.LongRunning()...) {
		if f, ok := b.(FutureTask); ok && tell.Address(&f.Core().Ctx) == t.Address && f.Core().Ctx.Name() != "" {
			return f.Core().Ctx.Name()
		}
	}
	return t.Function
}

// NoticeNested logs, once, that p's own work calls Do, or something equivalent.
func (p *Pool) NoticeNested() {
	if p.Logger == nil || p.Checks.Nested.Over() {
		return
	}
	if !p.Checks.Nested.Due() && !p.Checks.Strict() || p.Checks.Mine() == nil && !p.Inside() {
		return
	}
	here := tell.Callers()
	if tell.IsWithoutPlace(here) || !p.Checks.Nested.Tell() {
		return
	}
	p.Logger.Warn("filch: a pool is used inside its own work, so the caller takes one more slot as a guest; "+
		"pass on the Worker, or in a task ScopeOf(ctx)",
		"pool", p.Name, "call", tell.Called(here), "stack", tell.StackInLine(here))
}

// submittedAt returns the stack of the submitter of c's task, if the pool has checks.
func (c *Context) submittedAt() []uintptr {
	if m := c.extras.Load(); m != nil && m.seen != nil {
		return m.seen.submitted
	}
	return nil
}

// waitsForItself panics if the calling goroutine is about to wait for g in one of its tasks.
func (g *Group) waitsForItself() {
	if !g.Pool.Checks.Strict() {
		return
	}
	for _, t := range g.Pool.Checks.Here() {
		if c := t.(*Context); c.Context == g.Ctx {
			panic("filch: Group.Wait: called by a task of the group, so it would wait for itself: return from the task, " +
				"and wait where the group was made\n\nsubmitted at\n" + tell.Stack(c.submittedAt()) + "\nwaits at\n" + tell.Stack(tell.Callers()))
		}
	}
}

// ClosesItself panics if the calling goroutine is in a Do of p, which op would wait for.
func (p *Pool) ClosesItself(op string) {
	if !p.Checks.Strict() {
		return
	}
	if h := p.Checks.Mine(); h != nil && !p.Inside() { // else op returns ErrInside
		panic("filch: " + op + ": called inside a Do of the pool, which it would wait for: close the pool when Do has returned" +
			"\n\nhanded out " + h.Place() + "\ncloses at\n" + tell.Stack(tell.Callers()))
	}
}

// BeginChecks enables the engine's detection in p, and all that checks needs. strict says that checks were asked for. A pool
// with a logger, and any under the race detector, notes the goroutines that have its workers.
func (p *Pool) BeginChecks(strict bool) {
	if strict && p.Logger == nil {
		p.Logger = slog.Default()
	}
	lent := func(w *engine.Worker) *checks.Lent { return &of(w).Lent }
	c := checks.New(strict, &p.Engine, p.Name, p.Logger, lent)
	p.Engine.Disorder, p.Engine.Elsewhere = checks.AwaitedTwice, c.Elsewhere
	if strict || race.Enabled {
		p.Engine.Checks = c
	}
	if strict || p.Logger != nil || race.Enabled {
		p.Checks = c
	}
}
