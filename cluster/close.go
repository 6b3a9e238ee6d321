package cluster

import (
	"context"
	"sync"
	"time"
)

// Close leaves the cluster: the node fetches nothing more, and waits until what it runs has ended. When ctx ends
// first, the contexts of those handlers end, and their tasks are given back to other nodes, as soon as their handlers
// return or the time of [WithAckWait] is over. Tasks that were submitted locally and have not run yet are lost, as
// [Durable] says. Futures that are not done fail with [ErrClosed].
//
// Close returns the error of ctx if that ended before all tasks had, and nil otherwise. It can take some seconds more, if the servers do
// not answer. A second Close waits for the first.
func (n *Node) Close(ctx context.Context) error {
	if ctx == nil {
		panic("cluster: Close with a nil context")
	}
	n.mu.Lock()
	first := !n.closed
	n.closed = true
	n.mu.Unlock()
	if !first {
		<-n.ctx.Done()
		n.loops.Wait()
		return nil
	}
	n.leave()
	n.endLanes(ctx)
	err := n.local.drain(ctx)
	if e := waitFor(ctx, &n.ran); e != nil {
		err = e
		n.running.cancelAll(ErrClosed)
		patience, done := context.WithTimeout(context.Background(), leavePatience)
		_ = waitFor(patience, &n.ran)
		done()
	}
	n.cancel(ErrClosed)
	n.waiting.failAll(ErrClosed)
	n.loops.Wait()
	n.unlist()
	n.stop()
	return err
}

// endLanes waits until what fetches has ended. A lane can wait for room in the pool: then what runs is canceled when ctx has
// ended, and at last what waits.
func (n *Node) endLanes(ctx context.Context) {
	if waitFor(ctx, &n.lanes) == nil {
		return
	}
	n.running.cancelAll(ErrClosed)
	patience, done := context.WithTimeout(context.Background(), leavePatience)
	defer done()
	if waitFor(patience, &n.lanes) != nil {
		n.cancel(ErrClosed)
		n.lanes.Wait()
	}
}

// leavePatience is how long Close waits for handlers that it has canceled.
const leavePatience = time.Second

// waitFor waits for a group until ctx ends.
func waitFor(ctx context.Context, g *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { g.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
