package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// claiming is what a node without places asks one with places for: a unique key for a task, or to take one back. A submitter may do
// neither itself: with the permission to take or to remove one key it has that for all.
type claiming struct {
	Key      token         `json:"key"`
	ID       token         `json:"id,omitempty"`       // of the task; none to give the key back
	For      time.Duration `json:"for,omitempty"`      // how long it is to have the key
	Proof    string        `json:"proof"`              // a random text, which is stored with the key: who knows it may give it back
	Revision uint64        `json:"revision,omitempty"` // of the key that is given back
	Until    time.Time     `json:"until"`              // how long the answer is waited for, by the servers' clock
}

// claimAnswer is the answer.
type claimAnswer struct {
	Revision  uint64 `json:"revision,omitempty"`
	Created   bool   `json:"created,omitempty"`
	Error     string `json:"error,omitempty"`
	NotUnique bool   `json:"notUnique,omitempty"` // another task has the key
	Holder    string `json:"holder,omitempty"`    // its ID, if it is known
}

// errNobody says that no node is there to ask for a unique key.
var errNobody = errors.New("cluster: no node with places is there")

// askForKey asks until a node has answered, or ctx ends. A node that has taken the key finds so when it is asked again: then the task has
// it by itself. The error is errNobody if there is none: then a node does it itself, if it may.
func (n *Node) askForKey(ctx context.Context, q claiming) (claimed, error) {
	var a claimAnswer
	err := n.ask(ctx, func(ctx context.Context) error {
		if end, ok := ctx.Deadline(); ok {
			q.Until = n.clock.at(end)
		}
		request, err := json.Marshal(q)
		if err != nil {
			return err
		}
		m, err := n.nc.RequestWithContext(ctx, n.names.claim(), request)
		if errors.Is(err, nats.ErrNoResponders) {
			return errNobody
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(m.Data, &a)
	}, n.names.claim())
	switch {
	case err != nil:
		return claimed{}, err
	case a.NotUnique:
		return claimed{}, &NotUniqueError{Key: q.Key.text(), ID: a.Holder}
	case a.Error != "":
		return claimed{}, fmt.Errorf("cluster: a node has asked for the unique key %s in vain: %s", q.Key.text(), a.Error)
	}
	return claimed{q.Key, a.Revision, a.Created, q.Proof}, nil
}

// hearClaims takes unique keys for nodes that do not do so themselves. Each is told to one node.
func (n *Node) hearClaims() error {
	sub, err := n.nc.QueueSubscribe(n.names.claim(), "nodes", func(m *nats.Msg) { go n.claimBy(m) })
	if err == nil {
		context.AfterFunc(n.ctx, func() { _ = sub.Unsubscribe() })
	}
	return err
}

// claimBy does what a message asks for, and answers. If the servers do not say what became of it, neither does the node: it is asked again.
func (n *Node) claimBy(m *nats.Msg) {
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	var q claiming
	c, err := claimed{}, json.Unmarshal(m.Data, &q)
	if err == nil && n.clock.at(n.now()).After(q.Until) { // another was asked since, and the task may have ended
		return
	}
	if err == nil {
		c, err = n.claimAs(ctx, q)
	}
	if ctx.Err() != nil && err != nil {
		return
	}
	a := claimAnswer{Revision: c.revision, Created: c.created}
	if err != nil {
		a.Error = err.Error()
	}
	if e, ok := errors.AsType[*NotUniqueError](err); ok {
		a.NotUnique, a.Holder = true, e.ID
	}
	answer, _ := json.Marshal(a) // texts and numbers only
	_ = m.Respond(answer)
}

// claimAs does what is asked for.
func (n *Node) claimAs(ctx context.Context, q claiming) (c claimed, err error) {
	if _, err := parseToken("unique key", string(q.Key)); err != nil {
		return c, err
	}
	if q.Proof == "" || len(q.Proof) > maxName {
		return c, errors.New("the request has no proof")
	}
	if q.ID == "" {
		return c, n.freeProven(ctx, q)
	}
	if _, err := parseToken("ID", string(q.ID)); err != nil {
		return c, err
	}
	if q.For <= 0 {
		return c, errors.New("the request has no time")
	}
	err = n.ask(ctx, func(ctx context.Context) (err error) {
		c, err = n.claim(ctx, q.Key, q.For, q.ID, q.Proof)
		return err
	}, keyOf(n.names.unique(), string(q.Key)))
	if err == nil && c.created {
		err = n.freeLate(ctx, q, c)
	}
	return c, err
}

// freeLate gives back a key that was taken for a task that has ended: the message that asked for it was late, as when this process was stopped
// since it had looked at the time. What has ended takes no key anew.
func (n *Node) freeLate(ctx context.Context, q claiming, c claimed) error {
	if _, err := n.getOutcome(ctx, q.ID); err != nil {
		return nil
	}
	if err := n.freeKey(ctx, q.Key, c.revision); !isConflict(err) {
		return err
	}
	return nil
}

// freeProven gives a unique key back for the one that it was taken for, unless it has another revision.
func (n *Node) freeProven(ctx context.Context, q claiming) error {
	for {
		last, err := n.lastRevision(ctx, keyOf(n.names.unique(), string(q.Key)))
		if err == nil && last != q.Revision {
			return nil
		}
		var m *nats.Msg
		var revision uint64
		if err == nil {
			m, revision, err = n.last(ctx, n.unique, string(q.Key))
		}
		if err == nil && revision == last {
			if written(m) == nil || header(m.Header, headerProof) != q.Proof {
				return errors.New("another has taken the key")
			}
			if err = n.freeKey(ctx, q.Key, last); err == nil {
				return nil
			}
		}
		if err != nil && !isConflict(err) && !isNotFound(err) {
			return err
		}
		if err := again(ctx); err != nil {
			return err
		}
	}
}
