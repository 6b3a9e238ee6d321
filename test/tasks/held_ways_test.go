package tasks

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
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
		first := filch.Submit(context.Background(), p, inTurn(&order, "first"))
		held := filch.Submit(context.Background(), p, inTurn(&order, "held"), append(c.opts, filch.After(first))...)
		global := filch.Submit(context.Background(), p, inTurn(&order, "global"))
		p.Resume()
		held.Wait(context.Background())
		global.Wait(context.Background())
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
		f := filch.Submit(context.Background(), p, rig.Value(1), filch.After(promise.Future()))
		synctest.Wait()
		promise.Complete(1, nil)
		synctest.Wait()
		if !rig.IsClosed(f.Done()) {
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
		all = append(all, filch.Submit(context.Background(), p, inTurn(&order, c.name), filch.After(promise.Future()), filch.AtPriority(c.priority)))
	}
	p.Pause()
	promise.Complete(1, nil)
	p.Resume()
	for _, f := range all {
		f.Wait(context.Background())
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
		last = filch.Submit(context.Background(), other, rig.Value(1), filch.After(last, last))
	}
	waiting := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return last.Wait(ctx) })
	for p.Stats().Blocked == 0 && p.Stats().Tasks.Done == 0 {
	}
	promise.Complete(1, nil)
	if v, err := waiting.Wait(context.Background()); v != 1 || err != nil {
		t.Error("waiting.Wait(background):", v, err)
	}
}

// A task that After holds takes no room in its Subpool. It waits for a slot even if there is none, and then others do not
// get any.
func TestHeldTasksTakeNoRoomInTheirSubpool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		sub := p.Subpool(1, filch.WithQueueLimit(1, filch.Block))
		promise, end := filch.NewPromise[int](p), make(chan bool)
		runs := filch.Submit(context.Background(), p, func(context.Context) (int, error) { <-end; return 0, nil }, sub)
		var held []*filch.Future[int]
		for i := range 3 {
			held = append(held, filch.Submit(context.Background(), p, rig.Value(i), sub, filch.After(promise.Future())))
		}
		last := filch.Submit(context.Background(), p, rig.Value(3), sub) // which has the room
		if n := sub.Queued(); n != 1 {
			t.Errorf("%d wait in a Subpool of which After holds three tasks, not 1", n)
		}
		promise.Complete(1, nil)
		if n := sub.Queued(); n != 4 {
			t.Errorf("%d wait when the three are held no longer, not 4", n)
		}
		if err := p.TryGo(context.Background(), func(context.Context) {}, sub); err != filch.ErrQueueFull {
			t.Errorf("a task is submitted where four wait and one may: %v, not ErrQueueFull", err)
		}
		held[0].Cancel()
		close(end)
		for _, f := range append(held[1:], runs, last) {
			if _, err := f.Wait(context.Background()); err != nil {
				t.Error("f.Wait(background):", err)
			}
		}
		if n := rig.InsideSubpool(sub).Room.Taken(); n != 0 {
			t.Errorf("in the end %d have room", n)
		}
	})
}

// A task that the limit of a Subpool refuses leaves nothing of it behind, with logical races neither: else the bubble says so.
func TestWhatASubpoolRefusesLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithLogicalRaces())
		sub, end := p.Subpool(1, filch.WithQueueLimit(1, filch.Reject)), make(chan bool)
		for range 2 {
			if err := p.Go(context.Background(), func(context.Context) { <-end }, sub); err != nil {
				t.Error("p.Go of one that runs, or has the room:", err)
			}
			synctest.Wait()
		}
		if err := p.Go(context.Background(), func(context.Context) {}, sub); err != filch.ErrQueueFull {
			t.Errorf("p.Go where there is no room: %v, not ErrQueueFull", err)
		}
		close(end)
		p.Shutdown(context.Background())
	})
}

// A task that is not of a Subpool waits for those that are, and runs none of them beside the limit.
func TestSubpoolIsNotEnteredFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		sub, end := p.Subpool(1), make(chan bool)
		filch.Submit(context.Background(), p, func(context.Context) (int, error) { <-end; return 0, nil }, sub)
		synctest.Wait()
		inLine := filch.Submit(context.Background(), p, rig.Value(2), sub)
		outside := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return inLine.Wait(ctx) })
		synctest.Wait()
		if rig.IsClosed(inLine.Done()) {
			t.Error("two run in a Subpool of 1")
		}
		close(end)
		if v, err := outside.Wait(context.Background()); v != 2 || err != nil {
			t.Error("outside.Wait(background):", v, err)
		}
	})
}
