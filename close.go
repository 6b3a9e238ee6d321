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

// The life of a pool: how it ends, pauses, and changes its size.

// Close makes further use of the pool fail: Do panics, and tasks are refused
// with [ErrClosed]. It drops the tasks that are queued, with the same error, ends
// the contexts of those that run, and returns when they and all calls of Do are
// done. It may be called more than once and from several goroutines.
//
// Called from inside a task of the pool, Close does not wait and returns [ErrInside]. It
// must not be called from inside Do, where it would wait for itself. The default pool
// cannot be closed: Close leaves it alone and returns an error.
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

// Shutdown closes the pool to calls from outside, as [Pool.Close] does, but lets queued
// and running tasks finish, and the tasks that they submit. When they and all calls of Do
// are done, it returns nil. If ctx ends before that, Shutdown drops the queued tasks,
// ends the contexts of the running ones, and returns at once. Its error says how many
// tasks were queued and wraps that of ctx. A task that is submitted at the last moment is either accepted, and
// finishes like the others, or refused with ErrClosed. Shutdown resumes a paused pool. It may be
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

// Closed reports whether [Pool.Close] or [Pool.Shutdown] has been called, so that Do
// panics and TryDo returns [ErrClosed]. Once true, it stays true. If it is false, the
// pool may be closed the moment after. It costs an atomic load.
func (p *Pool) Closed() bool { return p.tasks.Engine.Places.Load().Closed() }

// Drain begins a [Pool.Shutdown], and does not wait for its end: it closes the pool to calls from
// outside, and lets queued and running tasks finish, and the tasks that they submit. It resumes
// a paused pool. [Pool.Done] tells the end. Close and Shutdown may be called later. So a task of
// the pool may call Drain. The default pool cannot be closed: Drain leaves it alone and returns
// an error. ExecutorService.shutdown of Java does the same.
func (p *Pool) Drain() error {
	p.mustBeMade("Drain")
	if p == defaultPool.Load() {
		return errors.New("filch: Drain: the default pool cannot be closed")
	}
	p.tasks.Drain()
	p.tasks.Close()
	return nil
}

// Done returns a channel that is closed when the pool has ended: when Drain, Shutdown or Close
// was called, and all tasks and all calls of Do are done. The channel is always the same. It
// is never closed while the pool is open. Done does not block.
func (p *Pool) Done() <-chan struct{} {
	p.mustBeMade("Done")
	return p.tasks.Done()
}

// Pause keeps queued tasks from starting, except those that a running task waits for.
// Running tasks and fork-join work go on. A pause of the default pool concerns the whole
// program.
func (p *Pool) Pause() {
	p.mustBeMade("Pause")
	p.tasks.Pause()
}

// PauseAndWait is [Pool.Pause], and waits until no task runs. When it returns nil, none does, and
// none begins that is queued, until Resume. So the caller may look at, or exchange, what the
// tasks share. The end of each task synchronizes before the return.
//
// It does not wait for calls of Do from outside, which a pause does not concern. Nor does it keep
// tasks from beginning that are never queued: those of [LongRunning], those that run on the
// goroutine of their submitter (see [CallerRuns]), and those of a [Memo]. It waits for such a task
// if that runs already.
//
// A running task that waits for one that is queued, and does not run it in place as
// [Future.Wait] on a worker does, keeps PauseAndWait waiting.
//
// If ctx ends first, PauseAndWait returns an error that wraps its cause, and the pool stays
// paused. It also returns an error if the pool is resumed meanwhile: one that wraps [ErrClosed]
// if it is being closed. Called from inside a task of the pool, it pauses the pool, does not
// wait and returns [ErrInside]. It must not be called from inside Do. It panics if ctx is nil.
//
// It looks at the tasks again and again, at first after 10 us and in the end once a
// millisecond, like the Shutdown of net/http. So running tasks pay nothing to be waited for.
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

// Resume ends the effect of [Pool.Pause].
func (p *Pool) Resume() {
	p.mustBeMade("Resume")
	race.Release(&p.tasks.Name) // for the children of tasks
	p.tasks.Resume()
}

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
