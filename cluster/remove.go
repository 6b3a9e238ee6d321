package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// RemoveHandler removes the queues of a handler that no node has any more, such as that of an old version. [Node.Queues]
// does not return them then, and Submit returns [ErrUnknownHandler]; a node that has submitted to the handler in the last minute may go on storing tasks
// for that long, which wait until a node has it again. So do delayed tasks and cron jobs when they are due. handler is a name, or name@version.
//
// The error is [ErrHandlerInUse] if a node has the handler or has a task of it, or if tasks of it are in the stream, and
// [ErrUnknownHandler] if it has no queues.
func (n *Node) RemoveHandler(ctx context.Context, handler string) error {
	if err := checkHandler(handler); err != nil {
		return err
	}
	s, err := n.streamOf(ctx, n.work())
	if err != nil {
		return err
	}
	nodes, err := n.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, i := range nodes {
		if slices.Contains(i.Handlers, handler) {
			return fmt.Errorf("%w: node %s has %s", ErrHandlerInUse, i.Name, handler)
		}
	}
	lanes, err := n.lanesOf(ctx, s, handler)
	if err != nil {
		return err
	}
	if len(lanes) == 0 {
		return fmt.Errorf("%w: %s", ErrUnknownHandler, handler)
	}
	if err := n.checkNoTasks(ctx, s, handler); err != nil {
		return err
	}
	for _, lane := range lanes {
		err := s.DeleteConsumer(ctx, consumer(handler, lane))
		if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return fmt.Errorf("cluster: removing %s: %w", handler, n.explain(err, api("CONSUMER.DELETE."+n.work()+"."+consumer(handler, lane))))
		}
	}
	n.mu.Lock()
	delete(n.known, handler)
	n.mu.Unlock()
	return n.checkNoTasks(ctx, s, handler) // one may have been stored meanwhile
}

// checkNoTasks returns an error if tasks of a handler are in the stream.
func (n *Node) checkNoTasks(ctx context.Context, work jetstream.Stream, handler string) error {
	info, err := work.Info(ctx, jetstream.WithSubjectFilter(n.workOf(handler, "*")))
	if err != nil {
		return fmt.Errorf("cluster: the tasks of %s: %w", handler, n.explain(err, api("STREAM.INFO."+n.work())))
	}
	var tasks uint64
	for _, number := range info.State.Subjects {
		tasks += number
	}
	if tasks > 0 {
		return fmt.Errorf("%w: %d tasks of %s are in the stream", ErrHandlerInUse, tasks, handler)
	}
	return nil
}
