package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/sweep"
)

const (
	// askedTogether is for how many outcomes or tasks a node asks by one request. The servers answer with 1024 outcomes at most.
	askedTogether = 1000
	// answeredTogether is after how many bytes the servers answer with no more: what a node has not read yet is kept in its memory.
	answeredTogether = 8 << 20
)

// firstLook is after what time a node looks for an outcome that another node will be told of; then it waits twice as long each time,
// up to sweep.Every.
const firstLook = 100 * time.Millisecond

// lookLater looks for the outcome of a task after a time, and again, until sweep does. For a task whose time does not count yet, it goes on.
func (n *Node) lookLater(r *remote, wait time.Duration) {
	time.AfterFunc(wait, func() {
		select {
		case <-r.promise.Future().Done():
			return
		case <-n.ctx.Done():
			return
		default:
		}
		ctx, cancel := context.WithTimeout(n.ctx, serverWait)
		defer cancel()
		if o, err := n.getOutcome(ctx, r.id); err == nil {
			n.waiting.complete(r, o, nil)
			return
		}
		next := min(2*wait, sweep.Every)
		if again := n.lookReleased(ctx, r.id); again || next < sweep.Every {
			n.lookLater(r, next)
		}
	})
}

// sweep looks for outcomes that the node was not told of, since a message or the node that would have sent it was lost.
func (n *Node) sweep() {
	for round := 1; ; round++ {
		select {
		case <-time.After(sweep.Every):
		case <-n.ctx.Done():
			return
		}
		if err := n.lookAll(n.waiting.older(n.now().Add(-sweep.Every))); err != nil && n.ctx.Err() == nil {
			n.log.Debug("filch cluster: cannot look for outcomes; trying again", "node", n.node, "error", err)
		}
		if n.config.places > 0 { // others may lack the permissions
			n.sweepEdges()
			if round%sweep.Rounds() == 0 {
				n.sweepLeft()
				n.canceled.forgetBefore(n.clock.at(n.now()).Add(-controlTTL))
			}
		}
		ctx, cancel := context.WithTimeout(n.ctx, serverWait)
		_ = n.readClock(ctx) // in the next round, then
		cancel()
	}
}

// lookAll ends the Futures of those tasks that have ended.
func (n *Node) lookAll(ids []token) error {
	most := n.largest()
	for len(ids) > 0 {
		var subjects []string
		size := 0
		for _, id := range ids {
			s := keyOf(n.names.results(), string(id))
			if size += len(s) + len(`"",`); len(subjects) == askedTogether || len(subjects) > 0 && size > most {
				break
			}
			subjects = append(subjects, s)
		}
		ids = ids[len(subjects):]
		if err := n.look(subjects); err != nil {
			return err
		}
	}
	return nil
}

// look ends the Futures of those tasks that have ended, by the subjects of their outcomes: by one request, unless there are too many
// bytes for one answer.
func (n *Node) look(subjects []string) error {
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	for {
		found := map[string]bool{}
		request := map[string]any{"multi_last": subjects, "max_bytes": answeredTogether}
		more, err := n.askTogether(ctx, toReadMany(n.names.results()), request, func(m *nats.Msg, subject string) {
			found[subject] = true
			id, err := parseToken("ID", strings.TrimPrefix(subject, keyOf(n.names.results(), "")))
			if err == nil && !isMarker(m.Header) {
				n.waiting.resolve(id, readOutcome(written(m)), nil)
			}
		})
		if err != nil || !more || len(found) == 0 {
			return err
		}
		var left []string
		for _, s := range subjects {
			if !found[s] {
				left = append(left, s)
			}
		}
		subjects = left
	}
}

// askTogether asks any server that has a stream for several of its messages, by a direct request, and calls each with those that there
// are. more says that there are others, for which the answer has no room. (ADR-31 of NATS.)
func (n *Node) askTogether(ctx context.Context, to string, request map[string]any, each func(m *nats.Msg, subject string)) (more bool, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return false, err
	}
	inbox := n.nc.NewInbox()
	sub, err := n.nc.SubscribeSync(inbox)
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := n.nc.PublishRequest(to, inbox, body); err != nil {
		return false, err
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return false, n.explain(err, to)
		}
		if subject := lastHeader(m, jetstream.SubjectHeader); subject != "" { // the servers set it, and not with a status
			each(m, subject)
			continue
		}
		switch status := header(m.Header, "Status"); status {
		case "204": // that was all
			pending, err := strconv.Atoi(header(m.Header, "Nats-Num-Pending"))
			return pending > 0, err
		case "404": // there are none
			return false, nil
		default:
			return false, fmt.Errorf("cluster: a request for messages: %s %s", status, header(m.Header, "Description"))
		}
	}
}
