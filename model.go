package filch

import (
	"container/list"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/line"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/task"
)

// What tasks are made of. These types know one another, so they stand in one place, and lower
// than all that works with them. Each has its methods in the file that is named after it.

// Pool is a set of places for workers that steal work from one another. Make
// one with [New]. A pool at rest has no goroutine and uses no CPU, unless [WithBusyPoll]
// or [WithIdleTimeout] asks for it, so it need not be closed; all of its methods may be
// called from any goroutine. In a bubble of testing/synctest, use a pool that was made there.
type Pool struct {
	// Its methods stand with what they are about, one concept a file: users call all that a
	// pool does by it.

	tasks task.Pool // and places, and workers

	settings
	cancellations atomic.Uint64 // of tasks' own that were made; those that make them write, all load

	_        [128]byte
	observed atomic.Uint64 // tasks that are seen
	outcomes outcomes

	longMu sync.Mutex
	long   list.List // LongRunning tasks that run: bodies, the oldest first

	stallTold atomic.Int64 // when a stall was logged last, or 0; the watch for stalls writes and reads it

	missTold atomic.Bool // that races may be missed; see logical.go
}

// outcomes count tasks by how they end, and what became of those that never began.
type outcomes struct {
	failed, panicked, cancelled, rejected atomic.Int64
	helped                                atomic.Int64 // that Help ran
	waiting                               atomic.Int64 // goroutines that wait for a slot of a group
}

// settings are set by New.
type settings struct {
	name         string
	sees         bool // there is an observer, or the engine has a hook; set when the others are
	plain        bool // no priorities or limits, and nothing is seen; likewise
	overflow     Overflow
	slotOverflow Overflow
	onPanic      func(err *PanicError)
	logger       *slog.Logger
	observer     Observer
	labels       func(ctx context.Context, pool, task string) context.Context // with both as labels; nil without WithLabels
	checks       *checks.Checks                                               // for WithChecks, a logger or the race detector; nil if there is none of these
	pins         *pins                                                        // of WithAffinity, or nil
}

// pins is what WithAffinity keeps of a pool.
type pins struct {
	order  Affinity
	listed []int
	kernel affinity.Kernel
	begin  func(*Pool)
	seats  engine.Seats // *affinity.Seats; nil if nothing was pinned from the beginning; New writes
	err    error        // why; likewise
}

// Worker is one of the places of a pool at work. Fork-join functions are
// handed the worker that runs them, and pass it on to what they call. A Worker
// must be used only by the call it was handed to, on the goroutine of that
// call, until the call returns. What is forked gets a Worker of its own, and uses that in
// place of the one of the function around it.
type Worker struct {
	// Its methods stand with what they are about, one concept a file: forks, tasks, giving way.

	tasks task.Worker // and forks

	pool  *Pool
	shown atomic.Pointer[Progress] // the owner writes, Dump loads
	waits waits                    // that are made in its seats
	joins bool                     // it is in a Do that waits for asyncs; only the owner touches it
	lent  checks.Lent              // if the pool has checks
}

// taskContext is the context that a task is called with: that of the submitter
// with the worker added, and with an end of its own once Done is called. Any
// goroutine may use it, during the task and after. Everything of the worker that is
// reached through it must be safe for that.
type taskContext struct {
	// Its methods stand with what they are about: where a task runs, what ends it, what it waits for.

	context.Context       // of the submitter
	pool            *Pool // never nil
	worker          *task.Worker
	extras          atomic.Pointer[taskExtras]
	state           task.State
	round           uint32       // of the worker; see task.Seat
	ending          *taskContext // the nearest, by then; written by init
	asOf            uint64       // how many cancellations the pool had when init looked
}

// taskExtras is what few tasks need.
type taskExtras struct {
	options taskOptions               // set before the task is submitted
	onDone  func(err error, ran bool) // so is this: for the group that the task belongs to
	dropped bool                      // the task never ran; written by the goroutine that drops it, before it is done
	seen    *seen                     // set before too, if the pool sees tasks
	own     atomic.Pointer[cancellation]
	waits   waits      // that are made in its name, if it has no seat
	slot    *task.Held // whose slot of a Subpool waits in its name lend, or nil; see slot; set before it begins
	latch   task.Latch // released when the task is done

	dependents atomic.Pointer[dependency] // those of tasks that come after this one; they add, its end takes them
}

// cancellation is a cancellation of a task's own.
type cancellation struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	counted atomic.Bool // in the pool's cancellations; all that ask for it write and load
}

// A wait is one of a task that blocks, for another task or for a group.
type wait struct {
	by    *taskContext
	task  *taskContext // that it waits for, unless it is
	group *Group       // this
}

// waits are those that are made in the seats of one worker, or in the name of one
// task that has no seat; the newest come last.
type waits struct {
	mu   sync.Mutex
	line line.Line[*wait]
}

