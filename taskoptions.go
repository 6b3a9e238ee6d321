package filch

import (
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/task"
)

// TaskOption says how one task is to be run.
type TaskOption interface{ taskOption() }

// Waiter is what a task can come after: a [Future] of any type, that of a [Promise] as well.
type Waiter interface {
	// Done returns a channel that is closed when it is done.
	Done() <-chan struct{}

	awaited() task.FutureTask // nil if there is none
}

type (
	atPriority  int
	named       string
	within      time.Duration
	longRunning struct{}
	fair        struct{}
	after       []Waiter
	onDrop      func(err error)
)

func (atPriority) taskOption() {}

func (named) taskOption() {}

func (within) taskOption() {}

func (longRunning) taskOption() {}

func (fair) taskOption() {}

func (after) taskOption() {}

func (*Subpool) taskOption() {}

func (onDrop) taskOption() {}

// AtPriority sets the priority of a task. Lower numbers run first. The default is 0; a
// task does not inherit the priority of the task that submits it. A pool whose order is
// not [ByPriority] refuses any number but 0, unless the order of the task's [Subpool] is. Any int is a priority, for example a
// deadline in milliseconds since a fixed moment. Queues are fastest if the priorities of
// waiting tasks are within some thousands of each other.
func AtPriority(n int) TaskOption { return atPriority(n) }

// Named gives a task a name, for [Pool.Dump], [Event], profiles and traces.
func Named(name string) TaskOption { return named(name) }

// Within limits the time from the submission of a task to its end. After that its context
// is cancelled. A task that has not started by then is dropped. The time must be
// positive.
func Within(d time.Duration) TaskOption { return within(d) }

// LongRunning gives a task a goroutine of its own at once: it takes no worker's
// place, and no room in the queue.
func LongRunning() TaskOption { return longRunning{} }

// Fair puts a task that another task submits into the global queue, behind the earlier
// tasks of its priority, and not into the worker's own queue.
func Fair() TaskOption { return fair{} }

// After makes a task wait, before it is queued, until all of deps are done. They may be of
// any pool and any type. The task is accepted at once: it counts as submitted, and takes a slot
// of [WithTaskLimit]. But it takes no room in the queue while it is held, and is queued even if
// there is none then. [Within] counts from the submission. It is queued at the worker that ran the last
// of deps, or globally with [Fair]. It gets the results of deps by [Future.Wait] with its context, which
// returns at once. It may begin before the next is submitted: let f capture the Futures that it reads,
// and not a map that is still being filled.
//
// As soon as one of deps fails, the task is dropped, and so are those that come after it. Its error
// wraps that of the task that failed, and has its name; see [Named]. Others of deps may still run
// then. If one has failed before the submission, the task is refused with that error.
//
// A held task is dropped at once when its context ends, or the pool is closed. [Pool.Shutdown] waits
// for it. After alone makes no circle, since deps are there before. A [Promise] that is completed by a task
// that comes after it does: then all wait until their contexts end. [Future.Wait] runs deps in place, with those that they come after, as far as they have not
// begun. Where a limit makes the submitter run a task itself, it waits for deps first.
//
// A dependency that is done costs nothing. A task that is held costs about as much as four tasks of Submit, and
// each dependency about as much as an uncontended mutex or two. After panics if one of deps is nil or zero.
func After(deps ...Waiter) TaskOption {
	for i, d := range deps {
		if d == nil || d.awaited() == nil {
			panic(fmt.Sprintf("filch: After: dependency %d is nil", i))
		}
		if d.awaited().Core().Ctx.Pool == nil {
			panic(fmt.Sprintf("filch: After: dependency %d is a zero Future: make one with Submit or NewPromise", i))
		}
	}
	return after(deps)
}

// OnDrop has f called if the function of the task never is, so that what the task was given,
// such as a file or a slot, can be given back. Of the two functions, exactly one is called,
// once. The reason is err: [ErrClosed], [ErrQueueFull], the cause of the end of the context,
// context.Canceled after [Future.Cancel], or that of an option that cannot be met. A submission
// that is refused counts, also one of TryGo, and also if it tells so itself.
//
// f is called by the goroutine that drops the task: that of the submitter if the task is
// refused, of Close, of a worker that finds the context ended when the turn of the task comes,
// or one of package context. It is called before the Future has its error, and before Wait of
// the group and Close return. So f must be brief, must not wait for the task, and must not
// panic: that is not caught.
//
// A Group drops a task with this option when the group's context ends; [Pool.Go] when its turn
// comes. The task costs as much as one with a name. OnDrop panics if f is nil.
func OnDrop(f func(err error)) TaskOption {
	needs(f != nil, "OnDrop", "f")
	return onDrop(f)
}

// optionsOf collects opts in o. The error is of the first that cannot be met.
func (p *Pool) optionsOf(op string, opts []TaskOption, o *task.Options) (err error) {
	if len(opts) == 0 {
		return nil
	}
	refuse := func(e error) {
		if err == nil {
			err = e
		}
	}
	ordered := p.tasks.Order == task.ByPriority || inOrder(opts)
	for i, opt := range opts {
		switch opt := opt.(type) {
		case atPriority:
			if o.Priority = int(opt); opt != 0 && !ordered {
				refuse(fmt.Errorf("filch: AtPriority(%d): the order of the pool is %v", opt, Order(p.tasks.Order)))
			}
		case named:
			o.Name = string(opt)
		case within:
			if o.Deadline = time.Now().Add(time.Duration(opt)); opt <= 0 {
				refuse(fmt.Errorf("filch: Within(%v): the time must be positive", time.Duration(opt)))
			}
		case longRunning:
			o.LongRunning = true
		case fair:
			o.Fair = true
		case after:
			o.After(len(opt), func(i int) task.FutureTask { return opt[i].awaited() })
		case *Subpool:
			if opt == nil {
				panic(fmt.Sprintf("filch: %s: option %d is nil", op, i))
			}
			if e := opt.takes(p, o); e != nil {
				refuse(e)
			}
		case onDrop:
			o.OnDrop = opt
		default:
			panic(fmt.Sprintf("filch: %s: option %d is nil", op, i))
		}
	}
	return err
}

// takes makes a task with the options o one of s, if it may be.
func (s *Subpool) takes(p *Pool, o *task.Options) error {
	if s.tasks.Pool != &p.tasks {
		return fmt.Errorf("filch: the Subpool %s is not of the pool %s", s.tasks.Name, p.tasks.Name)
	}
	if other := o.Of(&s.tasks); other != nil {
		return fmt.Errorf("filch: a task cannot be one of two Subpools, %s and %s", other.Name, s.tasks.Name)
	}
	return nil
}

// inOrder reports whether one of opts is a Subpool that goes by priority.
func inOrder(opts []TaskOption) bool {
	for _, opt := range opts {
		if s, ok := opt.(*Subpool); ok && s != nil && s.tasks.Order() == task.ByPriority {
			return true
		}
	}
	return false
}
