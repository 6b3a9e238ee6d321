package filch_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
)

// inTurn returns what adds its name to order.
func inTurn(order *[]string, name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { *order = append(*order, name); return name, nil }
}

// What a task holds is queued at the worker that ran it, before what waits globally; with Fair, behind that.
func TestHeldTasksGoWhereTheLastWas(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	for _, c := range []struct {
		opts []filch.TaskOption
		want []string
	}{{nil, []string{"first", "held", "global"}}, {[]filch.TaskOption{filch.Fair()}, []string{"first", "global", "held"}}} {
		p := filch.New(filch.WithWorkers(1))
		p.Pause()
		var order []string
		first := filch.Submit(background, p, inTurn(&order, "first"))
		held := filch.Submit(background, p, inTurn(&order, "held"), append(c.opts, filch.After(first))...)
		global := filch.Submit(background, p, inTurn(&order, "global"))
		p.Resume()
		held.Wait(background)
		global.Wait(background)
		if p.Close(); !slices.Equal(order, c.want) {
			t.Errorf("%v, not %v", order, c.want)
		}
	}
}

// A worker that sleeps is woken for a task that is held no longer.
func TestHeldTasksWakeAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		defer p.Close()
		promise := filch.NewPromise[int](p)
		f := filch.Submit(background, p, value(1), filch.After(promise.Future()))
		synctest.Wait()
		promise.Complete(1, nil)
		synctest.Wait()
		if !isClosed(f.Done()) {
			t.Error("it is queued, and every worker sleeps")
		}
	})
}

// A task that was held has its priority when it is queued.
func TestHeldTasksKeepTheirPriority(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority))
	defer p.Close()
	promise := filch.NewPromise[int](p)
	var order []string
	var all []*filch.Future[string]
	for _, c := range []struct {
		name     string
		priority int
	}{{"c", 3}, {"a", -1}, {"b", 2}} {
		all = append(all, filch.Submit(background, p, inTurn(&order, c.name), filch.After(promise.Future()), filch.AtPriority(c.priority)))
	}
	p.Pause()
	promise.Complete(1, nil)
	p.Resume()
	for _, f := range all {
		f.Wait(background)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(order, want) {
		t.Errorf("%v, not %v", order, want)
	}
}

// A wait for what it cannot run in place looks at each task that holds it once, however many ways lead to it.
func TestWaitForAWebOfAnotherPool(t *testing.T) {
	p, other := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
	defer p.Close()
	defer other.Close()
	promise := filch.NewPromise[int](other)
	last := promise.Future()
	for range 60 { // with 2^60 ways to the promise
		last = filch.Submit(background, other, value(1), filch.After(last, last))
	}
	waiting := filch.Submit(background, p, func(ctx context.Context) (int, error) { return last.Wait(ctx) })
	for p.Stats().Blocked == 0 && p.Stats().Tasks.Done == 0 {
	}
	promise.Complete(1, nil)
	if v, err := waiting.Wait(background); v != 1 || err != nil {
		t.Error(v, err)
	}
}

// A slot that nothing in line can take is room in the queue, for one that waits for that.
func TestAFreeSlotIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		sub := p.Subpool(1, filch.WithQueueLimit(1, filch.Block))
		promise, end := filch.NewPromise[int](p), make(chan bool)
		runs := filch.Submit(background, p, func(context.Context) (int, error) { <-end; return 0, nil }, sub)
		held := filch.Submit(background, p, value(1), sub, filch.After(promise.Future())) // which has the room
		var waits *filch.Future[int]
		go func() { waits = filch.Submit(background, p, value(2), sub) }()
		synctest.Wait()
		if waits != nil {
			t.Error("there is no room")
		}
		close(end)
		runs.Wait(background)
		synctest.Wait()
		if waits == nil || !isClosed(waits.Done()) {
			t.Error("a task waits for room, and a slot is free")
		}
		promise.Complete(1, nil)
		held.Wait(background)
	})
}

// A task that is not of a Subpool waits for those that are, and runs none of them beside the limit.
func TestSubpoolIsNotEnteredFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		sub, end := p.Subpool(1), make(chan bool)
		filch.Submit(background, p, func(context.Context) (int, error) { <-end; return 0, nil }, sub)
		synctest.Wait()
		inLine := filch.Submit(background, p, value(2), sub)
		outside := filch.Submit(background, p, func(ctx context.Context) (int, error) { return inLine.Wait(ctx) })
		synctest.Wait()
		if isClosed(inLine.Done()) {
			t.Error("two run in a Subpool of 1")
		}
		close(end)
		if v, err := outside.Wait(background); v != 2 || err != nil {
			t.Error(v, err)
		}
	})
}
