package filch

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
)

// Option configures a [Pool], and some also a [Subpool]. Misuse of an option panics where the option is made, or in
// [New] or [Pool.Subpool].
type Option interface{ set(c *config) }

// poolOption is one of a Pool alone, and commonOption of a Subpool, too.
type (
	poolOption   func(c *config)
	commonOption func(c *config)
)

func (f poolOption) set(c *config)   { f(c) }
func (f commonOption) set(c *config) { f(c) }

// config is what options set.
type config struct {
	engine   engine.Settings
	tasks    task.Settings
	workers  int // 0: follows GOMAXPROCS
	room     int // tasks that may be queued, and
	slots    int // be unfinished; 0: no limit
	hooks    []event.Hook
	pins     *pins
	checked  bool // WithChecks
	logical  bool // WithLogicalRaces
	oneOrder bool // there are none, whatever the environment says
}

// take sets what options say, which are those of op.
func (c *config) take(op string, opts []Option) {
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: %s: option %d is nil", op, i))
		}
		opt.set(c)
	}
}

// WithWorkers limits how many goroutines of the pool run at once. The limit may be
// exceeded briefly: a goroutine that resumes after a wait takes an extra place and
// does not queue for one. So does a call of [Pool.Do] from outside. Without the
// option, the number follows GOMAXPROCS: a change is noticed when a worker begins to
// look for work, and on a pool of one worker at the next Do. WithWorkers panics if n
// is less than 1 or more than 1,048,575.
func WithWorkers(n int) Option {
	if n < 1 || n > engine.MaxWorkers {
		panic(fmt.Sprintf("filch: WithWorkers(%d): the number of workers must be from 1 to %d", n, engine.MaxWorkers))
	}
	return poolOption(func(c *config) { c.workers = n })
}

// WithOrder sets the order in which workers take tasks. The default is [LIFO], and [FIFO] for a [Subpool].
func WithOrder(o Order) Option {
	if o < LIFO || o > ByPriority {
		panic(fmt.Sprintf("filch: WithOrder(%v): the order must be LIFO, FIFO or ByPriority", o))
	}
	return commonOption(func(c *config) {
		if c.tasks.Order = task.Order(o); o == ByPriority {
			c.tasks.Urgency = task.ByUrgency{}
		}
	})
}

// WithAgeing makes a task more urgent while it waits, by one level for each d, so that
// none waits for ever. Without it, a task waits for as long as there are more urgent
// ones. The queue compares tasks by the number of [AtPriority] plus the time of
// submission, counted in d: the lower sum goes first. So a task of priority 5 goes behind
// tasks of priority 0 that are submitted up to 5 d after it, and before later ones. The
// comparison is exact to a 64th of d.
//
// Levels beyond ±2^56 are all alike. Tasks whose levels differ by more than 60 cost some
// tens of nanoseconds more. On 32-bit platforms the bound is ±2^24 levels, and tasks stop
// ageing after 2^25 d.
//
// [New] panics if the order of the pool is not [ByPriority]. WithAgeing panics if d is
// not positive.
func WithAgeing(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("filch: WithAgeing(%v): the time must be positive", d))
	}
	return poolOption(func(c *config) { c.tasks.Ageing = d })
}

// WithQueueLimit limits the number of waiting tasks to n, and says what happens to a task
// that exceeds it. A task that an idle worker is about to take does not count. So the
// tasks that run or wait are at most n more than the workers, and a pool at rest accepts
// that many at once. While the pool is paused, no worker counts as idle. A cancelled task
// counts until its turn, except in a Subpool. A task that is held, by [After] or a [Subpool], does not count, and
// is queued later even if there is no room. Without the option, there is no limit.
//
// With Block, Go and Submit wait for room, in the order in which they came. The limit
// costs a task about as much as an uncontended mutex. A wait costs some microseconds.
// WithQueueLimit panics if n < 1 or o is none of [Block], [Reject] and [CallerRuns]. See
// [WithTaskLimit] for a limit of tasks that run or wait, whatever the number of workers.
func WithQueueLimit(n int, o Overflow) Option {
	needsLimit("WithQueueLimit", n, o, "room")
	return commonOption(func(c *config) { c.room, c.tasks.Overflow = n, task.Overflow(o) })
}

