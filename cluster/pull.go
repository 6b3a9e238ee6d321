package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// tierGroup is the priority group of all consumers.
const tierGroup = "tiers"

// pullRequest asks a consumer for messages.
type pullRequest struct {
	Batch      int           `json:"batch"`
	Expires    time.Duration `json:"expires,omitempty"`
	NoWait     bool          `json:"no_wait,omitempty"`
	Group      string        `json:"group,omitempty"`
	Priority   int           `json:"priority,omitempty"`    // of prioritized groups: the least is served first
	MinPending int           `json:"min_pending,omitempty"` // of overflow groups: how many tasks must wait
}

// puller asks one consumer for messages, by one request at a time.
//
// The library's Fetch subscribes anew for each request, and a message that arrives as a request is given up is
// lost until the server gives it to another. The puller has one subscription, and drains it when it ends.
type puller struct {
	nc      *nats.Conn
	subject string      // of requests
	inbox   string      // what each request has an address below
	form    pullRequest // of all requests
	sub     *nats.Subscription
	msgs    chan *nats.Msg
	back    chan nats.Status // the connection is there again, and its requests are gone
	request int              // number of the last one
}

// newPuller returns a puller for a lane.
func newPuller(l *lane) (*puller, error) {
	n := l.node
	form := pullRequest{Group: tierGroup}
	switch {
	case l.handler.stealAbove > 0 && n.tier > 0:
		form.MinPending = l.handler.stealAbove*n.tier + 1
	case l.handler.stealAbove > 0:
	case l.partition:
		form.Priority = affinity(n.node, l.name, n.tier)
	default:
		form.Priority = n.tier
	}
	return n.pullFrom(n.work(), consumer(l.handler.name, l.name), form, 2*n.config.places+16)
}

// nearest is how many priorities near nodes have for partitions; the other three are those of tiers 1, 2 and above.
const nearest = 7

// affinity returns the priority of a node for a partition. The server serves the least of those that wait, so a partition
// goes to the same node as long as that one waits, and no node needs to know the others: rendezvous hashing (Thaler and
// Ravishankar, IEEE/ACM Transactions on Networking, 1998), by seven weights.
func affinity(node, lane string, tier int) int {
	if tier > 0 {
		return nearest - 1 + min(tier, 3)
	}
	f := fnv.New32a()
	f.Write([]byte(node + " " + lane))
	return int(f.Sum32()>>16) % nearest
}

// pullFrom returns a puller for a consumer, which keeps up to room messages that were not passed on yet.
func (n *Node) pullFrom(stream, consumer string, form pullRequest, room int) (*puller, error) {
	p := &puller{nc: n.nc, subject: "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer, inbox: n.nc.NewInbox(), form: form, msgs: make(chan *nats.Msg, room)}
	var err error
	if p.sub, err = n.nc.ChanSubscribe(p.inbox+".*", p.msgs); err != nil {
		return nil, err
	}
	p.back = n.nc.StatusChanged(nats.CONNECTED)
	return p, nil
}

// errAsk says that the consumer did not take a request.
type errAsk struct{ status, text string }

func (e *errAsk) Error() string {
	return fmt.Sprintf("cluster: a request for tasks: %s %s", e.status, e.text)
}

// grace is how long a puller waits for an answer after the time of its request is over.
const grace = 2 * time.Second

// pull asks for up to batch messages, and passes them to each as they arrive. It returns when they have come, when there
// are no more and wait is 0, when wait is over, or when the connection was lost and is there again.
//
// A task has the subject that it was stored with, and what the server says of a request has the address of the request. The
// headers tell nothing: a message can be stored with a status of its own.
func (p *puller) pull(ctx context.Context, batch int, wait time.Duration, each func(*nats.Msg)) (int, error) {
	p.request++
	number := strconv.Itoa(p.request)
	request := p.form
	request.Batch, request.Expires, request.NoWait = batch, wait, wait == 0
	body, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	for len(p.back) > 0 {
		<-p.back // it was lost before this request
	}
	if err := p.nc.PublishRequest(p.subject, p.inbox+"."+number, body); err != nil {
		return 0, err
	}
	timeout := time.NewTimer(wait + grace)
	defer timeout.Stop()
	for got := 0; ; {
		select {
		case m, ok := <-p.msgs:
			if !ok {
				return got, nats.ErrConnectionClosed
			}
			if !p.says(m) {
				got++
				if each(m); got >= batch {
					return got, nil
				}
				continue
			}
			status := header(m.Header, "Status")
			if m.Subject != p.inbox+"."+number || status == "100" {
				continue // the end of an earlier request
			}
			return got, ended(status, header(m.Header, "Description"))
		case <-p.back:
			return got, nil
		case <-timeout.C:
			return got, nil
		case <-ctx.Done():
			return got, context.Cause(ctx)
		}
	}
}

// says reports whether a message is what the server says of a request, and no task.
func (p *puller) says(m *nats.Msg) bool { return strings.HasPrefix(m.Subject, p.inbox+".") }

// ended returns what the status at the end of a request means: nil if there is nothing more.
func ended(status, text string) error {
	switch {
	case status == "404", status == "408":
		return nil
	case status == "409" && (strings.HasPrefix(text, "Message Size") || strings.Contains(text, "MaxAckPending") || strings.HasPrefix(text, "Exceeded MaxWaiting")):
		return nil
	}
	if status == "503" {
		text = "there is no leader of the consumer"
	}
	return &errAsk{status, text}
}

// close ends the subscription, and passes what has arrived to each.
func (p *puller) close(each func(*nats.Msg)) {
	p.nc.RemoveStatusListener(p.back)
	closed := p.sub.StatusChanged(nats.SubscriptionClosed)
	if p.sub.Drain() == nil {
		select {
		case <-closed:
		case <-time.After(grace): // the connection is gone
		}
	}
	for {
		select {
		case m, ok := <-p.msgs:
			if !ok {
				return
			}
			if !p.says(m) {
				each(m)
			}
		default:
			return
		}
	}
}
