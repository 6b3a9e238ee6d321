package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// pulse is when the servers last heard of an execution, and when it last made progress, by the node's clock. Until it has begun,
// that is when it was queued in the pool.
type pulse struct {
	beat     time.Time
	progress time.Time
	silent   bool // it gets no more signs
	canceled bool // before it had begun
	begun    bool
	gone     chan struct{} // closed when it is removed; nil unless another message of its task waits for that
}

// running are the executions of a node, by the IDs of their tasks.
type running struct {
	mu    sync.Mutex
	tasks map[token]*execution
	ended error         // why no handler begins any more; nil as long as handlers do
	some  chan struct{} // of capacity 1: there are some
}

func (r *running) init() {
	r.tasks, r.some = map[token]*execution{}, make(chan struct{}, 1)
}

// add adds an execution, unless its task is here already. A task that was put back is another message, and may come while the execution
// that failed is still being settled: then add returns a channel that is closed when that is over. For the same message, delivered again, it
// returns nil.
func (r *running) add(e *execution) (added bool, gone <-chan struct{}) {
	now := e.node.now()
	r.mu.Lock()
	if have := r.tasks[e.id]; have != nil && !have.silent {
		defer r.mu.Unlock()
		if have.sequence == e.sequence {
			return false, nil
		}
		if have.gone == nil {
			have.gone = make(chan struct{})
		}
		return false, have.gone
	}
	e.beat, e.progress = now, now
	r.tasks[e.id] = e
	r.mu.Unlock()
	select {
	case r.some <- struct{}{}:
	default:
	}
	return true, nil
}

// begin says that the handler of e is called, and how to cancel it. It returns why it is not to be called, if it is not.
func (r *running) begin(e *execution, cancel context.CancelCauseFunc) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.cancel, e.begun, e.progress = cancel, true, e.node.now()
	if e.canceled {
		return ErrCanceled
	}
	return r.ended
}

// hasEnded reports whether no handler begins any more.
func (r *running) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended != nil
}

// remove removes an execution.
func (r *running) remove(e *execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tasks[e.id] == e {
		delete(r.tasks, e.id)
		if e.gone != nil {
			close(e.gone)
		}
	}
}

// cancelTask cancels a task if it is here.
func (r *running) cancelTask(id token) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.tasks[id]; e != nil {
		e.canceled = true
		e.cancel(ErrCanceled)
	}
}

// endAll cancels all that is running, and gives back what waits in the pool. From then on no handler begins: what comes
// later sees ended.
func (r *running) endAll(cause error) {
	r.mu.Lock()
	r.ended = cause
	for _, e := range r.tasks {
		e.cancel(cause)
	}
	r.mu.Unlock()
	r.dropAll()
}

// dropAll gives back what waits in the pool.
func (r *running) dropAll() {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.tasks))
	r.mu.Unlock()
	for _, e := range all {
		e.dropped()
	}
}

// watchPool gives back what waits in the pool when that ends before the node: the pool does not run it.
func (n *Node) watchPool() {
	select {
	case <-n.pool.Done():
	case <-n.ctx.Done():
		return
	}
	if n.looking.Err() == nil {
		n.log.Error("filch cluster: the pool of the node was closed before the node; it runs nothing more", "node", n.node)
	}
	n.running.dropAll()
}

// len returns how many there are.
func (r *running) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tasks)
}

// Progress says that the task of a handler's context goes on. See [WithSilence]. Outside of a handler it does nothing.
func Progress(ctx context.Context) {
	if e, _ := ctx.Value(executionKey{}).(*execution); e != nil {
		e.node.running.progress(e)
	}
}

// progress says that e goes on.
func (r *running) progress(e *execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.progress = e.node.now()
}

// beatEvery is how often a node looks which of its tasks the servers should hear of. It is less than a third of the
// least AckWait.
const beatEvery = 300 * time.Millisecond

// beat tells the servers that tasks are still running, as long as they make progress.
func (n *Node) beat() {
	for {
		select {
		case <-n.running.some:
		case <-n.ctx.Done():
			return
		}
		for n.running.len() > 0 {
			select {
			case <-time.After(beatEvery):
				n.beatOnce()
			case <-n.ctx.Done():
				return
			}
		}
	}
}

// beatOnce tells the servers of those tasks whose time has come, and gives back what a pool that hangs has not begun.
func (n *Node) beatOnce() {
	now := n.now()
	var due, hung []*execution
	r := &n.running
	r.mu.Lock()
	for _, e := range r.tasks {
		if e.waits() {
			e.progress = now
		}
		switch silent := now.Sub(e.progress) > e.handler.silence; {
		case silent && e.begun && !e.silent:
			e.silent = true
			e.cancel(ErrSilent)
		case silent && e.queued.waits():
			hung = append(hung, e)
		}
		if !e.silent && now.Sub(e.beat) >= e.handler.ackWait/3 {
			e.beat = now
			due = append(due, e)
		}
	}
	r.mu.Unlock()
	for _, e := range hung {
		e.hung()
	}
	for _, e := range due {
		if err := e.msg.InProgress(); err != nil {
			n.log.Debug("filch cluster: a sign of a task was not sent", "node", n.node, "task", e.id, "error", err)
		}
	}
}
