// Package pull asks consumers for messages.
package pull

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Group is the priority group of all consumers.
const Group = "tiers"

// Request asks a consumer for messages.
type Request struct {
	Batch      int           `json:"batch"`
	Expires    time.Duration `json:"expires,omitempty"`
	NoWait     bool          `json:"no_wait,omitempty"`
	Group      string        `json:"group,omitempty"`
	Priority   int           `json:"priority,omitempty"`    // of prioritized groups: the least is served first
	MinPending int           `json:"min_pending,omitempty"` // of overflow groups: how many tasks must wait
}

// Puller asks one consumer for messages, by one request at a time.
//
// The library's Fetch subscribes anew for each request, and a message that arrives as a request is given up is
// lost until the server gives it to another. A Puller has one subscription, and drains it when it ends.
type Puller struct {
	Again <-chan struct{} // ends Pull: its request is to be made again; nil for a puller that is not told so

	nc      *nats.Conn
	subject string  // of requests
	inbox   string  // what each request has an address below
	form    Request // of all requests
	sub     *nats.Subscription
	msgs    chan *nats.Msg
	back    chan nats.Status // the connection is there again, and its requests are gone
	request int              // number of the last one
}

// New returns a puller for a consumer, which keeps up to room messages that were not passed on yet. All its requests have
// the form's group, priority and condition.
func New(nc *nats.Conn, stream, consumer string, form Request, room int) (*Puller, error) {
	p := &Puller{nc: nc, subject: "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer, inbox: nc.NewInbox(), form: form, msgs: make(chan *nats.Msg, room)}
	var err error
	if p.sub, err = nc.ChanSubscribe(p.inbox+".*", p.msgs); err != nil {
		return nil, err
	}
	p.back = nc.StatusChanged(nats.CONNECTED)
	return p, nil
}

// Refusal says that the consumer did not take a request.
type Refusal struct{ Status, Text string }

func (e *Refusal) Error() string {
	return fmt.Sprintf("cluster: a request for tasks: %s %s", e.Status, e.Text)
}

// grace is how long a puller waits for an answer after the time of its request is over.
const grace = 2 * time.Second

// Pull asks for up to batch messages, and passes them to each as they arrive. It returns when they have come, when there
// are no more and wait is 0, when wait is over, when the connection was lost and is there again, or when Again
// says so.
//
// A task has the subject that it was stored with, and what the server says of a request has the address of the request. The
// headers tell nothing: a message can be stored with a status of its own.
func (p *Puller) Pull(ctx context.Context, batch int, wait time.Duration, each func(*nats.Msg)) (int, error) {
	return p.pull(ctx, batch, wait, wait == 0, each)
}

// Once is Pull for what the consumer has, and does not wait for more. If it has none, or may give none away, that is known when
// wait is over.
//
// A server answers a request that does not wait, and has no time, only when the consumer may give something away.
func (p *Puller) Once(ctx context.Context, batch int, wait time.Duration, each func(*nats.Msg)) (int, error) {
	return p.pull(ctx, batch, wait, true, each)
}

func (p *Puller) pull(ctx context.Context, batch int, wait time.Duration, once bool, each func(*nats.Msg)) (int, error) {
	p.request++
	number := strconv.Itoa(p.request)
	request := p.form
	request.Batch, request.Expires, request.NoWait = batch, wait, once
	body, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	for len(p.back) > 0 {
		<-p.back // it was lost before this request
	}
	select {
	case <-p.Again: // this is it
	default:
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
			status := m.Header.Get("Status")
			if m.Subject != p.inbox+"."+number || status == "100" {
				continue // the end of an earlier request
			}
			return got, ended(status, m.Header.Get("Description"))
		case <-p.back:
			return got, nil
		case <-p.Again:
			return got, nil
		case <-timeout.C:
			return got, nil
		case <-ctx.Done():
			return got, context.Cause(ctx)
		}
	}
}

// Late passes on what has come since the last request has ended.
func (p *Puller) Late(each func(*nats.Msg)) {
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

// says reports whether a message is what the server says of a request, and no task.
func (p *Puller) says(m *nats.Msg) bool { return strings.HasPrefix(m.Subject, p.inbox+".") }

// ended returns what the status at the end of a request means: nil if there is nothing more.
func ended(status, text string) error {
	switch {
	case status == "404", status == "408":
		return nil
	case status == "409" && strings.HasPrefix(text, "Exceeded MaxWaiting"):
		return nil
	}
	if status == "503" {
		text = "there is no leader of the consumer"
	}
	return &Refusal{status, text}
}

// Close ends the subscription, and passes what has arrived to each.
func (p *Puller) Close(each func(*nats.Msg)) {
	p.nc.RemoveStatusListener(p.back)
	closed := p.sub.StatusChanged(nats.SubscriptionClosed)
	if p.sub.Drain() == nil {
		select {
		case <-closed:
		case <-time.After(grace): // the connection is gone
		}
	}
	p.Late(each)
}
