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
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a set of places for workers that steal work from one another. Make
// one with [New]. A pool at rest has no goroutine and uses no CPU, so it need not
// be closed; all of its methods may be called from any goroutine. In a bubble of
// testing/synctest, use a pool that was made there.
type Pool struct {
	idle // how many places are taken, and by whom

	// Seldom written: thieves look here at every turn.
	limit      atomic.Int32 // places in all; guests may exceed it; written under mu
	extra      atomic.Int32 // more of them, while workers are blocked out of sight
	fixed      atomic.Bool  // the limit was set; else it follows GOMAXPROCS; written under mu
	paused     atomic.Bool
	phase      atomic.Int32
	stallWatch atomic.Pointer[stallWatch] // nil if nobody watches
	soon       atomic.Int64               // when the watch looks next; 0 if there is none
	workers    atomic.Pointer[[]*Worker]
	forkers    atomic.Pointer[[]*Worker] // those of them that have run fork-join work; see idle
	settings
	way way
	_   [128]byte

	global jobQueue
	_      [64]byte
	tasks  taskQueue // from outside
	_      [64]byte

	laden atomic.Int64 // workers whose queue may hold tasks: those with some set; written with it
	_     [120]byte

	spare atomic.Pointer[Worker] // a cache of one for free
	_     [120]byte

	ended    taskCounts
	observed atomic.Uint64 // tasks, if there is an observer

	mu      sync.Mutex
	free    []*Worker     // in workers, but unused
	ids     []int         // less than the most of workers so far, and unused
	long    list.List     // LongRunning tasks that run: bodies, the oldest first
	parked  []*Worker     // those whose goroutine is kept; see WithIdleTimeout
	closed  chan struct{} // Close waits here; made by the first Close
	retired Stats         // of workers that were let go

	// Of waits with a context that is not the task's; waits read and write them.
	foreignTold atomic.Bool
	foreignSeen atomic.Int64 // with a context of the pool's
}

// settings are set by New.
type settings struct {
	number       uint64 // of the pool, as its goroutines' stacks spell it
	name         string
	order        Order
	ageing       time.Duration // 0: none
	begun        int64         // when the pool was made
	plain        bool          // no priorities, limits or observer
	overflow     Overflow
	room         *room // nil without a limit
	slots        *room // of unfinished tasks, likewise
	slotOverflow Overflow
	busyPoll     bool
	linger       time.Duration
	stallAfter   time.Duration // 0: never
	onPanic      func(err *PanicError)
	logger       *slog.Logger
	observer     Observer
	labels       bool
	life         context.Context // of the tasks: ends with the pool
	endLife      context.CancelCauseFunc
}

// Option configures a [Pool]. Misuse of an option panics where the option is made, or in
// [New].
type Option func(*Pool)

// WithWorkers limits how many goroutines of the pool run at once. The limit may be
// exceeded briefly: a goroutine that resumes after a wait takes an extra place and
// does not queue for one. So does a call of [Pool.Do] from outside. Without the
// option, the number follows GOMAXPROCS: a change is noticed when a worker begins to
// look for work, and on a pool of one worker at the next Do. WithWorkers panics if n
// is less than 1 or more than 1,048,575.
func WithWorkers(n int) Option {
	if n < 1 || n > maxWorkers {
		panic(fmt.Sprintf("filch: WithWorkers(%d): the number of workers must be from 1 to %d", n, maxWorkers))
	}
	return func(p *Pool) {
		p.fixed.Store(true)
		p.limit.Store(int32(n))
	}
}

// WithOrder sets the order in which workers take tasks. The default is [LIFO].
func WithOrder(o Order) Option {
	if o < LIFO || o > ByPriority {
		panic(fmt.Sprintf("filch: WithOrder(%v): the order must be LIFO, FIFO or ByPriority", o))
	}
	return func(p *Pool) { p.order = o }
}

// WithAgeing makes a task more urgent while it waits, by one level for each d, so that
// none waits for ever. Without it, a task waits for as long as there are more urgent
// ones. The queue compares tasks by the number of [AtPriority] plus the time of
// submission, counted in d: the lesser sum goes first. So a task of priority 5 goes
// behind the tasks of priority 0 that are submitted within 5 d after it, and before
// later ones. The comparison is exact to a 64th of d.
//
// Levels beyond ±2^56 are all alike. Tasks whose levels differ by more than 60 cost some
// tens of nanoseconds more. On 32-bit platforms the bound is ±2^24 levels, and tasks do
// not age any more after 2^25 d.
//
// It is for pools with the order [ByPriority]; [New] panics for another. It panics if d
// is not positive.
func WithAgeing(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("filch: WithAgeing(%v): the time must be positive", d))
	}
	return func(p *Pool) { p.ageing = d }
}

