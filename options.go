package filch

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
)

// Option configures a [Pool]; some also configure a [Subpool]. Misuse panics when the option is made, or in [New] or
// [Pool.Subpool].
type Option interface{ set(c *config) }

// poolOption applies to a Pool only, commonOption also to a Subpool.
type (
	poolOption   func(c *config)
	commonOption func(c *config)
)

func (f poolOption) set(c *config)   { f(c) }
func (f commonOption) set(c *config) { f(c) }

// config collects the options.
type config struct {
	engine   engine.Settings
	tasks    task.Settings
	workers  int // 0: follows GOMAXPROCS
	room     int // tasks that may be queued; 0: no limit
	slots    int // tasks that may be unfinished; 0: no limit
	hooks    []event.Hook
	pins     *pins
	checked  bool // WithChecks
	logical  bool // WithLogicalRaces
	oneOrder bool // no logical races, whatever the environment says
}

// take applies opts, the options of op.
func (c *config) take(op string, opts []Option) {
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: %s: option %d is nil", op, i))
		}
		opt.set(c)
	}
}

// WithWorkers limits how many goroutines of the pool run at once. The limit may be exceeded briefly: a goroutine that resumes
// after a wait takes an extra worker slot instead of queueing for one, and so does a call of [Pool.Do] from outside. By
// default, the number follows GOMAXPROCS: the pool notices a change when a worker begins to search, and with one worker at
// the next Do. WithWorkers panics if n is less than 1 or more than 1,048,575.
func WithWorkers(n int) Option {
	if n < 1 || n > engine.MaxWorkers {
		panic(fmt.Sprintf("filch: WithWorkers(%d): the number of workers must be from 1 to %d", n, engine.MaxWorkers))
	}
	return poolOption(func(c *config) { c.workers = n })
}

// WithOrder sets the order in which workers take tasks. The default is [LIFO]; for a [Subpool] it is [FIFO].
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

// WithAgeing makes waiting tasks more urgent, by one level for each d, so that none waits for ever. Without it, a task waits
// as long as there are more urgent ones. The queue orders tasks by their [AtPriority] number plus the time of submission in
// units of d, lower sums first: a task of priority 5 goes behind tasks of priority 0 submitted up to 5 d after it, and before
// later ones. The comparison is exact to a 64th of d.
//
// All levels beyond ±2^56 are equal. Tasks whose levels differ by more than 60 cost some tens of nanoseconds more. On 32-bit
// platforms the bound is ±2^24 levels, and tasks stop ageing after 2^25 d.
//
// [New] panics if the order of the pool is not [ByPriority]. WithAgeing panics if d is not positive.
func WithAgeing(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("filch: WithAgeing(%v): the time must be positive", d))
	}
	return poolOption(func(c *config) { c.tasks.Ageing = d })
}

// WithQueueLimit limits the number of waiting tasks to n; o says what happens to a task that exceeds it. Without the option
// there is no limit. Tasks that an idle worker is about to take do not count, so an idle pool accepts n plus its number of
// workers at once; while the pool is paused, no worker counts as idle. Cancelled tasks count until their turn, except in a
// Subpool. Tasks held by [After] or a [Subpool] do not count, and are queued later even if there is no room.
//
// With Block, Go and Submit wait for room in FIFO order. The limit costs a task about as much as an uncontended mutex, a wait
// some microseconds. WithQueueLimit panics if n < 1 or o is not [Block], [Reject] or [CallerRuns]. [WithTaskLimit] limits
// queued and running tasks together, whatever the number of workers.
func WithQueueLimit(n int, o Overflow) Option {
	needsLimit("WithQueueLimit", n, o, "room")
	return commonOption(func(c *config) { c.room, c.tasks.Overflow = n, task.Overflow(o) })
}

