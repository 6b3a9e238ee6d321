package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster/internal/pull"
)

// lane is what fetches tasks of a handler of one level or partition. It has a consumer of its own on the servers.
//
// A lane that finds nothing waits with one request for one task at the server, which needs no place. With the task it
// takes a place, and then asks for as many more as it can have places for, until there are none. So a node
// never holds more than one task of a lane for which it has no place, and gives it back after holdFor. A lane without a request at
// the server looks when it is its turn for a place.
type lane struct {
	handler   *handler
	node      *Node
	name      string
	level     int
	partition bool // it has the tasks of some keys
	pending   int  // how many of its tasks may be unacknowledged, or 0 for any number
	limited   limited
	pull      *pull.Puller
	again     chan struct{} // of capacity 1: the request at the server is to be made again
}

const (
	// probeFor is how long a request of a lane waits at the server.
	probeFor = 5 * time.Second
	// A lane waits for a place that no lane waits for before it waits for its turn: turnAfter for each lane of the node, and not
	// longer than turnMost. Each turn keeps a place for the time of one request, so all turns together are some 100 requests a second.
	turnAfter = 10 * time.Millisecond
	turnMost  = time.Second
	// holdFor is how long a node keeps a task for which it has no place.
	holdFor = 500 * time.Millisecond
	// settleMost is how long a message waits for an earlier one of its task that this node is settling.
	settleMost = time.Second
	// ensureMost is how many lanes of a node make their consumers at once. Those of a thousand handlers would ask for more than the
	// servers can answer in time, ask again, and so on.
	ensureMost = 16
	// newTrouble is after what time without trouble the next is logged again.
	newTrouble = time.Minute
	// retryLane is how long a lane waits after something has gone wrong with the servers, at most.
	retryLane = 2 * time.Second
)

// run fetches until the node leaves, or its pool is closed.
func (l *lane) run() {
	n := l.node
	ctx := n.looking
	told := false
	for ctx.Err() == nil {
		begin := time.Now()
		err := l.fetch(ctx)
		told = told && time.Since(begin) < newTrouble
		if ctx.Err() != nil || n.pool.Closed() {
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
	select {
	case n.ensuring <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := l.ensure(ctx)
	<-n.ensuring
	if err != nil {
		return err
	}
	if l.pull, err = l.newPuller(); err != nil {
		return err
	}
	defer l.pull.Close(l.giveBack)
	for {
		got, err := l.look(ctx)
		for err == nil && got > 0 && l.worthwhile() {
			got, err = l.fill(ctx, n.config.places)
		}
		if err != nil {
			return err
		}
	}
}

// look asks for one task: by a request that waits at the server if there is a place that no lane waits for, and else, after
// some time, with the place of its turn. Without turns, a node that is never idle would not see what waits in its other lanes.
func (l *lane) look(ctx context.Context) (got int, err error) {
	l.pull.Late(l.admit)
	if err := l.node.rested(ctx); err != nil {
		return 0, err
	}
	if l.node.pool.Closed() {
		return 0, filch.ErrClosed
	}
	idle, cancel := context.WithTimeout(ctx, l.turn())
	defer cancel()
	defer l.untilLeft(cancel)()
	if l.wait(idle) != nil {
		return l.fill(ctx, 1)
	}
	return l.pull.Pull(ctx, 1, probeFor, l.admit)
}

// turnOf returns after what time a lane of a node without idle places waits for its turn, if the node has so many.
func turnOf(lanes int64) time.Duration { return min(time.Duration(lanes)*turnAfter, turnMost) }

// fill takes up to most places, with slots among the unsettled, and asks for as many tasks.
func (l *lane) fill(ctx context.Context, most int) (got int, err error) {
	if most = l.allowed(most); most == 0 {
		return 0, nil
	}
	places, err := l.take(ctx, most)
	if err != nil {
		return 0, err
	}
	if l.node.rest.on.Load() { // since a task was given back, whose place this may be
		l.put(places)
		return 0, nil
	}
	got, err = l.ask(ctx, places)
	l.put(places - got)
	return got, err
}

// wait waits until there is a place that the lane could take.
func (l *lane) wait(ctx context.Context) error {
	if h := l.handler; h.nodeLimit > 0 {
		if err := h.places.Wait(ctx); err != nil {
			return err
		}
	}
	if err := l.node.places.Wait(ctx); err != nil {
		return err
	}
	return l.node.slots.Wait(ctx)
}

// take waits for at least one place and a slot among the unsettled, and takes up to most of both.
func (l *lane) take(ctx context.Context, most int) (int, error) {
	places, err := l.handler.take(ctx, l.level, most)
	if err != nil {
		return 0, err
	}
	slots, err := l.node.slots.Take(ctx, l.level, places)
	l.handler.put(places - slots)
	return slots, err
}

// put gives places and slots back.
func (l *lane) put(n int) {
	if n > 0 {
		l.handler.put(n)
		l.node.slots.Put(n)
	}
}

// take waits for at least one place and takes up to most: of the handler, if it has a limit on this node, and then as
// many of the node.
func (h *handler) take(ctx context.Context, level, most int) (int, error) {
	if h.nodeLimit == 0 {
		return h.node.places.Take(ctx, level, most)
	}
	own, err := h.places.Take(ctx, level, most)
	if err != nil {
		return 0, err
	}
	all, err := h.node.places.Take(ctx, level, own)
	h.places.Put(own - all)
	return all, err
}

// put gives places back.
func (h *handler) put(n int) {
	if h.nodeLimit > 0 {
		h.places.Put(n)
	}
	h.node.places.Put(n)
}

// admit starts a task for which no place was taken, or gives it back if none is free in time, or the node rests.
func (l *lane) admit(m *nats.Msg) {
	if l.node.rest.on.Load() {
		l.giveBack(m)
		return
	}
	ctx, cancel := context.WithTimeout(l.node.looking, holdFor)
	defer cancel()
	if _, err := l.take(ctx, 1); err != nil {
		l.giveBack(m)
		return
	}
	l.start(m)
}

// start runs a task for which there is a place and a slot.
func (l *lane) start(m *nats.Msg) {
	n := l.node
	n.ran.Add(1)
	l.entered()
	e, err := newExecution(l, m)
	if err != nil {
		l.handler.put(1)
		go func() { defer l.settled(); n.refuse(l, m, err) }()
		return
	}
	l.follow(e.more)
	switch added, gone := n.running.add(e); {
	case added:
		n.fetched.add(e.by)
		if e.delivered > 1 || n.canceled.has(e.id) {
			go e.check()
		} else {
			e.submit()
		}
	case gone == nil: // the servers missed its heartbeats; the message that it runs from is as good
		n.counts.duplicates.Add(1)
		l.handler.put(1)
		l.settled()
	default:
		go l.follows(e, gone)
	}
}

// follows runs a task when the execution of an earlier message of it is settled. That takes a moment, unless its handler still runs: then the
// message is left to its AckWait.
func (l *lane) follows(e *execution, gone <-chan struct{}) {
	late := time.NewTimer(min(settleMost, l.handler.ackWait/2))
	defer late.Stop()
	for {
		select {
		case <-gone:
		case <-late.C:
			l.node.counts.duplicates.Add(1)
			l.handler.put(1)
			l.settled()
			return
		}
		added, other := l.node.running.add(e)
		if added {
			l.node.fetched.add(e.by)
			e.check() // the earlier one may have the outcome
			return
		}
		gone = other
	}
}

// settled says that a task that was started is acknowledged or given back, and gives its slot back.
func (l *lane) settled() {
	l.node.slots.Put(1)
	l.left()
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
