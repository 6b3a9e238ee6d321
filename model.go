package filch

import (
	"container/list"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/line"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/queue"
)

// What tasks are made of. These types know one another, so they stand in one place, and lower
// than all that works with them. Each has its methods in the file that is named after it.

// Pool is a set of places for workers that steal work from one another. Make
// one with [New]. A pool at rest has no goroutine and uses no CPU, so it need not
// be closed; all of its methods may be called from any goroutine. In a bubble of
// testing/synctest, use a pool that was made there.
type Pool struct {
	// Its methods stand with what they are about, one concept a file: users call all that a
	// pool does by it.

	engine engine.Pool
	_      [128]byte

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

	ended    taskTotals
	observed atomic.Uint64 // tasks that are seen

	retiredTasks TaskStats // of workers that were let go; under the engine's lock

	endMu  sync.Mutex
	closed chan struct{} // Close waits here; made by the first Close
	long   list.List     // LongRunning tasks that run: bodies, the oldest first

	// Of waits with a context that is not the task's; waits read and write them.
	foreignTold atomic.Bool
	foreignSeen atomic.Int64 // with a context of the pool's
}

// settings are set by New.
type settings struct {
	name         string
	order        Order
	ageing       time.Duration // 0: none
	begun        int64         // when the pool was made
	sees         bool          // there is an observer, or the engine has a hook; set when the others are
	plain        bool          // no priorities or limits, and nothing is seen; likewise
	overflow     Overflow
	room         *room // nil without a limit
	slots        *room // of unfinished tasks, likewise
	slotOverflow Overflow
	stallAfter   time.Duration // 0: never
	onPanic      func(err *PanicError)
	logger       *slog.Logger
	observer     Observer
	labels       bool
	life         context.Context // of the tasks: ends with the pool
	endLife      context.CancelCauseFunc
}

// Worker is one of the places of a pool at work. Fork-join functions are
// handed the worker that runs them, and pass it on to what they call. A Worker
// must be used only by the call it was handed to, on the goroutine of that
// call, until the call returns.
type Worker struct {
	// Its methods stand with what they are about, one concept a file: forks, tasks, giving way.

	engine engine.Worker

	pool  *Pool
	shown atomic.Pointer[Progress] // the owner writes, Dump loads
	tasks taskQueue
	waits waits // that are made in its seats

	// Only the owner touches these, and they are about tasks.
	lastContext *taskContext // of the tasks that ran last, to be used again
	next        task         // what Look has found
	body        runnable     // what runs at the bottom of the stack
	ran         int64        // tasks since the queue was told
	taking      int64        // level of the task that was taken last
	guest       bool         // the goroutine of a caller fills the place
	batch       batch
}

// task is what queues hold.
type task struct {
	ctx  context.Context // of the submitter; nil if the body has it
	body runnable
}

// runnable is what there is to do, and who wants to know how it ends.
type runnable interface {
	// start calls the function, for a worker in the given seat, and reports true,
	// unless its context has ended, or another goroutine has started or dropped the
	// task. If exclusive, the caller is the worker's goroutine.
	start(p *Pool, s seat, ctx context.Context, exclusive bool) bool
	// drop ends a task with err, if it has not started.
	drop(p *Pool, err error)
	// catches reports whether fail wants to know of panics. If not, they go on.
	catches(p *Pool) bool
	// fail ends a task whose function did not return, in the given seat, with a
	// *PanicError or ErrGoexit.
	fail(p *Pool, s seat, err error)
	// about tells what is known of the task.
	about() (name string, f any)
}

// taskContext is the context that a task is called with: that of the submitter
// with the worker added, and with an end of its own once Done is called. Any
// goroutine may use it, during the task and after. Everything of the worker that is
// reached through it must be safe for that.
type taskContext struct {
	context.Context       // of the submitter
	pool            *Pool // never nil
	worker          *Worker
	extras          atomic.Pointer[taskExtras]
	state           taskState
	round           uint32 // of the worker; see seat
}

// A seat is a worker in one round of tasks: what a task has of its worker. In a
// later round, the worker belongs to other tasks; see place.Hold.
type seat struct {
	worker *Worker // nil if no worker runs the task
	round  uint32
	slots  slots // that the task runs without
}

// taskExtras is what few tasks need.
type taskExtras struct {
	options taskOptions               // set before the task is submitted
	onDone  func(err error, ran bool) // so is this: for the group that the task belongs to
	dropped bool                      // the task never ran; written by who drops it, before it is done
	seen    *seen                     // set before too, if the pool sees tasks
	own     atomic.Pointer[cancellation]
	waits   waits // that are made in its name, if it has no seat
	latch   latch // released when the task is done
}

