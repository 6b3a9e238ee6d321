// Package filch is a work-stealing scheduler for recursive and irregular CPU-bound work. Forks cost nanoseconds, and an idle
// pool of workers costs nothing.
//
// A [Pool] has slots for workers. Work enters it by [Pool.Do], or by the Call of a function; the calling goroutine takes part
// as a worker, and others join while there is work. Inside, work divides in one of three forms, which can be mixed. The
// figures say how much more a fork and join cost than a call, on an AMD EPYC:
//
//   - [Join] and [Worker.Join] run two closures: the simplest form, for 36 ns and an allocation.
//   - [Func] is a recursive function whose body forks calls of itself and joins them. A fork costs 1.0 ns and no allocation.
//   - [Chain] is the same with one fork per frame. The caller makes the call itself if no other worker has taken it. A fork
//     costs 0.4 ns.
//
// Until another worker asks for work, a fork is a plain store to memory that only its own worker touches, so there is no
// cutoff to tune. Where a call does next to nothing, as in a sum over a small tree, a Func on one worker takes about twice
// the time of serial code. A worker that waits at a join runs nothing that the serial program would not run there: it helps
// with the fork it waits for, or yields its slot to another goroutine. So nesting is as deep as the recursion, and you may
// hold a mutex across a join.
//
// Functions that take a [Scope] work from outside, on a Pool, and from inside, on a Worker. Nested calls share the same
// workers at any depth.
//
// Tasks are the other kind of work: queued functions that may block, may fail, and may outlive the code that submits them.
// [Pool.Go] queues one, [Submit] returns a [Future] for its result, and a [Group] waits for many. They share the workers with
// fork-join work, which a task starts by [ScopeOf]. A task may wait for other tasks; the pool does not deadlock, not even
// with one worker.
//
//figure:all 36 ns, a Join of closures
//figure:all 1.0 ns, a fork and join more than a call, fib 38
//figure:all 0.4 ns, the same in a chain
package filch

import (
	"unsafe"

	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// Pool is a set of slots for workers that steal work from one another. Make one with [New]. All its methods may be called
// from any goroutine. An idle pool has no goroutine and uses no CPU, unless [WithBusyPoll] or [WithIdleTimeout] asks for it,
// so it need not be closed. In a testing/synctest bubble, use a pool made there.
type Pool struct {
	// Its methods stand with what they are about, one concept a file: users do everything through their pool.

	tasks task.Pool // and worker slots, and workers
	pins  *pins     // of WithAffinity, or nil
}

// A Pool has the same address as its tasks. If not, this does not compile, because no uintptr is negative.
const _ uintptr = -unsafe.Offsetof(Pool{}.tasks)

// poolOf returns p as users know it.
func poolOf(p *task.Pool) *Pool { return (*Pool)(unsafe.Pointer(p)) }

// made reports whether New has made p.
func (p *Pool) made() bool { return p != nil && p.tasks.Users != nil }

// mustBeMade panics if New has not made p, which op is called on or with.
func (p *Pool) mustBeMade(op string) {
	if !p.made() {
		isNotMade(op, "Pool", "New")
	}
}

// pins holds a pool's state for WithAffinity.
type pins struct {
	order  Affinity
	listed []int
	kernel affinity.Kernel
	begin  func(*Pool)
	seats  engine.Seats // *affinity.Seats, or nil if pinning failed in New, which writes it
	err    error        // the reason; New writes
}
