package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/cluster/internal/place"
)

// lending returns an execution that has the only place of its node.
func lending() (*execution, *place.Places) {
	n := &Node{}
	n.slots.Init(0)
	n.places.Init(0)
	return &execution{node: n, handler: &handler{node: n}}, &n.places
}

// taken takes the place for another task.
func taken(t *testing.T, p *place.Places) {
	t.Helper()
	if n, err := p.Take(t.Context(), Normal, 1); n != 1 || err != nil {
		t.Fatal("the place is not lent:", n, err)
	}
}

func TestAPlaceIsLentFromTheFirstWaitToTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, p := lending()
		e.lend()
		e.lend()
		taken(t, p)
		e.reclaim(t.Context())
		if p.Free() != 0 {
			t.Error("the place was given back before the last wait had ended")
		}
		back := false
		go func() { e.reclaim(t.Context()); back = true }()
		synctest.Wait()
		if back {
			t.Error("the handler goes on without a slot")
		}
		p.Put(1)
		synctest.Wait()
		if !back || p.Free() != 0 {
			t.Error(back, p.Free())
		}
		e.release()
		if p.Free() != 1 {
			t.Error("free places:", p.Free())
		}
	})
}

func TestAPlaceThatIsNotNeededAnyMoreGoesToOthers(t *testing.T) {
	for name, now := range map[string]func(*execution){
		"another goroutine of the handler waits": (*execution).lend,
		"the handler has returned":               (*execution).release,
	} {
		synctest.Test(t, func(t *testing.T) {
			e, p := lending()
			e.lend()
			taken(t, p)
			go e.reclaim(t.Context())
			synctest.Wait()
			now(e)
			p.Put(1)
			synctest.Wait()
			if p.Free() != 1 {
				t.Error(name, "and keeps the place")
			}
		})
	}
}

func TestAHandlerWhoseTimeIsOverGoesOnWithoutAPlace(t *testing.T) {
	e, p := lending()
	e.lend()
	taken(t, p)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	e.reclaim(over)
	e.release()
	if p.Free() != 0 {
		t.Error("the place of another task was given away:", p.Free())
	}
	p.Put(1)
	e.lend() // a goroutine that the handler has left behind
	e.reclaim(t.Context())
	if p.Free() != 1 {
		t.Error("free places:", p.Free())
	}
}

// A handler is not silent while it waits for another task, nor while it then waits for its place.
func TestAHandlerThatWaitsIsNotSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, p := lending()
		e.task = &task{id: "a"}
		n := e.node
		n.now = time.Now
		n.running.init()
		e.handler.silence, e.handler.ackWait = time.Minute, time.Hour
		ctx, cancel := context.WithCancelCause(t.Context())
		n.running.add(e)
		if err := n.running.begin(e, cancel); err != nil {
			t.Fatal("n.running.begin:", err)
		}
		silent := func(what string, want bool) {
			t.Helper()
			time.Sleep(50 * time.Second)
			n.beatOnce()
			if (context.Cause(ctx) == ErrSilent) != want {
				t.Error(what, "and is ended with", context.Cause(ctx))
			}
		}
		e.lend()
		taken(t, p)
		silent("it waits", false)
		silent("it waits", false)
		go e.reclaim(ctx)
		synctest.Wait()
		silent("it waits for its place", false)
		silent("it waits for its place", false)
		p.Put(1)
		synctest.Wait()
		silent("it goes on for less than its silence", false)
		silent("it goes on in silence", true)
	})
}

// A message that is delivered again while its task runs is the same; the message of a task that was put back is another.
func TestAnotherMessageOfATaskIsNoDuplicate(t *testing.T) {
	first, _ := lending()
	n := first.node
	n.now = time.Now
	n.running.init()
	of := func(sequence uint64) *execution {
		return &execution{task: &task{id: "a"}, node: n, sequence: sequence}
	}
	first = of(1)
	n.running.add(first)
	if added, gone := n.running.add(of(1)); added || gone != nil {
		t.Errorf("message 1 again: added %t, waits %t", added, gone != nil)
	}
	added, gone := n.running.add(of(2))
	if added || gone == nil {
		t.Fatalf("message 2 while message 1 runs: added %t, waits %t", added, gone != nil)
	}
	n.running.remove(first)
	<-gone
	n.running.remove(first) // again
	if added, _ := n.running.add(of(2)); !added {
		t.Error("message 2 is not taken when message 1 is settled")
	}
}
