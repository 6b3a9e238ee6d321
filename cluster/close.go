package cluster

import (
	"context"
	"time"
)

// Close leaves the cluster: the node fetches nothing more, and waits until what it runs has ended. When ctx ends first, the
// contexts of those handlers end, and no other handler begins. Tasks that the node has fetched and not begun are given back to
// other nodes at once; those that it runs, as soon as their handlers return, or after the time of [WithAckWait]. Futures of
// stored tasks that are not done fail with [ErrClosed].
//
// Tasks of [LocalFirst] that run in the pool are waited for as well. When ctx ends first, they are not canceled: they
// go on in the pool, also those that it has not begun, and their Futures end with them. They are lost with the process or the
// pool.
//
// Close returns the cause of ctx if that ended before all tasks had, and nil otherwise: also with a ctx that has ended before, if there
// are none. It can take some seconds more, if the servers do not answer. A second Close waits for the first, or until its own ctx ends, and
// returns what the first does.
func (n *Node) Close(ctx context.Context) error {
	if ctx == nil {
		panic("cluster: Close with a nil context")
	}
	n.mu.Lock()
	first := !n.closed
	n.closed = true
	n.mu.Unlock()
	if first {
		n.left.err = n.close(ctx)
		close(n.left.done)
		return n.left.err
	}
	select {
	case <-n.left.done:
		return n.left.err
	case <-ctx.Done():
	}
	select {
	case <-n.left.done: // in the same moment
		return n.left.err
	default:
		return context.Cause(ctx)
	}
}

// left is how Close has ended.
type left struct {
	done chan struct{} // closed when it has
	err  error         // written before that
}

// close is Close, called once.
func (n *Node) close(ctx context.Context) error {
	n.leave()
	err := n.endLanes(ctx)
	if e := n.local.drain(ctx); e != nil {
		err = e
	}
	if e := n.ran.wait(ctx); e != nil {
		err = e
		n.running.endAll(ErrClosed)
		patience, done := context.WithTimeout(context.Background(), leavePatience)
		_ = n.ran.wait(patience)
		done()
		patience, done = context.WithTimeout(context.Background(), returnPatience)
		_ = n.returning.wait(patience)
		done()
	}
	n.cancel(ErrClosed)
	n.waiting.failAll(ErrClosed)
	n.loops.Wait()
	n.unlist()
	n.stop()
	return err
}

// endLanes waits until what fetches has ended. A lane can wait for room in the pool: then what runs is ended when ctx has
// ended, and at last what waits. It returns the cause of ctx if that has ended what runs.
func (n *Node) endLanes(ctx context.Context) error {
	if n.lanes.wait(ctx) == nil {
		return nil
	}
	err := n.ran.wait(ctx)
	n.running.endAll(ErrClosed)
	patience, done := context.WithTimeout(context.Background(), leavePatience)
	defer done()
	if n.lanes.wait(patience) != nil {
		n.cancel(ErrClosed)
		_ = n.lanes.wait(context.Background())
	}
	return err
}

const (
	// leavePatience is how long Close waits for handlers that it has canceled.
	leavePatience = time.Second
	// returnPatience is how long Close waits for the servers to take back what is given back.
	returnPatience = 5 * time.Second
)
