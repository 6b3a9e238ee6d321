package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
)

// execution is one attempt to run a task on this node. It holds a place and a slot among the unsettled until it
// has ended: submit, check and settle pass it on to one another, and each way through them either ends the task or gives it
// back, as README.md says.
type execution struct {
	*task
	lane      *lane
	node      *Node
	handler   *handler
	msg       *nats.Msg
	stored    time.Time // by the servers' clock
	sequence  uint64    // of the message in the stream
	delivered int       // how often the server has given it away, with this time
	more      bool      // others waited in its lane when it was given away
	attempt   int       // from 1: as delivered, without the times that it was given back

	pulse  // under running.mu
	queued queued
	cancel context.CancelCauseFunc
	place  lender
	cause  error // why the handler's context had ended when it returned; written by its worker, before settle
}

// newExecution reads a message.
func newExecution(l *lane, m *nats.Msg) (*execution, error) {
	meta, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	t, err := parseTask(l.handler.name, m.Header, m.Data)
	if err != nil {
		return nil, err
	}
	e := &execution{task: t, lane: l, node: l.node, handler: l.handler, msg: m, stored: meta.Timestamp, sequence: meta.Sequence.Stream, delivered: int(meta.NumDelivered), more: meta.NumPending > 0}
	e.attempt = e.delivered
	e.cancel = func(error) {}
	return e, nil
}

// submit queues the task in the pool of the node.
func (e *execution) submit() {
	n := e.node
	e.queued.enter()
	if n.running.hasEnded() { // it is queued before: so endAll has seen it, or is seen here
		e.dropped()
		return
	}
	if err := n.pool.Go(n.ctx, e.run); err != nil { // the pool is closed, or takes no more
		e.rejected(err)
	}
}

// dropped gives a task to another node that the pool does not run, unless that has been done.
func (e *execution) dropped() {
	if e.queued.leave() {
		e.release()
		go e.settled(e.giveBack)
	}
}

// errGoexit is the error of a handler that has ended its goroutine.
var errGoexit = errors.New("the handler called runtime.Goexit")

// run runs the task on a worker of the pool. What is told to the servers afterwards needs no worker and no place. After
// runtime.Goexit only what is deferred runs.
func (e *execution) run(ctx context.Context) {
	if !e.queued.leave() {
		if e.queued.revive() {
			e.node.rest.end() // the pool goes on
		}
		return
	}
	var data []byte
	err := errGoexit
	defer func() { e.ran(data, err) }()
	data, err = e.handle(ctx)
}

// ran goes on when the handler has ended.
func (e *execution) ran(data []byte, err error) {
	n := e.node
	e.release()
	if err == nil {
		e.done(outcome{Status: statusDone, Codec: n.codecs[0].Name(), data: data})
		return
	}
	go e.settled(func() { e.settle(err) })
}

// handle calls the handler.
func (e *execution) handle(ctx context.Context) (data []byte, err error) {
	n := e.node
	codec := n.codecOf[e.codec]
	if codec == nil {
		return nil, Permanent(fmt.Errorf("node %s has no codec %q", n.node, e.codec))
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, executionKey{}, e))
	defer cancel(nil)
	if e.time > 0 {
		left := e.deadline().Sub(n.clock.at(n.now()))
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, left, ErrDeadline)
		defer stop()
	}
	if err := n.running.begin(e, cancel); err != nil {
		cancel(err)
	}
	if e.cause = context.Cause(ctx); e.cause != nil {
		return nil, e.cause
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
		if e.cause = context.Cause(ctx); e.cause != nil && err != nil {
			err = fmt.Errorf("%w: %w", e.cause, err)
		}
	}()
	data, err = e.handler.call(ctx, codec, n.codecs[0], e.data)
	if err != nil {
		_, _ = err.Error(), e.handler.retry.decide(e.attempt, err) // methods of the error that panic do so here
	}
	if err == nil && e.from != "" {
		err = n.checkSize("result", data)
	}
	return data, err
}

// checkSize returns an error if a message cannot have data as its body. what says what it is.
func (n *Node) checkSize(what string, data []byte) error {
	if most := n.nc.MaxPayload() - headerRoom; int64(len(data)) > most {
		return Permanent(fmt.Errorf("%w: the %s has %d bytes, and %d are allowed", ErrTooLarge, what, len(data), most))
	}
	return nil
}

// executionKey is the key of a handler's context for its execution.
type executionKey struct{}

// done does what finish does, for a task that has a result, and does not wait for the servers: their answers lead from
// one step to the next. What they do not simply confirm is left to finish.
func (e *execution) done(o outcome) {
	n := e.node
	o.Attempts, o.Node, o.Handler = e.attempt, n.node, e.handler.name
	if e.from == "" {
		e.outcomeStored(o, nil)
		return
	}
	data := o.bytes()
	n.asks.Ask(n.outcomeMsg(e.id, data), func(answer []byte, err error) {
		if err == nil && isStored(answer) {
			e.outcomeStored(o, data)
			return
		}
		go e.settled(func() { e.finish(o) })
	})
}

// outcomeStored goes on when the outcome is stored as data, if it is to be stored.
func (e *execution) outcomeStored(o outcome, data []byte) {
	e.node.counts.ended(o.Status)
	if e.node.follows(e.task) {
		go e.settled(func() { e.end(o) })
		return
	}
	e.endDone(o, data)
}

// settled calls f, which settles the task and waits for the servers.
func (e *execution) settled(f func()) {
	defer e.leave()
	defer e.node.running.remove(e)
	f()
}