// WithQueueLimit limits the number of tasks that wait to n, and says what happens
// to a task that exceeds it. A task that an idle worker is about to take does not
// count. So tasks that run and tasks that wait are at most the workers and n together,
// and a pool at rest accepts that many at once. While the pool is paused, no worker
// counts as idle. A cancelled task counts until its turn. Without the option, there
// is no limit.
//
// With Block, Go and Submit wait for room, in the order in which they came. The limit costs
// a task about as much as an uncontended mutex, and with a wait some microseconds.
// WithQueueLimit panics if n < 1 or o is none of [Block], [Reject] and [CallerRuns].
// See [WithTaskLimit] for a limit of tasks that run or wait, whatever the number of
// workers.
func WithQueueLimit(n int, o Overflow) Option {
	if n < 1 {
		panic(fmt.Sprintf("filch: WithQueueLimit(%d, %v): there must be room for a task", n, o))
	}
	if o < Block || o > CallerRuns {
		panic(fmt.Sprintf("filch: WithQueueLimit(%d, %v): the overflow must be Block, Reject or CallerRuns", n, o))
	}
	return func(p *Pool) {
		p.room = &room{limit: int64(n), idle: p.takers}
		p.overflow = o
	}
}

// WithTaskLimit limits the number of unfinished tasks to n, and says what happens to
// a task that exceeds it. Tasks that wait and tasks that run both count, on whichever
// goroutine they run. A task is unfinished from the moment it is accepted until it returns,
// panics, calls runtime.Goexit, or is dropped: by its context, [Future.Cancel] or
// [Pool.Close]. A task that a [Group] drops when it ends is unfinished until its turn. The
// slot of a task is free before its Future has the result, and before Wait of its
// group returns.
//
//   - [Block]: Go and Submit wait until there is a slot, in the order in which they
//     came, but at most until their context ends.
//   - [Reject]: they refuse with [ErrQueueFull].
//   - [CallerRuns]: the submitter's goroutine runs the task, beyond the n.
//
// With Block, a task may submit more tasks with its own context. If there is no slot
// for one, it runs at once on the caller's goroutine, within the slot of the task that
// submits it. So the tasks of a pool cannot keep one another from ending, even if n
// is 1. An endless chain of tasks, each of which submits the next, may use more and
// more stack. A task that runs so does not heed [AtPriority], [Fair] and [LongRunning].
// Its panic and its runtime.Goexit do what [Pool.Go] says for CallerRuns. TryGo refuses
// instead.
//
// The capacity of ants and the limit of errgroup are such limits. See [TaskLimit] for
// a limit of one group, and [WithQueueLimit] for one of tasks that wait. With both, a
// task takes its slot first. The limit costs a task about as much as an uncontended
// mutex, and with a wait some microseconds. WithTaskLimit panics if n < 1 or o is none of the above.
func WithTaskLimit(n int, o Overflow) Option {
	if n < 1 {
		panic(fmt.Sprintf("filch: WithTaskLimit(%d, %v): there must be a slot for a task", n, o))
	}
	if o < Block || o > CallerRuns {
		panic(fmt.Sprintf("filch: WithTaskLimit(%d, %v): the overflow must be Block, Reject or CallerRuns", n, o))
	}
	return func(p *Pool) {
		p.slots = &room{limit: int64(n)}
		p.slotOverflow = o
	}
}

// WithBusyPoll makes up to half of the workers look for work without end when they are
// idle, instead of leaving after about 100 us. They keep their processors busy until the
// pool is closed. Work starts sooner after a rest if there are processors to spare. On
// two processors it did not start sooner.
//
//figure:set 100 us
func WithBusyPoll() Option { return func(p *Pool) { p.busyPoll = true } }

// WithIdleTimeout sets for how long a worker that finds no work keeps its goroutine. A
// task then starts sooner after a rest: the median was less than half in the measurement
// in docs/bench/tasks.txt. The default is 0, so that a pool at rest has no goroutine. It
// panics if d < 0.
func WithIdleTimeout(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("filch: WithIdleTimeout(%v): the time must not be negative", d))
	}
	return func(p *Pool) { p.linger = d }
}

