package filch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
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
	if p == defaultPool.Load() {
		return errors.New("filch: Close: the default pool cannot be closed")
	}
	p.cancelAll()
	end := p.whenEnded()
	if p.inside() {
		return fmt.Errorf("filch: Close: %w", ErrInside)
	}
	<-end
	return nil
}

// cancelAll ends everything that can be ended.
func (p *Pool) cancelAll() {
	p.phase.Store(cancelled)
	p.endLife(ErrClosed)
	p.Resume()
	p.dropQueued()
	p.letAllGoOn()
}

// Shutdown closes the pool to calls from outside, as [Pool.Close] does, but lets
// the tasks that are queued or running finish, and those that they submit. When
// they and all calls of Do are done, it returns nil. If ctx ends before that,
// Shutdown drops the queued tasks, ends the contexts of the running ones, and returns at
// once. Its error says how many tasks were queued and wraps that of ctx. Shutdown resumes
// a paused pool. It may be called more than once and from several goroutines.
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
	needs(ctx != nil, "Shutdown", "ctx")
	if p == defaultPool.Load() {
		return errors.New("filch: Shutdown: the default pool cannot be closed")
	}
	p.phase.CompareAndSwap(open, draining)
	p.Resume()
	end := p.whenEnded()
	if c := taskOf(ctx); c != nil && c.pool == p && c.seated() || p.inside() {
		return fmt.Errorf("filch: Shutdown: %w", ErrInside)
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
	queued := p.depth()
	p.cancelAll()
	return fmt.Errorf("filch: Shutdown: %w before all was done, with %d tasks queued", context.Cause(ctx), queued)
}

// whenEnded returns a channel that is closed when the pool is closed and all is done.
func (p *Pool) whenEnded() <-chan struct{} {
	p.endMu.Lock()
	defer p.endMu.Unlock()
	if p.closed == nil {
		p.closed = make(chan struct{})
		p.engine.Tell(event.Closed, -1, 0, "")
	}
	p.engine.Places.Close()
	p.engine.Dismiss()
	p.closeIfDone()
	return p.closed
}

// allLeft is called when the last place of a closed pool was given up. It
// reports whether that is the end.
func (p *Pool) allLeft() bool {
	if p.endMu.Lock(); !p.closeIfDone() {
		p.endMu.Unlock()
		return false
	}
	p.endMu.Unlock()
	p.dropQueued()
	return true
}

// closeIfDone ends the wait of Close, if all is done. The caller holds the lock.
func (p *Pool) closeIfDone() bool {
	// A task may be queued after the look at the depth. Its submitter then looks at the places.
	// If it wakes a worker, that takes its place before the compare-and-swap, which fails then.
	// If it finds that all has ended, it drops the task. If it finds a worker that works or
	// searches, that leaves later, finds here that all has ended, and drops the task.
	if p.closed == nil || p.depth() > 0 || !p.engine.Places.TryEnd() {
		return p.engine.Places.Load().Ended()
	}
	p.engine.Tell(event.Ended, -1, 0, "")
	p.phase.Store(cancelled)
	p.endLife(ErrClosed)
	close(p.closed)
	return true
}

// Pause keeps queued tasks from starting, except those that a running task waits for.
// Running tasks and fork-join work go on. A pause of the default pool concerns the whole
// program.
func (p *Pool) Pause() {
	if p.phase.Load() == open {
		p.paused.Store(true)
		p.letAllGoOn()
		if p.phase.Load() != open { // Shutdown may have come before the store
			p.Resume()
		}
	}
}

// Resume ends the effect of [Pool.Pause].
func (p *Pool) Resume() {
	if p.paused.CompareAndSwap(true, false) {
		p.engine.MatchWork()
		p.urge()
		p.moreRoom()
		p.ensureWatch()
	}
}

// Workers returns how many workers the pool has: how many goroutines may run at once.
func (p *Pool) Workers() int {
	p.engine.Follow()
	return p.engine.Size()
}

// Idle returns how many workers could start on something at once: the free places, and
// the workers that look for work. It costs an atomic load.
func (p *Pool) Idle() int { return max(0, p.engine.Idlers()) }

// Resize sets the number of workers, which no longer follows GOMAXPROCS. If
// more are at work, the excess leave when they finish their current work. It panics if n
// is less than 1 or more than 1,048,575.
func (p *Pool) Resize(n int) {
	if n < 1 || n > engine.MaxWorkers {
		panic(fmt.Sprintf("filch: Resize(%d): the number of workers must be from 1 to %d", n, engine.MaxWorkers))
	}
	if p.engine.SetLimit(int32(n), true) {
		p.engine.MatchWork()
		p.moreRoom()
	} else {
		p.ensureWatch()
	}
}
