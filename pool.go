// Package filch is a work-stealing scheduler for recursive and irregular
// CPU-bound work. Forks cost nanoseconds, and a pool of workers costs nothing at
// rest.
//
// A [Pool] has places for workers. Work enters it by [Pool.Do], or by the Call
// of a function. The calling goroutine takes part as a worker, and so do others while
// there is work for them. Inside, work divides in one of three forms, which can be mixed.
// The figures say how much more a fork and join cost than a call, on an AMD EPYC:
//
//   - [Join] and [Worker.Join] run two closures: the simplest form. They cost
//     40 ns and an allocation.
//   - [Func] is a recursive function whose body forks calls of itself and joins
//     them. A fork costs 0.8 ns and no allocation.
//   - [Chain] is the same with one fork a frame. The caller makes the call itself if no
//     other worker has taken it. A fork costs 0.2 ns.
//
// Until another worker asks for work, a fork is a plain store to memory that only its own
// worker touches. So there is no cutoff to tune. Where a call does next to nothing, as in
// a sum over a small tree, a Func on one worker takes about twice the time of serial
// code. A worker that waits at a join does not run work that the serial program would not
// run at that point: it helps with the fork it waits for, or gives its place to another
// goroutine. So nesting is as deep as the recursion, and a mutex may be held around a
// join.
//
// Functions that take a [Scope] work from outside, on a Pool, and from inside, on a
// Worker. Nested calls share the same workers at any depth.
//
// Tasks are the other kind of work: functions that are queued, may block, may
// fail, and may outlive the code that submits them. [Pool.Go] queues one, [Submit]
// returns a [Future] for its result, and a [Group] waits for many. They share the workers
// with fork-join work, which a task starts by [ScopeOf]. A task may wait for
// other tasks; the pool does not deadlock, not even with one worker.
//
//figure:all 40 ns, a Join of closures
//figure:all 0.8 ns, a fork and join more than a call, fib 38
//figure:all 0.2 ns, the same in a chain
package filch

import (
	"context"
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/task"
)

// New returns a pool. It starts no goroutine: workers start when there is work
// and leave when there is none.
func New(opts ...Option) *Pool {
	p := &Pool{}
	p.tasks.StallAfter = 100 * time.Millisecond
	p.tasks.Engine.Init(p.tasks.Source(), func(v any) error { return panicError(v) })
	p.tasks.Self = p
	p.tasks.NewWorker = func(id int) *task.Worker { return &newWorker(p, id).tasks }
	p.tasks.HowEnded, p.tasks.LabelsOf, p.tasks.Lends, p.tasks.Stalled = howEnded, labelsOf, lends, p.stalled
	p.tasks.Life, p.tasks.EndLife = context.WithCancelCause(context.Background())
	p.tasks.Life.Done() // makes its channel here, and not at the first use, perhaps in a bubble of synctest
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: New: option %d is nil", i))
		}
		opt(p)
	}
	if p.tasks.Ageing > 0 && p.tasks.Order != task.ByPriority {
		panic(fmt.Sprintf("filch: New: WithAgeing is for the order ByPriority, not %v", Order(p.tasks.Order)))
	}
	p.beginChecks()
	p.beginLogicalRaces()
	p.sees = p.observer != nil || p.tasks.Engine.IsHooked() || p.checks != nil
	p.tasks.InOrder = p.sees && p.tasks.Order == task.FIFO
	p.plain = p.tasks.Order != task.ByPriority && !p.sees && p.tasks.Room == nil && p.tasks.Slots == nil
	p.tasks.Init()
	if p.name == "" {
		p.name = fmt.Sprint("pool ", p.tasks.Engine.Number)
	}
	p.beginAffinity()
	p.tasks.Engine.Follow()
	return p
}

// Default returns the pool that the whole program shares. It is made on first use,
// follows GOMAXPROCS and cannot be closed. Its name is "default". Use [New] for a pool with options, or for one
// that must end.
func Default() *Pool {
	if p := defaultPool.Load(); p != nil {
		return p
	}
	defaultPool.CompareAndSwap(nil, New(WithName("default")))
	return defaultPool.Load()
}
