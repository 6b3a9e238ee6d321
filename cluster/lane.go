package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
)

// lane is what fetches tasks of a handler of one level or partition. It has a consumer of its own on the servers.
//
// A lane that finds nothing waits with one request for one task at the server, which needs no place. With the task it
// takes a place, and then asks for as many more as it can have places for, until there are none. So a node
// never holds more than one task of a lane for which it has no place, and gives it back after holdFor.
type lane struct {
	handler   *handler
	node      *Node
	name      string
	level     int
	partition bool // it has the tasks of some keys
	pending   int  // how many of its tasks may be unacknowledged, or 0 for any number
	pull      *puller
}

const (
	// probeFor is how long a request of a lane waits at the server.
	probeFor = 5 * time.Second
	// holdFor is how long a node keeps a task for which it has no place.
	holdFor = 500 * time.Millisecond
	// newTrouble is after what time without trouble the next is logged again.
	newTrouble = time.Minute
	// retryLane is how long a lane waits after something has gone wrong with the servers, at most.
	retryLane = 2 * time.Second
)

// run fetches until the node leaves.
func (l *lane) run() {
	n := l.node
	ctx := n.looking
	told := false
	for ctx.Err() == nil {
		begin := time.Now()
		err := l.fetch(ctx)
		told = told && time.Since(begin) < newTrouble
		if ctx.Err() != nil {
			break
		}
		if !told && !errors.Is(err, nats.ErrConnectionClosed) {
			n.log.Warn("filch cluster: cannot fetch tasks; trying again", "node", n.node, "handler", l.handler.name, "lane", l.name, "error", err)
			told = true
		}
		select {
		case <-time.After(rand.N(retryLane)):
		case <-ctx.Done():
		}
	}
}

// fetch makes the consumer of the lane, if it is not there, and fetches until something goes wrong.
func (l *lane) fetch(ctx context.Context) error {
	n := l.node
	err := l.ensure(ctx)
	if err != nil {
		return err
	}
	if l.pull, err = newPuller(l); err != nil {
		return err
	}
	defer l.pull.close(l.giveBack)
	for {
		if err := l.wait(ctx); err != nil {
			return err
		}
		got, err := l.pull.pull(ctx, 1, probeFor, l.admit)
		if err != nil {
			return err
		}
		for got > 0 {
			places, err := l.handler.take(ctx, l.level, n.config.places)
			if err != nil {
				return err
			}
			got, err = l.pull.pull(ctx, places, 0, l.start)
			l.handler.put(places - got)
			if err != nil {
				return err
			}
		}
	}
}

// wait waits until there is a place that the lane could take.
func (l *lane) wait(ctx context.Context) error {
	if h := l.handler; h.nodeLimit > 0 {
		if err := h.places.wait(ctx); err != nil {
			return err
		}
	}
	return l.node.places.wait(ctx)
}

// take waits for at least one place and takes up to most: of the handler, if it has a limit on this node, and then as
// many of the node.
func (h *handler) take(ctx context.Context, level, most int) (int, error) {
	if h.nodeLimit == 0 {
		return h.node.places.take(ctx, level, most)
	}
	own, err := h.places.take(ctx, level, most)
	if err != nil {
		return 0, err
	}
	all, err := h.node.places.take(ctx, level, own)
	h.places.put(own - all)
	return all, err
}

// put gives places back.
func (h *handler) put(n int) {
	if h.nodeLimit > 0 {
		h.places.put(n)
	}
	h.node.places.put(n)
}

// admit starts a task for which no place was taken, or gives it back if none is free in time.
func (l *lane) admit(m *nats.Msg) {
	ctx, cancel := context.WithTimeout(l.node.looking, holdFor)
	defer cancel()
	if _, err := l.handler.take(ctx, l.level, 1); err != nil {
		l.giveBack(m)
		return
	}
	l.start(m)
}

// start runs a task for which there is a place.
func (l *lane) start(m *nats.Msg) {
	n := l.node
	n.unsettled <- struct{}{}
	n.ran.Add(1)
	e, err := newExecution(l, m)
	if err != nil {
		l.handler.put(1)
		go func() { defer n.settled(); n.refuse(l, m, err) }()
		return
	}
	if !n.running.add(e) {
		// It runs here, and the servers did not hear its signs of life in time. Its own message is as good.
		n.counts.duplicates.Add(1)
		l.handler.put(1)
		n.settled()
		return
	}
	n.fetched.add(e.by)
	if e.delivered > 1 || n.canceled.has(e.id) {
		go e.check()
		return
	}
	e.submit()
}

// settled says that a task that was started is acknowledged or given back.
func (n *Node) settled() {
	<-n.unsettled
	n.ran.Done()
}

// giveBack gives a task back that was not started.
func (l *lane) giveBack(m *nats.Msg) {
	n := l.node
	e, err := newExecution(l, m)
	if err != nil {
		_ = m.Nak()
		return
	}
	n.ran.Go(e.giveBack)
}
