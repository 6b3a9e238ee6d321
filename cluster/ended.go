package cluster

import (
	"context"

	"github.com/nats-io/nats.go"
)

// ended does what follows from the end of a task. It comes after its outcome is stored and before it is acknowledged:
// if it fails, or the node is lost meanwhile, the task comes again, is found to have ended, and ended is called again.
// So all that it does may be done twice.
func (n *Node) ended(t *task) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.ctx), serverWait)
	defer cancel()
	return n.disclaim(ctx, t.unique, t.id)
}

// endedStored does what follows from the end of a task that was canceled while the servers kept it.
func (n *Node) endedStored(h nats.Header, data []byte) error {
	t, err := parseTask("", h, data)
	if err != nil {
		return nil // nobody's task
	}
	return n.ended(t)
}
