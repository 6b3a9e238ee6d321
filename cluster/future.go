package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
)

// Future is the result of a task. Its methods may be called from any goroutine, any number of times. Only Wait blocks.
type Future[T any] struct {
	n      *Node
	local  *filch.Future[T]
	remote *remote // if local is nil
}

// remote is what a Future of a task in the stream waits for.
type remote struct {
	id       token
	since    time.Time // by the node's clock
	noResult bool
	stored   atomic.Bool   // by Submit of this node: nobody needs to look whether there is such a task
	users    int           // calls that want it; under waiting.mu
	within   time.Duration // how long the task may take from when it is released, or 0; under waiting.mu
	late     *time.Timer   // ends it; nil if nothing does so; under waiting.mu
	promise  *filch.Promise[outcome]
}

// ID returns the ID of the task, or "" for one that runs on this node by [LocalFirst].
func (f *Future[T]) ID() string {
	if f.remote == nil {
		return ""
	}
	return f.remote.id.text()
}

// Wait waits for the end of the task, or of ctx, and returns its result. A task of a pool that waits gives up its worker
// meanwhile, and a handler its place on its node, so that handlers may wait for tasks of the cluster. Errors are those of the
// handler for a task of [LocalFirst] that ran here; else [*TaskError], [ErrCanceled], [ErrDeadline], [ErrNoResult], [ErrClosed] if the node was closed,
// or the error of ctx.
func (f *Future[T]) Wait(ctx context.Context) (T, error) {
	if f.local != nil {
		defer lendFor(ctx, f.local.Done())()
		return f.local.Wait(ctx)
	}
	var v T
	if f.remote.noResult {
		return v, ErrNoResult
	}
	o, err := f.wait(ctx)
	if err != nil {
		return v, err
	}
	if err := o.err(f.remote.id); err != nil {
		return v, err
	}
	codec := f.n.codecOf[o.Codec]
	if codec == nil {
		return v, fmt.Errorf("cluster: the result was written by the codec %q, which node %s does not have", o.Codec, f.n.node)
	}
	if err := codec.Unmarshal(o.data, &v); err != nil {
		return v, fmt.Errorf("cluster: the result cannot be read as %T by the codec %s: %w", v, o.Codec, err)
	}
	return v, nil
}

// wait waits for the outcome.
func (f *Future[T]) wait(ctx context.Context) (outcome, error) {
	future := f.remote.promise.Future()
	defer lendFor(ctx, future.Done())()
	return future.Wait(ctx)
}

// lendFor lends the slot of the handler of ctx on its node, if there is one, unless what it waits for is done. It returns what ends that.
func lendFor(ctx context.Context, done <-chan struct{}) func() {
	if e, _ := ctx.Value(executionKey{}).(*execution); e != nil {
		select {
		case <-done:
		default:
			e.lend()
			return func() { e.reclaim(ctx) }
		}
	}
	return func() {}
}

// Done returns a channel that is closed when Wait would not block. For a task with [NoResult] it is closed. A handler that
// waits for the channel keeps its slot, which the task may need: only Wait lends it.
func (f *Future[T]) Done() <-chan struct{} {
	if f.local != nil {
		return f.local.Done()
	}
	return f.remote.promise.Future().Done()
}

// Cancel cancels the task, as [Node.Cancel] does, and does not wait until the servers have heard it. What goes wrong is logged.
func (f *Future[T]) Cancel() {
	if f.local != nil {
		f.local.Cancel()
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(f.n.ctx, serverWait)
		defer cancel()
		if err := f.n.cancelKnown(ctx, f.remote.id, f.remote.stored.Load()); err != nil {
			f.n.log.Warn("filch cluster: a task was not canceled", "node", f.n.node, "task", f.remote.id, "error", err)
		}
	}()
}

// waiting are the futures of a node that are not done.
type waiting struct {
	mu      sync.Mutex
	futures map[token]*remote
	closed  error
}

// add returns the future of a task, which is the same for the same task.
func (w *waiting) add(n *Node, id token) *remote {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.futures[id]; r != nil {
		r.users++
		return r
	}
	r := &remote{id: id, since: n.now(), users: 1, promise: filch.NewPromise[outcome](n.pool)}
	if w.closed != nil {
		r.promise.Complete(outcome{}, w.closed)
		return r
	}
	w.futures[id] = r
	return r
}

// isStored reports whether there is a future of a task that this node has submitted.
func (w *waiting) isStored(id token) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.futures[id]
	return r != nil && r.stored.Load()
}

// remove forgets a future that a call of add has returned, unless others want it.
func (w *waiting) remove(r *remote) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.users--; r.users == 0 {
		w.drop(r)
	}
}

// drop forgets a future, and stops what ends it in time. It returns false if the future is not there: there may be another of its ID.
// waiting.mu is held.
func (w *waiting) drop(r *remote) bool {
	if w.futures[r.id] != r {
		return false
	}
	delete(w.futures, r.id)
	if r.late != nil {
		r.late.Stop() // if it runs already, complete finds nothing
	}
	return true
}

// resolve completes the future of a task, if there is one.
func (w *waiting) resolve(id token, o outcome, err error) {
	w.mu.Lock()
	r := w.futures[id]
	found := r != nil && w.drop(r)
	w.mu.Unlock()
	if found {
		r.promise.Complete(o, err)
	}
}

// complete completes a future, unless that was done before, or nobody wants it any more.
func (w *waiting) complete(r *remote, o outcome, err error) {
	w.mu.Lock()
	found := w.drop(r)
	w.mu.Unlock()
	if found {
		r.promise.Complete(o, err)
	}
}

// failAll completes all futures.
func (w *waiting) failAll(err error) {
	w.mu.Lock()
	all := slices.Collect(maps.Values(w.futures))
	for _, r := range all {
		w.drop(r)
	}
	w.closed = err
	w.mu.Unlock()
	for _, r := range all {
		r.promise.Complete(outcome{}, err)
	}
}

func (w *waiting) len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.futures)
}

// older returns the IDs of futures from before a time.
func (w *waiting) older(t time.Time) []token {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []token
	for id, r := range w.futures {
		if r.since.Before(t) {
			ids = append(ids, id)
		}
	}
	return ids
}