// endDone acknowledges a task whose outcome is stored as data, and tells it.
func (e *execution) endDone(o outcome, data []byte) {
	n := e.node
	n.asks.Ask(&nats.Msg{Subject: e.msg.Reply, Data: ackBody}, func(_ []byte, err error) {
		if err != nil {
			n.unconfirmed(e.id, err)
		}
		if e.from != "" {
			n.tellOutcome(e.asker(), e.id, o, data)
		}
		n.running.remove(e)
		e.leave()
	})
}

// ackBody is what acknowledges a message.
var ackBody = []byte("+ACK")

// settle tells the servers why the handler has ended without a result.
func (e *execution) settle(err error) {
	switch {
	case errors.Is(e.cause, ErrCanceled):
		e.finish(outcome{Status: statusCanceled})
	case errors.Is(e.cause, ErrDeadline):
		e.finish(outcome{Status: statusDeadline})
	case errors.Is(e.cause, ErrClosed), errors.Is(e.cause, filch.ErrClosed):
		e.giveBack()
	default:
		e.failed(err)
	}
}

// failed tries the task again later, or makes it a dead letter. The note of the attempt says which: what it says for good holds from then
// on, whatever becomes of this node and of the letter. If the servers do not take the note, the attempt counts.
func (e *execution) failed(err error) {
	n := e.node
	n.counts.failed.Add(1)
	d := e.handler.retry.decide(e.attempt, err)
	t, unnoted := e.noteTry(func(t *try) {
		e.count(*t)
		d = e.handler.retry.decide(e.attempt, err)
		t.failed(e, err.Error(), d.dead)
	})
	switch {
	case t.outdates(e):
	case d.dead:
		e.bury(err.Error(), unnoted == nil)
	default:
		n.running.remove(e) // before it can come again
		if e := e.msg.NakWithDelay(max(d.wait, time.Millisecond)); e != nil {
			n.log.Warn("filch cluster: a failed task is tried again only after its AckWait", "node", n.node, "error", e)
		}
	}
}

// bury makes the task a dead letter, and ends it. kept says that a note has the reason, or what it follows from: then a letter that is not
// stored is left to the next node that gets the task. Until that is so, this node keeps the task.
func (e *execution) bury(reason string, kept bool) {
	n := e.node
	l := letter{handler: e.handler.name, id: e.id, msg: e.msg, reason: reason, attempts: e.attempt, counts: &n.counts.dead}
	err := n.insist("a dead letter", e.id, func(ctx context.Context) error {
		err := n.putDead(ctx, l)
		if err != nil && !kept {
			_, unnoted := e.noteTry(func(t *try) { t.failed(e, reason, true) })
			kept = unnoted == nil
		}
		if err != nil && kept {
			err = refused{err}
		}
		return err
	})
	if err != nil {
		n.log.Error("filch cluster: cannot store a dead letter; its task is put off", "node", n.node, "task", e.id, "error", err)
		e.giveBackAfter(DefaultRetry().wait(e.delivered))
		return
	}
	e.finish(outcome{Status: statusFailed, Error: short(reason)})
}

// finish ends the task.
func (e *execution) finish(o outcome) {
	n := e.node
	o.Attempts, o.Node, o.Handler = e.attempt, n.node, e.handler.name
	n.unended(e.id, n.conclude(e.task, o, e.acknowledge))
}

// end does what follows from an outcome that is stored.
func (e *execution) end(o outcome) { e.node.unended(e.id, e.node.concluded(e.task, o, e.acknowledge)) }

func (e *execution) acknowledge() error { return e.node.acknowledge(e.id, e.msg) }

// unaskedWait is after what time a task comes again about which the servers could not be asked.
const unaskedWait = time.Second

// putOff gives the task to another node, or to this one, after a time: the servers do not say whether it is to be run.
func (e *execution) putOff() { e.giveBackAfter(unaskedWait) }

// giveBack gives the task to another node, without counting the attempt.
func (e *execution) giveBack() { e.giveBackAfter(0) }

func (e *execution) giveBackAfter(wait time.Duration) {
	n := e.node
	n.returning.Add(1)
	defer n.returning.Done()
	n.running.remove(e)
	if t, _ := e.noteTry(func(t *try) { t.Returned++ }); t.outdates(e) {
		return
	}
	n.counts.returned.Add(1)
	if err := e.msg.NakWithDelay(wait); err != nil {
		n.log.Warn("filch cluster: a task that was given back comes to others only after its AckWait", "node", n.node, "error", err)
	}
}

// check asks the servers about a task that was given away before, or canceled, and runs it if it is still to be run.
func (e *execution) check() {
	n := e.node
	ctx, cancel := context.WithTimeout(n.ctx, serverWait)
	defer cancel()
	end := func(f func()) {
		e.release()
		e.settled(f)
	}
	if n.isCanceled(ctx, e.id) {
		end(func() { e.finish(outcome{Status: statusCanceled}) })
		return
	}
	o, err := n.sureOutcome(ctx, e.id)
	switch {
	case err == nil:
		n.counts.duplicates.Add(1)
		end(func() { e.end(o) })
		return
	case err != nil && !isNotFound(err):
		end(e.putOff)
		return
	}
	t, err := n.getTry(ctx, e.id)
	if err == nil {
		e.count(t)
		if e.spent() || e.attempt > t.Attempts+1 { // or the time before has ended without a word: it may go on somewhere
			t, err = e.recount()
		}
	}
	switch {
	case err != nil:
		end(e.putOff)
	case t.outdates(e):
		n.counts.duplicates.Add(1)
		end(func() {})
	case t.Final == e.sequence:
		end(func() {
			e.attempt = t.Attempts
			e.bury(t.Error, true)
		})
	case e.spent():
		end(func() {
			reason := t.Error
			if reason == "" {
				reason = "no node that had it has answered: it may end the process that runs it"
			}
			e.attempt--
			e.bury(reason, true)
		})
	default:
		n.running.progress(e) // the time until here is not the pool's
		e.submit()
	}
}