// WithStallTimeout sets how long tasks may be queued without one of them starting
// before the pool acts. It acts between d and a quarter more than d after the last task
// started, and up to a second later if other goroutines of the program compute. The
// default is 100 ms. A queued task that runs in place, by a wait for it or by [Pool.Help],
// has started. One that its submitter runs was never queued: it does not count.
//
//   - A worker that waits where the pool cannot see it, on a channel, a mutex or a
//     WaitGroup, loses its place to another, until tasks start without that place.
//     So tasks may wait for tasks that are queued behind them.
//   - A call of [Pool.Do] no longer counts against the number of workers.
//   - A worker that runs forks, or a loop, gives its place to one task, and goes on
//     when that is done.
//
// A worker that computes, or is in a system call, never gets others beside it. To tell
// the two apart the pool compares the number of goroutines that run in the program with
// its own. If others run as well, it looks at a profile of all goroutines, once a second
// at most, which takes some microseconds for each of them. The profile does not show a
// worker whose goroutine is more than about 100 calls deep, nor how long a wait has lasted:
// a worker that waits for a mutex just then counts as blocked until the next look.
//
// With 0 the pool never acts: the number of workers is a limit that holds however long
// tasks wait for a network, say. Then tasks that wait for a queued one deadlock, unless
// they wait by [Future.Wait] with their context, by [Group.Wait] of a group that they
// made, or inside [Blocking]; and in a pool by priority, so does a task that waits for a
// mutex which a less urgent one holds around forks. It panics if d < 0.
//
//figure:set 100 ms
func WithStallTimeout(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("filch: WithStallTimeout(%v): the time must not be negative", d))
	}
	return func(p *Pool) { p.stallAfter = d }
}

// WithPanicHandler sets what is called, on the worker, with a panic in a task of
// [Pool.Go]. Without it such a panic ends the program. It panics if f is nil.
func WithPanicHandler(f func(err *PanicError)) Option {
	if f == nil {
		panic("filch: WithPanicHandler: f is nil")
	}
	return func(p *Pool) { p.onPanic = f }
}

// WithLogger makes the pool log two kinds of trouble: workers that are blocked where
// the pool cannot see it, and, once, a task that calls [Future.Wait] with a context that
// is not its own. It panics if l is nil.
func WithLogger(l *slog.Logger) Option {
	if l == nil {
		panic("filch: WithLogger: l is nil")
	}
	return func(p *Pool) { p.logger = l }
}

// WithName gives the pool a name, for logs, profiles and [Pool.Dump].
func WithName(name string) Option { return func(p *Pool) { p.name = name } }

// WithObserver makes the pool tell o of every event in the life of its tasks; see
// [Observer] and [Event]. Each task then costs up to three small allocations and three
// looks at the clock more, and the time of the calls of o. It panics if o is nil.
func WithObserver(o Observer) Option {
	if o == nil {
		panic("filch: WithObserver: o is nil")
	}
	return func(p *Pool) { p.observer = o }
}

// WithLabels makes tasks run with the labels filch_pool and filch_task, which hold the
// names of the pool and of the task, for CPU profiles; see package runtime/pprof. They are
// added to the labels of the context that the task was submitted with. Without the option,
// tasks run with no labels except those they set themselves.
//
// Forks have labels without this option as well: those of the context that was passed to
// [ScopeOf] or [Pool.DoContext], on whichever worker they run.
func WithLabels() Option { return func(p *Pool) { p.labels = true } }

// pools counts the pools that were made.
var pools atomic.Uint64

// New returns a pool. It starts no goroutine: workers start when there is work
// and leave when there is none.
func New(opts ...Option) *Pool {
	p := &Pool{}
	p.stallAfter = 100 * time.Millisecond
	p.number = pools.Add(1) % maxNumbers
	p.begun = now()
	p.life, p.endLife = context.WithCancelCause(context.Background())
	p.life.Done() // makes its channel here, and not where somebody asks, perhaps in a bubble of synctest
	p.workers.Store(&[]*Worker{})
	p.forkers.Store(&[]*Worker{})
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
		p.name = fmt.Sprint("pool ", p.number)
	}
	p.way.least.Store(nothing)
	p.way.asked.Store(nobodys)
	p.follow()
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

