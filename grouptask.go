package filch

import (
	"context"
	"runtime"

	"github.com/filch-go/filch/internal/task"
)

// A task of a Group, as what runs it or drops it sees it. Whichever that is counts it for the Group, once.

func (t *groupTask) Start(tp *task.Pool, s task.Seat, ctx context.Context, exclusive bool) bool {
	c := contextFor(tp, ctx, s, exclusive)
	p := c.pool
	queued := s.Slots&task.GroupSlot == 0
	if t.child.IsOpen() {
		defer t.child.Drop()
	}
	if c.Err() != nil {
		if queued {
			t.dropUnstarted(p, c.cause())
		} else {
			p.dropped()
			t.group.taskDoneIn(s, c.cause(), false)
		}
		p.tasks.LeaveSlot(s)
		return false
	}
	if queued && !t.group.begins(t) {
		p.dropped()
		p.tasks.LeaveSlot(s)
		return false
	}
	var err error
	if p.isObserved() {
		p.runObserved(c, t, exclusive, func() error { err = t.call(c); return err })
	} else {
		err = t.call(c)
	}
	if err != nil {
		p.outcomes.failed.Add(1)
	}
	runtime.KeepAlive(c)
	p.tasks.LeaveSlot(s)
	t.group.taskDoneIn(s, err, true)
	return true
}

func (t *groupTask) Drop(p *task.Pool, err error) {
	t.child.Drop()
	p.LeaveSlot(task.Seat{})
	t.dropUnstarted(poolOf(p), err)
}

// dropUnstarted is Drop but for the slot.
func (t *groupTask) dropUnstarted(p *Pool, err error) {
	p.dropped()
	if t.group.begins(t) {
		t.group.taskDone(err, false)
	}
}

func (t *groupTask) Catches(*task.Pool) bool { return true }

func (t *groupTask) Fail(p *task.Pool, s task.Seat, err error) {
	p.LeaveSlot(s)
	defer t.group.taskDoneIn(s, err, true)
	poolOf(p).crashed(t, err, false)
}

func (t *groupTask) Crash(p *task.Pool, s task.Seat) { crash(p, t, s) }

func (t *groupTask) About() (string, any) { return "", t.f }

func (t *groupTask) dropChild() { t.child.Drop() }

// call calls the function of t, in its child if there is one.
func (t *groupTask) call(c *taskContext) error {
	if !t.child.IsOpen() {
		return t.f(c)
	}
	out := new(struct{ err error })
	f := t.f
	c.runInChild(t.child, byPool, func(c *taskContext) { out.err = f(c) })
	return out.err
}
