package task

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/standby"
)

// Context is the context that a task is called with: the submitter's with the worker added, and with its own end once Done is
// called. Any goroutine may use it, during the task and after, so all of the worker that it gives access to must be safe for
// that.
type Context struct {
	// Its methods stand with what they are about: where a task runs, what ends it, what it waits for.

	context.Context       // of the submitter
	Pool            *Pool // never nil
	Worker          *Worker
	extras          atomic.Pointer[extras]
	state           State
	round           uint32   // of the worker; see Seat
	ending          *Context // the nearest one at Init, which writes it
	asOf            uint64   // the pool's cancellations at Init, and endless
}

// endless is set in asOf if nothing but the end of the pool could end the context. The count, which goes by cancelledOne, leaves that bit to it.
const (
	endless      = 1
	cancelledOne = 2
)

// extras is what only few tasks need.
type extras struct {
	options Options                   // set before the task is submitted
	onDone  func(err error, ran bool) // of the group that the task belongs to; likewise
	dropped bool                      // the task never ran; written by the goroutine that drops it, before it is done
	seen    *seen                     // set before the task is submitted, if the pool sees tasks
	own     atomic.Pointer[cancellation]
	waits   waits // made in its name, if it has no seat
	slot    *Held // the one whose Subpool slot is lent by waits in its name, or nil; see slot; set before it begins
	latch   Latch // released when the task is done

	dependents atomic.Pointer[dependency] // of tasks that come after this one; they add, its end takes them
}

// cancellation is a task's own cancellation.
type cancellation struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	counted atomic.Bool // in the pool's cancellations; all that ask for it write and load
}

type taskKey struct{}

// Of returns the task that ctx belongs to, or nil.
func Of(ctx context.Context) *Context {
	if c, ok := ctx.(*Context); ok {
		return c
	}
	return taskAbove(ctx)
}

// taskAbove is Of for a context that is not itself a task's.
func taskAbove(ctx context.Context) *Context {
	c, _ := ctx.Value(taskKey{}).(*Context)
	return c
}

// workerOf returns the worker of p that runs the task of ctx, or nil if ctx does not come from such a task.
func (p *Pool) workerOf(ctx context.Context) *Worker {
	if c := Of(ctx); c != nil && c.Pool == p {
		return c.Worker
	}
	return nil
}

// Inherited returns the parent, for values and end, of the context of a task submitted to p with ctx. It skips the context of
// a task of p that ends only with the pool and its own parent: the new task ends with p anyway. So each pool comes at most
// once in a chain of such contexts, and tasks that submit tasks, also to one another's pools, do not lengthen it.
func (p *Pool) Inherited(ctx context.Context) context.Context {
	if c, ok := ctx.(*Context); ok {
		return c.handedOn(p)
	}
	return ctx
}

// handedOn is Inherited for the context of a task.
func (c *Context) handedOn(p *Pool) context.Context {
	if c.endsWith(p) {
		return c.without(p)
	}
	return c
}

// endsWith reports whether p is the pool of c, or of an ancestor with no separate end in between.
func (c *Context) endsWith(p *Pool) bool {
	for ok := true; ok && (c.isShared() || c.isDetached()); c, ok = c.Context.(*Context) {
		if c.Pool == p {
			return true
		}
	}
	return false
}

// without returns a context that ends as c does, except for the end of p.
func (c *Context) without(p *Pool) context.Context {
	if c.Pool == p {
		return c.Context
	}
	rest := &Context{}
	rest.Init(c.Context.(*Context).without(p), c.Pool)
	rest.state.Share()
	return rest
}

// isDetached reports whether c is that of a task without a Future or a time limit, which ends only as the submitter's does.
func (c *Context) isDetached() bool {
	m := c.extras.Load()
	return m != nil && m.options.Detached && m.options.Deadline.IsZero()
}

// Seat returns where c's task runs.
func (c *Context) Seat() Seat { return Seat{Worker: c.Worker, Round: c.round} }

// isShared reports whether c is for any number of tasks, none of them a Future.
func (c *Context) isShared() bool { return c.state.Load().IsShared() }

// contextFor returns the context for a task without a Future. Consecutive tasks on a worker with the same submitter's context
// share one, if the caller is the worker's own goroutine.
func (p *Pool) contextFor(ctx context.Context, s Seat, exclusive bool) *Context {
	if exclusive {
		if c, ok := s.Worker.Kept.(*Context); ok && c.Context == ctx && c.round == s.Round {
			return c
		}
	}
	if made, ok := ctx.(madeContext); ok {
		return made.Context
	}
	c := p.newContext(ctx, s)
	if exclusive {
		s.Worker.Kept = nil
		if reflect.ValueOf(ctx).Comparable() {
			s.Worker.Kept = c
		}
	}
	return c
}

// newContext returns a context for a task without a Future.
func (p *Pool) newContext(ctx context.Context, s Seat) *Context {
	c := &Context{Worker: s.Worker, round: s.Round}
	c.Init(ctx, p)
	c.state.Share()
	return c
}

// madeContext is a context already made for a task, in place of the submitter's.
type madeContext struct{ *Context }

// needExtras returns the extras, which it makes on first use.
func (c *Context) needExtras() *extras {
	if m := c.extras.Load(); m != nil {
		return m
	}
	c.extras.CompareAndSwap(nil, &extras{})
	return c.extras.Load()
}

// cancellation returns c's own cancellation, or nil.
func (c *Context) cancellation() *cancellation {
	if m := c.extras.Load(); m != nil {
		return m.own.Load()
	}
	return nil
}

