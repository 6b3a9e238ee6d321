package filch

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/tag"
)

// A stack tells the pool's number, with at most three frames for it.
func TestStacksSpellNumbers(t *testing.T) {
	for _, n := range []uint64{0, 1, 63, 64, 65, 4095, 4096, 12345, tag.Max - 1} {
		ran := false
		tag.Below(n, func(uint64, tag.Step) {
			ran = true
			p := poolNumbered(n)
			other := poolNumbered((n + 64) % tag.Max)
			if !p.inside() || other.inside() {
				t.Errorf("%d: inside: %t, inside of another: %t", n, p.inside(), other.inside())
			}
			other.tasks.Engine.Tag(func(uint64, tag.Step) {
				if !p.inside() || !other.inside() {
					t.Errorf("%d: not inside of both", n)
				}
			})
			buf := make([]byte, 1<<16)
			stack := string(buf[:runtime.Stack(buf, false)])
			if frames := strings.Count(stack, "tag.Below("); frames > 3 || frames == 0 {
				t.Errorf("%d: %d frames:\n%s", n, frames, stack)
			}
		})
		if !ran || poolNumbered(n).inside() {
			t.Errorf("%d: ran: %t", n, ran)
		}
	}
}

func poolNumbered(n uint64) *Pool {
	p := &Pool{}
	p.tasks.Engine.Number = n
	return p
}

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
	for p.tasks.Engine.Census(lends) != (engine.Census{Waiting: 2, Lending: 2}) { // the last ones are about to wait
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
		return lent == 1 && p.tasks.Engine.Census(lends) == engine.Census{Waiting: 1, Lending: 1}
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
