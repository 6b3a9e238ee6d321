package filch

import (
	"context"

	"github.com/filch-go/filch/internal/tag"
)

// Blocking calls f, which may block, and gives the caller's place to another worker
// meanwhile. Afterwards the caller goes on at once, on an extra place if all are taken.
// In that case the next worker that looks for work gives up its place. It is [Blocking]
// for code that has a Worker and no context.
//
// Before it calls f, Blocking publishes all open forks of w, so that none has to wait for
// f. Neither f nor what it calls may use w: under the race detector that panics. A
// Blocking inside f just calls its function. While f runs, [Stats].Blocked counts it, and
// [Pool.Close] and [Pool.Shutdown] wait for it. A panic or runtime.Goexit in f goes on to
// the caller.
//
// Do turns a Scope into its Worker, as in a body of par.ForScope:
//
//	s.Do(func(w *filch.Worker) { w.Blocking(f) })
//
// Code that gets an io.Writer, for example, has neither. There the writer can call
// Blocking; see the example.
//
// Blocking costs a few atomic operations, a look at all workers for work, and a wake-up if
// there is some. Use it for calls that may block for longer. It panics if f is nil.
func (w *Worker) Blocking(f func()) {
	needs(f != nil, "Blocking", "f")
	w.tasks.Engine.LendFor(f)
}

// Blocking calls f, which may block for long, and lends the caller's place to another
// worker meanwhile. Afterwards the caller goes on at once, on an extra place if all are
// taken. If ctx does not come from a task, Blocking just calls f. It panics if ctx or f
// is nil. Code that has a Worker and no context calls [Worker.Blocking].
//
// The pool also notices a task that blocks without Blocking, but only after no queued
// task could start for some time; see [WithStallTimeout].
func Blocking(ctx context.Context, f func()) {
	needs(ctx != nil, "Blocking", "ctx")
	needs(f != nil, "Blocking", "f")
	c := taskOf(ctx)
	if c == nil || !c.seat().Lend() {
		f()
		return
	}
	defer c.seat().Reclaim()
	// On a goroutine that the task has made, Close would wait for this call.
	c.pool.tasks.Engine.Tag(func(uint64, tag.Step) { f() })
}
