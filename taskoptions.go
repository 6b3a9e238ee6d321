package filch

import (
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/task"
)

// TaskOption configures one task.
type TaskOption interface{ taskOption() }

// Waiter is what a task can come after: a [Future] of any type, including that of a [Promise].
type Waiter interface {
	// Done returns a channel that is closed when it is done.
	Done() <-chan struct{}

	awaited() task.FutureTask // nil for a nil Future
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

// AtPriority sets the priority of a task; lower numbers run first. The default is 0: a task does not inherit the priority of
// the task that submits it. Unless the order of the pool or of the task's [Subpool] is [ByPriority], any number but 0 is
// refused. Any int is a priority, for example a deadline in milliseconds since a fixed moment. Queues are fastest if the
// priorities of waiting tasks are within some thousands of each other.
func AtPriority(n int) TaskOption { return atPriority(n) }

// Named gives a task a name, for [Pool.Dump], [Event], profiles and traces.
func Named(name string) TaskOption { return named(name) }

// Within limits the time from the submission of a task to its end. Then its context is cancelled, and a task that has not
// started is dropped. The time must be positive.
func Within(d time.Duration) TaskOption { return within(d) }

// LongRunning gives a task its own goroutine at once: it takes no worker slot, and no room in the queue.
func LongRunning() TaskOption { return longRunning{} }

// Fair puts a task that another task submits into the global queue, behind earlier tasks of its priority, instead of the
// worker's own queue.
func Fair() TaskOption { return fair{} }

// After holds a task back from the queue until all of deps are done. They may be of any pool and any type. The task is
// accepted at once: it counts as submitted, takes a slot of [WithTaskLimit], and starts the time of [Within]. A held task
// takes no room in the queue, and is later queued even if there is none: at the worker that ran the last of deps, or globally
// with [Fair]. It gets the results of deps by [Future.Wait] with its context, which returns at once. It may begin before the
// next task is submitted, so let f capture the Futures that it reads, not a map that is still being filled.
//
// As soon as one of deps fails, the task is dropped, and so are those that come after it. Its error wraps that of the failed
// task and has its name; see [Named]. Others of deps may still run then. If one failed before the submission, the task is
// refused with that error.
//
// A held task is dropped at once when its context ends or the pool is closed; [Pool.Shutdown] waits for it. After alone makes
// no circle, because deps exist before. A [Promise] completed by a task that comes after it makes one: all wait until their
// contexts end. [Future.Wait] runs deps inline, with those that they come after, unless they have begun. Where a limit makes
// the submitter run a task itself, it waits for deps first.
//
// A dependency that is done costs nothing. A held task costs about as much as four tasks of Submit, and each dependency about
// as much as an uncontended mutex or two. After panics if one of deps is nil or zero.
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

// OnDrop calls f if the task's function is never called, so that resources passed to the task, such as a file or a slot, can
// be released. Exactly one of the two functions is called, once. err is the reason: [ErrClosed], [ErrQueueFull], the cause of
// the context's end, context.Canceled after [Future.Cancel], or the error of an option that cannot be met. Refused
// submissions count too, including those of TryGo and those that return the error themselves.
//
// The goroutine that drops the task calls f: the submitter's if the task is refused, that of Close, a worker that finds the
// context ended at the task's turn, or one of package context. It calls f before the Future has its error, and before Wait of
// the group and Close return. So f must be brief, must not wait for the task, and must not panic, which nothing catches.
//
// A Group drops a task with this option when the group's context ends; [Pool.Go] does at the task's turn. The task costs as
// much as one with a name. OnDrop panics if f is nil.
func OnDrop(f func(err error)) TaskOption {
	needs(f != nil, "OnDrop", "f")
	return onDrop(f)
}

// optionsOf collects opts in o. It returns the error of the first option that cannot be met.
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

// takes makes a task with the options o one of s, or returns why it cannot be.
func (s *Subpool) takes(p *Pool, o *task.Options) error {
	if s.tasks.Pool != &p.tasks {
		return fmt.Errorf("filch: the Subpool %s is not of the pool %s", s.tasks.Name, p.tasks.Name)
	}
	if other := o.Of(&s.tasks); other != nil {
		return fmt.Errorf("filch: a task cannot be one of two Subpools, %s and %s", other.Name, s.tasks.Name)
	}
	return nil
}

// inOrder reports whether one of opts is a Subpool by priority.
func inOrder(opts []TaskOption) bool {
	for _, opt := range opts {
		if s, ok := opt.(*Subpool); ok && s != nil && s.tasks.Order() == task.ByPriority {
			return true
		}
	}
	return false
}
