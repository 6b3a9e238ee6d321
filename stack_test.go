package filch

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// A census tells workers that wait from those that run and from those that gave up
// their place.
func TestCensus(t *testing.T) {
	p, other := New(WithWorkers(8), WithStallTimeout(0)), New(WithWorkers(8))
	leave := make(chan bool)
	inside := make(chan bool, 8)
	for i, f := range []func(){
		func() { <-leave },
		func() { <-leave },
		func() {
			for open := true; open; {
				select {
				case <-leave:
					open = false
				default:
				}
			}
		},
	} {
		p.Go(t.Context(), func(ctx context.Context) { inside <- true; f() }, Named(fmt.Sprint(i)))
	}
	p.Go(t.Context(), func(ctx context.Context) { Blocking(ctx, func() { inside <- true; <-leave }) })
	p.Go(t.Context(), func(ctx context.Context) {
		ScopeOf(ctx).Do(func(w *Worker) { w.Blocking(func() { inside <- true; <-leave }) })
	})
	p.Go(t.Context(), func(ctx context.Context) { inside <- true; <-leave }, LongRunning())
	other.Go(t.Context(), func(ctx context.Context) { inside <- true; <-leave })
	for range 7 {
		<-inside
	}
	for p.tasks.Engine.Census(task.Lends) != (engine.Census{Waiting: 2, Lending: 2}) { // the last ones are about to wait
		runtime.Gosched()
	}
	for p.tasks.Lost(p.tasks.Engine.Counts(p.tasks.Engine.Places.Load()).Active) != 2 { // a worker may be about to leave
		runtime.Gosched()
	}
	close(leave)
	p.Close()
	other.Close()
}

// A worker that waits at a join for a fork that was stolen has lent its place, and is not lost.
func TestAWaitAtAJoinIsNotOutOfSight(t *testing.T) {
	p := New(WithWorkers(2), WithStallTimeout(0))
	gate, stolen := make(chan bool), make(chan bool)
	p.Go(context.Background(), func(ctx context.Context) {
		ScopeOf(ctx).Do(func(w *Worker) {
			w.Join(func(w *Worker) {
				for open := true; open; {
					select {
					case <-stolen:
						open = false
					default:
						w.Poll()
						runtime.Gosched()
					}
				}
			}, func(*Worker) {
				close(stolen)
				<-gate
			})
		})
	})
	waits := func() bool { // the thief, and the one that joins, which is in the wait before its place is lent
		_, lent := p.tasks.Engine.Fill()
		return lent == 1 && p.tasks.Engine.Census(task.Lends) == engine.Census{Waiting: 1, Lending: 1}
	}
	for !waits() {
		runtime.Gosched()
	}
	if n := p.tasks.Lost(1); n != 1 {
		t.Errorf("%d places are lost, not that of the thief", n)
	}
	close(gate)
	p.Close()
}
