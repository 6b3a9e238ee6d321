package cluster

import (
	"context"
	"time"
)

// Info is what a handler can know of its task.
type Info struct {
	ID      string
	Handler string
	Key     string
	From    string    // the node that has submitted it
	Attempt int       // from 1
	Stored  time.Time // by the servers' clock
}

// TaskOf returns what is known of the task of a handler's context. It returns false outside of a handler, and for a
// task of [LocalFirst] that runs where it was submitted: it has no ID.
func TaskOf(ctx context.Context) (Info, bool) {
	e, _ := ctx.Value(executionKey{}).(*execution)
	if e == nil || ctx.Value(localKey{}) != nil {
		return Info{}, false
	}
	name, _ := cutVersion(e.handler.name)
	return Info{ID: e.id.text(), Handler: name, Key: e.key.text(), From: e.by, Attempt: e.attempt, Stored: e.stored}, true
}