// WithTaskLimit limits the number of unfinished tasks to n; o says what happens to a task that exceeds it. A task, waiting or
// running on any goroutine, holds a task slot from when it is accepted until it returns, panics, calls runtime.Goexit, or is
// dropped: by its context, [Future.Cancel] or [Pool.Close]. A task that a [Group] drops when its context ends keeps its slot
// until its turn. The slot is free before the Future has the result, and before Wait of the group returns.
//
//   - [Block]: Go and Submit wait for a slot in FIFO order, at most until their context ends.
//   - [Reject]: they refuse with [ErrQueueFull].
//   - [CallerRuns]: the submitter's goroutine runs the task, beyond the n.
//
// With Block, a task may submit tasks with its own context: if no slot is free, the new task runs at once on the caller's
// goroutine, within its slot, so tasks cannot deadlock even if n is 1. An endless chain of tasks that submit the next one may
// use more and more stack. A task that runs this way ignores [AtPriority], [Fair] and [LongRunning]; its panic and
// runtime.Goexit do what [Pool.Go] says for CallerRuns. TryGo refuses instead.
//
// The capacity of ants and the limit of errgroup work alike. [GroupLimit] limits one group, [WithQueueLimit] waiting tasks;
// with both a queue and a task limit, a task takes its slot first. The limit costs a task about as much as an uncontended
// mutex, a wait some microseconds. WithTaskLimit panics if n < 1 or o is none of the above.
func WithTaskLimit(n int, o Overflow) Option {
	needsLimit("WithTaskLimit", n, o, "a slot")
	return poolOption(func(c *config) { c.slots, c.tasks.SlotOverflow = n, task.Overflow(o) })
}

// needsLimit panics if the limit n has no room for a task (what says which room), or o is no Overflow.
func needsLimit(op string, n int, o Overflow, what string) {
	if n < 1 {
		panic(fmt.Sprintf("filch: %s(%d, %v): there must be %s for a task", op, n, o, what))
	}
	if o < Block || o > CallerRuns {
		panic(fmt.Sprintf("filch: %s(%d, %v): the overflow must be Block, Reject or CallerRuns", op, n, o))
	}
}

// WithBusyPoll makes up to half of the workers search for work without end, instead of leaving after 100 us, or sooner if
// searches find too little. They keep their processors busy until the pool is closed. With processors to spare, work starts
// sooner after an idle period; on two processors it did not.
//
//figure:set 100 us
func WithBusyPoll() Option { return poolOption(func(c *config) { c.engine.BusyPoll = true }) }

// WithIdleTimeout sets how long a worker that finds no work keeps its goroutine. A task then starts sooner after an idle
// period: docs/bench/tasks.txt has a median of 0.75 of the time. The default is 0: an idle pool has no goroutine.
// WithIdleTimeout panics if d < 0.
func WithIdleTimeout(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("filch: WithIdleTimeout(%v): the time must not be negative", d))
	}
	return poolOption(func(c *config) { c.engine.Linger = d })
}

// WithStallTimeout sets how long a stall may last before the pool acts: tasks are queued, but none starts. The default is 100
// ms. The pool acts between d and 1.25 d after the last task started, and up to a second later if other goroutines of the
// program compute. A queued task that a wait or [Pool.Help] runs inline has started. One that its submitter runs was never
// queued and does not count.
//
//   - A worker that waits where the pool cannot see it, on a channel, a mutex or a WaitGroup, loses its slot to another,
//     until tasks start without that slot. So tasks may wait for tasks queued behind them.
//   - A call of [Pool.Do] no longer counts against the number of workers.
//   - A worker that runs forks or a loop lends its slot to one task, and goes on when that is done.
//
// A worker that computes, or is in a system call, gets no other beside it. To tell computing from waiting, the pool compares
// the number of running goroutines in the program with its own. If others run as well, it reads a profile of all goroutines,
// at most once a second, which takes some microseconds per goroutine. The profile misses workers with stacks deeper than
// about 100 calls, and does not show how long a wait has lasted: a worker that waits for a mutex at that moment counts as
// blocked until the next profile.
//
// With 0 the pool never acts: the number of workers is a firm limit, however long tasks wait, for example for a network.
// Tasks that wait for a queued task then deadlock, unless they wait by [Future.Wait] with their context, by [Group.Wait] of a
// group they made, or inside [Blocking], from one goroutine at a time: of several that wait on behalf of one task, the first
// to return takes its slot back. By priority, a task that waits for a mutex also deadlocks if a less urgent task holds it
// around forks. WithStallTimeout panics if d < 0.
//
//figure:set 100 ms
func WithStallTimeout(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("filch: WithStallTimeout(%v): the time must not be negative", d))
	}
	return poolOption(func(c *config) { c.tasks.StallAfter = d })
}

