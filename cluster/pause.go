package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// pausedFor is how long a pause lasts that nobody ends. JetStream wants a time.
const pausedFor = 100 * 365 * 24 * time.Hour

// Pause stops nodes from fetching tasks of a handler, until [Node.Resume], also nodes that come later. What was fetched
// goes on, and so do tasks of [LocalFirst], which are not in the stream. Submit goes on storing tasks. handler is a name, or
// name@version. Pausing twice is pausing once. The error is [ErrUnknownHandler] if no node has ever had it.
func (n *Node) Pause(ctx context.Context, handler string) error {
	return n.setPaused(ctx, handler, true)
}

// Resume lets nodes fetch tasks of a handler again. It tells them so, and a node that did not hear it fetches within 5 s. A
// handler that was not paused stays as it is. Errors are as those of [Node.Pause].
func (n *Node) Resume(ctx context.Context, handler string) error {
	if err := n.setPaused(ctx, handler, false); err != nil {
		return err
	}
	_ = n.nc.Publish(n.resumed(), []byte(handler))
	return nil
}

// hearResumed hears which handlers were resumed. The servers do not look at requests that have waited since before the pause
// when it ends early, so each lane of the handler asks again.
func (n *Node) hearResumed() error {
	return n.hear(n.resumed(), func(m *nats.Msg) {
		h := n.handler(string(m.Data))
		if h == nil {
			return
		}
		for _, l := range h.lanes {
			select {
			case l.again <- struct{}{}:
			default:
			}
		}
	})
}

func (n *Node) setPaused(ctx context.Context, handler string, paused bool) error {
	if err := checkHandler(handler); err != nil {
		return err
	}
	s, err := n.streamOf(ctx, n.work())
	if err != nil {
		return err
	}
	if _, err := n.lanesOf(ctx, s, handler); err != nil { // before anything is changed: the node may lack the permission
		return err
	}
	if err := n.pauseLane(ctx, handler, laneOfLevel(Normal), paused); err != nil {
		return err
	}
	lanes, err := n.lanesOf(ctx, s, handler)
	if err != nil {
		return err
	}
	normal := func(lane string) bool { return lane == laneOfLevel(Normal) }
	return n.followPause(ctx, handler, slices.DeleteFunc(lanes, normal)...)
}

// lanesOf returns the lanes of a handler at the servers.
func (n *Node) lanesOf(ctx context.Context, work jetstream.Stream, handler string) ([]string, error) {
	var lanes []string
	names := work.ConsumerNames(ctx)
	for name := range names.Name() {
		if of, lane, ok := cutConsumer(name); ok && of == handler {
			lanes = append(lanes, lane)
		}
	}
	if err := names.Err(); err != nil {
		return nil, fmt.Errorf("cluster: the queues of %s: %w", handler, n.explain(err, api("CONSUMER.NAMES."+n.work())))
	}
	return lanes, nil
}

// followPause pauses or resumes lanes of a handler as its normal lane is, which holds for all. It looks again
// afterwards: so all follow the last Pause or Resume, also when several come at once, or a lane is made meanwhile.
func (n *Node) followPause(ctx context.Context, handler string, lanes ...string) error {
	for {
		paused, err := n.isPaused(ctx, handler)
		if err != nil {
			return err
		}
		for _, lane := range lanes {
			if err := n.pauseLane(ctx, handler, lane, paused); err != nil {
				return err
			}
		}
		if again, err := n.isPaused(ctx, handler); err != nil || again == paused {
			return err
		}
	}
}

// isPaused reports whether a handler is paused. One that has no lane yet is not.
func (n *Node) isPaused(ctx context.Context, handler string) (bool, error) {
	c, err := n.js.Consumer(ctx, n.work(), consumer(handler, laneOfLevel(Normal)))
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cluster: the servers do not say whether %s is paused: %w", handler, err)
	}
	return c.CachedInfo().Paused, nil
}

// pauseLane pauses or resumes the consumer of a lane.
func (n *Node) pauseLane(ctx context.Context, handler, lane string, paused bool) error {
	var until time.Time
	if paused {
		until = n.now().Add(pausedFor)
	}
	_, err := n.js.PauseConsumer(ctx, n.work(), consumer(handler, lane), until)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return fmt.Errorf("%w: %s", ErrUnknownHandler, handler)
	}
	if err != nil {
		return fmt.Errorf("cluster: pausing or resuming %s: %w", handler, n.explain(err, api("CONSUMER.PAUSE."+n.work()+".>")))
	}
	return nil
}
