package cluster

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// local are the tasks that run in the node's pool without the stream.
type local struct {
	open atomic.Int64   // queued or running
	all  sync.WaitGroup // of them
}

// drain waits until all local tasks have ended.
func (l *local) drain(ctx context.Context) error { return waitFor(ctx, &l.all) }

// submitLocal runs a task in the node's pool, unless too many are there.
func submitLocal[In, Out any](ctx context.Context, n *Node, f func(ctx context.Context, in In) (Out, error), in In) *filch.Future[Out] {
	if n.local.open.Add(1) > int64(n.threshold) {
		n.local.open.Add(-1)
		return nil
	}
	n.counts.local.Add(1)
	return filch.Submit(ctx, n.pool, func(ctx context.Context) (Out, error) {
		defer n.local.open.Add(-1)
		return f(ctx, in)
	}, filch.OnDrop(func(error) { n.local.open.Add(-1) }))
}
