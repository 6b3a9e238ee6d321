package filch

import (
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/task"
)

// TaskOption says how one task is to be run.
type TaskOption interface{ taskOption() }

// plain reports whether a task with these options needs no more than one without, once
// it is queued.
func (o *taskOptions) plain() bool {
	return o.name == "" && o.deadline.IsZero() && !o.longRunning
}

type (
	atPriority  int
	named       string
	within      time.Duration
	longRunning struct{}
	fair        struct{}
)

func (atPriority) taskOption() {}

func (named) taskOption() {}

func (within) taskOption() {}

func (longRunning) taskOption() {}

func (fair) taskOption() {}

// AtPriority sets the priority of a task. Lower numbers run first. The default is 0; a
// task does not inherit the priority of the task that submits it. A pool whose order is
// not [ByPriority] refuses any number but 0. Any int is a priority, for example a
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

// optionsOf collects opts. The error is of the first that cannot be met.
func (p *Pool) optionsOf(op string, opts []TaskOption) (o taskOptions, err error) {
	refuse := func(e error) {
		if err == nil {
			err = e
		}
	}
	for i, opt := range opts {
		switch opt := opt.(type) {
		case atPriority:
			if o.priority = int(opt); opt != 0 && p.tasks.Order != task.ByPriority {
				refuse(fmt.Errorf("filch: AtPriority(%d): the order of the pool is %v", opt, Order(p.tasks.Order)))
			}
		case named:
			o.name = string(opt)
		case within:
			if o.deadline = time.Now().Add(time.Duration(opt)); opt <= 0 {
				refuse(fmt.Errorf("filch: Within(%v): the time must be positive", time.Duration(opt)))
			}
		case longRunning:
			o.longRunning = true
		case fair:
			o.fair = true
		default:
			panic(fmt.Sprintf("filch: %s: option %d is nil", op, i))
		}
	}
	return o, err
}