// WithPanicHandler makes the pool call f, on the worker, when a task of [Pool.Go] panics. Without it, such a panic ends the
// program. WithPanicHandler panics if f is nil.
func WithPanicHandler(f func(err *PanicError)) Option {
	needs(f != nil, "WithPanicHandler", "f")
	return poolOption(func(c *config) { c.tasks.OnPanic = func(err error) { f(err.(*PanicError)) } })
}

// WithLogger makes the pool log trouble: workers blocked where the pool cannot see it, at most once in 10 s, with the longest
// running one, its stack, and where others are blocked; once, a task that calls [Future.Wait] with a context not its own;
// once, a call of [Pool.Do] inside the pool's own work. The stacks of a stall stop the program for some microseconds per
// goroutine; above 10,000 goroutines they are not taken. It panics if l is nil.
//
//figure:set 10 s
func WithLogger(l *slog.Logger) Option {
	needs(l != nil, "WithLogger", "l")
	return poolOption(func(c *config) { c.tasks.Logger = l })
}

// WithChecks makes the pool detect mistakes that it otherwise misses: a Worker, Frame or Link used on another goroutine than
// the one that received it, or after that call; a wait that cannot end; fork-join work that blocks for long and keeps its
// slot; a pool used inside its own work. Fatal ones panic; the rest are logged once, to the logger of [WithLogger] or
// slog.Default. docs/mistakes.md lists each mistake and its message.
//
// Use it in tests and to find a mistake. Correct programs run as before, but forks and joins cost tens of nanoseconds each,
// Do and tasks some microseconds; docs/mistakes.md has figures. The environment variable FILCH_CHECKS does the same for all
// pools of a program, including the default pool: 1, true and all turn it on; 0, false and an empty value turn it off; New
// panics for others.
func WithChecks() Option { return poolOption(func(c *config) { c.checked = true }) }

// WithLogicalRaces makes go test -race find races of schedules that did not happen. Each fork, async, piece of a par loop,
// and task is a goroutine of its own to the race detector, whatever worker runs it, so the detector does not mistake the
// order in which one worker runs them for one that the program has made. In every run, even with one worker, it reports a
// race between two parts that may run in parallel. docs/races.md says what it finds beyond the plain detector, what hides a
// race from it, and what it costs.
//
// Use it in tests. A fork costs microseconds, and an open one some 20 KB; beyond 4,000 open at a time, no more is found than
// without the option, which the pool logs once. Without -race, the option does nothing. FILCH_RACES=all does the same for all
// pools of a program, including the default pool. It takes the same values as FILCH_CHECKS; without -race, the first pool of
// a program logs that it does nothing.
func WithLogicalRaces() Option {
	return poolOption(func(c *config) { c.logical = true })
}

// inOneOrder is for pools whose work runs in one fixed order, so that there are no logical races.
func inOneOrder() Option { return poolOption(func(c *config) { c.oneOrder = true }) }

// WithName gives the pool a name, for logs, profiles and [Pool.Dump].
func WithName(name string) Option {
	return commonOption(func(c *config) { c.tasks.Name = name })
}

// WithObserver makes the pool call o for every event in the life of its tasks; see [Observer] and [Event]. Each task then
// costs up to three more small allocations and clock readings, and the calls of o. WithObserver panics if o is nil.
func WithObserver(o Observer) Option {
	needs(o != nil, "WithObserver", "o")
	return poolOption(func(c *config) { c.tasks.Observe = observing(o) })
}

// withHook makes the pool call h for the events of its tasks, its forks, its workers and itself. A task then costs as much as
// with an observer.
func withHook(h event.Hook) Option {
	return poolOption(func(c *config) { c.hooks = append(c.hooks, h) })
}

// WithLabels makes tasks run with the labels filch_pool and filch_task, the names of the pool and the task, for CPU profiles;
// see package runtime/pprof. They are added to the labels of the context that the task was submitted with. Without the
// option, tasks run with no labels except their own.
//
// Forks have labels in any case, on any worker: those of the context that was passed to [ScopeOf] or [Pool.DoContext].
func WithLabels() Option { return poolOption(func(c *config) { c.tasks.Labels = task.WithLabels }) }
