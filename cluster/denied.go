package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster/internal/ask"
)

// explain returns err with the reason for it, if that is that the servers do not permit the node to publish to one of the
// subjects, or to hear answers, or that the node's own server cannot write. They tell so beside the request, which just has no answer.
func (n *Node) explain(err error, subjects ...string) error {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, ask.ErrNoAnswer) && !isUnanswered(err) {
		return err
	}
	if why := cmp.Or(n.denied(subjects...), n.Trouble()); why != nil && !errors.Is(err, why) {
		return fmt.Errorf("%w (%w)", why, err)
	}
	return err
}

// ask is askServers for a question that is sent to one of the subjects. It ends when the servers do not permit that.
func (n *Node) ask(ctx context.Context, f func(context.Context) error, subjects ...string) error {
	return askServers(ctx, func(ctx context.Context) error { return n.explain(f(ctx), subjects...) })
}

// denied returns what the servers said last, if that is that the node may not use one of the subjects or its inbox. A subject
// that ends with > stands for all that begin so.
func (n *Node) denied(subjects ...string) error {
	last := n.nc.LastError()
	if !errors.Is(last, nats.ErrPermissionViolation) {
		return nil
	}
	for _, s := range subjects {
		quoted, all := strings.CutSuffix(`"`+s, ">")
		if !all {
			quoted += `"`
		}
		if strings.Contains(last.Error(), quoted) {
			return last
		}
	}
	if inbox := cmp.Or(n.nc.Opts.InboxPrefix, "_INBOX"); strings.Contains(last.Error(), `"`+strings.TrimSuffix(inbox, ".")+`.`) {
		return fmt.Errorf("%w: the user may not hear answers in its inbox: see nats.CustomInboxPrefix", last)
	}
	return nil
}