// WithTaskLimit limits the number of unfinished tasks to n, and says what happens to
// a task that exceeds it. Tasks that wait and tasks that run both count, on whichever
// goroutine they run. A task is unfinished from the moment it is accepted until it returns,
// panics, calls runtime.Goexit, or is dropped: by its context, [Future.Cancel] or
// [Pool.Close]. A task that a [Group] drops when its context ends is unfinished until its
// turn. The slot of a task is free before its Future has the result, and before Wait of
// its group returns.
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
// more stack. A task that runs this way ignores [AtPriority], [Fair] and [LongRunning].
// Its panic and its runtime.Goexit do what [Pool.Go] says for CallerRuns. TryGo refuses
// instead.
//
// The capacity of ants and the limit of errgroup are such limits. See [GroupLimit] for
// a limit of one group, and [WithQueueLimit] for one of tasks that wait. With both, a
// task takes its slot first. The limit costs a task about as much as an uncontended
// mutex. A wait costs some microseconds. WithTaskLimit panics if n < 1 or o is none of
// the above.
func WithTaskLimit(n int, o Overflow) Option {
	needsLimit("WithTaskLimit", n, o, "a slot")
	return poolOption(func(c *config) { c.slots, c.tasks.SlotOverflow = n, task.Overflow(o) })
}

// needsLimit panics if a limit has no place for a task, which is called what, or o is no Overflow.
func needsLimit(op string, n int, o Overflow, what string) {
	if n < 1 {
		panic(fmt.Sprintf("filch: %s(%d, %v): there must be %s for a task", op, n, o, what))
	}
	if o < Block || o > CallerRuns {
		panic(fmt.Sprintf("filch: %s(%d, %v): the overflow must be Block, Reject or CallerRuns", op, n, o))
	}
}

// WithBusyPoll makes up to half of the workers search for work without end, instead of
// leaving after 100 us, or sooner where that finds too little. They keep their processors
// busy until the pool is closed. Work starts sooner after a rest if there are processors to
// spare. On two processors it did not start sooner.
//
//figure:set 100 us
func WithBusyPoll() Option { return poolOption(func(c *config) { c.engine.BusyPoll = true }) }

// WithIdleTimeout sets how long a worker that finds no work keeps its goroutine. A task
// then starts sooner after a rest: docs/bench/tasks.txt has a median of 0.75 of the time.
// The default is 0, so that a pool at rest has no goroutine. WithIdleTimeout panics if d
// < 0.
func WithIdleTimeout(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("filch: WithIdleTimeout(%v): the time must not be negative", d))
	}
	return poolOption(func(c *config) { c.engine.Linger = d })
}

// WithStallTimeout sets how long a stall may last before the pool acts: tasks are queued,
// and none starts. The pool acts between d and a quarter more than d after the last task
// started, and up to a second later if other goroutines of the program compute. The
// default is 100 ms. A queued task that runs in place, by a wait for it or by
// [Pool.Help], has started. One that its submitter runs was never queued: it does not
// count.
//
//   - A worker that waits where the pool cannot see it, on a channel, a mutex or a
//     WaitGroup, loses its place to another, until tasks start without that place.
//     So tasks may wait for tasks that are queued behind them.
//   - A call of [Pool.Do] no longer counts against the number of workers.
//   - A worker that runs forks, or a loop, gives its place to one task, and goes on
//     when that is done.
//
// A worker that computes, or is in a system call, never gets others beside it. To tell
// the two apart, the pool compares the number of goroutines that run in the program with
// its own. If others run as well, it looks at a profile of all goroutines, at most once a
// second. That takes some microseconds for each goroutine. The profile does not show a
// worker whose goroutine is more than about 100 calls deep, nor how long a wait has
// lasted: a worker that waits for a mutex just then counts as blocked until the next
// look.
//
// With 0 the pool never acts: the number of workers is then a firm limit, however long
// tasks wait, for a network for example. Then tasks that wait for a queued task deadlock,
// unless they wait by [Future.Wait] with their context, by [Group.Wait] of a group that
// they made, or inside [Blocking], from one goroutine at a time: of several that wait in the name of one task, the first to
// return takes its place again. In a pool by priority, a task that waits for a mutex
// also deadlocks if a less urgent task holds it around forks. WithStallTimeout panics if
// d < 0.
//
//figure:set 100 ms
func WithStallTimeout(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("filch: WithStallTimeout(%v): the time must not be negative", d))
	}
	return poolOption(func(c *config) { c.tasks.StallAfter = d })
}

