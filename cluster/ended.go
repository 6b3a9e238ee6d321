package cluster

import "github.com/nats-io/nats.go"

// ended does what follows from the end of a task: its unique key is free, its batch has one less to wait for, and
// those that wait for it are released or refused. It comes after its outcome is stored and before it is acknowledged:
// if it fails, or the node is lost meanwhile, the task comes again, is found to have ended, and ended is called again.
// So all that it does may be done twice.
func (n *Node) ended(t *task, o outcome) error {
	if err := n.giveBackKey(t.unique, t.id); err != nil {
		return err
	}
	if t.batch != "" {
		if err := n.endedInBatch(t.batch, t.number, o.Status != statusDone); err != nil {
			return err
		}
	}
	return n.settleWaiting(t.id, o)
}

// giveBackKey is disclaim for a task that has ended or is refused, whatever becomes of the call that has found so.
func (n *Node) giveBackKey(key, id token) error {
	ctx, cancel := n.asking()
	defer cancel()
	return n.disclaim(ctx, key, id)
}

// follows reports whether anything follows from the end of a task, as far as this node has heard.
func (n *Node) follows(t *task) bool {
	return t.unique != "" || t.batch != "" || n.edges.Awaited(t.id)
}

// endedStored does what follows from the end of a task that no node has fetched.
func (n *Node) endedStored(h nats.Header, data []byte, o outcome) error {
	t, err := parseTask("", h, data)
	if err != nil {
		return nil // nobody's task
	}
	return n.ended(t, o)
}
