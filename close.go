package filch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
)

// defaultPool is that of [Default], which cannot be closed.
var defaultPool atomic.Pointer[Pool]

// Close makes further use of the pool fail: Do panics, and tasks are refused
// with [ErrClosed]. It drops the tasks that are queued, with the same error, ends
// the contexts of those that run, and returns when they and all calls of Do are
// done. It may be called more than once and from several goroutines.
//
// Called from inside a task of the pool, Close does not wait and returns [ErrInside]. It
// must not be called from inside Do, where it would wait for itself. The default pool
// cannot be closed: Close leaves it alone and returns an error.
func (p *Pool) Close() error {
	if !p.made() {
		isNotMade("Close", "Pool", "New")
	}
	if p == defaultPool.Load() {
		return errors.New("filch: Close: the default pool cannot be closed")
	}
	p.closesItself("Close")
	p.tasks.Cancel()
	end := p.tasks.Close()
	if p.inside() {
		return inOp("Close", ErrInside, "")
	}
	<-end
	return nil
}

// Shutdown closes the pool to calls from outside, as [Pool.Close] does, but lets queued
// and running tasks finish, and the tasks that they submit. When they and all calls of Do
// are done, it returns nil. If ctx ends before that, Shutdown drops the queued tasks,
// ends the contexts of the running ones, and returns at once. Its error says how many
// tasks were queued and wraps that of ctx. Shutdown resumes a paused pool. It may be
// called more than once and from several goroutines.
//
// A service ends in this order: first its server, as by the Shutdown of net/http, which
// waits for the requests it has accepted, then the pool. In the other order, a request that
// enters the pool several times may be refused halfway: a Do that has begun goes on, but the
// next Do panics, and TryDo returns [ErrClosed].
//
// Called from inside a task of the pool, Shutdown does not wait and returns [ErrInside]. It
// must not be called from inside Do, where it would wait for itself. It panics if ctx is
// nil. The default pool cannot be closed: Shutdown leaves it alone and returns an error.
func (p *Pool) Shutdown(ctx context.Context) error {
	if !p.made() {
		isNotMade("Shutdown", "Pool", "New")
	}
	needs(ctx != nil, "Shutdown", "ctx")
	if p == defaultPool.Load() {
		return errors.New("filch: Shutdown: the default pool cannot be closed")
	}
	p.closesItself("Shutdown")
	p.tasks.Drain()
	end := p.tasks.Close()
	if c := taskOf(ctx); c != nil && c.pool == p && c.seat().Taken() || p.inside() {
		return inOp("Shutdown", ErrInside, "")
	}
	select {
	case <-end:
		return nil
	default:
	}
	select {
	case <-end:
		return nil
	case <-ctx.Done():
	}
	queued := p.tasks.Depth() + p.tasks.Held()
	p.tasks.Cancel()
	return fmt.Errorf("filch: Shutdown: %w before all was done, with %d tasks queued", context.Cause(ctx), queued)
}

// Pause keeps queued tasks from starting, except those that a running task waits for.
// Running tasks and fork-join work go on. A pause of the default pool concerns the whole
// program.
func (p *Pool) Pause() {
	p.tasks.Pause()
}

// Resume ends the effect of [Pool.Pause].
func (p *Pool) Resume() { p.tasks.Resume() }

// Workers returns how many workers the pool has: how many goroutines may run at once.
func (p *Pool) Workers() int {
	p.tasks.Engine.Follow()
	return p.tasks.Engine.Size()
}

// Idle returns how many workers could start on something at once: the free places, and
// the workers that look for work. It costs an atomic load.
func (p *Pool) Idle() int { return max(0, p.tasks.Engine.Idlers()) }

// Resize sets the number of workers, which no longer follows GOMAXPROCS. If
// more are at work, the excess leave when they finish their current work. It panics if n
// is less than 1 or more than 1,048,575.
func (p *Pool) Resize(n int) {
	if n < 1 || n > engine.MaxWorkers {
		panic(fmt.Sprintf("filch: Resize(%d): the number of workers must be from 1 to %d", n, engine.MaxWorkers))
	}
	if p.tasks.Engine.SetLimit(int32(n), true) {
		p.tasks.Engine.MatchWork()
		p.tasks.MoreRoom()
	} else {
		p.tasks.EnsureWatch()
	}
}
