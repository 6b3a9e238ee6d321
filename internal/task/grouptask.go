package task

import (
	"context"
	"runtime"

	"github.com/filch-go/filch/internal/race"
)

// A task of a Group, as those that run or drop it see it. Whichever does so counts it for the Group, once.

// groupTask is a task of a group without options.
type groupTask struct {
	group *Group
	child race.Child // with logical races
	f     func(ctx context.Context) error
	begun bool // or dropped; touched only by the goroutine that has the task
}

func (t *groupTask) Start(p *Pool, s Seat, ctx context.Context, exclusive bool) bool {
	c := p.contextFor(ctx, s, exclusive)
	queued := s.Slots&GroupSlot == 0
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
		p.LeaveSlot(s)
		return false
	}
	if queued && !t.group.begins(t) {
		p.dropped()
		p.LeaveSlot(s)
		return false
	}
	var err error
	if p.isObserved() {
		p.runObserved(c, t, exclusive, func() error { err = t.call(c); return err })
	} else {
		err = t.call(c)
	}
	if err != nil {
		p.Outcomes.Failed.Add(1)
	}
	runtime.KeepAlive(c)
	p.LeaveSlot(s)
	if t.group.taskDoneIn(s, err, true) && c.byWorker(exclusive) {
		s.Worker.answers = true
	}
	return true
}

func (t *groupTask) Drop(p *Pool, err error) {
	t.child.Drop()
	p.LeaveSlot(Seat{})
	t.dropUnstarted(p, err)
}

// dropUnstarted is Drop, except for the slot.
func (t *groupTask) dropUnstarted(p *Pool, err error) {
	p.dropped()
	if t.group.begins(t) {
		t.group.taskDone(err, false)
	}
}

func (t *groupTask) Catches(*Pool) bool { return true }

func (t *groupTask) Fail(p *Pool, s Seat, err error) {
	p.LeaveSlot(s)
	defer t.group.taskDoneIn(s, err, true)
	p.crashed(nil, err, false)
}

func (t *groupTask) Crash(p *Pool, s Seat) { p.crash(nil, false, s) }

func (t *groupTask) About() (string, any) { return "", t.f }

func (t *groupTask) dropChild() { t.child.Drop() }

// call calls the function of t, in its child if there is one.
func (t *groupTask) call(c *Context) error {
	if !t.child.IsOpen() {
		return t.f(c)
	}
	out := new(struct{ err error })
	f := t.f
	c.runInChild(t.child, byPool, func(c *Context) { out.err = f(c) })
	return out.err
}