// follow takes over the limit from GOMAXPROCS, unless it is fixed, and returns
// GOMAXPROCS. It is called when a worker begins to search, by whoever could not
// call others in because there was one place, and when somebody asks.
func (p *Pool) follow() int {
	procs := runtime.GOMAXPROCS(0)
	n := int32(min(procs, maxWorkers))
	if !p.fixed.Load() && p.limit.Load() != n && p.setLimit(n, false) {
		p.offer()
	}
	return procs
}

// setLimit sets the number of places, for good if fix is set; else it leaves one
// alone that is. It reports whether there are more than before.
func (p *Pool) setLimit(n int32, fix bool) (more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !fix && p.fixed.Load() {
		return false
	}
	p.fixed.Store(fix)
	return p.limit.Swap(n) < n
}

// Scope is where fork-join work can be started: a *Pool, from any goroutine,
// or a *Worker, from inside such work. Functions that take a Scope compose:
// nested calls share the same workers.
type Scope interface {
	// Do calls f and returns when f has returned.
	Do(f func(w *Worker))
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
	if f == nil {
		panic("filch: Do: f is nil")
	}
	w := p.mustEnter("Do")
	w.doing.Store(makeDoing(atDo, nil, entryOf(f)))
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
	if s := p.enter(); s.Closed() && (!forTask || s.Ended()) {
		p.leave()
		return nil
	}
	if p.limit.Load() == 1 {
		p.follow()
	}
	w := p.hire()
	w.enterAsGuest()
	return w
}

// enterAsGuest begins a call of Do on w.
func (w *Worker) enterAsGuest() {
	w.guest = true
	if p := w.pool; p.order == ByPriority {
		w.setLevel(int64(p.levelOf(0)))
	}
	w.start()
}

// exit gives back what enter gave.
func (p *Pool) exit(w *Worker) {
	if !w.hold.load().hasPlace() {
		panic("filch: internal error: a worker left without its place")
	}
	p.fire(w)
	p.leave()
}

// hire returns a worker for the caller's use, one that was used before if
// there is any. It holds a place, which the caller has taken for it.
func (p *Pool) hire() *Worker {
	w := p.spare.Swap(nil)
	if w == nil {
		w = p.hireSlow()
	}
	return w
}

func (p *Pool) hireSlow() *Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		w := p.free[n-1]
		p.free = p.free[:n-1]
		return w
	}
	old := *p.workers.Load()
	id := len(old)
	if n := len(p.ids); n > 0 {
		id, p.ids = p.ids[n-1], p.ids[:n-1]
	}
	w := newWorker(p, id)
	all := append(old, w) // those who have the old list do not see what is beyond it
	p.workers.Store(&all)
	return w
}

// fire takes w back. Its deque is empty.
func (p *Pool) fire(w *Worker) {
	_ = w.hold.retakePlace() // for the next that hires it, if it was lent
	w.context, w.guest = nil, false
	w.worksForNobody()
	if w.runs.Load() {
		w.runs.Store(false)
	}
	if w.level.Load() != nothing {
		w.level.Store(nothing)
	}
	if p.spare.CompareAndSwap(nil, w) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, w)
	p.trim()
}

// trim forgets workers that a crowd of callers has left behind, so that
// thieves need not look at them for ever.
func (p *Pool) trim() {
	old := *p.workers.Load()
	keep := max(2*int(p.limit.Load()), 16)
	if len(p.free) <= keep || len(p.free) < len(old)/2 {
		return
	}
	gone := map[*Worker]bool{}
	stay := p.free[:keep/2]
	for _, w := range p.free[keep/2:] {
		if !w.tasks.leave() {
			stay = append(stay, w)
			continue
		}
		gone[w] = true
		p.ids = append(p.ids, w.id)
		w.flush()
		w.addTo(&p.retired, 0)
	}
	clear(p.free[len(stay):])
	p.free = stay
	for _, list := range []*atomic.Pointer[[]*Worker]{&p.workers, &p.forkers} {
		var left []*Worker
		for _, w := range *list.Load() {
			if !gone[w] {
				left = append(left, w)
			}
		}
		list.Store(&left)
	}
}

// epoch is what times are counted from, so that reading the clock yields an
// int64 and takes the monotonic path.
var epoch = time.Now()

func now() int64 { return int64(time.Since(epoch)) }
