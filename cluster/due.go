package cluster

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/pull"
)

const (
	// dueConsumer is the consumer of the tasks that are due, for all nodes.
	dueConsumer = "due"
	// dueBatch is how many tasks that are due a node moves at a time.
	dueBatch = 64
	// duePending is how many all nodes move at a time. If the work stream is full, these try again each dueRetry, and
	// the others wait.
	duePending = 256
	// dueWait is after what time another node moves what a node was lost with. It is longer than a node tries.
	dueWait = serverWait + 5*time.Second
	// dueRetry is after what time a task that could not be moved is tried again.
	dueRetry = time.Second
)

// moveDue moves tasks that are due into the work stream, until the node leaves. Any node can move any task.
func (n *Node) moveDue() {
	told := false
	for n.looking.Err() == nil {
		err := n.moveWhile(n.looking)
		if n.looking.Err() != nil {
			return
		}
		if !told && !errors.Is(err, nats.ErrConnectionClosed) {
			n.log.Warn("filch cluster: cannot fetch tasks that are due; trying again", "node", n.node, "error", err)
			told = true
		}
		select {
		case <-time.After(rand.N(retryLane)):
		case <-n.looking.Done():
		}
	}
}

// moveWhile moves tasks that are due until something goes wrong.
func (n *Node) moveWhile(ctx context.Context) error {
	if _, err := n.js.CreateOrUpdateConsumer(ctx, n.later(), jetstream.ConsumerConfig{
		Durable: dueConsumer, FilterSubject: n.dueOf(">"), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: dueWait, MaxDeliver: -1, MaxAckPending: duePending, MaxWaiting: 8192,
	}); err != nil {
		return err
	}
	p, err := pull.New(n.nc, n.later(), dueConsumer, pull.Request{}, 2*dueBatch)
	if err != nil {
		return err
	}
	defer p.Close(func(m *nats.Msg) { _ = m.Nak() })
	for {
		var moving sync.WaitGroup
		each := func(m *nats.Msg) { moving.Go(func() { n.move(m) }) }
		got, err := p.Pull(ctx, 1, probeFor, each)
		for err == nil && got > 0 {
			got, err = p.Pull(ctx, dueBatch, 0, each)
			moving.Wait()
		}
		moving.Wait()
		if err != nil {
			return err
		}
	}
}

// move moves a task that is due into the work stream. Moved twice, since the first time was not confirmed, it is
// stored once: its ID is its message's.
func (n *Node) move(m *nats.Msg) {
	out, id, err := n.workMessage(m)
	if err != nil {
		n.refuseDue(m, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.looking), serverWait)
	defer cancel()
	var key claimed
	if header(out.Header, headerCron) != "" { // other tasks have had their keys since Submit
		key, err = n.claimFor(ctx, id, out)
	}
	if errors.Is(err, ErrNotUnique) {
		_ = m.Ack()
		return
	}
	before := false
	if err == nil {
		before, err = n.publishOnce(ctx, id, out)
	}
	if before { // moved a second time, it may have ended, and frees no key any more
		err = n.unclaim(key)
	}
	if err != nil {
		if !isFull(err) {
			n.log.Warn("filch cluster: a task that is due is not stored; trying again", "node", n.node, "task", id, "error", err)
		}
		_ = m.NakWithDelay(dueRetry)
		return
	}
	_ = m.Ack()
}

// workMessage returns the message of a task that is due, for the work stream, and the ID of the task.
func (n *Node) workMessage(m *nats.Msg) (*nats.Msg, token, error) {
	h := maps.Clone(m.Header)
	maps.DeleteFunc(h, func(key string, _ []string) bool { return strings.HasPrefix(key, "Nats-") })
	id, err := dueID(m.Header)
	if err == nil && header(h, headerCron) != "" {
		_, _, err = parseUnique(h)
	}
	if err != nil {
		return nil, "", err
	}
	h[headerID], h[nats.MsgIdHdr] = []string{string(id)}, []string{string(id)}
	if meta, bad := m.Metadata(); bad == nil && header(h, headerTime) != "" { // it was due when this was stored, and its time counts from then
		h[headerSince] = []string{meta.Timestamp.UTC().Format(time.RFC3339Nano)}
	}
	return &nats.Msg{Subject: n.workOfDue(m.Subject), Header: h, Data: m.Data}, id, nil
}

// dueID returns the ID of a task that is due. A time of a cron job has none in its headers: the job and the time are its ID.
func dueID(h nats.Header) (token, error) {
	if name := header(h, headerCron); name != "" {
		return cronTask(name, header(h, headerScheduleNext))
	}
	return parseToken("ID", header(h, headerID))
}

// refuseDue makes a message that is no task a dead letter.
func (n *Node) refuseDue(m *nats.Msg, why error) {
	handler, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, n.dueOf("")), ".")
	if n.putUnreadable(handler, "due-", m, why) {
		_ = m.Ack()
	}
}
