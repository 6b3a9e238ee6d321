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

// Queues take tasks until the pool has ended, also when it was looked at in vain whether it has, and none later.
func TestNothingIsQueuedAfterTheEnd(t *testing.T) {
	for _, order := range []Order{LIFO, FIFO, ByPriority} {
		p := newPool(1, order)
		w := newWorker(p, 0)
		p.Engine.Workers.Store(engines(w))
		over := func() bool {
			p.endMu.Lock()
			defer p.endMu.Unlock()
			return p.closeIfDone()
		}
		p.Engine.TakePlace()
		p.Close()
		for _, q := range []*Queue{&w.Own, &p.Global} {
			if !q.push(0, none) {
				t.Fatalf("order %d: a task was refused before the end", order)
			}
			_ = p.Engine.Places.Leave()
			if over() {
				t.Fatalf("order %d: the pool has ended with a task queued", order)
			}
			p.Engine.TakePlace()
			if _, ok := q.Pop(false); !ok || q.push(0, none) != true {
				t.Fatalf("order %d: after a look in vain, no task is taken or queued", order)
			}
			q.Pop(false)
		}
		_ = p.Engine.Places.Leave()
		for range 2 {
			if !over() {
				t.Fatalf("order %d: the pool has not ended", order)
			}
		}
		_ = p.Global.freeze()
		p.Global.thaw(false) // does not open it again
		if w.Own.push(0, none) || p.Global.push(0, none) || p.Submit(w, none, 0) || p.Submit(nil, none, 0) || p.Depth() != 0 {
			t.Errorf("order %d: a task was queued after the end; %d are", order, p.Depth())
		}
	}
}