// WithPanicHandler makes the pool call f, on the worker, when a task of [Pool.Go] panics.
// Without it such a panic ends the program. WithPanicHandler panics if f is nil.
func WithPanicHandler(f func(err *PanicError)) Option {
	needs(f != nil, "WithPanicHandler", "f")
	return poolOption(func(c *config) { c.tasks.OnPanic = func(err error) { f(err.(*PanicError)) } })
}

// WithLogger makes the pool log trouble: workers that are blocked where the pool cannot see it, at most
// once in 10 s, with what has run longest, its stack, and where other workers are blocked; once, a
// task that calls [Future.Wait] with a context that is not its own; once, a call of
// [Pool.Do] inside the pool's own work. For the stacks of a stall the program stops for some microseconds a
// goroutine; of more than 10,000 goroutines they are not taken. It panics if l is nil.
//
//figure:set 10 s
func WithLogger(l *slog.Logger) Option {
	needs(l != nil, "WithLogger", "l")
	return poolOption(func(c *config) { c.tasks.Logger = l })
}

// WithChecks makes the pool look for mistakes that it does not see otherwise: a Worker, Frame or
// Link that is used by another goroutine than that which it was handed to, or after the call that it
// was handed to; a wait that cannot end; fork-join work that blocks for long and keeps its place; a
// pool that is used inside its own work. What cannot go on panics. The rest is logged once: by the
// logger of [WithLogger], or without it by that of slog.Default. docs/mistakes.md has each mistake,
// and what its message is.
//
// It is for tests, and for the search for a mistake. A program that makes none runs as before, but
// forks and joins cost tens of nanoseconds each, Do and tasks some microseconds; docs/mistakes.md has
// figures. The environment variable FILCH_CHECKS=1 does the same for all pools of a program, the
// default pool included. 0, false and an empty value turn it off, and 1, true and all turn it on; with any other, New panics.
func WithChecks() Option { return poolOption(func(c *config) { c.checked = true }) }

// WithLogicalRaces makes go test -race find races of schedules that did not happen. Each fork,
// each async, each piece of a loop of package par, and each task is a goroutine of its own to the
// race detector, whatever worker runs it. So the detector does not take the order in which one
// worker runs them for an order that the program has made: a race between two parts that may run at
// once is reported in every run, with one worker too. docs/races.md says what it finds beyond the
// detector alone, what hides a race from it, and what it costs.
//
// It is for tests. A fork costs microseconds, and an open one some 20 KB; of those that are
// beyond 4,000 at a time, no more is seen than without the option, which the pool logs once. In a
// program that was built without -race, the option does nothing. The environment variable
// FILCH_RACES=all does the same for all pools of a program, the default pool included. It takes the values that
// FILCH_CHECKS does, and the first pool of a program without -race logs that it does nothing.
func WithLogicalRaces() Option {
	return poolOption(func(c *config) { c.logical = true })
}

// inOneOrder is for a pool whose work runs in one order, whatever it is: there are no logical races.
func inOneOrder() Option { return poolOption(func(c *config) { c.oneOrder = true }) }

// WithName gives the pool a name, for logs, profiles and [Pool.Dump].
func WithName(name string) Option {
	return commonOption(func(c *config) { c.tasks.Name = name })
}

// WithObserver makes the pool tell o of every event in the life of its tasks; see
// [Observer] and [Event]. Each task then costs up to three more small allocations, three
// looks at the clock, and the calls of o. WithObserver panics if o is nil.
func WithObserver(o Observer) Option {
	needs(o != nil, "WithObserver", "o")
	return poolOption(func(c *config) { c.tasks.Observe = observing(o) })
}

// withHook makes the pool tell h of the events in the life of its tasks, its forks, its
// workers and itself. A task then costs what it does with an observer.
func withHook(h event.Hook) Option {
	return poolOption(func(c *config) { c.hooks = append(c.hooks, h) })
}

// WithLabels makes tasks run with the labels filch_pool and filch_task, which hold the
// names of the pool and of the task, for CPU profiles; see package runtime/pprof. They are
// added to the labels of the context that the task was submitted with. Without the option,
// tasks run with no labels except those they set themselves.
//
// Forks have labels without this option as well: those of the context that was passed to
// [ScopeOf] or [Pool.DoContext], on whichever worker they run.
func WithLabels() Option { return poolOption(func(c *config) { c.tasks.Labels = task.WithLabels }) }
