package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// explain returns err with the reason for it, if that is that the servers do not permit the node a subject. They tell
// so beside the request, which just has no answer.
func (n *Node) explain(err error, subject string) error {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, nats.ErrNoResponders) {
		return err
	}
	last := n.nc.LastError()
	if !errors.Is(last, nats.ErrPermissionViolation) || !strings.Contains(last.Error(), `"`+subject+`"`) {
		return err
	}
	return fmt.Errorf("%w (%w)", last, err)
}
