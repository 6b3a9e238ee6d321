package filch

import (
	"context"
	"runtime"
)

func (t *groupTask) start(p *Pool, s seat, ctx context.Context, exclusive bool) bool {
	c := p.contextFor(ctx, s, exclusive)
	queued := s.slots&groupSlot == 0
	if c.Err() != nil {
		if queued {
			t.dropUnstarted(p, c.cause())
		} else {
			p.dropped()
			t.group.taskDoneIn(s, c.cause(), false)
		}
		p.leaveSlot(s)
		return false
	}
	if queued && !t.group.begins(t) {
		p.dropped()
		p.leaveSlot(s)
		return false
	}
	var err error
	if p.isObserved() {
		p.runObserved(c, t, func() error { err = t.f(c); return err })
	} else {
		err = t.f(c)
	}
	if err != nil {
		p.ended.failed.Add(1)
	}
	runtime.KeepAlive(c)
	p.leaveSlot(s)
	t.group.taskDoneIn(s, err, true)
	return true
}

func (t *groupTask) drop(p *Pool, err error) {
	p.leaveSlot(seat{})
	t.dropUnstarted(p, err)
}

// dropUnstarted is drop but for the slot.
func (t *groupTask) dropUnstarted(p *Pool, err error) {
	p.dropped()
	if t.group.begins(t) {
		t.group.taskDone(err, false)
	}
}

func (t *groupTask) catches(*Pool) bool { return true }

func (t *groupTask) fail(p *Pool, s seat, err error) {
	p.leaveSlot(s)
	defer t.group.taskDoneIn(s, err, true)
	p.crashed(t, err, false)
}

func (t *groupTask) about() (string, any) { return "", t.f }
