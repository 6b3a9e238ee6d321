package filch

import (
	"runtime/debug"
	"strings"

	"github.com/filch-go/filch/internal/task"
	"github.com/filch-go/filch/internal/tell"
)

// A Wait inside a task needs the task's context: with another, the pool takes it for
// one of a goroutine that is none of its own. Then the task that is waited for does
// not run in place, and the worker is blocked. That works, if slowly, and nothing
// tells; so it is logged. A look at the stack of the goroutine takes some tens of
// microseconds, and a Wait that is about to block takes some as well.

// noticeForeign logs that a wait for task, with a context that belongs to c, if to
// any, is made inside a task of p that c is not the context of. It is called until
// that has been logged.
func (p *Pool) noticeForeign(c, task *taskContext) {
	if p.checks.Foreign.Over() {
		return
	}
	ours := c != nil && c.pool == p
	if p.checks.Strict() && (ours || c == nil) {
		if here := p.checks.Here(); len(here) > 0 && here[len(here)-1] != c && p.checks.Foreign.Tell() {
			by := here[len(here)-1].(*taskContext)
			p.tellForeign(nameIn(tell.ReadTasks(tell.Traceback()), by), task, "submitted", tell.StackInLine(by.submittedAt()))
		}
		return
	}
	if ours {
		if !p.checks.Foreign.Due() {
			return
		}
	} else if !p.inside() {
		return
	}
	here := tell.ReadTasks(string(debug.Stack()))
	if len(here) == 0 || len(here[0].Tasks) == 0 || c != nil && !isForeign(here[0], c) || !p.checks.Foreign.Tell() {
		return
	}
	p.tellForeign(p.nameAt(here[0].Tasks[0]), task)
}

// tellForeign logs that the caller's task, with the given name, waits for task.
func (p *Pool) tellForeign(name string, task *taskContext, more ...any) {
	p.logger.Warn("filch: a task calls Wait with a context that is not its own, so its worker is blocked meanwhile; "+
		"pass the context that the function of the task is called with",
		append([]any{"pool", p.name, "task", strings.TrimPrefix(name, "task "), "waits for", strings.TrimPrefix(nameIn(tell.ReadTasks(tell.Traceback()), task), "task "),
			"stack", tell.StackInLine(tell.Callers())}, more...)...)
}

// isForeign reports whether c is not the context of the task that runs at the top of
// the stack. Of tasks without a Future, it cannot tell one from another.
func isForeign(s tell.TaskStack, c *taskContext) bool {
	if s.Tasks[0].Address == "" {
		return !c.isShared()
	}
	return s.Tasks[0].Address != tell.Address(c)
}

// nameAt returns the name of a task on a stack, or its function's.
func (p *Pool) nameAt(t tell.TaskCall) string {
	var bodies []task.Body
	for _, w := range *p.tasks.Engine.Workers.Load() {
		b, _ := asWorker(w).tasks.Own.Running()
		bodies = append(bodies, b)
	}
	for _, b := range append(bodies, p.longRunning()...) {
		if f, ok := b.(interface{ task() *taskContext }); ok && tell.Address(f.task()) == t.Address && f.task().name() != "" {
			return f.task().name()
		}
	}
	return t.Function
}
