// Package standby is how packages beside the root wait in a task's name for work of its pool: a graph for its nodes, a
// stream for room. It does what filch.Blocking does, and lends the task's slot of a Subpool as well, which what it waits for may need.
package standby

import "context"

// Key is that under which the context of a task has its Waiter.
type Key struct{}

// A Waiter is a task.
type Waiter interface {
	// StandBy calls wait, which blocks.
	StandBy(wait func())
}

// By calls wait, which blocks, in the name of the task that ctx belongs to, if to any.
func By(ctx context.Context, wait func()) {
	if w, ok := ctx.Value(Key{}).(Waiter); ok {
		w.StandBy(wait)
		return
	}
	wait()
}