// cancellation is a cancellation of a task's own.
type cancellation struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// latch lets goroutines wait until it is released.
type latch struct {
	mu       sync.Mutex
	released bool
	ch       chan struct{}           // closed at the release; nil if nobody asked
	tasks    line.Line[*taskContext] // those that wait and have lent their place
	stop     func() bool             // called at the release, if not nil
}

// taskQueue is a queue of tasks: a worker's own, or the global one.
type taskQueue struct {
	// some is set if there may be something. It is written under the lock that
	// tasks are pushed under; others load it to spare themselves the lock. A worker
	// that finds nothing clears it. The one that takes the last task does not, since the
	// next often comes at once.
	some atomic.Bool
	best atomic.Int64 // priority of the best task, or nobody's; of the global queue, by priority
	_    [112]byte

	laden   *atomic.Int64        // counts the queues with some set; nil for the global one
	in      *inbox               // where others push, if not nil
	global  *taskQueue           // where tasks go for which there is no room, if not nil
	levels  *queue.Levels[aging] // by priority; then it is used instead of q
	inPlace inPlace              // by who has a seat at its worker

	mu      sync.Mutex
	q       queue.Deque[task]
	gone    bool  // its worker was let go
	pushed  int64 // tasks that were submitted to it
	taken   int64 // tasks that its worker took from anywhere
	before  int64 // taken at the last stamp
	when    int64 // time of the first stamp with that
	ran     int64 // tasks that its worker ran
	stolen  int64 // tasks that its worker took from other workers
	running task  // what its worker took last
	refills int   // times that what was in took the place of q
	turn    policy.Fairness
	seen    int64 // taken at the last look of the watch for stalls
	foreign int   // how many at the front came from other queues: always first come, first served
}

// inbox is the back part of the global queue, with a lock of its own, so that
// a push does not wait for a worker that takes: one that finds the rest
// empty moves all that is in here at once. These are the two locks of Michael
// and Scott (PODC 1996), but for lists instead of nodes. With one lock, a
// million tasks of nothing cost 43 ns each instead of 25. Its lock is taken
// after that of the queue.
type inbox struct {
	_      [128]byte
	mu     sync.Mutex
	q      queue.Deque[task]
	pushed int64
	_      [128]byte
}

// batch is tasks on their way from one queue to another.
type batch struct {
	q      queue.Deque[task]
	levels queue.Levels[aging]
}

// aging is a task in a queue with priorities, which was pushed by the time at.
type aging struct {
	task
	at int64
}

// room limits how many tasks wait in queues, beyond those that idle workers are
// about to take: a task gets room while fewer than limit are queued, or fewer than
// limit and as many as there are idle places.
//
// # Why no more than limit wait
//
// A worker that takes a task does
//
//	(W31) stop counting as idle; then leave the queue.
//
// A submitter does
//
//	load the count; (R31) load the idle places; then raise the count, by a
//	compare-and-swap that fails if a task has left meanwhile.
//
// So the worker of a task that had left when the count was loaded is not taken for
// idle. One that stops being idle after R31 has a task that the count still
// includes: for each worker that is no longer idle, one task less waits. Hence, when
// the count is raised, tasks that run and tasks that wait are at most the places and
// limit together. Other work may take an idle place; then a task that was to run at
// once waits.
//
// # Why no wake-up is lost
//
// A task that finds no room stands in line, then does
//
//	(R30) try again, and if that fails, wait for its turn.
//
// A task that leaves the queue does
//
//	(W30) lower the count; then give the first in line its turn.
//
// R30 fails only if a task is queued, since there is room for one at least. That task
// will leave, and then sees the line. So a task in line has a turn after each R30 that
// fails. If it gets room, it is queued itself, and will leave. If it does not, it
// stands at the front of the line, and its own R30 has failed. If it has room
// already, or has given up, it passes the turn on. So some task in line always has a
// turn to come. Room also grows when a worker falls idle, or places are added. That
// needs no turn of its own: both first take queued tasks, which leave. But one task
// that leaves may make room for several, so each that gets room passes the turn on if
// there is more.
type room struct {
	limit int64
	idle  func() int // places that could take a task at once; nil if they do not count

	// How many have room, and above it how many have left, so that a
	// compare-and-swap notices. Submitters raise it, workers that take tasks out lower it.
	word atomic.Uint64

	mu   sync.Mutex
	line line.Line[*latch]
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
	runnable       // nil for a Future
	pool     *Pool // has an observer or a hook
	last     Event // and what the next will have
	over     bool  // there is none to come
}

// A stallWatch adds places while tasks are queued and none starts because workers are
// blocked where the pool cannot see it: on a channel, a mutex, a WaitGroup. Otherwise
// tasks that wait for tasks behind them would wait for ever. It looks four times in
// the stall timeout, and ends when nothing is queued any more. It is a timer and not a
// goroutine, so that a pool at rest has none. policy.Stall decides.
type stallWatch struct {
	pool   *Pool
	looked atomic.Int64 // when it last did; who looks writes, waking goroutines load
	queued int64        // when something was queued

	policy policy.Stall // of who looks
}

