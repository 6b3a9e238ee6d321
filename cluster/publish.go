package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
)

// headerRoom is what the headers of a message may take of the largest payload.
const headerRoom = 16 << 10

// largest returns how many bytes an argument or a result may have.
func (n *Node) largest() int { return int(n.nc.MaxPayload()) - headerRoom }

// submitWait is how long Submit waits if its context has no deadline.
const submitWait = 30 * time.Second

// errInProcess is the servers' code for a message of an ID that they have, and do not yet know to be on most of them.
const errInProcess = 10158

func isInProcess(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == errInProcess
}

// publish stores a message, and asks again as long as the servers do not answer.
func (n *Node) publish(ctx context.Context, m *nats.Msg) (*jetstream.PubAck, error) {
	lent := false
	var reason error // the last that is not just the end of a wait
	for wait := time.Millisecond; ; wait = min(2*wait, time.Second) {
		var ack *jetstream.PubAck
		err := askServers(ctx, func(ctx context.Context) (err error) {
			if ack, err = n.js.PublishMsg(ctx, m); err != nil {
				err = n.explain(err, m.Subject)
			}
			return err
		})
		if err == nil {
			return ack, nil
		}
		if reason == nil || !errors.Is(err, context.DeadlineExceeded) {
			reason = err
		}
		full := isFull(err)
		if full && n.overflow == filch.Reject {
			return nil, ErrQueueFull
		}
		if api, ok := errors.AsType[*jetstream.APIError](err); ok && !full && api.Code < 500 && !isInProcess(err) {
			return nil, fmt.Errorf("cluster: the task is not stored: %w", err)
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return nil, ErrClosed
		}
		if errors.Is(err, nats.ErrPermissionViolation) {
			return nil, fmt.Errorf("cluster: the task is not stored: %w", err)
		}
		if e, _ := ctx.Value(executionKey{}).(*execution); full && e != nil && !lent {
			lent = true
			e.lend() // room may come from a task that waits for the place
			defer e.reclaim(ctx)
		}
		filch.Blocking(ctx, func() {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			case <-n.ctx.Done():
			}
		})
		switch {
		case ctx.Err() != nil:
			if full {
				return nil, fmt.Errorf("%w: %w", ErrQueueFull, context.Cause(ctx))
			}
			return nil, fmt.Errorf("cluster: the servers have not confirmed that they stored the task: %w", errors.Join(context.Cause(ctx), reason))
		case n.ctx.Err() != nil:
			return nil, ErrClosed
		}
	}
}

// isRefused reports whether err says that the servers have not stored a message. Else they may have.
func isRefused(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, ErrQueueFull) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrCycle) || errors.Is(err, ErrBatchClosed) || ok && api.Code < 500 && !isInProcess(err)
}

// isFull reports whether err says that the stream has as much as it may have. The servers have the same code for whatever
// keeps them from storing a message, such as a full disk.
func isFull(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == 10077 && strings.HasPrefix(api.Description, "maximum ")
}