// makeCancellation gives c its own cancellation, if it has none yet. It follows the submitter's context and the pool as long
// as c is reachable, not only until the task ends, because what the task submitted may go on. Then it ends, because a child
// context cannot leave its parent otherwise. So c must stay reachable while the task runs, even if the task keeps only the
// channel; see Start of a Body.
func (c *Context) makeCancellation() *cancellation {
	m := c.needExtras()
	if e := m.own.Load(); e != nil {
		return c.Pool.counted(e)
	}
	e := &cancellation{}
	e.ctx, e.cancel = context.WithCancelCause(c.Context)
	release := func() {}
	if d := m.options.Deadline; !d.IsZero() {
		e.ctx, release = context.WithDeadline(e.ctx, d)
	}
	life, cancel := c.Pool.Life, e.cancel
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	forget := func(bubble bool) {
		stop()
		if !bubble { // its channels and timers must not be touched from outside
			release()
			cancel(nil)
		}
	}
	if !m.own.CompareAndSwap(nil, e) {
		forget(false)
		return c.Pool.counted(m.own.Load())
	}
	runtime.AddCleanup(c, forget, clock.InBubble())
	return c.Pool.counted(e)
}

// counted counts e, its task's cancellation, and returns it. All code that cancels e gets it here, so before e is cancelled,
// every context finds its knowledge of its end out of date.
func (p *Pool) counted(e *cancellation) *cancellation {
	if !e.counted.Load() {
		p.cancellations.Add(cancelledOne) // (W42) sometimes twice, which does no harm
		e.counted.Store(true)
	}
	return e
}

// Value also lets callees find the task by its context.
func (c *Context) Value(key any) any {
	if key == (taskKey{}) || key == (standby.Key{}) {
		return c
	}
	v := c.source().Value(key) // so that package context finds the cancellation
	if v == nil && c.EndsWithPool() {
		v = c.Pool.Life.Value(key) // the cancellation, likewise
	}
	return v
}

func (c *Context) Deadline() (time.Time, bool) { return c.source().Deadline() }

// EndsWithPool reports whether c ends only with its pool.
func (c *Context) EndsWithPool() bool { return c.isShared() && c.Context.Done() == nil }

// source returns what ends c, other than the pool: the nearest task's own cancellation, which is a child of all above it, or
// else the context that the first task was submitted with.
func (c *Context) source() context.Context {
	c = c.nearest()
	if e := c.cancellation(); e != nil {
		return e.ctx
	}
	return c.Context
}

// nearest returns the nearest of c and the tasks above it with its own cancellation, or else the topmost. Tasks that wait for
// tasks make long chains, so each keeps what it found when it was made; that holds until a task of the pool gets a
// cancellation. Without this, each task of a chain of 1000 took 2 us instead of 0.3.
func (c *Context) nearest() *Context {
	if c.asOf&^endless == c.Pool.cancellations.Load() { // (R42)
		return c.ending
	}
	return c.findNearest()
}

// findNearest is nearest if the kept result is out of date.
func (c *Context) findNearest() *Context {
	for c.cancellation() == nil {
		above := c.above()
		if above == nil {
			break
		}
		c = above
	}
	return c
}

// above returns the context of the task that has submitted c's, if c's pool is its own.
func (c *Context) above() *Context {
	if above, ok := c.Context.(*Context); ok && above.Pool == c.Pool {
		return above
	}
	return nil
}

// Init makes c the context of a task of p that was submitted with ctx, without its own cancellation.
func (c *Context) Init(ctx context.Context, p *Pool) {
	c.Context, c.Pool = ctx, p
	c.asOf = p.cancellations.Load() // (R42) then find those above
	c.ending = c
	if above := c.above(); above != nil {
		c.ending = above.nearest()
	}
	if c.ending.cancellation() == nil && isEndless(c.ending.Context) {
		c.asOf |= endless
	}
}

// isEndless reports whether ctx is one of those that nothing ends. It does not ask for Done, which other tasks' contexts make a
// cancellation for.
func isEndless(ctx context.Context) bool {
	return ctx == context.Background() || ctx == context.TODO()
}

func (c *Context) Err() error {
	if c.asOf != c.Pool.cancellations.Load()|endless { // (R42); most contexts of tasks are endless, and Go and the task's start ask
		if err := c.source().Err(); err != nil {
			return err
		}
	}
	if c.Pool.Phase.Load() != Cancelled { // which comes before the end of Life
		return nil
	}
	return c.Pool.Life.Err()
}

func (c *Context) Done() <-chan struct{} {
	if c.EndsWithPool() {
		return c.Pool.Life.Done()
	}
	return c.makeCancellation().ctx.Done()
}

// String makes contexts derived from this one print well.
func (c *Context) String() string { return fmt.Sprintf("%v.filchTask", c.Context) }

// cause returns why c has ended, or nil if it has not. It does not wait for c's own cancellation to follow the others.
func (c *Context) cause() error {
	if err := context.Cause(c.source()); err != nil {
		return err
	}
	return context.Cause(c.Pool.Life)
}

// held returns the Held of c's task, or nil if it was never held.
func (c *Context) held() *Held {
	if m := c.extras.Load(); m != nil {
		return m.options.hold
	}
	return nil
}

// byHand is the context of a promise, which nothing ends.
type byHand struct{ context.Context }

var noEnd context.Context = byHand{context.Background()}

// isPromise reports whether c is that of a promise.
func (c *Context) isPromise() bool {
	_, ok := c.Context.(byHand)
	return ok
}
