package filch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/task"
)

// The life of a pool: how it ends, pauses and is resized.

// Close ends the pool: from now on Do panics, and tasks are refused with [ErrClosed]. It drops queued tasks with the
// same error, ends the contexts of running tasks, and returns when they and all calls of Do are done. It may be
// called more than once and concurrently.
//
// Inside a task of the pool, Close does not wait and returns [ErrInside]. It must not be called inside Do, where it
// would wait for itself. The default pool cannot be closed: Close leaves it alone and returns an error.
func (p *Pool) Close() error {
	p.mustBeMade("Close")
	if p == defaultPool.Load() {
		return errors.New("filch: Close: the default pool cannot be closed")
	}
	p.tasks.ClosesItself("Close")
	p.tasks.Cancel()
	end := p.tasks.Close()
	if p.tasks.Inside() {
		return task.InOp("Close", ErrInside, "")
	}
	<-end
	return nil
}

// Shutdown closes the pool to calls from outside, as [Pool.Close] does, but lets queued and running tasks finish,
// with the tasks they submit. It returns nil when they and all calls of Do are done. If ctx ends first, Shutdown
// drops the queued tasks, ends the contexts of the running ones, and returns at once an error that gives the number
// of queued tasks and wraps that of ctx. A task submitted at the last moment is either accepted, and finishes like
// the others, or refused with ErrClosed. Shutdown resumes a paused pool. It may be called more than once and
// concurrently.
//
// Shut down a service's server first, as with the Shutdown of net/http, which waits for accepted requests, and then
// the pool. In the other order, a request that enters the pool several times may be refused halfway: a Do in progress
// goes on, but the next Do panics, and TryDo returns [ErrClosed].
//
// Inside a task of the pool, Shutdown does not wait and returns [ErrInside]. It must not be called inside Do, where
// it would wait for itself. It panics if ctx is nil. The default pool cannot be closed: Shutdown leaves it alone and
// returns an error.
func (p *Pool) Shutdown(ctx context.Context) error {
	p.mustBeMade("Shutdown")
	needs(ctx != nil, "Shutdown", "ctx")
	if p == defaultPool.Load() {
		return errors.New("filch: Shutdown: the default pool cannot be closed")
	}
	p.tasks.ClosesItself("Shutdown")
	p.tasks.Drain()
	end := p.tasks.Close()
	if c := task.Of(ctx); c != nil && c.Pool == &p.tasks && c.Seat().Taken() || p.tasks.Inside() {
		return task.InOp("Shutdown", ErrInside, "")
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

// Closed reports whether [Pool.Close], [Pool.Shutdown] or [Pool.Drain] has been called, so that Do panics and TryDo
// returns [ErrClosed]. True is final; false may be out of date at once. It costs an atomic load.
func (p *Pool) Closed() bool { return p.tasks.Engine.Places.Load().Closed() }

// Drain begins a [Pool.Shutdown] and does not wait: it closes the pool to calls from outside and lets queued and
// running tasks finish, with the tasks they submit. It resumes a paused pool. [Pool.Done] reports the end. A task of
// the pool may call Drain, and Close and Shutdown may follow. The default pool cannot be closed: Drain leaves it
// alone and returns an error. Java's ExecutorService.shutdown does the same.
func (p *Pool) Drain() error {
	p.mustBeMade("Drain")
	if p == defaultPool.Load() {
		return errors.New("filch: Drain: the default pool cannot be closed")
	}
	p.tasks.Drain()
	p.tasks.Close()
	return nil
}

// Done returns a channel that is closed when the pool has ended: after Drain, Shutdown or Close, when all tasks and
// calls of Do are done. All calls return the same channel. Done does not block.
func (p *Pool) Done() <-chan struct{} {
	p.mustBeMade("Done")
	return p.tasks.Done()
}

// Pause keeps queued tasks from starting, except those that a running task waits for. Running tasks and fork-join
// work go on. Pausing the default pool affects the whole program.
func (p *Pool) Pause() {
	p.mustBeMade("Pause")
	p.tasks.Pause()
}

// PauseAndWait is [Pool.Pause], and waits until no task runs. When it returns nil, no task runs and no queued task
// starts until Resume, so the caller may read or replace what the tasks share. The end of each task synchronizes
// before the return.
//
// A pause does not affect calls of Do from outside, and PauseAndWait does not wait for them. Nor does it hold back
// tasks that are never queued: those of [LongRunning], those run by their submitter (see [CallerRuns]) and those of a
// [Memo]. It does wait for such tasks if they already run.
//
// A running task that waits for a queued one keeps PauseAndWait waiting, unless it runs that task inline, as
// [Future.Wait] on a worker does.
//
// If ctx ends first, PauseAndWait returns an error that wraps its cause, and the pool stays paused. If the pool is
// resumed meanwhile, it returns an error too, which wraps [ErrClosed] if the pool is being closed. Inside a task of
// the pool, it pauses the pool, does not wait, and returns [ErrInside]. It must not be called inside Do. It panics if
// ctx is nil.
//
// PauseAndWait polls, after 10 us at first and finally once a millisecond, so it costs running tasks nothing.
//
//figure:set 10 us
func (p *Pool) PauseAndWait(ctx context.Context) error {
	p.mustBeMade("PauseAndWait")
	needs(ctx != nil, "PauseAndWait", "ctx")
	p.tasks.Pause()
	still := p.tasks.Pauses()
	if c := task.Of(ctx); c != nil && c.Pool == &p.tasks && c.Seat().Taken() || p.tasks.Inside() {
		return fmt.Errorf("filch: PauseAndWait: %w", ErrInside)
	}
	for wait := 10 * time.Microsecond; ; wait = min(2*wait, time.Millisecond) {
		n := p.tasks.Unfinished()
		switch {
		case !still() && p.tasks.Phase.Load() != task.Open:
			return fmt.Errorf("filch: PauseAndWait: %w", ErrClosed)
		case !still():
			return errors.New("filch: PauseAndWait: the pool was resumed")
		case n == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("filch: PauseAndWait: %w, with %d tasks running", context.Cause(ctx), n)
		case <-time.After(wait):
		}
	}
}

// Resume ends a [Pool.Pause].
func (p *Pool) Resume() {
	p.mustBeMade("Resume")
	race.Release(&p.tasks.Name) // for the children of tasks
	p.tasks.Resume()
}

// Workers returns the number of workers: how many goroutines may run at once.
func (p *Pool) Workers() int {
	p.tasks.Engine.Follow()
	return p.tasks.Engine.Size()
}

// Idle returns how many workers could start work at once: free worker slots and searching workers. It costs an atomic
// load.
func (p *Pool) Idle() int { return max(0, p.tasks.Engine.Idlers()) }

// Resize sets the number of workers, which then no longer follows GOMAXPROCS. Excess workers leave when they finish
// their current work. It panics if n is less than 1 or more than 1,048,575.
func (p *Pool) Resize(n int) {
	p.mustBeMade("Resize")
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
