package filch

import (
	"fmt"

	"github.com/filch-go/filch/internal/task"
)

// Subpool is a view of a pool with a limit of its own on how many of its tasks run at once. Make one with
// [Pool.Subpool], and pass it to whatever submits a task, among the options. Its methods may be called from
// any goroutine. They do not block.
//
// A task that waits has no slot: not in [Future.Wait], [Group.Wait] or [Memo.Get] of what another computes, nor while
// a submission blocks, or another task runs on its goroutine. So tasks may wait for others of their Subpool, directly or by
// way of any other task, even if n is 1. A task gets a slot only when fewer than n have one, and then goes to the queue of the
// pool. One that has waited goes on at once, in the slot of the task that it has waited for, or else in one more: then more
// than n may run, also such as had a slot and were still queued, until others wait or end.
//
// What a task does itself keeps its slot: [Blocking], and what it computes for a [Memo]. So a task must not wait for others of
// its Subpool by a channel, inside Blocking or not, nor by a Wait with another context than its own, nor for room by
// [Group.Go], which does not know which task calls it; [Group.GoFrom] does.
type Subpool struct {
	tasks task.Subpool
}

// Subpool returns a view of p that runs at most n tasks at once; see [Subpool] for those that wait. What exceeds the
// limit is in a queue of its own, and only those n are in the queue of p. So they run on the workers of p, beside its other tasks, and
// their order is that of the Subpool first. It is made of options of [New]: [WithName], [WithOrder], and
// [WithQueueLimit], which limits how many wait; what [After] holds takes no room, and waits for a slot even if there
// is none. The order is [FIFO] by default. A task becomes one of the Subpool by passing it:
//
//	db := p.Subpool(4, filch.WithName("db"))
//	rows := filch.Submit(ctx, p, query, db)
//
// With n = 1, tasks that do not wait run one at a time: the end of one synchronizes before the start of the next. While a task
// waits, others run, and one of them may still run, or begin, when it goes on.
//
// A Subpool costs nothing when it is not used, and need not be closed. Subpool panics if n < 1, or an option
// is nil or not one of those.
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

// Running returns how many tasks of s run, or are in the queue of the pool. Tasks that wait for others do not count.
func (s *Subpool) Running() int {
	s.mustBeMade("Running")
	return s.tasks.Running()
}

// Queued returns how many tasks of s wait in its own queue. Cancelled tasks, and those that Close has
// dropped, do not count, nor do those that [After] holds.
func (s *Subpool) Queued() int {
	s.mustBeMade("Queued")
	return s.tasks.Waiting()
}

func (s *Subpool) mustBeMade(op string) {
	if s == nil || s.tasks.Pool == nil {
		isNotMade("Subpool."+op, "Subpool", "Pool.Subpool")
	}
}