// seen is what is kept of a task of a pool that sees them: it has an observer, or its engine a
// hook. All that either is told of tasks goes through call. In a queue it stands for
// the task's body, except for a Future, whose context has it. Only the goroutine that
// has the task touches it: the submitter, then the one that took it out of the queue or
// claimed it.
type seen struct {
	task.Body         // nil for a Future
	pool      *Pool   // has an observer or a hook
	last      Event   // and what the next will have
	over      bool    // there is none to come
	crashed   bool    // its function has not returned
	exclusive bool    // the goroutine of the worker that took it from a queue runs it; for tasks that are no Future
	entry     uintptr // of its function, or 0

	submitted []uintptr // the stack of the submitter, if the pool has checks
}

// Future is the result of a task of [Submit], once there is one. Its methods may
// be called from any goroutine, any number of times. Only Wait blocks.
type Future[T any] struct {
	ctx     taskContext           // that f is called with; its state is the Future's
	logical race.Ref[futureChild] // written before it is submitted
	f       func(ctx context.Context) (T, error)
	value   T     // written before the state is done
	err     error // so is this
}

// A futureChild is what a Future has for logical races.
type futureChild struct {
	child race.Child
	after []*taskContext // tasks that it comes after
	alone *Subpool       // of one slot, that it is of; or nil
}

// Group waits for a number of tasks together. Make one with [Pool.Group]. Its methods may
// be called from any goroutine.
//
// A Group replaces golang.org/x/sync/errgroup.Group where the tasks should share
// a pool's workers. Its functions are called with the group's context, and
// panics become errors.
type Group struct {
	// Its methods stand with what they are about: how a task is counted, what it ends with, waits.

	pool   *Pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	owner  *taskContext // the task that made the group, or nil
	max    int          // errors to keep
	slots  *task.Room   // of unfinished tasks; nil without a limit

	tally place.Tally // of tasks; those with options count as started at once, and with a limit, all until they have a slot

	mu   sync.Mutex // held while tasks are dropped, or counted as started
	errs []error
	lost int         // errors beyond max
	over error       // the context's own, if a task had no other: it counts if none has
	done *task.Latch // released when no task is left; nil if there is no waiter
}

// groupTask is a task of a group without options.
type groupTask struct {
	group *Group
	child race.Child // with logical races
	f     func(ctx context.Context) error
	begun bool // or dropped; the goroutine that has the task touches it
}

type taskOptions struct {
	priority    int
	name        string
	deadline    time.Time
	longRunning bool
	fair        bool
	detached    bool // no code has the Future
	onDrop      func(err error)
	hold        *hold
}

// Waiter is what a task can come after: a [Future] of any type, that of a [Promise] as well.
type Waiter interface {
	// Done returns a channel that is closed when it is done.
	Done() <-chan struct{}

	task() *taskContext // nil if there is none
	failure() error     // of what is done
	helped(ctx context.Context, c *taskContext) bool
}

// hold is what holds a task back: tasks that it comes after, and then a limit of running tasks.
type hold struct {
	// Its methods stand with what they are about: what holds the task, its options, what Dump tells.

	task.Held
	open atomic.Int32                 // deps that are not done, and one for the submitter, until it has counted them
	deps atomic.Pointer[dependencies] // the submitter sets it; the end of the task clears it, so that a chain of tasks is not kept
	sub  *Subpool                     // that the task needs a slot of, or nil

	extras taskExtras // of the task: one allocation for both
}

// dependencies are those of one task. They are not written once it is held.
type dependencies struct {
	all []dependency
	few [2]dependency // all, if they are no more
}

// Subpool is a view of a pool with a limit of its own on how many of its tasks run at once. Make one with
// [Pool.Subpool], and pass it to whatever submits a task, among the options. Its methods may be called from
// any goroutine. They do not block.
//
// A task that waits has no slot: not in [Future.Wait], [Group.Wait] or [Memo.Get] of what another computes, nor while
// a submission blocks, or another task runs on its goroutine. So tasks may wait for others of their Subpool, directly or by
// way of any other task, even if n is 1. A task gets a slot only when fewer than n have one, and then goes to the queue of the
// pool. One that has waited goes on at once, in the slot of the task that it has waited for, or else in one more: then more
// than n may run, also such as had a slot and were still queued, until others wait or end.
//
// What a task does itself keeps its slot: [Blocking], and what it computes for a [Memo]. So a task must not wait for others of
// its Subpool by a channel, inside Blocking or not, nor by a Wait with another context than its own, nor for room by
// [Group.Go], which does not know which task calls it; [Group.GoFrom] does.
type Subpool struct {
	pool     *Pool
	name     string
	overflow Overflow
	tasks    task.Subpool
}

// dependency is that of one task on another.
type dependency struct {
	on   Waiter
	of   atomic.Pointer[hold] // the submitter sets it before it adds this; the end of a task that was dropped clears it, so that the other does not keep it
	next *dependency          // on the same task; written before it is added there
}

// heldTask is a task of any type that may be held: a futureTask.
type heldTask interface {
	task.HeldBody
	task() *taskContext
	seen() *seen
	drop(err error)
	follow() // drops the task when its context ends
	dropFor(err error, rest **dependency)
	dropChild() // of logical races
}
