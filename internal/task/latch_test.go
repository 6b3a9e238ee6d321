package task

import (
	"context"
	"testing"
	"testing/synctest"
)

// A latch that is released twice, or asked for its channel afterwards, is open.
func TestALatchStaysOpen(t *testing.T) {
	var l Latch
	stops := 0
	begin := func() func() bool { return func() bool { stops++; return true } }
	before := l.Channel(begin)
	for range 2 {
		l.Release()
		<-before
		if l.Channel(begin) != before {
			t.Error("it has two channels")
		}
	}
	var open Latch
	open.Release()
	<-open.Channel(begin)
	if stops != 1 || !l.released {
		t.Errorf("stopped %d times; released: %t", stops, l.released)
	}
}

// seated is a Body that is called with its seat.
type seated struct {
	job
	f func(s Seat)
}

func (b seated) Start(_ *Pool, s Seat, _ context.Context, _ bool) bool { b.f(s); return true }

// A task that need not wait for a latch has its place again, and leaves nothing behind.
func TestALatchThatIsOpenCostsNoPlace(t *testing.T) {
	never, always := func() bool { return false }, func() bool { return true }
	for name, c := range map[string]struct {
		released bool
		ready    func() bool
	}{
		"released": {true, never}, "ready": {false, always}, "both": {true, always},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(1, LIFO)
			over := make(chan bool)
			p.Global.Push(0, 0, Task{context.Background(), seated{f: func(own Seat) {
				defer close(over)
				for _, s := range []Seat{own, {}} {
					var l Latch
					if c.released {
						l.Release()
					}
					before := p.Engine.Places.Load()
					if err := l.Wait(context.Background(), s, c.ready); err != nil {
						t.Errorf("l.Wait(context.Background(), s, c.ready): %s: %v", name, err)
					}
					synctest.Wait() // another worker may have looked for work meanwhile
					if after := p.Engine.Places.Load(); after != before || l.seats.Last() != nil || l.ch != nil {
						t.Errorf("%s: the pool was at %v and is at %v; in line: %v", name, before, after, l.seats.Last())
					}
					if !l.mu.TryLock() {
						t.Errorf("%s: the latch is locked", name)
					}
				}
			}}})
			p.Pushed()
			<-over // not by synctest.Wait, in which the task is
			<-p.Close()
			if f, _ := p.Figures(); f.Done != 1 {
				t.Errorf("%d tasks were done", f.Done)
			}
		})
	}
}

// A wait that has given up keeps nothing from beginning at the first Channel.
func TestALatchBeginsAfterAWaitThatGaveUp(t *testing.T) {
	var l Latch
	ended, end := context.WithCancel(context.Background())
	end()
	if l.Wait(ended, Seat{}, func() bool { return false }) == nil {
		t.Error("it did not give up")
	}
	begun, stopped := 0, 0
	for range 2 {
		l.Channel(func() func() bool { begun++; return func() bool { stopped++; return true } })
	}
	if l.Release(); begun != 1 || stopped != 1 {
		t.Errorf("begun %d times, stopped %d times", begun, stopped)
	}
}
