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

// refused is an error that says that a task is not stored. With another, it may be.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

func isRefused(err error) bool {
	_, ok := errors.AsType[refused](err)
	return ok
}

// receipt is what the servers have answered to publish.
type receipt struct {
	before bool // they had a message of the ID already
	lost   bool // an answer was lost, so that may be this one
}

// isAnswered reports whether err of a publication says that the message is not stored.
func isAnswered(err error) bool {
	_, ok := errors.AsType[*jetstream.APIError](err)
	return ok || isUnanswered(err) || errors.Is(err, nats.ErrPermissionViolation)
}

// publish stores a message, and asks again as long as the servers do not answer. The error is refused if it is not stored.
func (n *Node) publish(ctx context.Context, m *nats.Msg) (receipt, error) {
	r, err := n.publishUntil(ctx, m)
	if isRefused(err) && r.lost {
		err = fmt.Errorf("cluster: the servers have not confirmed that they stored the task: %w", errors.Unwrap(err))
	}
	return r, err
}

// publishUntil is publish; the error is refused if the last answer says so.
func (n *Node) publishUntil(ctx context.Context, m *nats.Msg) (r receipt, err error) {
	lent := false
	var reason error // the last that is not just the end of a wait
	for wait := time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := askServers(ctx, func(ctx context.Context) error {
			ack, err := n.js.PublishMsg(ctx, m)
			if err == nil {
				r.before = ack.Duplicate
				return nil
			}
			err = n.explain(err, m.Subject)
			r.lost = r.lost || !isAnswered(err)
			return err
		})
		if err == nil {
			return r, nil
		}
		if reason == nil || !errors.Is(err, context.DeadlineExceeded) || n.Trouble() != nil {
			reason = err
		}
		full := isFull(err)
		if full && n.overflow == filch.Reject {
			return r, refused{ErrQueueFull}
		}
		if isRefusal(err) {
			return r, refused{fmt.Errorf("cluster: the task is not stored: %w", err)}
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return r, ErrClosed
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
				return r, refused{fmt.Errorf("%w: %w", ErrQueueFull, context.Cause(ctx))}
			}
			return r, fmt.Errorf("cluster: the servers have not confirmed that they stored the task: %w", errors.Join(context.Cause(ctx), reason))
		case n.ctx.Err() != nil:
			return r, ErrClosed
		}
	}
}

// isFull reports whether err says that the stream has as much as it may have. The servers have the same code for whatever
// keeps them from storing a message, such as a full disk.
func isFull(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == 10077 && strings.HasPrefix(api.Description, "maximum ")
}
