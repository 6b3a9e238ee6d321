package task

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/line"
	"github.com/filch-go/filch/internal/policy"
)

// Pool is the tasks of a pool, and the engine that runs them.
type Pool struct {
	// Its methods stand with what they are about, one concept a file: all that a pool does with tasks is a method.

	Engine engine.Pool
	_      [128]byte

	// Rarely written.
	Paused atomic.Bool
	Phase  atomic.Int32
	watch  atomic.Pointer[stallWatch] // nil if there is none
	soon   atomic.Int64               // when the watch checks next; 0 if there is none
	// watches is ensureWatch from the first submission on. Workers that find work call it, so that a program that submits no
	// task does not link the watch, nor runtime/pprof's profiles.
	watches atomic.Pointer[func()]
	Settings
	begun         int64         // when Init was called
	cancellations atomic.Uint64 // of tasks' own made so far, by cancelledOne; those that make them write, all load
	way           way
	_             [128]byte

	best   atomic.Int64 // priority of the best task of Global, or noPriority; by priority
	Global Queue        // tasks from outside
	_      [64]byte

	laden atomic.Int64 // workers whose queue may hold tasks: with some set, and written with it
	_     [120]byte

	Totals  Totals
	retired Figures // of workers let go; under the engine's lock

	resumes atomic.Int64 // times that a pause has ended; Resume writes, waiters in a pause read

	endMu   sync.Mutex
	closing bool          // Close was called
	closed  chan struct{} // closed at the end; nil until it is first needed

	held heldTasks

	// ahead is, with FIFO, the queue of the worker whose tasks came before all of the global queue, or nil. It is set under
	// the lock of the global queue, before that worker has them, and cleared under the lock of its own, when the last has
	// left.
	ahead  atomic.Pointer[Queue]
	starts starts

	_        [128]byte
	observed atomic.Uint64 // tasks seen
	Outcomes Outcomes

	longMu sync.Mutex
	long   line.Line[Body] // running LongRunning tasks, oldest first

	stallTold atomic.Int64 // when a stall was last logged, or 0; only the stall watch uses it
	missTold  atomic.Bool  // missed races were logged; see logical.go
}

// Outcomes count tasks by how they end, including those that never began.
type Outcomes struct {
	Failed, Panicked, Cancelled, Rejected atomic.Int64
	Helped                                atomic.Int64 // by Help
	Waiting                               atomic.Int64 // goroutines waiting for a slot of a group
}

// Settings are what a Pool is made with.
type Settings struct {
	Name         string
	Sees         bool // there is an observer, or the engine has a hook; set when the others are
	Plain        bool // no priorities, limits or seen tasks; likewise
	Overflow     Overflow
	SlotOverflow Overflow
	OnPanic      func(err error) // or nil
	Observe      func(e *Event)  // or nil
	Logger       *slog.Logger
	Labels       func(ctx context.Context, pool, task string) context.Context // adds both as labels; nil without WithLabels
	Checks       *checks.Checks                                               // for WithChecks, a logger or the race detector; nil if there is none of these

	Order      Order
	Urgency    Urgency       // with ByPriority
	Ageing     time.Duration // 0: none
	InOrder    bool          // workers report starts by way of InTurn
	StallAfter time.Duration // 0: never
	Room       *Room         // in queues; nil without a limit
	Slots      *Room         // of unfinished tasks, likewise

	Life    context.Context // of the tasks: ends with the pool
	EndLife context.CancelCauseFunc

	Users Users
}

// Users is the layer above. It has methods, not function fields, and takes pools and workers as arguments, so that a program
// links only the methods that it may call.
type Users interface {
	// HowEnded returns the error of a function that did not return: of a panic with the value v, or of runtime.Goexit if v is
	// nil. It is called while the stack is there.
	HowEnded(v any) error
	// NewWorker makes a worker by way of (*Worker).Init.
	NewWorker(p *Pool, id int) *Worker
	// Shown describes the computation that w shows, if any.
	Shown(w *Worker) (what string, shows bool)
}

// The phases of a pool, in order.
const (
	Open      = iota
	Draining  // tasks are accepted from tasks only
	Cancelled // no tasks are accepted; queued ones are dropped
)

// Init makes p.
func (p *Pool) Init(s Settings, e engine.Settings) {
	p.Settings, p.begun = s, clock.Now()
	p.Engine.Init(p.Source(), s.Users.HowEnded, e)
	p.initQueues()
	p.way.least.Store(engine.Nothing)
	p.way.asked.Store(noPriority)
}

// Source returns p as its engine sees it.
func (p *Pool) Source() engine.Source { return (*source)(p) }

// Worker is a worker of a pool, with its own queue of tasks.
type Worker struct {
	// Its methods stand with what they are about: taking tasks, running them, yielding.

	Engine engine.Worker

	Pool *Pool
	Own  Queue

	// Only the owner touches these, which are about tasks.
	Kept     any    // shared by the tasks of one round
	Guest    bool   // a caller's goroutine fills the place
	next     Task   // found by Look
	body     Body   // runs at the bottom of the stack
	ran      int64  // tasks since the queue was updated
	taking   int64  // level of the last task taken
	turn     uint64 // of the last task taken, or 0; see starts
	answers  bool   // a goroutine that is no task may wait for what w has just done
	answered int64  // when w last let such goroutines run
	came     int64  // when it last came for a task that another worker has ahead of the global queue
	batch    items  // tasks on their way between queues
	told     told   // to hooks, about its tasks

	waits waits       // made in its seats
	Lent  checks.Lent // if the pool has checks

	left    atomic.Int64  // tasks of earlier rounds that run in its seat, and are counted at its queue: it is kept until they end; endRound adds, who stands up takes
	telling atomic.Uint64 // the turn in which it reports a start, or 0: the owner writes; waits with the task's context load
}

// Init makes w a worker of p.
//
//go:norace
func (w *Worker) Init(p *Pool, id int) {
	w.Pool = p
	w.Engine.Init(&p.Engine, id)
	p.initQueue(w)
}

// A Worker has the same address as the engine's. If not, this does not compile, because no uintptr is negative.
const _ uintptr = -unsafe.Offsetof(Worker{}.Engine)

// of returns w as its pool sees it.
func of(w *engine.Worker) *Worker { return (*Worker)(unsafe.Pointer(w)) }

// LevelOf returns the level at which a task of the given priority is queued now.
func (p *Pool) LevelOf(priority int) int {
	if p.Ageing == 0 {
		return priority
	}
	return policy.Aged(priority, clock.Now()-p.begun, int64(p.Ageing))
}
