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
	// Its methods stand with what they are about, one concept a file: all that a pool does with
	// tasks is done under its name.

	Engine engine.Pool
	_      [128]byte

	// Seldom written.
	Paused atomic.Bool
	Phase  atomic.Int32
	watch  atomic.Pointer[stallWatch] // nil if there is none
	soon   atomic.Int64               // when the watch looks next; 0 if there is none
	// watches is ensureWatch from the first submission on. What a worker calls that finds work is this, so that a
	// program that submits no task has no watch in it, and none of runtime/pprof's profiles.
	watches atomic.Pointer[func()]
	Settings
	begun         int64         // when Init was called
	cancellations atomic.Uint64 // of tasks' own that were made; those that make them write, all load
	way           way
	_             [128]byte

	best   atomic.Int64 // priority of the best task of Global, or noPriority; by priority
	Global Queue        // from outside
	_      [64]byte

	laden atomic.Int64 // workers whose queue may hold tasks: those with some set; written with it
	_     [120]byte

	Totals  Totals
	retired Figures // of workers that were let go; under the engine's lock

	resumes atomic.Int64 // how often a pause has ended; Resume writes, those that wait in a pause read

	endMu   sync.Mutex
	closing bool          // Close was called
	closed  chan struct{} // closed at the end; nil until someone asks for it

	held heldTasks

	// ahead is, with FIFO, the queue of the worker that has what came before all of the global queue, or nil. It is set under
	// the lock of the global queue, before that worker has it, and cleared under the lock of its own, when the last has left.
	ahead  atomic.Pointer[Queue]
	starts starts

	_        [128]byte
	observed atomic.Uint64 // tasks that are seen
	Outcomes Outcomes

	longMu sync.Mutex
	long   line.Line[Body] // LongRunning tasks that run, the oldest first

	stallTold atomic.Int64 // when a stall was logged last, or 0; the watch for stalls writes and reads it
	missTold  atomic.Bool  // that races may be missed; see logical.go
}

// Outcomes count tasks by how they end, and what became of those that never began.
type Outcomes struct {
	Failed, Panicked, Cancelled, Rejected atomic.Int64
	Helped                                atomic.Int64 // that Help ran
	Waiting                               atomic.Int64 // goroutines that wait for a slot of a group
}

// Settings are what a Pool is made with.
type Settings struct {
	Name         string
	Sees         bool // there is an observer, or the engine has a hook; set when the others are
	Plain        bool // no priorities or limits, and nothing is seen; likewise
	Overflow     Overflow
	SlotOverflow Overflow
	OnPanic      func(err error) // or nil
	Observe      func(e *Event)  // or nil
	Logger       *slog.Logger
	Labels       func(ctx context.Context, pool, task string) context.Context // with both as labels; nil without WithLabels
	Checks       *checks.Checks                                               // for WithChecks, a logger or the race detector; nil if there is none of these

	Order      Order
	Urgency    Urgency       // with ByPriority
	Ageing     time.Duration // 0: none
	InOrder    bool          // workers tell that tasks start by way of InTurn
	StallAfter time.Duration // 0: never
	Room       *Room         // in queues; nil without a limit
	Slots      *Room         // of unfinished tasks, likewise

	Life    context.Context // of the tasks: ends with the pool
	EndLife context.CancelCauseFunc

	Users Users
}

// Users is what stands above the tasks. It has methods, and no fields for functions, and pools and workers are arguments, so that a program carries
// those methods alone that it may call.
type Users interface {
	// HowEnded returns the error of a function that did not return: of a panic with the value
	// v, or of runtime.Goexit if v is nil. It is called while the stack is there.
	HowEnded(v any) error
	// NewWorker makes a worker by way of (*Worker).Init.
	NewWorker(p *Pool, id int) *Worker
	// Shown tells what w shows that it computes, if it shows something.
	Shown(w *Worker) (what string, shows bool)
}

// The phases of a pool, in the order they come in.
const (
	Open      = iota
	Draining  // tasks are accepted from tasks only
	Cancelled // no tasks are accepted, and those that are queued are dropped
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
	// Its methods stand with what they are about: taking tasks, running them, giving way.

	Engine engine.Worker

	Pool *Pool
	Own  Queue

	// Only the owner touches these, and they are about tasks.
	Kept   any    // what the tasks share that run in one round
	Guest  bool   // the goroutine of a caller fills the place
	next   Task   // what Look has found
	body   Body   // what runs at the bottom of the stack
	ran    int64  // tasks since the queue was told
	taking int64  // level of the task that was taken last
	turn   uint64 // of the task that was taken last, or 0; see starts
	came   int64  // when it came last for a task of those that another worker has ahead of the global queue
	batch  items  // on their way from one queue to another
	told   told   // hooks, of its tasks

	waits waits       // that are made in its seats
	Lent  checks.Lent // if the pool has checks

	telling atomic.Uint64 // the turn in which it tells that a task starts, or 0: the owner writes; those load that wait with the task's context
}

// Init makes w a worker of p.
//
//go:norace
func (w *Worker) Init(p *Pool, id int) {
	w.Pool = p
	w.Engine.Init(&p.Engine, id)
	p.initQueue(w)
}

// A Worker is at the same address as the engine's. What does not hold here does not compile, since no uintptr is negative.
const _ uintptr = -unsafe.Offsetof(Worker{}.Engine)

// of returns w as its pool knows it.
func of(w *engine.Worker) *Worker { return (*Worker)(unsafe.Pointer(w)) }

// LevelOf returns what a task of the given priority that comes now is queued by.
func (p *Pool) LevelOf(priority int) int {
	if p.Ageing == 0 {
		return priority
	}
	return policy.Aged(priority, clock.Now()-p.begun, int64(p.Ageing))
}
