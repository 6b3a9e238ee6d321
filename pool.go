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
	"unsafe"

	"github.com/filch-go/filch/internal/task"
)

// New returns a pool. It starts no goroutine: workers start when there is work
// and leave when there is none.
func New(opts ...Option) *Pool {
	c := &config{}
	c.tasks.StallAfter = 100 * time.Millisecond
	c.take("New", opts)
	if c.tasks.Ageing > 0 && c.tasks.Order != task.ByPriority {
		panic(fmt.Sprintf("filch: New: WithAgeing is for the order ByPriority, not %v", Order(c.tasks.Order)))
	}
	strict := c.checked || allChecked()
	p := &Pool{settings: c.settings}
	p.sees = p.observer != nil || len(c.hooks) > 0 || strict
	p.plain = c.tasks.Order != task.ByPriority && !p.sees && c.room == 0 && c.slots == 0
	p.tasks.Init(unsafe.Pointer(p), p.tasksOf(c), c.engine)
	if c.workers > 0 {
		p.tasks.Engine.SetLimit(int32(c.workers), true)
	}
	for _, h := range c.hooks {
		p.tasks.Engine.AddHook(h)
	}
	if p.name == "" {
		p.name = fmt.Sprint("pool ", p.tasks.Engine.Number)
	}
	p.beginChecks(strict)
	p.beginLogicalRaces(c.logical, c.oneOrder)
	if p.pins != nil {
		p.pins.begin(p)
	}
	p.tasks.Engine.Follow()
	return p
}

// tasksOf returns what the tasks of p are made with.
func (p *Pool) tasksOf(c *config) task.Settings {
	s := c.tasks
	s.InOrder = p.sees && s.Order == task.FIFO
	if c.room > 0 {
		s.Room = task.NewRoom(c.room, p.tasks.Takers)
	}
	if c.slots > 0 {
		s.Slots = task.NewRoom(c.slots, nil)
	}
	s.Life, s.EndLife = context.WithCancelCause(context.Background())
	s.Life.Done() // makes its channel here, and not at the first use, perhaps in a bubble of synctest
	s.Users = users{}
	return s
}

// users is what tasks are told of what stands above them.
type users struct{}

func (users) NewWorker(p *task.Pool, id int) *task.Worker   { return &newWorker(poolOf(p), id).tasks }
func (users) HowEnded(v any) error                          { return howEnded(v) }
func (users) LabelsOf(ctx context.Context) *context.Context { return labelsOf(ctx) }
func (users) Lends(function string) bool                    { return lends(function) }
func (users) Stalled(p *task.Pool, active, added int)       { poolOf(p).stalled(active, added) }

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
