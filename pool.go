// Package filch is a work-stealing scheduler for recursive and irregular
// CPU-bound work. Forks cost nanoseconds, and a pool of workers costs nothing at
// rest.
//
// A [Pool] has places for workers. Work enters it by [Pool.Do], or by the Call
// of a function. The calling goroutine takes part as a worker, and others join it
// while there is work for them. Inside, work divides in one of three
// forms, which can be mixed. The figures are what a fork and join cost more than a
// call, on an AMD EPYC:
//
//   - [Join] and [Worker.Join] run two closures: the simplest form. They cost
//     33 ns and an allocation.
//   - [Func] is a recursive function whose body forks calls of itself and joins
//     them. A fork costs 2.9 ns and no allocation.
//   - [Chain] is the same with one fork a frame, where the caller makes the call
//     itself if no other worker has taken it. A fork costs 0.3 ns.
//
// A fork is a plain store to memory that only its worker touches, until another
// worker asks for work, so there is no cutoff to tune. Where a call does next to
// nothing, as in a sum over a small tree, one worker takes about twice the time of
// serial code with a Func. A worker that waits at a join does not run work
// that the serial program would not run at that point: it helps with the fork it waits
// for, or gives its place to another goroutine. So nesting is as deep as the
// recursion, and a mutex may be held around a join.
//
// Functions that take a [Scope] work both from outside, on a Pool, and from
// inside, on a Worker, and share the same workers at any depth.
//
// Tasks are the other kind of work: functions that are queued, may block, may
// fail, and may outlive the code that submits them. [Pool.Go] queues one, [Submit]
// returns a [Future] for its result, and a [Group] waits for many. They share the workers
// with fork-join work, which a task starts by [ScopeOf]. A task may wait for
// other tasks; the pool does not deadlock, not even with one worker.
//
//figure:all 33 ns, a Join of closures
//figure:all 2.9 ns, a fork and join more than a call, fib 38
//figure:all 0.3 ns, the same in a chain
package filch

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
)

// Pool is a set of places for workers that steal work from one another. Make
// one with [New]. A pool at rest has no goroutine and uses no CPU, so it need not
// be closed; all of its methods may be called from any goroutine. In a bubble of
// testing/synctest, use a pool that was made there.
type Pool struct {
	engine engine.Pool

	// Seldom written.
	paused     atomic.Bool
	phase      atomic.Int32
	stallWatch atomic.Pointer[stallWatch] // nil if nobody watches
	soon       atomic.Int64               // when the watch looks next; 0 if there is none
	settings
	way way
	_   [128]byte

	tasks taskQueue // from outside
	_     [64]byte

	laden atomic.Int64 // workers whose queue may hold tasks: those with some set; written with it
	_     [120]byte

	ended    taskCounts
	observed atomic.Uint64 // tasks, if there is an observer

	retiredTasks TaskStats // of workers that were let go; under the engine's lock

	endMu  sync.Mutex
	closed chan struct{} // Close waits here; made by the first Close
	long   list.List     // LongRunning tasks that run: bodies, the oldest first

	// Of waits with a context that is not the task's; waits read and write them.
	foreignTold atomic.Bool
	foreignSeen atomic.Int64 // with a context of the pool's
}

// New returns a pool. It starts no goroutine: workers start when there is work
// and leave when there is none.
func New(opts ...Option) *Pool {
	p := &Pool{}
	p.stallAfter = 100 * time.Millisecond
	p.engine.Init((*source)(p), func(v any) error { return panicError(v) })
	p.begun = clock.Now()
	p.life, p.endLife = context.WithCancelCause(context.Background())
	p.life.Done() // makes its channel here, and not where somebody asks, perhaps in a bubble of synctest
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: New: option %d is nil", i))
		}
		opt(p)
	}
	if p.ageing > 0 && p.order != ByPriority {
		panic(fmt.Sprintf("filch: New: WithAgeing is for the order ByPriority, not %v", p.order))
	}
	p.plain = p.order != ByPriority && p.observer == nil && p.room == nil && p.slots == nil
	p.tasks.init(p)
	if p.name == "" {
		p.name = fmt.Sprint("pool ", p.engine.Number)
	}
	p.way.least.Store(engine.Nothing)
	p.way.asked.Store(nobodys)
	p.engine.Follow()
	return p
}

var defaultPool atomic.Pointer[Pool]

// Default returns the pool that the whole program shares. It is made on first use,
// follows GOMAXPROCS and cannot be closed. Use [New] for a pool with options, or for one
// that must end.
func Default() *Pool {
	if p := defaultPool.Load(); p != nil {
		return p
	}
	defaultPool.CompareAndSwap(nil, New())
	return defaultPool.Load()
}

// Do calls f on the calling goroutine, which takes part as a worker of the
// pool until f returns. It takes a place, or an extra one when all are taken, so a
// small job starts at once. Pools may be used from within one another, or a pool from
// within itself, without deadlock. Other workers may run the forks made in f. A Do
// inside a Do on the same pool takes a second place; pass on the Worker instead.
//
// If f panics or calls runtime.Goexit, Do drops the forks that no worker has taken and
// waits for the others. Then a panic arrives as a [*PanicError], and a Goexit ends the
// caller. A Do that forks nothing costs about as much as two uncontended mutexes. Do
// panics if f is nil or the pool is closed; [Pool.TryDo] returns an error instead.
func (p *Pool) Do(f func(w *Worker)) {
	needs(f != nil, "Do", "f")
	w := p.mustEnter("Do")
	w.engine.Note(engine.AtDo, nil, engine.EntryOf(f))
	defer p.exit(w)
	w.Do(f)
}

// mustEnter makes the caller a worker with a place. It panics if the pool is closed.
func (p *Pool) mustEnter(op string) *Worker {
	w := p.tryEnter(false)
	if w == nil {
		panic("filch: " + op + " on a closed Pool")
	}
	return w
}

// tryEnter is mustEnter, but returns nil if the pool is closed, or, for what belongs to a
// task, has ended.
func (p *Pool) tryEnter(forTask bool) *Worker {
	if s := p.engine.Enter(); s.Closed() && (!forTask || s.Ended()) {
		p.engine.Leave()
		return nil
	}
	if p.engine.Size() == 1 {
		p.engine.Follow()
	}
	w := asWorker(p.engine.Hire())
	w.enterAsGuest()
	return w
}

// enterAsGuest begins a call of Do on w.
func (w *Worker) enterAsGuest() {
	w.guest = true
	if p := w.pool; p.order == ByPriority {
		w.setLevel(int64(p.levelOf(0)))
	}
	w.engine.Start()
}

// exit gives back what enter gave.
func (p *Pool) exit(w *Worker) {
	if !w.engine.Hold.Load().HasPlace() {
		panic("filch: internal error: a worker left without its place")
	}
	w.guest = false
	p.engine.Fire(&w.engine)
	p.engine.Leave()
}
