package cluster

import (
	"context"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster/internal/place"
)

// local are the tasks that run in the node's pool without the stream. The node's places count them.
type local struct {
	places  *place.Places
	leaving atomic.Bool
	none    chan struct{} // of capacity 1: there are none, and the node leaves
}

// enter counts a task, unless there are as many as there may be.
func (l *local) enter(most int) bool {
	if l.places.Enter() > int64(most) {
		l.leave()
		return false
	}
	return true
}

// leave counts a task less.
func (l *local) leave() {
	if l.places.Leave() == 0 && l.leaving.Load() {
		select {
		case l.none <- struct{}{}:
		default:
		}
	}
}

// drain waits until all local tasks have ended. No more come.
func (l *local) drain(ctx context.Context) error {
	l.leaving.Store(true) // pairs with the load in leave: one of the two sees the other
	for l.places.Others() > 0 {
		select {
		case <-l.none:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// localKey is in the context of a local task that a handler of a stored one has submitted: what runs there is not that one.
type localKey struct{}

// submitLocal runs a task in the node's pool, unless too many are there.
func submitLocal[In, Out any](ctx context.Context, n *Node, f func(ctx context.Context, in In) (Out, error), in In) *filch.Future[Out] {
	if !n.local.enter(n.threshold) {
		return nil
	}
	n.counts.local.Add(1)
	if ctx.Value(executionKey{}) != nil {
		ctx = context.WithValue(ctx, localKey{}, true)
	}
	return filch.Submit(ctx, n.pool, func(ctx context.Context) (Out, error) {
		defer n.local.leave()
		return f(ctx, in)
	}, filch.OnDrop(func(error) { n.local.leave() }))
}
