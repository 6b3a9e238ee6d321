package cluster

import "context"

// Attach returns the Future of a task that this or another node has submitted. It knows the outcome at once if the
// task has ended, and else up to 5 s after its end. For an ID that nobody has submitted, for a task with [NoResult], and
// for one whose outcome is no longer stored, it waits without end.
func Attach[Out any](ctx context.Context, n *Node, id string) (*Future[Out], error) {
	if ctx == nil || n == nil {
		panic("cluster: Attach with a nil argument")
	}
	t, err := newToken("ID", id)
	if err != nil {
		return nil, err
	}
	if n.looking.Err() != nil {
		return nil, ErrClosed
	}
	r := n.waiting.add(n, t)
	o, err := n.getOutcome(ctx, t)
	switch {
	case err == nil:
		n.waiting.resolve(t, o, nil)
	case !isNotFound(err):
		n.waiting.remove(r)
		return nil, err
	default:
		n.lookLater(r, firstLook)
	}
	return &Future[Out]{n: n, remote: r}, nil
}
