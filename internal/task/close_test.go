package task

import (
	"context"
	"errors"
	"testing"
)

// toDrop is a Body that tells when it is dropped.
type toDrop struct {
	job
	f func()
}

func (b toDrop) Drop(*Pool, error) { b.f() }

// A pool ends when it is closed, nothing is queued and no worker is there, and not before.
func TestWhenAPoolEnds(t *testing.T) {
	p := newPool(1, LIFO)
	over := func() bool {
		p.endMu.Lock()
		defer p.endMu.Unlock()
		return p.closeIfDone()
	}
	if over() {
		t.Error("it is over, and open")
	}
	dropped := 0
	p.Global.push(0, Task{Body: toDrop{f: func() { dropped++ }}})
	end := p.Close()
	if over() || p.Depth() != 1 {
		t.Error("it is over with a task queued")
	}
	p.dropQueued()
	p.Engine.TakePlace()
	if over() {
		t.Error("it is over with a place taken")
	}
	_ = p.Engine.Places.Leave()
	for range 2 {
		if !over() {
			t.Error("it is not over")
		}
	}
	<-end
	s := p.Engine.Places.Load()
	if p.Phase.Load() != Cancelled || !s.Closed() || !s.Ended() || !s.AtRest() || !errors.Is(context.Cause(p.Life), ErrClosed) {
		t.Errorf("phase %d, %v, %v", p.Phase.Load(), s, context.Cause(p.Life))
	}
	if dropped != 1 {
		t.Errorf("%d tasks were dropped", dropped)
	}
}
