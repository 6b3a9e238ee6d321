package filch

import (
	"fmt"

	"github.com/filch-go/filch/internal/task"
)

// Subpool is a view of a pool that limits how many of its own tasks run at once. Make one with [Pool.Subpool], and pass it
// among the options to whatever submits a task. Its methods may be called from any goroutine and do not block.
//
// A waiting task holds no task slot: not in [Future.Wait], [Group.Wait] or a [Memo.Get] that another call computes, nor while
// a submission blocks or another task runs on its goroutine. So tasks may wait for others of their Subpool, also indirectly
// through any task, even if n is 1. A task gets a slot when fewer than n are taken, and then enters the queue of the pool.
// One that has waited goes on at once, in the slot of the task that it waited for, or else in an additional one. More than n
// may then run, including tasks that had a slot and were still queued, until others wait or end.
//
// [Blocking], and what a task computes for a [Memo], keep the slot. So a task must not wait for others of its Subpool by a
// channel, inside Blocking or not, by a Wait with a context other than its own, or for room by [Group.Go], which does not
// know which task calls it; [Group.GoFrom] does.
type Subpool struct {
	tasks task.Subpool
}

// Subpool returns a view of p that runs at most n tasks at once; see [Subpool] for waiting tasks. The rest wait in a queue of
// their own, and only those n are in the queue of p, so they run on the workers of p, beside its other tasks, in the
// Subpool's order first. Its options are [WithName], [WithOrder], and [WithQueueLimit], which limits how many wait; tasks
// held by [After] take no room, and wait for a slot even if there is none. The order is [FIFO] by default. Submit a task to
// the Subpool by passing it:
//
//	db := p.Subpool(4, filch.WithName("db"))
//	rows := filch.Submit(ctx, p, query, db)
//
// With n = 1, tasks that do not wait run one at a time: the end of one synchronizes before the start of the next. While a
// task waits, others run, and one of them may still run, or begin, when it goes on.
//
// An unused Subpool costs nothing and need not be closed. Subpool panics if n < 1, or if an option is nil or not one of the
// above.
func (p *Pool) Subpool(n int, opts ...Option) *Subpool {
	p.mustBeMade("Subpool")
	if n < 1 {
		panic(fmt.Sprintf("filch: Subpool(%d): there must be a slot for a task", n))
	}
	c := &config{}
	c.tasks.Order = task.FIFO
	c.take("Subpool", opts)
	for i, opt := range opts {
		if _, ok := opt.(commonOption); !ok {
			panic(fmt.Sprintf("filch: Subpool: option %d is not one of a Subpool", i))
		}
	}
	s := &Subpool{task.Subpool{Pool: &p.tasks, Name: c.tasks.Name, Limit: n, Overflow: c.tasks.Overflow}}
	s.tasks.SetOrder(c.tasks.Order)
	if c.room > 0 {
		s.tasks.Room = task.NewRoom(c.room, s.tasks.Free)
	}
	if s.tasks.Name == "" {
		s.tasks.Name = fmt.Sprintf("of %d", n)
	}
	return s
}

// Running returns how many tasks of s run or are in the queue of the pool. Tasks that wait for others do not count.
func (s *Subpool) Running() int {
	s.mustBeMade("Running")
	return s.tasks.Running()
}

// Queued returns how many tasks of s wait in its own queue. Cancelled tasks, those dropped by Close, and those held by
// [After] do not count.
func (s *Subpool) Queued() int {
	s.mustBeMade("Queued")
	return s.tasks.Waiting()
}

func (s *Subpool) mustBeMade(op string) {
	if s == nil || s.tasks.Pool == nil {
		isNotMade("Subpool."+op, "Subpool", "Pool.Subpool")
	}
}