// way lets a worker that is at fork-join work, or at a loop, give its place to a
// task that is queued: a worker that looks at its demand and finds GiveWay there
// lends its place and waits, and another goroutine runs the task. So a task never
// runs on top of a stack that may hold a mutex. Guests of Do do not give way: no other
// goroutine may go on in their stead.
//
// There are two reasons to ask for it. In a pool by priority, a task is queued that
// is more urgent than what some worker runs, and no worker is idle:
//
//	(W14) push the task, which notes its priority as the best one of the global
//	queue; then (R15) load the levels of the workers, and raise GiveWay on those that
//	run less urgent ones.
//
//	(W15) a worker notes the level of what it begins to run; then (R14) loads the
//	best of the global queue, and asks itself if that is more urgent.
//
// In the one order of these either the pusher sees the level, or the worker the task.
// One that is asked looks again whether it must: as many give way as there are tasks
// of the best priority beyond those that idle workers are about to take.
//
// # Why not each push looks at all workers
//
// Workers that run what is less urgent and does not fork do not answer, and if all do
// so, each push would ask all of them again. So asked is a level such that all workers
// that run what is less urgent have been asked, or are being asked, and have not answered.
// A pusher leaves it at that if the task is no more urgent than asked. Otherwise it does
//
//	(W16) note the level of the task in asked; then (R15).
//
// A worker keeps asked true, or makes it say that nobody has been asked:
//
//   - After (W15), it does (R16) load asked, and asks itself if what it begins is less
//     urgent than that.
//   - After it has lowered its demand from GiveWay, it makes asked say nobody, and then
//     loads the best. Nobody else lowers the demand from there.
//
// Take a pusher that leaves it at an asked that another has written, and a worker that runs
// what is less urgent than the task. If the worker's (R16) came before that was written, the
// other sees the level at its (R15), and asks. If it came later, the worker has asked
// itself. Either way its demand is up until it answers. If that is after the pusher has
// loaded asked, the worker finds the task. If it is before, asked said nobody since, and
// then was written again: the same holds for the one that wrote it.
//
// Now and then a pusher looks all the same, to lower least.
//
// In any pool, the watch for stalls asks when no queued task has started for the time of
// WithStallTimeout though no worker is blocked. Then one worker gives way.
//
// Workers that gave way go on as soon as there is nothing more urgent, or, if the watch has
// asked, as soon as a worker has done one of the tasks. Of equally urgent ones, that which
// has waited longest goes on first. When the pool is paused or closed, all go on at once, on
// extra places if need be, since no task may come to free theirs. For the same reason none
// gives way while more places are taken than there are.
type way struct {
	wanted atomic.Bool  // the watch asks; a worker that gives way clears it
	least  atomic.Int64 // no worker runs what is less urgent; raised before that runs, lowered by who looks
	asked  atomic.Int64 // all that run what is less urgent were asked; noPriority if none was; who looks and who answers write, all load
	spared atomic.Int32 // pushes since one looked; pushers write and load
	n      atomic.Int32 // as len(waiting); written under mu

	mu      sync.Mutex
	waiting []*Worker // the most urgent last, and of these the longest waiting
}

// Group waits for a number of tasks together. Make one with [Pool.Group]. Its methods may
// be called from any goroutine.
//
// A Group replaces golang.org/x/sync/errgroup.Group where the tasks should share
// a pool's workers. Its functions are called with the group's context, and
// panics become errors.
type Group struct {
	pool   *Pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	owner  *taskContext // the task that made the group, or nil
	max    int          // errors to keep
	slots  *room        // of unfinished tasks; nil without a limit

	mu     sync.Mutex
	left   int  // tasks that are not done
	queued int  // of these, those without options that have not started
	gone   bool // those were dropped; they stay in queues until their turn
	errs   []error
	lost   int    // errors beyond max
	over   error  // the context's own, if a task had no other: it counts if none has
	done   *latch // released when left is 0; nil if nobody waits
}

// slots are those that a task does without, since it runs within the slot of the one
// that submitted it, which waits for its end.
type slots uint8

const (
	poolSlot  slots = 1 << iota // see WithTaskLimit
	groupSlot                   // see TaskLimit
)

// The phases of a pool, in the order they come in.
const (
	open      = iota
	draining  // tasks are accepted from tasks only
	cancelled // no tasks are accepted, and those that are queued are dropped
)

type taskOptions struct {
	priority    int
	name        string
	deadline    time.Time
	longRunning bool
	fair        bool
	detached    bool // nobody has the Future
}
